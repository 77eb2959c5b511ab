"""Figures of single tokens, gathered to whole words, for people to read."""

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
    """Gather tokens to the words between white space.

    Args:
        text: What the tokens come from.
        side: Which side it is on.
        offsets: First character and one past the last of each token, shape (tokens, 2).
        values: A figure a token, shape (tokens,).
        notes: A note a token; a word carries the notes of its tokens, each once.

    Returns:
        One span a word that holds a token: the mean of its tokens, weighted by how many they are.
    """
    words = [(match.start(), match.end()) for match in re.finditer(r"\S+", text)]
    # Tokens of some tokenizers begin with the space before the word: the last character decides.
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
