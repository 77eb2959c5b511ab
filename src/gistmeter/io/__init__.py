"""Rows in and out: from files and from data in memory."""
