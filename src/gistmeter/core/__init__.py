"""The words of gistmeter: standard library and numpy only."""
