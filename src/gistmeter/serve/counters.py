"""What the service counts, in Prometheus' text format."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
ROWS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)


class Histogram:
    r"""Counts values by upper bounds.

    >>> seconds = Histogram((0.1, 1.0))
    >>> seconds.add(0.5)
    >>> print("\n".join(seconds.lines("s", "")))
    s_bucket{le="0.1"} 0
    s_bucket{le="1"} 1
    s_bucket{le="+Inf"} 1
    s_sum 0.5
    s_count 1
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[sum(value > bound for bound in self._bounds)] += 1
        self._sum += value

    def lines(self, name: str, labels: str) -> Iterable[str]:
        """Return the samples."""
        comma = "," if labels else ""
        bounds = [f"{bound:g}" for bound in self._bounds] + ["+Inf"]
        for bound, count in zip(bounds, accumulate(self._counts), strict=True):
            yield f'{name}_bucket{{{labels}{comma}le="{bound}"}} {count}'
        braces = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{braces} {self._sum:g}"
        yield f"{name}_count{braces} {sum(self._counts)}"


class Counters:
    """Everything that is counted; used on the event loop only."""

    def __init__(self) -> None:
        self._requests: Counter[str] = Counter()
        self._scores: Counter[str] = Counter()
        self._request_seconds = Histogram(SECONDS)
        self._batches: dict[str, tuple[Histogram, Histogram]] = {}

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count a request; paths must be of a fixed set, because each is kept."""
        self._requests[f'path="{_escaped(path)}",status="{status}"'] += 1
        self._request_seconds.add(seconds)

    def score(self, label: str, *, problem: bool) -> None:
        """Count a score that was delivered."""
        self._scores[f'metric="{_escaped(label)}",outcome="{"problem" if problem else "value"}"'] += 1

    def batch(self, label: str, rows: int, seconds: float) -> None:
        """Count a batch."""
        own = self._batches.setdefault(label, (Histogram(ROWS), Histogram(SECONDS)))
        own[0].add(rows)
        own[1].add(seconds)

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Return all samples.

        Args:
            gauges: By name, a help text and a present value.
        """
        lines: list[str] = []
        for name, (help, value) in gauges.items():
            lines += [*_head(name, "gauge", help), f"{name} {value:g}"]
        lines += self._counted("gistmeter_requests_total", "Requests by path and status", self._requests)
        lines += self._counted("gistmeter_scores_total", "Scores that were delivered", self._scores)
        name = "gistmeter_request_seconds"
        lines += [*_head(name, "histogram", "Seconds of requests"), *self._request_seconds.lines(name, "")]
        for at, (name, help) in enumerate(
            (("gistmeter_batch_rows", "Rows in a batch"), ("gistmeter_batch_seconds", "Seconds of a batch"))
        ):
            lines += _head(name, "histogram", help)
            for label, pair in self._batches.items():
                lines += pair[at].lines(name, f'metric="{_escaped(label)}"')
        return "\n".join(lines) + "\n"

    def _counted(self, name: str, help: str, counts: Mapping[str, int]) -> list[str]:
        return [*_head(name, "counter", help), *(f"{name}{{{labels}}} {n}" for labels, n in counts.items())]


def _head(name: str, kind: str, help: str) -> list[str]:
    return [f"# HELP {name} {help}.", f"# TYPE {name} {kind}"]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
