"""What each metric asks, and where its values stand among those of human and system texts."""
