"""Models that rate texts."""
