"""Load FRANK: a JSON list of texts and one of judgements, joined by article and system."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from gistmeter.bench.datasets.loaders.records import Record, json_list
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.core.row import Row

DIMENSIONS = ("Factuality", "Semantic_Frame_Errors", "Discourse_Errors", "Content_Verifiability_Errors",
              "RelE", "EntE", "CircE", "OutE", "GramE", "CorefE", "LinkE", "Other")  # fmt: skip


def read(texts: Path, judgements: Path, *, half: Literal["cnndm", "bbc"]) -> Iterator[Row]:
    """Read one half of FRANK; the halves are separate data sets and are never pooled.

    Every score is 1 if no sentence of a summary has an error of that kind, and 0 if all sentences have.

    Args:
        texts: `benchmark_data.json`, with articles, summaries and references.
        judgements: `human_annotations.json`.
        half: Name of the half in `judgements`.
    """
    judged = {_key(record): record for record in json_list(judgements) if record.text("dataset") == half}
    if not judged:
        raise DataError(f"{judgements} has no judgement with dataset {half!r}")
    for record in json_list(texts):
        key = _key(record)
        if key not in judged:
            continue
        document, system = key
        candidate, source = record.text("summary"), record.text("article")
        references = [record.text("reference")]
        example = Example(f"{document}|{system}", candidate, source, references, system, document)
        found = judged.pop(key)
        yield Row(example, {name: found.number(name) for name in DIMENSIONS})
    if judged:
        raise DataError(
            f"{texts} lacks {len(judged)} summaries that {judgements.name} judges; fetch both again"
        )


def _key(record: Record) -> tuple[str, str]:
    return record.label("hash"), record.text("model_name")
