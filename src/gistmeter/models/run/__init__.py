"""Running of models: devices, precisions, batches, tokens, backends."""
