"""`gistmeter report`."""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from gistmeter.app.specs import note
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.core.row import Row
from gistmeter.face import write_html
from gistmeter.io.files import check_output, is_filled, is_stream
from gistmeter.io.rows import parse_fields, read_rows
from gistmeter.io.scores_output import RowKey, ScoresOutput, read_scores
from gistmeter.report.html.data import shown_rows
from gistmeter.report.report import Report


def run(arguments: argparse.Namespace) -> int:
    """Read scores, and the rows they are of; write one HTML file."""
    check_output(arguments.output, inputs=[arguments.scores, arguments.input])
    if is_filled(arguments.output) and not arguments.overwrite:
        raise UsageError(f"{arguments.output} is there already; --overwrite replaces it")
    report = read_report(arguments)
    write_html(report, arguments.output, title=Path(arguments.scores).name, rows=arguments.rows)
    if not is_stream(arguments.output):
        sys.stdout.write(f"{arguments.output}\n")
    return 0


def read_report(arguments: argparse.Namespace) -> Report:
    """Return the report of a file of scores; only the rows that are shown have texts and spans."""
    keys = list(read_scores(arguments.scores).rows)
    shown = {keys[at] for at in shown_rows(len(keys), arguments.rows)}
    output = read_scores(arguments.scores, whole=shown)
    rows = _rows(arguments, output, shown) if arguments.input else {}
    if not arguments.input:
        note(arguments, "gistmeter: give the rows that were scored with -i FILE to see their texts")
    return Report.of(
        {
            label: (signature, [output.score(label, key) for key in keys])
            for label, signature in output.signatures.items()
        },
        [_example(key, output, rows) for key in keys],
        human=[rows[key].scores if key in rows else {} for key in keys],
        seed=arguments.seed,
    )


def _rows(arguments: argparse.Namespace, output: ScoresOutput, shown: set[RowKey]) -> dict[RowKey, Row]:
    """Read the rows that have scores; the texts of those that are not shown are dropped at once."""
    found: dict[RowKey, Row] = {}
    seen: Counter[str] = Counter()
    for row in read_rows(arguments.input, fields=parse_fields(arguments.fields)):
        key = RowKey(row.example.id, seen[row.example.id])
        seen[key.id] += 1
        if key in output.rows:
            found[key] = row if key in shown else Row(Example(key.id, ""), row.scores)
    if not found:
        raise DataError(
            f"no id of {arguments.input} is in {arguments.scores}; give the rows that were scored"
        )
    if missing := len(output.rows) - len(found):
        note(
            arguments, f"gistmeter: {missing} of {len(output.rows)} scored rows are not in {arguments.input}"
        )
    return found


def _example(key: RowKey, output: ScoresOutput, rows: Mapping[RowKey, Row]) -> Example:
    labels = output.rows[key]
    example = rows[key].example if key in rows else Example(key.id, "")
    return Example(key.id, example.candidate, example.source, example.references, *labels)
