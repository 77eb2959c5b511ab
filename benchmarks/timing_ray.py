"""Compare Ray with plain processes: rows per second of the same shards, scored side by side in one run.

    python benchmarks/timing_ray.py --data summeval.dev.jsonl.gz [--metric speed:against=source] [--shards 32]

Two plain processes score half of the shards each, one shard after the other; then two Ray actors score all
of them. Both run with one thread per process. The first quarter of the shards, in which models load, does not
count.
"""

import argparse
import gzip
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.queues import Queue
from pathlib import Path
from statistics import median

from gistmeter.engine.plan import Plan
from gistmeter.engine.ray import Cluster, score_shards
from gistmeter.engine.shard import Done, Job, score_shard
from gistmeter.io.shards import Folder

WORKERS = 2


def main() -> None:
    """Write shards, score them twice, print rows per second and their ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="rows of a jsonl file")
    parser.add_argument("--metric", default="speed:against=source")
    parser.add_argument("--shards", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = write_shards(options.data, folder / "in", options.shards)
        job = Job(Plan((options.metric,)), Folder(str(folder / "in")), Folder(str(folder / "out")))
        ratios = []
        for repeat in range(options.repeats):
            job.target.begin({}, resume=False, overwrite=True)
            plain = rate(processes(job, names), len(names))
            job.target.begin({}, resume=False, overwrite=True)
            actors = rate(score_shards(job, names, Cluster(workers=WORKERS, progress=False)), len(names))
            ratios.append(actors / plain)
            print(
                f"run {repeat + 1}: processes {plain:.1f} rows/s, Ray {actors:.1f} rows/s, {ratios[-1]:.2f}",
                flush=True,
            )
        print(f"median ratio {median(ratios):.2f}")


def write_shards(data: str, folder: Path, count: int) -> list[str]:
    """Distribute the rows of a file over shards; return the names of the shards."""
    with (gzip.open if data.endswith(".gz") else open)(data, "rt", encoding="utf-8") as file:
        lines = list(file)
    folder.mkdir()
    names = [f"{at:03}.jsonl" for at in range(count)]
    for at, name in enumerate(names):
        (folder / name).write_text("".join(lines[at::count]), encoding="utf-8")
    return names


def processes(job: Job, names: Sequence[str]) -> Iterator[Done]:
    """Score shards in plain processes, each with its own part; yield each finished shard."""
    context = multiprocessing.get_context("spawn")
    results: Queue[Done] = context.Queue()
    running = [
        context.Process(target=_score, args=(job, names[at::WORKERS], results)) for at in range(WORKERS)
    ]
    for process in running:
        process.start()
    for _ in names:
        yield results.get()
    for process in running:
        process.join()


def _score(job: Job, names: Sequence[str], results: "Queue[Done]") -> None:
    metrics = job.plan.build()
    for name in names:
        results.put(score_shard(job, metrics, name))


def rate(done: Iterable[Done], shards: int) -> float:
    """Return rows per second, without the first quarter of the shards: all workers have started then."""
    rows, start = 0, 0.0
    for number, shard in enumerate(done, 1):
        if shard.problem is not None:
            raise SystemExit(f"{shard.name}: {shard.problem}")
        if number > shards // 4:
            rows += shard.rows
        elif number == shards // 4:
            start = time.perf_counter()
    return rows / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
