"""Statistics of correlation with human judgements: coefficients, intervals and significance tests."""
