"""XSum's hallucinations: a csv file with a line a span that a worker marked, and one of factuality votes."""

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
    """Read the two csv files; the summaries of the system Gold become the references of the others.

    `faithful_workers` is the share of workers who marked nothing, `faithful_char_share` one less the mean
    share of characters that a worker marked, `factual_workers` the share of yes to is_factual, 1 where
    nobody was asked. The files hold no articles, so rows have no source.

    Args:
        hallucinations: `hallucination_annotations_xsum_summaries.csv`. Spans count characters from 1; a
            worker who marked nothing has one line of type NULL.
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
    """Return a text without the backslashes before apostrophes, which spans do not count, and line breaks."""
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
    """Return a marked span; where a line break was marked too its offsets are off, but its text is there."""
    text = _clean(record.text("hallucinated_span"))
    start = int(record.number("hallucinated_span_start")) - 1
    if start < 0 or not summary.startswith(text, start):
        start = summary.find(text)
    if start < 0 or not text:
        raise DataError(f"{record.place}: the span {text!r} is not in its summary")
    return range(start, start + len(text))
