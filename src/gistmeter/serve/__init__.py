"""`gistmeter serve`: a page and an HTTP service that score texts; needs the extra `web`."""
