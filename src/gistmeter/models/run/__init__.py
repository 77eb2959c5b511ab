"""Running models: devices, precisions, batches, tokens, backends."""
