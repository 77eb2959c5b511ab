"""Match the rows of a similarity matrix to its columns; independent of models."""

from gistmeter.matching.matching import Matching, f1, f_beta, greedy, optimal, weighted_mean

__all__ = ["Matching", "f1", "f_beta", "greedy", "optimal", "weighted_mean"]
