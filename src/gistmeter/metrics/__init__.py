"""The metrics: a package per paper, and the cheap baselines; they never import each other."""
