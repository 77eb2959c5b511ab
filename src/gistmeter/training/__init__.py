"""Training: one plain loop, frozen recipes, checkpoints that survive a kill."""
