"""The scores of one metric or several over the same examples: printed, converted, shown in a notebook."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.core.nearest import did_you_mean
from gistmeter.core.result import MetricResult
from gistmeter.core.score import Score
from gistmeter.core.score_row import score_row
from gistmeter.core.signature import Signature
from gistmeter.report.frame import Columns, Frame, Kind, frame_of, write_jsonl
from gistmeter.report.html.data import View
from gistmeter.report.table import _number as number
from gistmeter.report.table import score_table

SHOWN_METRICS = 20  # lines of a repr
SHOWN_ROWS = 20  # in a notebook
SHOWN_LABEL = 60  # characters


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """Scores of the same examples by one metric or several.

    `print` shows the values, the means with their 95 % intervals, flags, problems and signatures.
    `report["rouge"]` is the report of one metric, and iteration yields these. A report of one metric has its
    figures as attributes: `mean`, `low`, `high`, `n`, `n_undefined`, `scores` and `signature`.

    Args:
        results: What each metric gave, by the metric's label.
        examples: What was scored, in the order given.
        human: What people said of each example, by dimension; empty if nobody did.

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
        """Make a report of scores.

        Args:
            scored: The signature and the scores of each metric, one score an example.
            examples: What was scored; intervals resample the documents of those with a `doc_id`.
            human: What people said of each example, by dimension; leave it out if nobody did.
            seed: Of the bootstrap.
        """
        documents = [example.doc_id for example in examples]
        results = {
            label: MetricResult.of(signature, scores, documents, seed=seed)
            for label, (signature, scores) in scored.items()
        }
        return cls(results, tuple(examples), tuple(human) if any(human) else ())

    @property
    def metrics(self) -> tuple[str, ...]:
        """The labels of the metrics, in the order asked for."""
        return tuple(self.results)

    @property
    def signature(self) -> Signature:
        """What decided the numbers of the only metric."""
        return self._only.signature

    @property
    def scores(self) -> tuple[Score, ...]:
        """The scores of the only metric, one an example, in the order given."""
        return self._only.scores

    @property
    def mean(self) -> float:
        """The mean of the only metric over the examples with a value; NaN if none has one."""
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
        """Yield a row a score as `gistmeter score -o` writes it, example by example."""
        for at, example in enumerate(self.examples):
            for label, result in self.results.items():
                yield score_row(label, result.scores[at], result.signature, example)

    def to_dict(self) -> dict[str, list[dict[str, object]]]:
        """Return what JSON can hold: `metrics`, a summary each, and `rows`; an undefined number is None."""
        metrics: list[dict[str, object]] = [
            {
                "metric": label,
                **{name: _defined(getattr(result, name)) for name in ("mean", "low", "high")},
                "n": result.n,
                "n_undefined": result.n_undefined,
                "signature": result.signature.text,
            }
            for label, result in self.results.items()
        ]
        return {"metrics": metrics, "rows": list(self.rows())}

    def to_jsonl(self, path: str | Path) -> None:
        """Write `rows()` as JSON lines, the format of `gistmeter score -o`; .gz compresses them.

        Raises:
            DataError: If the file cannot be written.
        """
        write_jsonl(path, self.rows())

    def to_frame(self, kind: Kind | None = None) -> Frame:
        """Return a data frame with a row a score.

        Its columns are `id, metric, value`, each component as `parts.NAME`, `flags, problem, system, doc_id`.

        Args:
            kind: `pandas`, `polars` or `pyarrow`; by default the first of them that is installed.

        Raises:
            MissingExtra: If the library, or any of the three, is not installed.
        """
        return frame_of(self._columns(), kind)

    def __str__(self) -> str:
        return score_table(list(self.results.items()))

    def __repr__(self) -> str:
        lines = [
            f"  {label[:SHOWN_LABEL]}  {number(result.mean)} {_interval(result)}, n {result.n}, "
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
                f"this report has {len(self.results)} metrics: {self._listed}; take one by its name, "
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
    return f"[{number(result.low)}, {number(result.high)}]"


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else value
