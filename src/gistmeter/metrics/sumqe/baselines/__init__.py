"""Baselines of SUM-QE (section 4.2), with the same interface as other metrics.

`BestRouge` and `Perplexity` have one parameter each, selected on training rows: the ROUGE version, and the
number of tokens. `NextSentence` has none. The BiGRU baseline is a regressor with another encoder: train it
with `encoder = "bigru"`, then use `gistmeter score sumqe --model FOLDER`.
"""

from gistmeter.metrics.sumqe.baselines.next_sentence import NextSentence
from gistmeter.metrics.sumqe.baselines.perplexity import Perplexity, best_k, masked_log2
from gistmeter.metrics.sumqe.baselines.rouge import BestRouge, best_version, rouge_versions

__all__ = [
    "BestRouge",
    "NextSentence",
    "Perplexity",
    "best_k",
    "best_version",
    "masked_log2",
    "rouge_versions",
]
