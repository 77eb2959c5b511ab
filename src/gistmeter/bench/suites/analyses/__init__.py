"""Analyses from the papers, as functions of scores."""
