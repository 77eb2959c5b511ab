"""The known name that is nearest to an unknown one, for error messages."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name most like a misspelled one, or None if none is like it.

    Args:
        name: What the user wrote.
        known: The names that exist.
        cutoff: The least similarity, from 0 to 1 (`difflib.SequenceMatcher.ratio`).

    >>> nearest("refrences", ["source", "references"])
    'references'
    """
    matches = get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return matches[0] if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the part of an error message that suggests the nearest name; empty if there is none.

    >>> did_you_mean("clozee", ["speed", "cloze"]), did_you_mean("xyz", ["speed"])
    (" (did you mean 'cloze'?)", '')
    """
    found = nearest(name, [each for each in known if each != name])
    return f" (did you mean {found!r}?)" if found else ""
