"""`gistmeter score --engine ray`: a folder of shards in, a folder of shards out."""

import logging
import sys

from tabulate import tabulate

from gistmeter.app.options.score import ScoreOptions
from gistmeter.app.specs import plan_of
from gistmeter.core.errors import DataError, MissingExtra, UsageError
from gistmeter.engine.plan import Plan
from gistmeter.engine.shard import Done, Job, Tally
from gistmeter.io.output import parse_spans
from gistmeter.io.rows import parse_fields
from gistmeter.io.shards import Folder, check_outputs, output_name
from gistmeter.report.plain import plain

LOG = logging.getLogger("gistmeter")
BAD_DATA = 3


def run(options: ScoreOptions) -> int:
    """Score the shards that have no output yet; print the means over them."""
    source, target = _folders(options)
    plan = plan_of(options)
    try:
        from gistmeter.engine.ray import Cluster, score_shards
    except ImportError:
        raise MissingExtra("ray", "ray") from None
    job = Job(plan, source, target, options.fields, parse_spans(options.spans), options.language)
    parse_fields(options.fields)
    names = job.source.shards()
    if not names:
        raise DataError(f"{options.input} holds no files of rows; name a folder of shards")
    check_outputs(names)
    outputs = [output_name(name) for name in names]
    finished = job.target.begin(_head(job), resume=options.resume, overwrite=options.overwrite, names=outputs)
    left = [name for name in names if output_name(name) not in finished]
    if finished:
        LOG.info(f"gistmeter: {len(names) - len(left)} of {len(names)} shards are finished already")
    cluster = Cluster(
        options.address,
        workers=options.workers or 1,
        cpus=options.worker_cpus,
        gpus=1.0 if plan.runtime.device == "cuda" else 0.0,
        progress=not options.quiet,
    )
    done = []
    for shard in score_shards(job, left, cluster) if left else ():
        done.append(shard)
        said = shard.problem or f"{shard.rows} rows"
        LOG.info(f"gistmeter: {len(done)} of {len(left)}: {shard.name}: {said}")
    sys.stdout.write(_table(done))
    return BAD_DATA if any(shard.problem for shard in done) else 0


def _folders(options: ScoreOptions) -> tuple[Folder, Folder]:
    """Return the folders of the input and the output, after a check of the options."""
    if not options.input or not options.output or "-" in (options.input, options.output):
        raise UsageError("--engine ray reads a folder of shards and writes one: -i FOLDER -o FOLDER")
    local = {
        "--shard": options.shard,
        "--limit": options.limit,
        "--json": options.json,
        "--explain": options.explain,
        "--fail-under": options.fail_under,
        "--fail-below-baseline": options.fail_below_baseline,
        "--junit": options.junit,
    }
    given = [name for name, value in local.items() if value]
    if given:
        raise UsageError(f"{', '.join(given)}: only with --engine local; omit it, or check the output later")
    if options.device not in ("auto", "cpu", "cuda"):
        raise UsageError(f"Ray assigns the devices; write --device cuda, not {options.device}")
    source, target = Folder(options.input), Folder(options.output)
    if source.is_same(target):
        raise UsageError("the shards would be replaced by their scores; choose another output")
    return source, target


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
        **({"language": job.language} if job.language else {}),
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
