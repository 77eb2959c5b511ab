"""What trains sumqe."""
