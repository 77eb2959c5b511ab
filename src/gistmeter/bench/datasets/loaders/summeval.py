"""Load SummEval's aligned annotations: JSON lines, one summary each, with its ratings."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from gistmeter.bench.datasets.loaders.records import Record, json_lines
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.core.row import Row

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")


def read(path: Path) -> Iterator[Row]:
    """Read `model_annotations.aligned.jsonl`, or the same file paired with its articles.

    Scores are means over the three experts; crowd ratings are ignored, as in the paper's correlations. The
    first reference is the original highlights. Without the articles, rows have no source.
    """
    for record in json_lines(path):
        document, system = record.label("id"), record.text("model_id")
        experts = record.records("expert_annotations")
        if not experts:
            raise DataError(f"{record.place}: expert_annotations is empty")
        example = Example(
            f"{document}|{system}",
            record.text("decoded"),
            source=record.text("text") if "text" in record.values else None,
            references=_references(record),
            system=system,
            doc_id=document,
        )
        yield Row(example, {name: fmean(vote.number(name) for vote in experts) for name in DIMENSIONS})


def _references(record: Record) -> list[str]:
    references = record.values.get("references")
    if not isinstance(references, list) or not all(isinstance(text, str) for text in references):
        raise DataError(f"{record.place}: references must be a list of strings")
    return references
