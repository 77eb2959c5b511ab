"""The only rooms that know torch, transformers and OpenVINO."""
