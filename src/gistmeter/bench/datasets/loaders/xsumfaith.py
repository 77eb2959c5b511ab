"""Load XSum hallucination annotations: a csv file of spans marked by workers, and one of factuality votes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from gistmeter.bench.datasets.loaders.records import Record, csv_records
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.core.row import Row

SPANS = ("bbcid", "system", "summary", "hallucination_type", "hallucinated_span", "hallucinated_span_start",
         "worker_id")  # fmt: skip
VOTES = ("bbcid", "system", "is_factual", "worker_id")
REFERENCE = "Gold"
Key = tuple[str, str]  # document, system


def read(hallucinations: Path, factuality: Path) -> Iterator[Row]:
    """Read the two csv files; summaries of the system Gold are the references of the other systems.

    `faithful_workers` is the share of workers who marked no span. `faithful_char_share` is 1 minus the mean
    share of characters marked. `factual_workers` is the share of yes votes for is_factual, or 1 if there are
    no votes. The files have no articles, so rows have no source.

    Args:
        hallucinations: `hallucination_annotations_xsum_summaries.csv`. Span offsets are 1-based; a worker who
            marked no span has one line of type NULL.
        factuality: `factuality_annotations_xsum_summaries.csv`.
    """
    marks = _grouped(csv_records(hallucinations, SPANS))
    votes = _grouped(csv_records(factuality, VOTES))
    for (document, system), records in marks.items():
        if system == REFERENCE:
            continue
        candidate = _clean(records[0].text("summary"))
        gold = marks.get((document, REFERENCE))
        references = [_clean(gold[0].text("summary"))] if gold else []
        example = Example(f"{document}|{system}", candidate, None, references, system, document)
        yes = [vote.text("is_factual") == "yes" for vote in votes.get((document, system), ())]
        yield Row(example, _faithful(records, candidate) | {"factual_workers": fmean(yes or [1.0])})


def _grouped(records: Sequence[Record]) -> dict[Key, list[Record]]:
    groups: dict[Key, list[Record]] = {}
    for record in records:
        groups.setdefault((record.text("bbcid"), record.text("system")), []).append(record)
    return groups


def _clean(text: str) -> str:
    """Remove backslashes before apostrophes, which span offsets do not count, and escaped line breaks."""
    return text.replace("\\'", "'").replace("\\n", " ").strip()


def _faithful(records: Sequence[Record], summary: str) -> dict[str, float]:
    marked: dict[str, set[int]] = {}
    for record in records:
        characters = marked.setdefault(record.text("worker_id"), set())
        if record.text("hallucination_type") != "NULL":
            characters.update(_span(record, summary))
    shares = [len(characters) / len(summary) for characters in marked.values()]
    return {
        "faithful_workers": fmean(not share for share in shares),
        "faithful_char_share": 1 - fmean(shares),
    }


def _span(record: Record, summary: str) -> range:
    """Return a marked span; if its offsets are off because of a line break, it is located by its text."""
    text = _clean(record.text("hallucinated_span"))
    start = int(record.number("hallucinated_span_start")) - 1
    if start < 0 or not summary.startswith(text, start):
        start = summary.find(text)
    if start < 0 or not text:
        raise DataError(f"{record.place}: the span {text!r} is not in its summary")
    return range(start, start + len(text))
