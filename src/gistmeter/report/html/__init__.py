"""A report as one HTML file that needs no network, and the same view in a notebook; knows no metric."""
