"""The service behind the addresses: metrics that load in the background, and the rows that wait for them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature
from gistmeter.serve.batching import Batcher
from gistmeter.serve.counters import Counters
from gistmeter.serve.limits import Limits
from gistmeter.serve.problems import Problem
from gistmeter.serve.scoring import score_apart

LOG = logging.getLogger("gistmeter")
SOON = {"Retry-After": "2"}
Load = Callable[[], Iterable[tuple[str, Metric]]]


def _nothing() -> None: ...


class Service:
    """Loads metrics once, and scores rows with them.

    Args:
        labels: The metrics that are to be loaded.
        load: Yields each metric with its label when it is loaded; runs in the thread that scores.
        limits: What clients may ask for.
        on_failure: Is called when a metric cannot be loaded; `failure` then says why.
    """

    def __init__(
        self, labels: Sequence[str], load: Load, limits: Limits, on_failure: Callable[[], None] = _nothing
    ) -> None:
        self.limits = limits
        self.counters = Counters()
        self.failure: Exception | None = None
        self.metrics: dict[str, Metric] = {}
        self.signatures: dict[str, Signature] = {}
        self._asked = tuple(labels)
        self._load_each = load
        self._on_failure = on_failure
        self._loaded = False
        self._thread = ThreadPoolExecutor(1, "score")
        self.batcher = Batcher(self._score, self._thread, self.counters)

    @property
    def ready(self) -> bool:
        """Whether all metrics are loaded."""
        return self._loaded and self.failure is None

    @property
    def labels(self) -> tuple[str, ...]:
        """The metrics that are served, or are still to be loaded."""
        return tuple(self.metrics) if self._loaded else self._asked

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Load the metrics and score rows while the block runs."""
        tasks = [asyncio.create_task(self._load()), asyncio.create_task(self.batcher.run())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks)
            self._thread.shutdown(wait=False, cancel_futures=True)

    def chosen(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Return the metrics that a request asks for, without repetitions; all if it names none.

        Raises:
            Problem: If a metric is not served, or not loaded yet.
        """
        wanted = tuple(dict.fromkeys(labels)) or self.labels
        for label in wanted:
            if label not in self.labels:
                raise Problem(
                    "bad-request", f"metric {label!r} is not served; there are: {', '.join(self.labels)}"
                )
        if not self._loaded:
            raise Problem("not-ready", "the metrics are loading; try again in a few seconds", SOON)
        return wanted

    def admit(self, scores: int = 1) -> None:
        """Check that there is room for more scores to wait.

        Raises:
            Problem: If there is not.
        """
        waiting = self.batcher.waiting
        if waiting + scores > self.limits.waiting:
            seconds = self.batcher.seconds_for(waiting)
            raise Problem(
                "queue-full",
                f"{waiting:,} scores wait, and {scores:,} more are over the limit of "
                f"{self.limits.waiting:,}; try again in {seconds} s",
                {"Retry-After": str(seconds)},
            )

    async def room(self) -> None:
        """Return when there is room for one more score to wait."""
        while self.batcher.waiting >= self.limits.waiting:
            await self.batcher.freed()

    async def scores(
        self, request: object, row: Row, labels: Sequence[str], each: Callable[[object], object] | None = None
    ) -> list[Score]:
        """Return the scores of a row; a row with a problem has undefined scores.

        Args:
            request: An object that stands for the request; to cancel it, pass it to `batcher.drop`.
            row: The row.
            labels: From `chosen`.
            each: Is called when one of the scores is there.
        """
        row = self._checked(row)
        if row.problem is not None:
            scores = [Score.undefined(row.example.id, row.problem) for _ in labels]
        else:
            waiting = [self.batcher.add(request, label, row) for label in labels]
            if each is not None:
                for future in waiting:
                    future.add_done_callback(each)
            scores = await asyncio.gather(*waiting)
        for label, score in zip(labels, scores, strict=True):
            self.counters.score(label, problem=score.problem is not None)
        return scores

    def gauges(self) -> Mapping[str, tuple[str, float]]:
        """Return the present values for Prometheus."""
        return {
            "gistmeter_ready": ("Whether all metrics are loaded", float(self.ready)),
            "gistmeter_waiting_scores": ("Scores that wait", self.batcher.waiting),
        }

    def _checked(self, row: Row) -> Row:
        size = sum(len(text) for _, _, text in row.example.texts())
        if row.problem is not None or size <= self.limits.characters:
            return row
        return replace(
            row, problem=f"the texts have {size:,} characters; the limit is {self.limits.characters:,}"
        )

    def _score(self, label: str, rows: Sequence[Row]) -> list[Score]:
        return score_apart(self.metrics[label], rows, self.limits.seconds_per_row)

    async def _load(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._thread, self._build, loop)
        except Exception as error:
            self.failure = error
            self._on_failure()
        else:
            LOG.info("gistmeter: ready: %s", ", ".join(self.metrics))
        self._loaded = True

    def _build(self, loop: asyncio.AbstractEventLoop) -> None:
        for label, metric in self._load_each():
            loop.call_soon_threadsafe(self._add, label, metric, metric.signature)

    def _add(self, label: str, metric: Metric, signature: Signature) -> None:
        self.metrics[label] = metric
        self.signatures[label] = signature
