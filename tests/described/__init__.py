"""Tests of `gistmeter.described`."""
