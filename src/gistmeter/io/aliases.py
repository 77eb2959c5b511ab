"""Find the fields of a row in columns with other common names, such as `summary` for `candidate`."""

import logging
from collections.abc import Collection, Mapping

from gistmeter.core.errors import BadRow

LOG = logging.getLogger("gistmeter")
ALIASES = {
    "candidate": ("summary", "prediction", "output", "hypothesis"),
    "source": ("document", "article", "input"),
    "references": ("reference", "target", "label"),
}
"""Other names of columns, by field."""


def with_aliases(columns: Mapping[str, object], fields: Mapping[str, str]) -> Mapping[str, str]:
    """Return the column of each field whose column has another name, common names included.

    A common name is used only if no column has the name of the field, and `fields` does not name another one.
    A value that is no text, such as a number in the column `label`, is not a field.

    Args:
        columns: The columns of a record with their values; None for unknown values.
        fields: The columns that the user named, which take precedence.

    Raises:
        BadRow: If several columns can be the same field.

    >>> with_aliases({"summary": "A cat.", "article": "A cat sat.", "label": 1}, {})
    {'candidate': 'summary', 'source': 'article'}
    """
    found: dict[str, str] = {}
    for field, names in ALIASES.items():
        if field in columns or field in fields:
            continue
        there = [name for name in names if _is_text(columns, name) and name not in fields.values()]
        if len(there) > 1:
            listed = " and ".join(map(repr, there))
            raise BadRow(
                f"columns {listed} can be the field {field}; choose one: --fields {field}={there[0]}, in "
                f"Python fields={{{field!r}: {there[0]!r}}}"
            )
        if there:
            found[field] = there[0]
    return {**fields, **found} if found else fields


def _is_text(columns: Mapping[str, object], name: str) -> bool:
    if name not in columns:
        return False
    value = columns[name]
    return value is None or isinstance(value, str) or (isinstance(value, Collection) and not _is_table(value))


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping | bytes)


class AliasNotes:
    """Warnings about columns that are read under another name, each said once.

    Args:
        fields: The columns that the user named.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._said = set(fields.items())

    def add(self, fields: Mapping[str, str]) -> None:
        """Warn about the columns of a record that `with_aliases` found."""
        for field, column in fields.items():
            if (field, column) not in self._said:
                self._said.add((field, column))
                LOG.warning("gistmeter: reading %s from the column %r", field, column)
