"""Sets of human judgements: their declarations, their loaders, and how they are fetched."""
