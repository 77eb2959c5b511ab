"""Models that fill blanks."""
