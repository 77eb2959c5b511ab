"""Scores of one metric over any number of rows, in a dozen bytes each."""

from array import array
from collections.abc import Iterator

from gistmeter.core.score import Flag, Score

NAMED = 1000
"""Scores that keep their ids and whole flags."""
Notes = tuple[tuple[Flag, ...], str | None]


class Column:
    """What a summary needs of scores: values, flags and problems; the later ones are without ids.

    >>> column = Column()
    >>> column.append(Score("1", 0.5, {"recall": 0.25}))
    >>> list(column)
    [Score(id='1', value=0.5, parts={}, spans=(), flags=(), problem=None)]
    """

    def __init__(self) -> None:
        self.values = array("d")
        self._ids: list[str] = []
        self._codes = array("L")
        self._notes: dict[Notes, int] = {}

    def append(self, score: Score) -> None:
        """Add the score of the next row."""
        named = len(self._ids) < NAMED
        if named:
            self._ids.append(score.id)
        flags = score.flags if named else tuple(Flag(flag.name, flag.side) for flag in score.flags)
        problem = score.problem
        if problem is not None and not named:  # the problem of a row that could not be read names the row
            problem = problem.removeprefix(f"{score.id}: ")
        self.values.append(score.value)
        self._codes.append(self._notes.setdefault((flags, problem), len(self._notes)))

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Score]:
        notes = list(self._notes)
        for at, (value, code) in enumerate(zip(self.values, self._codes, strict=True)):
            flags, problem = notes[code]
            yield Score(self._ids[at] if at < len(self._ids) else "", value, {}, (), flags, problem)

    def problems(self) -> list[str]:
        """Return the different problems, in the order in which they came up."""
        return [problem for _, problem in self._notes if problem is not None]
