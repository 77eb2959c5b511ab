"""The papers' tables and analyses beside what is measured here."""
