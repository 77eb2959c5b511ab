"""The command `gistmeter score`."""

import json
import logging
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice

from gistmeter.app.gates import Gates
from gistmeter.app.options.score import ScoreOptions
from gistmeter.app.pair import pair_of
from gistmeter.app.specs import plan_of
from gistmeter.app.summary import Summary, note_languages
from gistmeter.catalog import ALL
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.example import Example, Need
from gistmeter.core.language import PROBLEM
from gistmeter.core.result import result_row
from gistmeter.core.row import Row, with_language
from gistmeter.engine.local import score_rows
from gistmeter.engine.long_rows import announced
from gistmeter.engine.plan import Plan
from gistmeter.engine.progress import rows_bar
from gistmeter.engine.workers import Workers, assign
from gistmeter.io.files import check_output, is_filled, is_stream, write_whole
from gistmeter.io.output import parse_spans
from gistmeter.io.rows import parse_fields, read_rows
from gistmeter.io.scored import Labelled, Scored
from gistmeter.io.sinks import Sink, Writing, open_sink
from gistmeter.report.plain import plain
from gistmeter.report.table import pair_text, score_table

LOG = logging.getLogger("gistmeter")
ScoreRows = Callable[[Iterator[Row]], Iterator[list[Scored]]]
BAD_DATA, GATE_FAILED = 3, 5
EXPLAINED = 20
"""Rows that --explain prints."""
LOOKED_AT = 256
"""Rows that decide which fields the input has."""
NEEDS: tuple[Need, ...] = ("source", "references")


def run(options: ScoreOptions) -> int:
    """Score rows or one pair of texts; write the scores, print a table."""
    if options.engine == "ray":
        from gistmeter.app.commands.score_shards import run as run_shards

        return run_shards(options)
    one_pair = pair_of(options)
    _check(options, one_pair)
    gates = Gates.of(options)
    devices = assign(options.device, options.workers)
    # Opened before models are loaded, so that an unwritable output fails at once.
    with open_sink(options.output, _writing(options)) as sink:
        rows = iter([Row(one_pair)] if one_pair else _rows(str(options.input), options))
        rows, absent = _with_absent(rows) if ALL in options.metrics else (rows, ())
        with _engine(plan_of(options, absent=absent), devices) as (metrics, score):
            gates.check(metrics)
            summary = Summary(metrics, whole=EXPLAINED, all_rows=gates.any)
            _score(summary, score, rows, sink, options)
        if not summary.count:
            raise DataError("the input has no rows")
        sink.finish()
    _print(summary, options, one_pair)
    code = _exit_code(summary)
    return code if gates.passed(metrics, summary.kept) else GATE_FAILED


def _check(options: ScoreOptions, pair: Example | None) -> None:
    """Raise UsageError if options do not fit together."""
    if (pair is None) == (options.input is None):
        raise UsageError("give either rows with -i FILE, or one pair with --candidate FILE")
    if options.resume and not options.output:
        raise UsageError("--resume needs the output of the interrupted run: -o FILE")
    if options.explain and options.output == "-":
        raise UsageError("--explain prints on standard output; write the rows to a file: -o FILE")
    if options.json == "-" and (options.explain or options.output == "-"):
        raise UsageError("--json - prints on standard output; omit --explain, and write the rows to a file")
    _check_outputs(options)


def _check_outputs(options: ScoreOptions) -> None:
    """Raise UsageError if an output is an input, another output, or exists and may not be replaced."""
    outputs = (options.output, options.json, options.junit)
    written = [os.path.realpath(name) for name in outputs if name not in (None, "-") and not is_stream(name)]
    if len(set(written)) < len(written):
        raise UsageError("-o, --json and --junit name one file; give each its own")
    for name in (options.json, options.junit):
        if name not in (None, "-"):
            check_output(name, inputs=_inputs(options))
            if is_filled(name) and not (options.overwrite or options.resume):
                raise UsageError(f"{name} already exists; replace it with --overwrite")


def _with_absent(rows: Iterator[Row]) -> tuple[Iterator[Row], tuple[Need, ...]]:
    """Return rows with the fields that none of the first ones has."""
    first = list(islice(rows, LOOKED_AT))
    given = {need for row in first for need in NEEDS if getattr(row.example, need)}
    absent = tuple(need for need in NEEDS if need not in given) if first else ()
    return chain(first, rows), absent


@contextmanager
def _engine(plan: Plan, devices: Sequence[str]) -> Iterator[tuple[Labelled, ScoreRows]]:
    """Build the metrics, in this process or in workers; yield them, and what scores rows with them."""
    if len(devices) > 1:
        with Workers(plan, devices) as workers:
            yield workers.metrics, workers.score_rows
        return
    metrics = plan.build()
    limit = plan.max_seconds_per_row

    def score(rows: Iterator[Row]) -> Iterator[list[Scored]]:
        rows = announced(rows, metrics, limited=limit is not None)
        return score_rows([metric for _, metric in metrics], rows, max_seconds_per_row=limit)

    yield metrics, score


