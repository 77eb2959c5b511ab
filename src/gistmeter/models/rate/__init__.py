"""Text regressors, and language models for the baselines."""
