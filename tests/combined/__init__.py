"""Tests of `gistmeter.combined`."""
