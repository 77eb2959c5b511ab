"""The candidate's words, for people to read: how well each was matched, by what, and how simple it is."""

import numpy as np

from gistmeter.core.score import Span
from gistmeter.matching import Matching
from gistmeter.metrics.simplicity.match import Text

NO_WORD = "(start or end)"
"""What a note calls a match with one of the model's special tokens."""


def word_spans(ours: Text, reference: Text, match: Matching) -> tuple[Span, ...]:
    """Gather tokens to words.

    Args:
        ours: The candidate.
        reference: What it was matched with.
        match: A partner for each of the candidate's tokens.

    Returns:
        One span a word: the mean similarity of its tokens by their weights, the sum of the weights, and
        the words of the reference that they matched. The mean of all spans is the precision.
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
    """Return the mean weight of a text's words; a word weighs what its tokens weigh on average."""
    weights, owners = text.weights[~text.tokens.special], text.words.owners
    if not text.words.places:
        return float(weights.mean())
    return float((np.bincount(owners, weights) / np.bincount(owners)).mean())


def _word(text: Text, index: int) -> str:
    place = text.words.places[index]
    return text.text[place.start : place.end]
