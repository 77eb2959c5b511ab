"""Run metrics over rows, with progress bars and time limits."""
