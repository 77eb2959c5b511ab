"""An entailment model: its pairs, its rows and its training."""
