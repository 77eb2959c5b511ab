"""Model files: find, verify, load and save."""
