"""Training of the simplicity metric."""
