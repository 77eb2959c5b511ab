"""Training of models that several metrics share."""
