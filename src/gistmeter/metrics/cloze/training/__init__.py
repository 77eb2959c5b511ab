"""What trains cloze."""
