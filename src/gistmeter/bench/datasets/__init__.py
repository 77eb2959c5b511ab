"""Data sets of human judgements: declarations, loaders and downloads."""
