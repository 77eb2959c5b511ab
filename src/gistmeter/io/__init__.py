"""Read rows from files and from data in memory, and write scores."""
