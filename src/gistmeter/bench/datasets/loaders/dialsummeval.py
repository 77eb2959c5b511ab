"""Load DialSummEval: JSON lines, one dialogue summary each, with ratings by three students."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from gistmeter.bench.datasets.loaders.records import json_lines
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.core.row import Row

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")


def read(path: Path) -> Iterator[Row]:
    """Read `human_judgment.jsonl`; scores are means over the annotators."""
    for record in json_lines(path):
        document, system = record.label("id"), record.text("model_id")
        votes = record.records("annotations")
        if not votes:
            raise DataError(f"{record.place}: annotations is empty")
        source = record.text("dialogue")
        example = Example(
            f"{document}|{system}", record.text("summary"), source, system=system, doc_id=document
        )
        yield Row(example, {name: fmean(vote.number(name) for vote in votes) for name in DIMENSIONS})
