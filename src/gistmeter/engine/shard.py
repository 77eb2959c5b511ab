"""Scores one shard: what an actor of a cluster does, and no cluster is needed for it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gistmeter.core.errors import DataError
from gistmeter.core.row import with_language
from gistmeter.engine.local import score_rows
from gistmeter.engine.plan import Plan
from gistmeter.io.rows import parse_fields, read_rows
from gistmeter.io.scored import Labelled, Scored
from gistmeter.io.shards import Folder, output_name
from gistmeter.io.sinks import Writing, open_sink


@dataclass(frozen=True, slots=True)
class Job:
    """What to do with every shard.

    Args:
        plan: The metrics.
        source: Where the shards are.
        target: Where their outputs go.
        fields: Other names of columns, as on the command line.
        spans: How many spans of a score are written; None for all.
        language: Of the rows that name none; None if it is not known.
    """

    plan: Plan
    source: Folder
    target: Folder
    fields: str = ""
    spans: int | None = None
    language: str | None = None


@dataclass(slots=True)
class Tally:
    """How a metric did on some rows.

    Args:
        n: Rows with a value.
        n_undefined: Rows without one.
        total: Of the values.
    """

    n: int = 0
    n_undefined: int = 0
    total: float = 0.0

    def add(self, value: float) -> None:
        """Take a value; NaN is none."""
        if math.isnan(value):
            self.n_undefined += 1
        else:
            self.n += 1
            self.total += value


@dataclass(slots=True)
class Done:
    """A shard that is finished, or one that failed.

    Args:
        name: Of the shard.
        rows: How many rows it has.
        tallies: By the metrics' labels.
        problem: Why there is no output; None if there is.
    """

    name: str
    rows: int
    tallies: dict[str, Tally]
    problem: str | None = None


def score_shard(job: Job, metrics: Labelled, name: str) -> Done:
    """Score a shard and write its output; a shard that cannot be read has a problem and no output.

    Args:
        job: Where it is and how it is written.
        metrics: Built from the job's plan.
        name: Of the shard.
    """
    done = Done(name, 0, {label: Tally() for label, _ in metrics})
    try:
        with job.source.copy(name) as copy:
            output = copy.parent.parent / "out" / output_name(name)
            output.parent.mkdir()
            _score(job, metrics, copy, output, done)
            job.target.put(output.name, output)
    except DataError as error:
        done.problem = str(error)
    return done


def _score(job: Job, metrics: Labelled, source: Path, output: Path, done: Done) -> None:
    with open_sink(str(output), Writing(spans=job.spans)) as sink:
        sink.begin(metrics)
        for chunk in _chunks(job, metrics, source):
            sink.write(chunk)
            done.rows += len(chunk)
            for one in chunk:
                for tally, score in zip(done.tallies.values(), one.scores, strict=True):
                    tally.add(score.value)
        sink.finish()


def _chunks(job: Job, metrics: Labelled, source: Path) -> Iterator[list[Scored]]:
    rows = with_language(read_rows(source, fields=parse_fields(job.fields)), job.language)
    return score_rows(
        [metric for _, metric in metrics], rows, max_seconds_per_row=job.plan.max_seconds_per_row
    )
