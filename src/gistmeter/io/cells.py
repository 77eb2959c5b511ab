"""Lines of csv and tsv as cells: a quote that is never closed costs its own line, not those below."""

import csv
from collections.abc import Iterator

from gistmeter.core.errors import BadRow

LONGEST_CELL = 10  # lines
SEARCHED = 1000  # lines, for the quote that closes a longer cell
SEARCHED_CHARACTERS = 2**26
Cells = tuple[str, list[str] | BadRow]  # where they stand, and what they hold or what is wrong


def tab_cells(lines: Iterator[str]) -> Iterator[Cells]:
    r"""Yield the cells of each line of tsv, which knows no quotes; blank lines are left out.

    >>> list(tab_cells(iter(['id\tcandidate\n', '1\t"Quote" unquote\n'])))
    [('line 1', ['id', 'candidate']), ('line 2', ['1', '"Quote" unquote'])]
    """
    for number, line in enumerate(lines, 1):
        if cells := line.rstrip("\r\n"):
            yield f"line {number}", cells.split("\t")


def comma_cells(lines: Iterator[str]) -> Iterator[Cells]:
    """Yield the cells of each row of csv, in which a quoted cell may span lines.

    After a row that cannot be read, or that ends nowhere, reading goes on with the next line.
    """
    csv.field_size_limit(2**31 - 1)  # the library refuses cells over 131,072 characters otherwise
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
                f"the row spans lines {source.span}, over {LONGEST_CELL}; write such texts as jsonl"
            )
        elif too_long or (len(source.taken) > 1 and width and len(cells) != width):
            source.give_back()
            cells = BadRow("a quote is never closed")
        if cells:
            width = width or (0 if isinstance(cells, BadRow) else len(cells))
            yield place, cells


def _row(source: "_Lines") -> list[str] | BadRow:
    """Return one row. Each has its own reader: an error leaves the library's in the middle of a cell."""
    reader = csv.reader(source, strict=True)
    try:
        return next(reader, [])
    except csv.Error as error:
        return BadRow(f"quotes or cells out of order: {error}")


class _Lines:
    """Lines that can be given back.

    Attributes:
        first: Number of the first line of the current row.
        taken: Lines of the current row.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._back: list[str] = []
        self._size = 0  # of the current row, in characters
        self.first = 1
        self.taken: list[str] = []

    def start(self) -> bool:
        """Begin the next row, and return whether there is one."""
        self.first += len(self.taken)
        self.taken, self._size = [], 0
        if not self._back:
            self._back = [line] if (line := next(self._lines, "")) else []
        return bool(self._back)

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        if len(self.taken) >= SEARCHED or self._size > SEARCHED_CHARACTERS:
            raise StopIteration  # the library then complains of a cell that does not end
        line = self._back.pop() if self._back else next(self._lines)
        self.taken.append(line)
        self._size += len(line)
        return line

    def give_back(self) -> None:
        """Keep only the first line in the row; the others are read again."""
        self._back += reversed(self.taken[1:])
        del self.taken[1:]

    @property
    def span(self) -> str:
        """The numbers of the lines."""
        return f"{self.first} to {self.first + len(self.taken) - 1}"
