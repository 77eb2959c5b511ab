"""Training of MaskEval."""
