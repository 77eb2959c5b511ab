"""What is trained that belongs to no single metric."""
