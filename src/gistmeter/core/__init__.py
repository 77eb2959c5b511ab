"""Data types, errors and the metric protocol; depends on the standard library and numpy only."""
