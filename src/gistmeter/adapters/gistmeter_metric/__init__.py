"""A module folder for `evaluate.load`."""
