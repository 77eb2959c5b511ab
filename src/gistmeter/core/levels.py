"""Levels of correlation with people: over all rows, within each document, between systems."""

from typing import Literal

from gistmeter.core.errors import UsageError

Level = Literal["pooled", "summary", "system"]
LEVELS: tuple[Level, ...] = ("pooled", "summary", "system")
ALIASES: dict[str, Level] = {"flat": "pooled", "document": "summary"}
"""Names that earlier versions wrote, which commands and readers of files still take."""


def level_name(text: str) -> Level:
    """Return the level that a name, or an earlier name of it, means.

    Raises:
        UsageError: If there is no such level.

    >>> level_name("flat"), level_name("system")
    ('pooled', 'system')
    """
    for level in LEVELS:
        if text == level or ALIASES.get(text) == level:
            return level
    raise UsageError(f"no level {text!r}; choose one of: {', '.join(LEVELS)}")
