"""Models that encode texts and pairs of texts."""
