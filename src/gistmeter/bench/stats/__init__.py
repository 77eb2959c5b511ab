"""Statistics of agreement with people: correlations, intervals, tests of differences."""
