"""Aggregate token values to word spans."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.example import Side
from gistmeter.core.score import Span


def word_spans(
    text: str,
    side: Side,
    offsets: NDArray[np.int64],
    values: NDArray[np.float64],
    notes: Sequence[str],
) -> tuple[Span, ...]:
    """Aggregate tokens to words that are separated by white space.

    Args:
        text: Text of the tokens.
        side: Side of the text.
        offsets: First character and one past the last of each token, shape (tokens, 2).
        values: Value of each token, shape (tokens,).
        notes: Note of each token; a word gets the distinct notes of its tokens.

    Returns:
        One span per word with tokens: the mean of its token values, and the number of tokens as its weight.
    """
    words = [(match.start(), match.end()) for match in re.finditer(r"\S+", text)]
    # Some tokens start with the space before a word, so the last character determines the word.
    owners = np.searchsorted([end for _, end in words], offsets[:, 1] - 1, side="right").tolist()
    tokens: dict[int, list[int]] = {}
    for token, owner in enumerate(owners):
        if owner < len(words):
            tokens.setdefault(owner, []).append(token)
    return tuple(
        Span(
            side,
            start=words[owner][0],
            end=words[owner][1],
            value=float(values[mine].mean()),
            weight=float(len(mine)),
            note=" ".join(dict.fromkeys(notes[token] for token in mine)),
        )
        for owner, mine in tokens.items()
    )
