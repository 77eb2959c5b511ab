"""What trains maskeval."""
