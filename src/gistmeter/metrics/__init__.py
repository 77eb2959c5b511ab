"""Metrics: one package per paper, and the baselines; packages do not import each other."""
