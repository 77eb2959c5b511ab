"""`gistmeter benchmark`."""

import argparse
import json
import sys
from itertools import islice
from pathlib import Path

from gistmeter.app.specs import build_metrics, note
from gistmeter.batch.formats import SUFFIXES
from gistmeter.batch.rows import parse_fields, read_rows
from gistmeter.bench.run import benchmark
from gistmeter.core.errors import DataError
from gistmeter.core.row import Row
from gistmeter.report.table import benchmark_table


def run(arguments: argparse.Namespace) -> int:
    """Score every task, correlate, print tables; write the figures after each metric."""
    tasks = [(name, path, _rows(path, arguments)) for name, path in _task_files(arguments.data)]
    judged = []
    for name, path, rows in tasks:
        if any(row.scores for row in rows):
            judged.append((name, rows))
        else:
            note(arguments, f"{name}: left out, no row in {path} has human scores")
    if not judged:
        raise DataError(
            f'no row in {arguments.data} has human scores (a field like scores: {{"fluency": 4.3}})'
        )
    _write(arguments.json, [])  # a folder that cannot be written is better known before scoring
    figures: list[dict[str, object]] = []
    for label, metric in build_metrics(arguments):
        for name, rows in judged:
            result = benchmark(name, label, metric, rows, seed=arguments.seed)
            figures += result.rows
            _write(arguments.json, figures)
            note(arguments, f"{name}: {label}: {len(rows)} rows in {result.seconds:.1f} s")
    sys.stdout.write(benchmark_table(figures).rstrip("\n") + "\n")
    return 0


def _task_files(data: str) -> list[tuple[str, Path]]:
    """Return each file of rows with the name of its task; files are never pooled."""
    path = Path(data)
    files = (
        sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES)) if path.is_dir() else [path]
    )
    if not files:
        raise DataError(f"no files of rows in {data}; they end with {', '.join(SUFFIXES)}")
    return [(file.name.removesuffix(".gz").rpartition(".")[0] or file.name, file) for file in files]


def _rows(path: Path, arguments: argparse.Namespace) -> list[Row]:
    rows = list(islice(read_rows(path, fields=parse_fields(arguments.fields)), arguments.limit))
    bad = [row.problem for row in rows if row.problem is not None]
    if bad:
        note(arguments, f"{path}: {len(bad)} rows could not be read and are left out; first: {bad[0]}")
    return [row for row in rows if row.problem is None]


def _write(path: str | None, figures: list[dict[str, object]]) -> None:
    if path is None:
        return
    try:
        Path(path).write_text(json.dumps(figures, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror or error}") from error
