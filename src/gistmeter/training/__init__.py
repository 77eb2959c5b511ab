"""Training: one loop, immutable recipes, and checkpoints that make every run resumable."""
