"""Split text into sentences, words and factors, with character offsets into the user's text."""
