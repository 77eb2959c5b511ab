"""Training of the entailment model: data, synthetic pairs and the training task."""
