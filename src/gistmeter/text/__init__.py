"""Where text is cut, always with character offsets into the user's own text."""
