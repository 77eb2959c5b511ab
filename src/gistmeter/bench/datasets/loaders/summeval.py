"""Load SummEval's aligned annotations: JSON lines, one summary each, with its ratings.

The authors publish no articles; a second file has them.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from gistmeter.bench.datasets.loaders.records import Record, json_lines
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.core.row import Row

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")


def read(path: Path, articles: Path | None = None) -> Iterator[Row]:
    """Read `model_annotations.aligned.jsonl`.

    Scores are means over the three experts; crowd ratings are ignored, as in the paper's correlations. The
    first reference is the original highlights. The document is named by the last part of its id, a hash.

    Args:
        path: The annotations.
        articles: A file with the same ids and with articles; without it, `path` may have them (the authors'
            pair_data.py adds them), or rows have no source.
    """
    texts = {record.label("id"): record.text("text") for record in json_lines(articles)} if articles else {}
    for record in json_lines(path):
        label, system = record.label("id"), record.text("model_id")
        document = label.rpartition("-")[2]
        experts = record.records("expert_annotations")
        if not experts:
            raise DataError(f"{record.place}: expert_annotations is empty")
        example = Example(
            f"{document}|{system}",
            record.text("decoded"),
            source=record.text("text") if "text" in record.values else texts.get(label),
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
