"""Scores shards on a Ray cluster with Ray Data: an actor builds the metrics once, then takes shards.

Ray restarts an actor that dies and gives its shard to another one.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import ray
import ray.data

from gistmeter.engine.shard import Done, Job, Tally, score_shard

RETRIES = 3
"""How often a shard is given to another actor; one that kills this many ends the run."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """How much of a cluster to use.

    Args:
        address: Of its head; "auto" for the one that this machine belongs to; None starts Ray here.
        workers: How many actors.
        cpus: Of each actor; less than one leaves room for what Ray itself runs.
        gpus: Of each actor.
        progress: Whether Ray shows its progress.
    """

    address: str | None = None
    workers: int = 1
    cpus: float = 0.5
    gpus: float = 0.0
    progress: bool = True


class _Scorer:
    """The actor: builds the metrics when it starts."""

    def __init__(self, job: Job) -> None:
        self._job, self._metrics = job, job.plan.on(job.plan.runtime.device).build()

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Score shards."""
        done = [score_shard(self._job, self._metrics, str(name)) for name in batch["shard"]]
        return {"done": [json.dumps(asdict(each)) for each in done]}


def score_shards(job: Job, names: Sequence[str], cluster: Cluster) -> Iterator[Done]:
    """Score shards; yield each one that is finished, in any order.

    Args:
        job: What to do with them.
        names: Of the shards; at least one.
        cluster: What to use.
    """
    started = not ray.is_initialized()
    if started:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anyone
        ray.init(address=cluster.address, log_to_driver=cluster.progress, logging_level="warning")
    try:
        ray.data.DataContext.get_current().enable_progress_bars = cluster.progress
        shards = ray.data.from_items([{"shard": name} for name in names], override_num_blocks=len(names))
        scored = shards.map_batches(
            _Scorer,
            fn_constructor_args=(job,),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(
                size=min(cluster.workers, len(names)), max_tasks_in_flight_per_actor=1
            ),
            num_cpus=cluster.cpus,
            num_gpus=cluster.gpus,
            max_restarts=-1,
            max_task_retries=RETRIES,
        )
        for row in scored.iter_rows():
            yield _done(row["done"])
    finally:
        if started:
            ray.shutdown()


def _done(text: str) -> Done:
    values = json.loads(text)
    return Done(**(values | {"tallies": {label: Tally(**each) for label, each in values["tallies"].items()}}))
