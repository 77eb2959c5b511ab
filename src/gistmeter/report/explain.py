"""A candidate in colour for a terminal: sentence by sentence, with what the metric says and its evidence."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import IO

from rich.console import Console
from rich.text import Text

from gistmeter.core.example import Example
from gistmeter.core.score import Score, Span
from gistmeter.report.cells import number_text
from gistmeter.report.evidence import Evidence, Place
from gistmeter.report.plain import harmless, plain
from gistmeter.report.scale import colour_cuts
from gistmeter.report.sentence_value import sentence_value

STYLES = ("bold underline dark_orange3", "dark_orange", "default", "sky_blue1", "bold deep_sky_blue1")
"""From low to high: orange and blue differ for colour-blind eyes too."""
NOTED = 3  # spans of a sentence
QUOTED = 160  # characters of evidence
AROUND = 30  # characters on either side of evidence that is short
INDENT = 9

Cuts = Sequence[tuple[int, int]]


def explain(label: str, score: Score, example: Example, sentences: Cuts, file: IO[str]) -> None:
    """Print what a metric says of a candidate.

    A terminal gets colours unless NO_COLOR is set; a file or a pipe gets the same words without escapes.

    Args:
        label: What the metric is called.
        score: Of the example.
        example: Whose candidate is printed.
        sentences: Where each sentence of the candidate starts and ends.
        file: Where it goes.
    """
    console = Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if console.no_color:
        console = Console(file=file, color_system=None, force_terminal=False, highlight=False, markup=False)
    head = Text(f"{plain(label)}  ").append(number_text(score.value), style="bold")
    head.append("".join(f"  ⚑ {plain(str(flag))}" for flag in score.flags))
    console.print(head)
    if score.problem is not None:
        console.print(f"  {plain(score.problem)}")
        return
    spans = [span for span in score.spans if span.side == "candidate"]
    cuts = colour_cuts([span.value for span in spans if span.weight and math.isfinite(span.value)])
    finder = Evidence(example)
    for start, end in sentences:
        inside = [span for span in spans if span.start < end and start < span.end]
        value = number_text(sentence_value(inside, start, end)).rjust(INDENT - 2)
        _print(console, f"{value}  ", _coloured(example.candidate, (start, end), inside, cuts))
        for span in _lowest(inside, cuts):
            for line in _notes(span, example, finder, _style(span, cuts)):
                _print(console, " " * INDENT, line)


def _print(console: Console, prefix: str, text: Text) -> None:
    """Print a text in lines below each other, the first after the prefix."""
    for line in text.wrap(console, max(20, console.width - INDENT)):
        line.rstrip()
        console.print(Text(prefix) + line, soft_wrap=True)
        prefix = " " * INDENT


def _coloured(text: str, cut: tuple[int, int], spans: Sequence[Span], cuts: Sequence[float]) -> Text:
    """Return a sentence with the colour of the shortest span about each stretch."""
    start, end = cut
    edges = sorted({start, end, *(e for s in spans for e in (s.start, s.end) if start < e < end)})
    found = Text()
    for first, last in pairwise(edges):
        about = [span for span in spans if span.start <= first and last <= span.end and span.weight]
        span = min(about, key=lambda span: span.end - span.start, default=None)
        found.append(harmless(text[first:last]), style=_style(span, cuts))
    return found


def _style(span: Span | None, cuts: Sequence[float]) -> str:
    if span is None or math.isnan(span.value) or not span.weight:
        return "default"
    return STYLES[sum(span.value >= cut for cut in cuts)]


def _lowest(spans: Sequence[Span], cuts: Sequence[float]) -> list[Span]:
    """Return the spans with the lowest values, in the order of the text.

    Those of the highest colour need no explanation; one without a note must be of the two lowest.
    """
    noted = [span for span in spans if span.value < (cuts[-1] if span.note else cuts[1])]
    order = sorted(range(len(noted)), key=lambda at: noted[at].value)
    return [noted[at] for at in sorted(order[:NOTED])]


def _notes(span: Span, example: Example, finder: Evidence, style: str) -> Iterator[Text]:
    """Yield what the metric says of a span, and the first place of its evidence."""
    place = next(iter(finder.of(span)), None)
    own = plain(example.candidate[span.start : span.end], QUOTED)
    line = Text().append(f"{number_text(span.value)} ", "dim").append(f"“{own}”", style=style)
    repeated = place is not None and span.note.startswith(place.side)  # the note is the evidence
    yield line if repeated else line.append(f"  {plain(span.note, QUOTED)}" if span.note else "")
    if place is not None:
        name, before, middle, after = _quotation(place, example)
        yield Text().append(f"  {name}: {before}", "dim").append(middle, "bold").append(after, "dim")


def _quotation(place: Place, example: Example) -> tuple[str, str, str, str]:
    """Return the name of a text, and evidence in it with the words around it."""
    text = next(t for side, index, t in example.texts() if (side, index) == (place.side, place.index))
    name = f"reference {place.index}" if place.side == "reference" else place.side
    around = AROUND if place.end - place.start < QUOTED else 0
    first, last = max(0, place.start - around), min(len(text), place.end + around)
    before = harmless(text[first : place.start])
    after = harmless(text[place.end : last])
    middle = plain(text[place.start : place.end], QUOTED)
    if around and first > 0:
        before = f"…{before}"
    if around and last < len(text):
        after = f"{after}…"
    return name, before, middle, after
