"""Training of ClozE."""
