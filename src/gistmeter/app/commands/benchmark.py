"""The command `gistmeter benchmark`."""

import logging
import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from gistmeter.app.figures_file import Figures, open_figures
from gistmeter.app.options.benchmark import BenchmarkOptions
from gistmeter.app.specs import build_metrics
from gistmeter.bench.datasets.dataset import Dataset, Variant, for_file, stem_of
from gistmeter.bench.datasets.fetch import default_folder, find_fetched
from gistmeter.bench.datasets.remarks import remarks
from gistmeter.bench.run import Result, benchmark
from gistmeter.bench.stats.significance import compare_all, difference_row
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row, with_language
from gistmeter.io.formats import SUFFIXES, files_in
from gistmeter.io.rows import parse_fields, read_rows
from gistmeter.io.scores_file import ScoresFile
from gistmeter.report.pairs import pairs_table
from gistmeter.report.table import benchmark_table

LOG = logging.getLogger("gistmeter")


@dataclass(frozen=True, slots=True)
class _TaskFile:
    """A file of rows.

    Args:
        name: The name of the task in the results.
        task: The data set that the file belongs to.
        rows: The rows that could be read.
    """

    name: str
    task: Dataset
    rows: list[Row]


def run(options: BenchmarkOptions) -> int:
    """Score each file of rows, correlate with human judgements, print tables, and write the results."""
    if options.suite or options.output:
        raise UsageError("to run a suite, use: gistmeter reproduce SUITE --data FOLDER -o FOLDER")
    if not options.metrics and not options.scores:
        raise UsageError("there is no metric; give a METRIC, or a file with --scores")
    paths, variant = _files(options.data)
    with open_figures(options.json, [*paths, *options.scores], options) as output:
        names = _names(paths)
        found = [_read(path, name, variant, options) for path, name in zip(paths, names, strict=True)]
        judged = _judged(found, options.data)
        own = _own_metrics(found, options)
        for file in judged:
            for remark in remarks(file.task, file.rows):
                LOG.info(f"{file.name}: {remark}")
        kept = output.kept(build_metrics(options))
        metrics = own + [(label, {file.name: metric for file in judged}) for label, metric in kept]
        measured: dict[str, dict[str, Result]] = {file.name: {} for file in judged}
        figures: Figures = []
        for label, by_file in metrics:
            for file in (file for file in judged if file.name in by_file):
                result = _measured(file, label, by_file[file.name], options)
                measured[file.name][label] = result
                figures += [row for row in result.rows if row["level"] in file.task.levels]
        pairs = [pair for file in judged for pair in _compared(file, measured[file.name], options)]
        output.finish(figures, pairs)
    shown = [row | {"dimension": _shown(row, judged)} for row in figures]
    sys.stdout.write(benchmark_table(shown).rstrip("\n") + "\n")
    _print_pairs(pairs)
    return 0


def _judged(found: Sequence[_TaskFile], data: str) -> list[_TaskFile]:
    """Return the files with human judgements."""
    judged = [file for file in found if any(row.scores for row in file.rows)]
    if not judged:
        raise DataError(
            f'no row in {data} has human scores; give rows a field like scores: {{"fluency": 4.3}}'
        )
    return judged


def _print_pairs(pairs: Figures) -> None:
    """Print the differences between metrics, if there are any."""
    if pairs:
        sys.stdout.write("\n" + pairs_table(pairs).rstrip("\n") + "\n")


def _compared(file: _TaskFile, results: Mapping[str, Result], options: BenchmarkOptions) -> Figures:
    """Return the difference in correlation of each pair of metrics, per dimension, if --compare is set."""
    if not options.compare:
        return []
    columns = {label: result.values for label, result in results.items()}
    signatures = {label: str(result.rows[0]["signature"]) for label, result in results.items()}
    documents = [row.example.doc_id for row in file.rows]
    systems = [row.example.system for row in file.rows]
    found: Figures = []
    for dimension in dict.fromkeys(name for row in file.rows for name in row.scores):
        human = [row.scores.get(dimension, math.nan) for row in file.rows]
        pairs = compare_all(
            columns,
            human,
            documents=documents,
            systems=systems,
            level=options.compare,
            seed=options.seed,
        )
        found += [difference_row(file.name, dimension, pair, signatures) for pair in pairs]
    return found


