"""Fit the weights of combined metrics to human judgements."""
