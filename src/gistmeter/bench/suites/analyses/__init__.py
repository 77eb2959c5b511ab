"""The papers' analyses of metrics, as functions of scores."""
