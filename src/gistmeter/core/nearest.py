"""Suggest the most similar known name in error messages."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name most similar to a misspelled one; None if none is similar enough.

    Args:
        name: The name that the user wrote.
        known: The names that exist.
        cutoff: The minimum similarity, from 0 to 1 (`difflib.SequenceMatcher.ratio`).

    >>> nearest("refrences", ["source", "references"])
    'references'
    """
    matches = get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return matches[0] if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the part of an error message that suggests the most similar name; empty if there is none.

    >>> did_you_mean("clozee", ["speed", "cloze"]), did_you_mean("xyz", ["speed"])
    (" (did you mean 'cloze'?)", '')
    """
    found = nearest(name, [each for each in known if each != name])
    return f" (did you mean {found!r}?)" if found else ""
