"""`gistmeter score --engine ray`: a folder of shards in, a folder of shards out."""

import argparse
import sys

from tabulate import tabulate

from gistmeter.app.specs import note, plan_of
from gistmeter.core.errors import DataError, MissingExtra, UsageError
from gistmeter.engine.plan import Plan
from gistmeter.engine.shard import Done, Job, Tally
from gistmeter.io.output import parse_spans
from gistmeter.io.rows import parse_fields
from gistmeter.io.shards import Folder, output_name
from gistmeter.report.plain import plain

BAD_DATA = 3


def run(arguments: argparse.Namespace) -> int:
    """Score the shards that have no output yet; print the means over them."""
    plan = plan_of(arguments)
    _check(arguments)
    try:
        from gistmeter.engine.ray import Cluster, score_shards
    except ImportError:
        raise MissingExtra("ray", "ray") from None
    job = Job(
        plan,
        Folder(arguments.input),
        Folder(arguments.output),
        arguments.fields,
        parse_spans(arguments.spans),
    )
    parse_fields(arguments.fields)
    names = job.source.shards()
    if not names:
        raise DataError(f"{arguments.input} holds no files of rows; name a folder of shards")
    finished = job.target.begin(_head(job), resume=arguments.resume, overwrite=arguments.overwrite)
    left = [name for name in names if output_name(name) not in finished]
    if finished:
        note(arguments, f"gistmeter: {len(names) - len(left)} of {len(names)} shards are finished already")
    cluster = Cluster(
        arguments.address,
        workers=arguments.workers or 1,
        cpus=arguments.worker_cpus,
        gpus=1.0 if plan.runtime.device == "cuda" else 0.0,
        progress=not arguments.quiet,
    )
    done = []
    for shard in score_shards(job, left, cluster) if left else ():
        done.append(shard)
        said = shard.problem or f"{shard.rows} rows"
        note(arguments, f"gistmeter: {len(done)} of {len(left)}: {shard.name}: {said}")
    sys.stdout.write(_table(done))
    return BAD_DATA if any(shard.problem for shard in done) else 0


def _check(arguments: argparse.Namespace) -> None:
    if not arguments.input or not arguments.output or "-" in (arguments.input, arguments.output):
        raise UsageError("--engine ray reads a folder of shards and writes one: -i FOLDER -o FOLDER")
    if arguments.shard or arguments.limit:
        raise UsageError("--shard and --limit are for --engine local; the shards are the files of the folder")
    if arguments.device not in ("auto", "cpu", "cuda"):
        raise UsageError(f"Ray assigns the devices; write --device cuda, not {arguments.device}")
    if "://" not in arguments.input and arguments.input == arguments.output:
        raise UsageError("the shards would be replaced by their scores; choose another output")


def _head(job: Job) -> dict[str, object]:
    plan: Plan = job.plan
    return {
        "metrics": list(plan.specs),
        "dimension": plan.dimension,
        "preset": plan.preset,
        "model": plan.model,
        "dtype": plan.runtime.dtype,
        "spans": job.spans,
        "fields": job.fields,
    }


def _table(done: list[Done]) -> str:
    """Lay out the mean of each metric over the shards of this run."""
    sums: dict[str, Tally] = {}
    for shard in done:
        for label, tally in shard.tallies.items() if shard.problem is None else ():
            total = sums.setdefault(label, Tally())
            total.n += tally.n
            total.n_undefined += tally.n_undefined
            total.total += tally.total
    rows = [
        (plain(label), f"{tally.total / tally.n:.3f}" if tally.n else "—", tally.n, tally.n_undefined)
        for label, tally in sums.items()
    ]
    return tabulate(rows, ["metric", "mean", "n", "undefined"], disable_numparse=True) + "\n"
