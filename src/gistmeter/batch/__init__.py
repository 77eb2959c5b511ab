"""Rows in, scores out: one at a time, so that a file of any length fits."""
