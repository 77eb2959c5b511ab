"""Where scoring runs, and how far it is."""
