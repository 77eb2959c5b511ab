"""The models that ship: a folder each, its card in `README.md`, all listed in `manifest.json`. Data only."""
