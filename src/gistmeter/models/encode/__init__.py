"""Encoders of texts and of text pairs."""
