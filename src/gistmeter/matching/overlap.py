"""Overlap of two sequences of words as precision, recall and F1: ROUGE-N and ROUGE-L (Lin, 2004)."""

from collections import Counter
from collections.abc import Sequence

Words = Sequence[str]
Figures = tuple[float, float, float]
"""Precision, recall, F1."""


def rouge_n(reference: Words, candidate: Words, n: int) -> Figures:
    """Return the n-grams shared, relative to those of the candidate and of the reference.

    >>> rouge_n("the cat lay down".split(), "the cat sat".split(), 1)
    (0.6666666666666666, 0.5, 0.5714285714285715)
    """
    theirs, ours = _ngrams(reference, n), _ngrams(candidate, n)
    return _figures((theirs & ours).total(), ours.total(), theirs.total())


def rouge_l(reference: Words, candidate: Words) -> Figures:
    """Return the length of the longest common subsequence, relative to both lengths."""
    return _figures(common_length(reference, candidate), len(candidate), len(reference))


def common_length(first: Words, second: Words) -> int:
    """Return the length of the longest common subsequence.

    Bit-parallel algorithm (Hyyrö, 2004), one word of `second` per step: bit i of `row` is 0 if the
    subsequence grows at first[i].

    >>> common_length("the cat sat on it".split(), "a cat was on it".split())
    3
    """
    places: dict[str, int] = {}
    for at, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << at
    full = (1 << len(first)) - 1
    row = full
    for word in second:
        matches = row & places.get(word, 0)
        row = (row + matches | row - matches) & full
    return len(first) - row.bit_count()


def _ngrams(words: Words, n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def _figures(shared: int, ours: int, theirs: int) -> Figures:
    precision, recall = shared / max(ours, 1), shared / max(theirs, 1)
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0
