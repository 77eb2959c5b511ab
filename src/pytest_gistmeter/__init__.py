"""The pytest plugin of gistmeter: the fixture `gistmeter_check`.

Outside the package gistmeter, so that pytest starts without importing it; the first check loads the model.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gistmeter.core.metric import Metric
    from gistmeter.core.score import Span

CONFIDENCE = 0.9
RED, PLAIN = "\x1b[1;31m", "\x1b[0m"
Mark = Callable[[str], str]


class Check:
    """Assertions about texts.

    Args:
        colour: Whether messages mark words in red, or else with »quotes«.
    """

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    @cached_property
    def _metric(self) -> "Metric":
        import gistmeter

        return gistmeter.load("cloze", progress=False)

    def assert_supported(
        self, candidate: str, source: str, *, confidence: float = CONFIDENCE, at_least: float | None = None
    ) -> None:
        """Fail if a model that reads the source confidently puts other words in place of a fact.

        Args:
            candidate: The text to check.
            source: What it must agree with.
            confidence: How sure the model must be of the other words, from 0 to 1. With 0.9 it reports few
                true texts, and not every wrong one.
            at_least: The least score by `cloze`, if there is to be one.

        Raises:
            AssertionError: If a fact is not supported; the message shows the candidate with it marked.
            ValueError: If the candidate cannot be checked.
        """
        __tracebackhide__ = True
        from gistmeter import Example
        from gistmeter.metrics.cloze.explain import corrections

        (score,) = self._metric.score([Example("1", candidate, source)])
        if score.problem is not None:
            raise ValueError(f"the candidate cannot be checked: {score.problem}")
        wrong = [(span, answer.text) for span, answer in corrections(score, confidence)]
        low = at_least is not None and score.value < at_least
        if wrong or low:
            found = (
                [f"cloze is {score.value:.3f}, below {at_least:g}"] if low and at_least is not None else []
            )
            raise AssertionError(message(candidate, wrong, found, self._mark))

    def _mark(self, text: str) -> str:
        return f"{RED}{text}{PLAIN}" if self._colour else f"»{text}«"


def message(candidate: str, wrong: list[tuple["Span", str]], found: list[str], mark: Mark) -> str:
    """Return the candidate with wrong facts marked, and a line about each of them."""
    marked, end = "", 0
    for span, _ in sorted(wrong, key=lambda one: one[0].start):
        marked += candidate[end : span.start] + mark(candidate[span.start : span.end])
        end = span.end
    lines = [f"{candidate[span.start : span.end]!r}: the source says {text!r}" for span, text in wrong]
    return "\n".join(["not supported by the source:", marked + candidate[end:], *lines, *found])


@pytest.fixture(scope="session")
def gistmeter_check(request: pytest.FixtureRequest) -> Check:
    """Return assertions about texts; the model is loaded by the first of them."""
    return Check(colour=request.config.get_terminal_writer().hasmarkup)