def _files(data: str) -> tuple[list[Path], Variant | None]:
    """Return the files of rows, each a task of its own; or a fetched data set, and the variant to select."""
    fetched = None if Path(data).exists() else find_fetched(data, default_folder())
    if fetched is not None:
        return [fetched[0]], fetched[1]
    found = files_in(data)
    files = [file for file in found if file.name.endswith(SUFFIXES) or found == [Path(data)]]
    if not files:
        raise DataError(f"no files of rows in {data}; the names must end in one of {', '.join(SUFFIXES)}")
    return files, None


def _names(paths: Sequence[Path]) -> list[str]:
    """Return names that differ: the files' without the extensions of their formats, or else the files'."""
    stems = Counter(map(stem_of, paths))
    return [path.name if stems[stem_of(path)] > 1 else stem_of(path) for path in paths]


def _read(path: Path, name: str, variant: Variant | None, options: BenchmarkOptions) -> _TaskFile:
    task = for_file(path)
    read_all = read_rows(path, fields=parse_fields(options.fields))
    every: Iterable[Row] = with_language(read_all, options.language or task.language)
    if variant is not None:
        every, name = variant.select(every), f"{name}:{variant.name}"
    read = list(islice(every, options.limit))
    bad = [row.problem for row in read if row.problem is not None]
    if bad:
        LOG.info(f"{path}: skipped {len(bad)} unreadable rows; the first: {bad[0]}")
    rows = [row for row in read if row.problem is None]
    if not any(row.scores for row in rows):
        LOG.info(f"{name}: skipped, because no row in {path} has human scores")
    return _TaskFile(name, task, rows)


def _own_metrics(
    found: Sequence[_TaskFile], options: BenchmarkOptions
) -> list[tuple[str, Mapping[str, Metric]]]:
    """Return the columns of the files of scores by label, each as one metric per file of rows."""
    ids = {file.name: [row.example.id for row in file.rows] for file in found}
    files = [ScoresFile.read(path) for path in dict.fromkeys(options.scores)]
    names = Counter(name for file in files for name in file.columns) + Counter(options.metrics)
    own: list[tuple[str, Mapping[str, Metric]]] = []
    for file in files:
        if file.left_out:
            LOG.info(f"{file.path}: skipped columns without numbers: {', '.join(file.left_out)}")
        matched = file.match(ids, whole=options.limit is None)
        for name in (name for name in ids if name not in matched):
            LOG.info(f"{name}: {file.path} has no scores for it")
        for at, name in enumerate(file.columns):
            label = name if names[name] == 1 else f"{file.path}:{name}"
            own.append((label, {task: columns[at] for task, columns in matched.items()}))
    return own


def _measured(file: _TaskFile, label: str, metric: Metric, options: BenchmarkOptions) -> Result:
    """Return the correlations of a metric, and log which ones are undefined."""
    result = benchmark(file.name, label, metric, file.rows, seed=options.seed)
    LOG.info(f"{file.name}: {label}: {len(file.rows)} rows in {result.seconds:.1f} s")
    problems: dict[tuple[object, object], list[str]] = {}
    for row in result.rows:
        if "problem" in row and row["level"] == "pooled":
            problems.setdefault((row["part"], row["problem"]), []).append(str(row["dimension"]))
    for (part, problem), dimensions in problems.items():
        what = label if part == "value" else f"{label}/{part}"
        LOG.info(f"{file.name}: {what}: no correlation with {', '.join(dimensions)}: {problem}")
    return result


def _shown(row: Mapping[str, object], files: Sequence[_TaskFile]) -> str:
    """Return the name of a dimension in a table, marked if lower values are better."""
    task = next(file.task for file in files if file.name == row["task"])
    name = str(row["dimension"])
    return f"{name} (lower is better)" if task.dimension(name).orientation < 0 else name