def _writing(options: ScoreOptions) -> Writing:
    return Writing(
        spans=parse_spans(options.spans),
        resume=options.resume,
        overwrite=options.overwrite,
        inputs=_inputs(options),
    )


def _inputs(options: ScoreOptions) -> list[str | None]:
    return [
        options.input,
        options.candidate,
        options.source,
        *options.reference,
        options.fail_below_baseline,
    ]


def _rows(path: str, options: ScoreOptions) -> Iterable[Row]:
    def read() -> Iterator[Row]:
        rows = read_rows(path, fields=parse_fields(options.fields))
        return islice(with_language(rows, options.language), options.limit)

    if options.shard is None:
        return read()
    if path == "-":
        raise UsageError("--shard reads its input twice; name a file")
    number, parts = options.shard
    count = sum(1 for _ in read())
    return islice(read(), count * (number - 1) // parts, count * number // parts)


def _score(
    summary: Summary, score: ScoreRows, rows: Iterator[Row], sink: Sink, options: ScoreOptions
) -> None:
    """Score chunk by chunk; write each chunk before the next one is scored."""
    try:
        sink.begin(summary.metrics)
        for chunk in sink.done(rows):
            summary.add(chunk)
        if summary.count:
            LOG.info(f"gistmeter: resuming after {summary.count} rows")
        with rows_bar(None, label="score", shown=not options.quiet) as bar:
            for chunk in score(rows):
                sink.write(chunk)
                summary.add(chunk)
                bar.update(len(chunk))
    except KeyboardInterrupt:
        safe = f"; {sink.safe} rows are in {options.output}.part, continue with --resume"
        LOG.info(f"gistmeter: stopped after {summary.count} rows{safe if sink.safe else ''}")
        raise


def _print(summary: Summary, options: ScoreOptions, pair: Example | None) -> None:
    """Print the evidence, the scores of one pair or the table of means; write the summary."""
    results = summary.results(seed=options.seed) if pair is None or options.json is not None else []
    if options.json is not None:
        figures = json.dumps([result_row(label, result) for label, result in results], indent=1) + "\n"
        if options.json == "-":
            sys.stdout.write(figures)
            return
        write_whole(options.json, figures.encode())
    if options.explain:
        _explain(summary, options)
    if options.output == "-" or (options.explain and pair):
        return
    if pair is not None:
        scores = zip(summary.metrics, summary.kept[0].scores, strict=True)
        text = "\n\n".join(
            pair_text(label, score, pair) + _standing(metric.signature.text, score.value)
            for (label, metric), score in scores
        )
    else:
        text = score_table(results)
    sys.stdout.write(text.rstrip("\n") + "\n")


def _standing(signature: str, value: float) -> str:
    """Return where a value stands among those of known texts; nothing if they were scored otherwise."""
    from gistmeter.described.describe import anchors_of

    anchors = anchors_of(signature)
    return "" if anchors is None or math.isnan(value) else f"\n\n{anchors.standing(value)}"


def _explain(summary: Summary, options: ScoreOptions) -> None:
    """Print the texts of the first rows sentence by sentence."""
    from gistmeter.report.explain import explain
    from gistmeter.text.sentences import split_sentences

    for one in summary.kept[:EXPLAINED]:
        example = one.row.example
        if options.input is not None:
            sys.stdout.write(f"row {plain(example.id)}\n")
        for (label, _), score in zip(summary.metrics, one.scores, strict=True):
            explain(label, score, example, split_sentences(example.candidate, example.language), sys.stdout)
            sys.stdout.write("\n")
    if summary.count > EXPLAINED:
        LOG.info(
            f"gistmeter: --explain shows the first {EXPLAINED} of {summary.count} rows; report shows more",
        )


def _exit_code(summary: Summary) -> int:
    """Return 3 if a row is unreadable, or a metric has no value for any row of its languages; otherwise 0."""
    if summary.n_unread:
        share = f"{summary.n_unread} of {summary.count} rows"
        LOG.info(f"gistmeter: {share} are unreadable; the first: {summary.first_unread}")
    note_languages(summary)
    empty = [
        (label, next(problem for problem in column.problems() if not problem.startswith(PROBLEM)))
        for (label, _), column in zip(summary.metrics, summary.columns, strict=True)
        if all(map(math.isnan, column.values))
        and not all(problem.startswith(PROBLEM) for problem in column.problems())
    ]
    for label, problem in empty:
        LOG.info(f"gistmeter: {label} has no value for any row; the first problem: {problem}")
    return BAD_DATA if summary.n_unread or empty else 0
