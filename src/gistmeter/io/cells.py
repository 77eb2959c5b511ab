"""Split csv and tsv into cells; an unclosed quote affects only its own line."""

import csv
from collections.abc import Iterator

from gistmeter.core.errors import BadRow

LONGEST_CELL = 10  # lines
SEARCHED = 1000  # lines that are searched for a closing quote
SEARCHED_CHARACTERS = 2**26
Cells = tuple[str, list[str] | BadRow]  # position, and the cells or the error


def tab_cells(lines: Iterator[str]) -> Iterator[Cells]:
    r"""Yield the cells of each line of tsv, in which quotes have no meaning; skip blank lines.

    >>> list(tab_cells(iter(['id\tcandidate\n', '1\t"Quote" unquote\n'])))
    [('line 1', ['id', 'candidate']), ('line 2', ['1', '"Quote" unquote'])]
    """
    for number, line in enumerate(lines, 1):
        if cells := line.rstrip("\r\n"):
            yield f"line {number}", cells.split("\t")


def comma_cells(lines: Iterator[str]) -> Iterator[Cells]:
    """Yield the cells of each row of csv, in which a quoted cell may span several lines.

    After an unreadable row, or a row with an unclosed quote, reading continues with the next line.
    """
    csv.field_size_limit(2**31 - 1)  # the default limit of the library is 131,072 characters
    source = _Lines(lines)
    width = 0  # of the first row, the column names
    while source.start():
        cells = _row(source)
        place = f"line {source.first}"
        too_long = len(source.taken) > LONGEST_CELL
        if isinstance(cells, BadRow):
            source.give_back()
        elif too_long and len(cells) == width:
            cells = BadRow(
                f"the row spans lines {source.span}, more than {LONGEST_CELL}; use jsonl for such texts"
            )
        elif too_long or (len(source.taken) > 1 and width and len(cells) != width):
            source.give_back()
            cells = BadRow("unclosed quote; close it, or double quotes inside a cell")
        if cells:
            width = width or (0 if isinstance(cells, BadRow) else len(cells))
            yield place, cells


def _row(source: "_Lines") -> list[str] | BadRow:
    """Return one row. Each row has its own reader, because a reader is unusable after an error."""
    reader = csv.reader(source, strict=True)
    try:
        return next(reader, [])
    except csv.Error as error:
        return BadRow(f"not valid csv: {error}")


class _Lines:
    """An iterator of lines that can push lines back.

    Attributes:
        first: The number of the first line of the current row.
        taken: The lines of the current row.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._back: list[str] = []
        self._size = 0  # of the current row, in characters
        self.first = 1
        self.taken: list[str] = []

    def start(self) -> bool:
        """Start the next row; return whether there is one."""
        self.first += len(self.taken)
        self.taken, self._size = [], 0
        if not self._back:
            self._back = [line] if (line := next(self._lines, "")) else []
        return bool(self._back)

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        if len(self.taken) >= SEARCHED or self._size > SEARCHED_CHARACTERS:
            raise StopIteration  # the library then raises an error about the unclosed cell
        line = self._back.pop() if self._back else next(self._lines)
        self.taken.append(line)
        self._size += len(line)
        return line

    def give_back(self) -> None:
        """Push back all lines of the row but the first."""
        self._back += reversed(self.taken[1:])
        del self.taken[1:]

    @property
    def span(self) -> str:
        """The first and last line number of the current row."""
        return f"{self.first} to {self.first + len(self.taken) - 1}"
