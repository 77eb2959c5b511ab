"""The value of a sentence, from the spans in it."""

import math
from collections.abc import Sequence

from gistmeter.core.score import Span


def sentence_value(spans: Sequence[Span], start: int, end: int) -> float:
    """Return the mean of a sentence's spans by their weights; a span over several sentences tells of none."""
    own = [s for s in spans if start <= s.start and s.end <= end and not math.isnan(s.value)]
    total = math.fsum(span.weight for span in own)
    return math.fsum(span.value * span.weight for span in own) / total if total else math.nan
