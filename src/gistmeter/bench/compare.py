"""Compares systems by the scores that metrics gave their texts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gistmeter.bench.stats.correlate import for_json
from gistmeter.bench.stats.paired import FEW, PairTest, compare_systems, rank_clusters
from gistmeter.bench.stats.pairing import Entry
from gistmeter.core.bootstrap import bootstrap_mean
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.nearest import did_you_mean
from gistmeter.io.measured import Measured, measured_from, read_measured
from gistmeter.report.comparison import Comparison
from gistmeter.report.report import Report

Scores = Report | Mapping[str, Report] | str | Path | Sequence[str | Path]
Grouped = Mapping[str, Mapping[str, Sequence[Measured]]]  # metric → system → rows


def measured(scores: Scores, *, by: str = "system") -> list[Measured]:
    """Return the values of reports or files.

    Args:
        scores: A report whose examples have a `system`; reports by the names of the systems; or files.
        by: The column that names what is compared, or `file`.

    Raises:
        UsageError: If these are no scores, or a report has no such column.
        DataError: If a file cannot be read, or rows have no system.
    """
    if isinstance(scores, Report):
        scores = {"the report": scores}
    if isinstance(scores, Mapping):
        if by not in ("system", "file"):
            raise UsageError(f"by={by!r}: reports can be compared by 'system' or, several of them, by 'file'")
        alone = len(scores) == 1
        return [one for name, each in scores.items() for one in _of_report(name, each, by, alone=alone)]
    paths = [scores] if isinstance(scores, str | Path) else scores
    if not isinstance(paths, Sequence) or not all(isinstance(path, str | Path) for path in paths):
        raise UsageError("give a report, a dict of reports, or the paths of files of scores")
    return read_measured(paths, by=by)


def compare(
    values: Iterable[Measured], *, systems: Sequence[str] = (), by: str = "system", seed: int = 0
) -> Comparison:
    """Compare systems by each metric.

    Args:
        values: What metrics gave their texts.
        systems: Which to compare, in this order; all if there are none.
        by: What the systems are called.
        seed: Of the bootstrap and the exchanges.

    Raises:
        UsageError: If a system does not exist or stands there twice.
        DataError: If there are fewer than two systems, or their rows cannot be matched.
    """
    grouped = _grouped(values)
    known = list(dict.fromkeys(system for found in grouped.values() for system in found))
    chosen = _chosen(known, systems, by)
    means: list[dict[str, object]] = []
    pairs: list[dict[str, object]] = []
    for metric, found in grouped.items():
        scored = {system: found[system] for system in chosen if system in found}
        signature = _signature(metric, scored)
        entries = {
            system: [Entry(row.id, row.doc_id, row.value) for row in rows] for system, rows in scored.items()
        }
        tests = compare_systems(entries, seed=seed)
        means += _means(metric, entries, tests, signature, seed)
        pairs += [_pair(metric, test) for test in tests]
    return Comparison(means, pairs)


def _of_report(name: str, report: Report, by: str, *, alone: bool) -> list[Measured]:
    rows = ((f"row {at}", row) for at, row in enumerate(report.rows(), 1))
    return list(measured_from(rows, name, by=by, alone=alone))


def _grouped(values: Iterable[Measured]) -> Grouped:
    grouped: dict[str, dict[str, list[Measured]]] = {}
    for value in values:
        grouped.setdefault(value.metric, {}).setdefault(value.by, []).append(value)
    return grouped


def _chosen(known: Sequence[str], systems: Sequence[str], by: str) -> list[str]:
    for system in systems:
        if system not in known:
            there = ", ".join(known[:20]) or "none"
            raise UsageError(f"no {by} {system!r}{did_you_mean(system, known)}; there are: {there}")
    chosen = list(systems or known)
    if len(set(chosen)) < len(chosen):
        raise UsageError("name every system once")
    if len(chosen) < 2:
        raise DataError(
            f"there is nothing to compare: {len(chosen)} {by}s; give rows of two, or several files"
        )
    return chosen


def _signature(metric: str, scored: Mapping[str, Sequence[Measured]]) -> str | None:
    """Return the signature of all values; numbers of different settings cannot be compared."""
    found = {row.signature: system for system, rows in scored.items() for row in rows if row.signature}
    if len(found) > 1:
        (one, a), (other, b), *_ = found.items()
        raise DataError(f"{metric}: {a} was scored with {one}, {b} with {other}; score both in the same way")
    return next(iter(found), None)


def _means(
    metric: str,
    entries: Mapping[str, Sequence[Entry]],
    tests: Sequence[PairTest],
    signature: str | None,
    seed: int,
) -> list[dict[str, object]]:
    """Return a row a system, best first."""
    rows: list[dict[str, Any]] = []
    for system, found in entries.items():
        defined = [entry for entry in found if not math.isnan(entry.value)]
        groups = [entry.document or f"\0{entry.id}" for entry in defined]
        values = np.array([entry.value for entry in defined], dtype=float)
        low, high = bootstrap_mean(values, groups, seed=seed)
        mean = float(values.mean()) if len(values) else math.nan
        numbers = {"mean": mean, "low": low, "high": high, "n": len(values)}
        counts = {"n_undefined": len(found) - len(values), "documents": len(set(groups))}
        rows.append({"metric": metric, "system": system, **numbers, **counts, "signature": signature})
    rows.sort(key=lambda row: -math.inf if math.isnan(row["mean"]) else row["mean"], reverse=True)
    ranks = rank_clusters([str(row["system"]) for row in rows], tests)
    return [for_json({**row, "rank": ranks[str(row["system"])]}) for row in rows]


def _pair(metric: str, test: PairTest) -> dict[str, object]:
    few = test.documents < FEW
    return {"metric": metric, **for_json(asdict(test)), "significant": test.significant, "few": few}
