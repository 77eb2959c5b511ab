"""Scores and reports as something to read; knows no metric."""
