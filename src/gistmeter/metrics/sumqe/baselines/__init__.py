"""The baselines of SUM-QE (section 4.2): metrics like any other, scored through `gistmeter.evaluate`.

`BestRouge`, `Perplexity` and `NextSentence` learn one thing at most, on training rows alone: which version,
or how many tokens. The BiGRU is a regressor with another encoder: `gistmeter train` with `encoder = "bigru"`,
then `gistmeter score sumqe --model FOLDER`.
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
