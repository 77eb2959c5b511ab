"""Levels of correlation with human judgements: pooled (all rows), summary (per document), system."""

from typing import Literal

from gistmeter.core.errors import UsageError

Level = Literal["pooled", "summary", "system"]
LEVELS: tuple[Level, ...] = ("pooled", "summary", "system")
ALIASES: dict[str, Level] = {"flat": "pooled", "document": "summary"}
"""Names from earlier versions, still accepted in commands and files."""


def level_name(text: str) -> Level:
    """Return the level for a name or alias.

    Raises:
        UsageError: If there is no such level.

    >>> level_name("flat"), level_name("system")
    ('pooled', 'system')
    """
    for level in LEVELS:
        if text == level or ALIASES.get(text) == level:
            return level
    raise UsageError(f"no level {text!r}; choose one of: {', '.join(LEVELS)}")
