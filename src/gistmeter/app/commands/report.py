"""`gistmeter report`."""

import logging
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from gistmeter.app.options.report import ReportOptions
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.core.row import Row
from gistmeter.face import write_html
from gistmeter.io.files import check_output, is_filled, is_stream
from gistmeter.io.rows import parse_fields, read_rows
from gistmeter.io.scores_output import RowKey, ScoresOutput, read_scores
from gistmeter.report.html.data import shown_rows
from gistmeter.report.report import Report

LOG = logging.getLogger("gistmeter")


def run(options: ReportOptions) -> int:
    """Read scores, and the rows they are of; write one HTML file."""
    check_output(options.output, inputs=[options.scores, options.input])
    if is_filled(options.output) and not options.overwrite:
        raise UsageError(f"{options.output} is there already; --overwrite replaces it")
    report = read_report(options)
    write_html(report, options.output, title=Path(options.scores).name, rows=options.rows)
    if not is_stream(options.output):
        sys.stdout.write(f"{options.output}\n")
    return 0


def read_report(options: ReportOptions) -> Report:
    """Return the report of a file of scores; only the rows that are shown have texts and spans."""
    keys = list(read_scores(options.scores).rows)
    shown = {keys[at] for at in shown_rows(len(keys), options.rows)}
    output = read_scores(options.scores, whole=shown)
    rows = _rows(options.input, options, output, shown) if options.input else {}
    if not options.input:
        LOG.info("gistmeter: give the rows that were scored with -i FILE to see their texts")
    return Report.of(
        {
            label: (signature, [output.score(label, key) for key in keys])
            for label, signature in output.signatures.items()
        },
        [_example(key, output, rows) for key in keys],
        human=[rows[key].scores if key in rows else {} for key in keys],
        seed=options.seed,
    )


def _rows(path: str, options: ReportOptions, output: ScoresOutput, shown: set[RowKey]) -> dict[RowKey, Row]:
    """Read the rows that have scores; the texts of those that are not shown are dropped at once."""
    found: dict[RowKey, Row] = {}
    seen: Counter[str] = Counter()
    for row in read_rows(path, fields=parse_fields(options.fields)):
        key = RowKey(row.example.id, seen[row.example.id])
        seen[key.id] += 1
        if key in output.rows:
            found[key] = row if key in shown else Row(Example(key.id, ""), row.scores)
    if not found:
        raise DataError(f"no id of {path} is in {options.scores}; give the rows that were scored")
    if missing := len(output.rows) - len(found):
        LOG.info(f"gistmeter: {missing} of {len(output.rows)} scored rows are not in {path}")
    return found


def _example(key: RowKey, output: ScoresOutput, rows: Mapping[RowKey, Row]) -> Example:
    labels = output.rows[key]
    example = rows[key].example if key in rows else Example(key.id, "")
    return Example(key.id, example.candidate, example.source, example.references, *labels)
