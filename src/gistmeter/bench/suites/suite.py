"""A suite: a comparison with papers, as a function from a context to a result."""

from collections.abc import Callable
from dataclasses import dataclass

from gistmeter.bench.suites.context import BenchmarkContext
from gistmeter.bench.suites.tables import Data, Result


@dataclass(frozen=True, slots=True)
class Suite:
    """A comparison with papers.

    Args:
        name: On the command line.
        title: One line.
        data: What it needs.
        run: Does it.
    """

    name: str
    title: str
    data: tuple[Data, ...]
    run: Callable[[BenchmarkContext], Result]
