"""Load Simplicity-DA: a csv file with one line per simplification, with mean ratings and z-scores."""

from collections.abc import Iterator
from pathlib import Path

from gistmeter.bench.datasets.loaders.asset import References
from gistmeter.bench.datasets.loaders.records import csv_records
from gistmeter.core.example import Example
from gistmeter.core.row import Row

ASPECTS = ("fluency", "meaning", "simplicity")
COLUMNS = ("sent_id", "sys_name", "orig_sent", "simp_sent", *ASPECTS, *(f"{name}_zscore" for name in ASPECTS))


def read(ratings: Path, originals: Path, *simplifications: Path) -> Iterator[Row]:
    """Read `simplicity_DA.csv`, with references from ASSET's test split; NAME_z is the published z-score.

    Args:
        ratings: File with one line per simplification.
        originals: `asset.test.orig`, one sentence per line.
        simplifications: `asset.test.simp.0` and so on, aligned with `originals` by line.
    """
    references = References.read(originals, simplifications)
    for record in csv_records(ratings, COLUMNS):
        number, system, source = (record.text(name) for name in ("sent_id", "sys_name", "orig_sent"))
        position = int(record.number("sent_id")) - 1
        scores = {name: record.number(name) for name in ASPECTS}
        scores |= {f"{name}_z": record.number(f"{name}_zscore") for name in ASPECTS}
        example = Example(
            f"simpDA_{number}|{system}",
            record.text("simp_sent"),
            source,
            references.of(position, source, record.place),
            system,
            doc_id=str(position),
        )
        yield Row(example, scores)
