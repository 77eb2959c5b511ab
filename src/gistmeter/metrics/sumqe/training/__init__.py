"""Training of SUM-QE."""
