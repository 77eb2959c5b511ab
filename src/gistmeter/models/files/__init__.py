"""Model files: found, checked, loaded and saved."""
