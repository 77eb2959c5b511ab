"""Build word spans with similarity, weight, and matched words, and compute the mean word weight."""

import numpy as np

from gistmeter.core.score import Span
from gistmeter.matching import Matching
from gistmeter.metrics.simplicity.match import Text

NO_WORD = "(start or end)"
"""Note for a match with a special token of the model."""


def word_spans(ours: Text, reference: Text, match: Matching) -> tuple[Span, ...]:
    """Return one span per word of the candidate.

    Args:
        ours: Candidate.
        reference: Reference that the candidate is matched with.
        match: Match of each token of the candidate.

    Returns:
        Spans whose value is the weighted mean similarity of the tokens, whose weight is the sum of the token
        weights, and whose note is the matched words. The weighted mean of the spans is the precision.
    """
    names = np.full(len(reference.weights), -1)
    names[~reference.tokens.special] = reference.words.owners
    own = np.flatnonzero(~ours.tokens.special)
    spans = []
    for index, word in enumerate(ours.words.places):
        mine = own[ours.words.owners == index]
        weight = float(ours.weights[mine].sum())
        value = float(match.similarity[mine] @ ours.weights[mine]) / weight
        partners = dict.fromkeys(names[match.partner[mine]].tolist())
        notes = [_word(reference, at) if at >= 0 else NO_WORD for at in partners]
        spans.append(Span("candidate", word.start, word.end, value, weight, " ".join(notes)))
    return tuple(spans)


def simplicity(text: Text) -> float:
    """Return the mean weight of the words of a text; the weight of a word is the mean over its tokens."""
    weights, owners = text.weights[~text.tokens.special], text.words.owners
    if not text.words.places:
        return float(weights.mean())
    return float((np.bincount(owners, weights) / np.bincount(owners)).mean())


def _word(text: Text, index: int) -> str:
    place = text.words.places[index]
    return text.text[place.start : place.end]
