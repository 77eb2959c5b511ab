"""The `Report` type: print, convert and display the scores of one or several metrics."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.core.nearest import did_you_mean
from gistmeter.core.result import MetricResult, result_row
from gistmeter.core.score import Score
from gistmeter.core.score_row import score_row
from gistmeter.core.signature import Signature
from gistmeter.report.cells import number_text
from gistmeter.report.frame import Columns, Frame, Kind, frame_of, write_jsonl
from gistmeter.report.html.data import View
from gistmeter.report.table import score_table

SHOWN_METRICS = 20  # metrics in a repr
SHOWN_ROWS = 20  # rows shown in a notebook
SHOWN_LABEL = 60  # characters


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """Scores of the same examples by one or several metrics.

    `print` shows the values, the means with their 95 % intervals, flags, problems and signatures.
    `report["rouge"]` is the report of one metric; iteration yields one such report per metric. A report of
    one metric has its results as attributes: `mean`, `low`, `high`, `n`, `n_undefined`, `scores` and
    `signature`.

    Args:
        results: The result of each metric, by label.
        examples: The scored examples, in the order given.
        human: The human scores of each example, by dimension; empty if there are none.

    >>> signature = Signature.of("chrf", version=1)
    >>> scores = [Score("1", 75.0), Score("2", 50.0)]
    >>> report = Report.of({"chrf": (signature, scores)}, [Example("1", "A cat."), Example("2", "A dog.")])
    >>> report.mean, report["chrf"].n
    (62.5, 2)
    >>> report
    Report: 2 rows, 1 metric
      chrf  62.500 [50.000, 75.000], n 2, undefined 0
    """

    results: Mapping[str, MetricResult]
    examples: Sequence[Example]
    human: Sequence[Mapping[str, float]] = ()

    @classmethod
    def of(
        cls,
        scored: Mapping[str, tuple[Signature, Sequence[Score]]],
        examples: Sequence[Example],
        *,
        human: Sequence[Mapping[str, float]] = (),
        seed: int = 0,
    ) -> "Report":
        """Create a report from scores.

        Args:
            scored: The signature and the scores of each metric, with one score per example.
            examples: The scored examples; the bootstrap resamples their documents (`doc_id`).
            human: The human scores of each example, by dimension; leave it out if there are none.
            seed: Seed of the bootstrap.
        """
        documents = [example.doc_id for example in examples]
        results = {
            label: MetricResult.of(signature, scores, documents, seed=seed)
            for label, (signature, scores) in scored.items()
        }
        return cls(results, tuple(examples), tuple(human) if any(human) else ())

    @property
    def metrics(self) -> tuple[str, ...]:
        """The labels of the metrics, in the order given."""
        return tuple(self.results)

    @property
    def signature(self) -> Signature:
        """The signature of the only metric."""
        return self._only.signature

    @property
    def scores(self) -> tuple[Score, ...]:
        """The scores of the only metric, one per example, in the order given."""
        return self._only.scores

    @property
    def mean(self) -> float:
        """The mean of the only metric over the examples with a value; NaN if no example has one."""
        return self._only.mean

    @property
    def low(self) -> float:
        """The lower end of the mean's 95 % bootstrap interval."""
        return self._only.low

    @property
    def high(self) -> float:
        """The upper end of the mean's 95 % bootstrap interval."""
        return self._only.high

    @property
    def n(self) -> int:
        """How many examples have a value."""
        return self._only.n

    @property
    def n_undefined(self) -> int:
        """How many examples have a problem instead of a value."""
        return self._only.n_undefined

    def __getitem__(self, metric: str) -> "Report":
        if metric not in self.results:
            hint = did_you_mean(metric, self.results)
            raise UsageError(f"no metric {metric!r} in this report{hint}; there are: {self._listed}")
        return Report({metric: self.results[metric]}, self.examples, self.human)

    def __iter__(self) -> Iterator["Report"]:
        return (self[metric] for metric in self.results)

    def __contains__(self, metric: object) -> bool:
        return metric in self.results

    def __len__(self) -> int:
        return len(self.results)

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield one row per score in the format of `gistmeter score -o`, example by example."""
        for at, example in enumerate(self.examples):
            for label, result in self.results.items():
                yield score_row(label, result.scores[at], result.signature, example)

    def to_dict(self) -> dict[str, list[dict[str, object]]]:
        """Return a JSON-serializable dict: a summary per metric, and the rows; undefined numbers are None."""
        metrics = [result_row(label, result) for label, result in self.results.items()]
        return {"metrics": metrics, "rows": list(self.rows())}

    def to_jsonl(self, path: str | Path) -> None:
        """Write `rows()` as JSON lines, as `gistmeter score -o` does; a path that ends in .gz is compressed.

        Raises:
            DataError: If the file cannot be written.
        """
        write_jsonl(path, self.rows())

    def to_frame(self, kind: Kind | None = None) -> Frame:
        """Return a data frame with one row per score.

        The columns are `id, metric, value`, each component as `parts.NAME`, `flags, problem, system, doc_id`.

        Args:
            kind: `pandas`, `polars` or `pyarrow`; by default, the first that is installed.

        Raises:
            MissingExtra: If the library is not installed; by default, if none of the three is.
        """
        return frame_of(self._columns(), kind)

    def __str__(self) -> str:
        return score_table(list(self.results.items()))

    def __repr__(self) -> str:
        lines = [
            f"  {label[:SHOWN_LABEL]}  {number_text(result.mean)} {_interval(result)}, n {result.n}, "
            f"undefined {result.n_undefined}"
            for label, result in list(self.results.items())[:SHOWN_METRICS]
        ]
        if len(self.results) > SHOWN_METRICS:
            lines.append(f"  … and {len(self.results) - SHOWN_METRICS} more")
        plural = "" if len(self.results) == 1 else "s"
        head = f"Report: {len(self.examples):,} rows, {len(self.results)} metric{plural}"
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        from gistmeter.report.html.page import fragment

        return fragment(self.view, rows=SHOWN_ROWS)

    @property
    def view(self) -> View:
        """What the HTML pages draw."""
        return View(self.results, self.examples, self.human)

    @property
    def _only(self) -> MetricResult:
        if len(self.results) != 1:
            raise UsageError(
                f"this report has {len(self.results)} metrics: {self._listed}; select one by name, "
                "as in report['rouge']"
            )
        return next(iter(self.results.values()))

    @property
    def _listed(self) -> str:
        return ", ".join(self.results) or "none"

    def _columns(self) -> Columns:
        found = [
            (label, result.scores[at], example)
            for at, example in enumerate(self.examples)
            for label, result in self.results.items()
        ]
        parts = dict.fromkeys(name for _, score, _ in found for name in score.parts)
        numbers: dict[str, Any] = {"value": [score.value for _, score, _ in found]}
        numbers |= {f"parts.{name}": [s.parts.get(name, np.nan) for _, s, _ in found] for name in parts}
        return {
            "id": [score.id for _, score, _ in found],
            "metric": [label for label, _, _ in found],
            **{name: np.array(column, dtype=float) for name, column in numbers.items()},
            "flags": ["; ".join(map(str, score.flags)) for _, score, _ in found],
            "problem": [score.problem for _, score, _ in found],
            "system": [example.system for _, _, example in found],
            "doc_id": [example.doc_id for _, _, example in found],
        }


def _interval(result: MetricResult) -> str:
    return f"[{number_text(result.low)}, {number_text(result.high)}]"
