"""Load ASSET's human ratings: a csv file with one line per worker, sentence and aspect."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev

from gistmeter.bench.datasets.loaders.records import Record, csv_records, lines_of
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.core.row import Row

COLUMNS = ("original", "simplification", "original_sentence_id", "aspect", "worker_id", "rating")


def read(ratings: Path, originals: Path, *simplifications: Path) -> Iterator[Row]:
    """Read `human_ratings.csv`, with references from ASSET's test split.

    The score of each aspect is the mean rating; NAME_z is the mean z-score. z-scores are computed per worker
    and aspect with the population standard deviation, as in Simplicity-DA; they are 0 for a worker whose
    ratings of an aspect are all equal.

    Args:
        ratings: File with one line per worker, sentence and aspect.
        originals: `asset.test.orig`, one sentence per line.
        simplifications: `asset.test.simp.0` and so on, aligned with `originals` by line.
    """
    records = csv_records(ratings, COLUMNS)
    z = _z_scores(records)
    references = References.read(originals, simplifications)
    items: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        key = (record.text("original_sentence_id"), record.text("original"), record.text("simplification"))
        items.setdefault(key, []).append(record)
    first = {key[0]: key for key in reversed(items)}
    for key, votes in items.items():
        number, source, candidate = key
        if first[number] != key:
            raise DataError(f"{votes[0].place}: sentence {number} has a second simplification")
        scores: dict[str, float] = {}
        for aspect in dict.fromkeys(vote.text("aspect") for vote in votes):
            of_aspect = [vote for vote in votes if vote.text("aspect") == aspect]
            scores[aspect] = fmean(vote.number("rating") for vote in of_aspect)
            scores[f"{aspect}_z"] = fmean(z[vote.place] for vote in of_aspect)
        known = references.of(votes[0].number("original_sentence_id"), source, votes[0].place)
        example = Example(f"asset_hr_{number}", candidate, source, known, doc_id=number)
        yield Row(example, scores)


@dataclass(frozen=True, slots=True)
class References:
    """References of ASSET's test split.

    Args:
        sentences: Original sentences.
        columns: Simplifications of each file, aligned with `sentences`.
    """

    sentences: list[str]
    columns: list[list[str]]

    @classmethod
    def read(cls, originals: Path, simplifications: Sequence[Path]) -> "References":
        """Read the files.

        Raises:
            DataError: If the numbers of lines differ.
        """
        sentences = lines_of(originals)
        columns = [lines_of(path) for path in simplifications]
        for path, column in zip(simplifications, columns, strict=True):
            if len(column) != len(sentences):
                raise DataError(f"{path} has {len(column)} lines, but {originals} has {len(sentences)}")
        return cls(sentences, columns)

    def of(self, position: float, source: str, place: str) -> list[str]:
        """Return the references of the sentence at a position, counted from 0.

        Raises:
            DataError: If the sentence at that position differs in more than case and punctuation.
        """
        at = int(position)
        if not 0 <= at < len(self.sentences) or _letters(self.sentences[at]) != _letters(source):
            raise DataError(f"{place}: the sentence is not number {at} of ASSET's test split")
        return [column[at] for column in self.columns]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _z_scores(records: Sequence[Record]) -> dict[str, float]:
    """Return the z-score of each rating, keyed by the place of its record."""
    by_worker: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        by_worker.setdefault((record.text("worker_id"), record.text("aspect")), []).append(record)
    found = {}
    for votes in by_worker.values():
        ratings = [vote.number("rating") for vote in votes]
        mean, spread = fmean(ratings), pstdev(ratings)
        for vote, rating in zip(votes, ratings, strict=True):
            found[vote.place] = (rating - mean) / spread if spread else 0.0
    return found
