"""The metrics: a package per paper, and the cheap controls; they never import each other."""
