"""Rescale similarities so that unrelated sentences have 0 (as BERTScore does), by language."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.errors import UsageError

NONE, BY_LANGUAGE = "none", "language"
VERSION = "language-1"
"""The name of the table in signatures; another number if a value changes."""
MEANS = {
    "de": 0.8101, "en": 0.7746, "es": 0.8248, "fr": 0.8569, "id": 0.8196,
    "it": 0.8212, "nl": 0.8180, "pt": 0.8607, "ru": 0.8215, "tr": 0.8156,
}  # fmt: skip
"""Mean cosine of multilingual-e5-small between 23 sentences, none of which translates another: the samples in
`packages/multilingual/samples.json`."""
OTHER = 0.82
"""For other languages: about the mean of these."""


def check_baseline(text: str) -> None:
    """Check the option `baseline`.

    Raises:
        UsageError: If it is neither `none`, `language` nor a number below 1.
    """
    if text in (NONE, BY_LANGUAGE):
        return
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not -1 < number < 1:
        raise UsageError(f"baseline={text}: give none, language, or a number between -1 and 1")


def baseline_of(text: str, language: str) -> float:
    """Return the similarity that becomes 0.

    Args:
        text: The option `baseline`.
        language: Of the row.

    >>> baseline_of("none", "fr"), baseline_of("0.5", "fr"), baseline_of("language", "fr")
    (0.0, 0.5, 0.8569)
    """
    if text == NONE:
        return 0.0
    return MEANS.get(language, OTHER) if text == BY_LANGUAGE else float(text)


def rescaled(similarity: NDArray[Any], baseline: float) -> NDArray[Any]:
    """Return (s − b) / (1 − b); 1 stays 1."""
    return (similarity - baseline) / (1 - baseline) if baseline else similarity
