"""What trains simplicity."""
