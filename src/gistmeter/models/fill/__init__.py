"""Fillers: models that predict the text of blanks."""
