"""Suite: the reproduction of a paper's results, as a function from a context to a result."""

from collections.abc import Callable
from dataclasses import dataclass

from gistmeter.bench.suites.context import BenchmarkContext
from gistmeter.bench.suites.tables import Data, Result


@dataclass(frozen=True, slots=True)
class Suite:
    """Reproduction of published results.

    Args:
        name: Name on the command line.
        title: One-line description.
        data: Required rows.
        run: Function that computes the result.
    """

    name: str
    title: str
    data: tuple[Data, ...]
    run: Callable[[BenchmarkContext], Result]
