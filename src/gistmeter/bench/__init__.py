"""Benchmarks: correlation of metrics with human judgements, data sets, and suites that reproduce papers."""
