"""Measure `gistmeter serve` under load on this machine, and compare it with one call of `score`.

The texts are sentences of examples/careful.jsonl in random order, each with a number, so that no text recurs.
First one process scores all rows in one call. Then a service scores the same rows for a few clients that
send one row at a time; last, many clients send many requests. Each value is compared with that of the one
call. All traffic stays on 127.0.0.1, and each phase ends after a count of requests or after --seconds.

    python benchmarks/timing_serve.py
    python benchmarks/timing_serve.py --rows 60 --requests 300 --many 50    # a short run
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np

CAREFUL = Path(__file__).parents[1] / "examples" / "careful.jsonl"
WARM = 8
SLACK = 1e-4
Row = dict[str, Any]


@dataclass
class Load:
    """What clients saw.

    Attributes:
        seconds: The time of each request that was answered with 200.
        statuses: How many answers had each status; 0 for a connection that failed.
        wrong: The requests whose answer had another id or value than expected.
        megabytes: The memory of the service, measured ten times.
        processor: The processor seconds of the service.
        total: The time of all requests.
    """

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: int = 0
    megabytes: list[float] = field(default_factory=list)
    processor: float = 0.0
    total: float = 0.0


@dataclass(frozen=True)
class Alone:
    """The speed of one call; by processor time, it does not depend on what else the machine does."""

    rows_a_second: float
    rows_a_processor_second: float


def made_rows(count: int) -> list[Row]:
    """Return rows of distinct texts."""
    texts = [json.loads(line) for line in CAREFUL.read_text("utf-8").splitlines()]
    sentences = [each for text in texts[::2] for each in re.split(r"(?<=[.!?])\s+", text["source"])]
    draw = random.Random(1)

    def text(number: int, length: int) -> str:
        return " ".join(f"{one[:-1]} {number}{one[-1]}" for one in draw.sample(sentences, length))

    return [
        {"id": str(at), "candidate": text(at, 3), "source": text(at, 8), "references": [text(at, 3)]}
        for at in range(count)
    ]


def one_call(metric: str, count: int) -> None:
    """Score all rows in one call; print the values and the seconds as JSON."""
    import gistmeter as gm

    loaded = gm.load(metric, progress=False)
    examples = [gm.Example(**row) for row in made_rows(count + WARM)]
    loaded.score(examples[count:])
    start, busy = time.perf_counter(), time.process_time()
    scores = loaded.score(examples[:count])
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    values = [score.value for score in scores]
    json.dump({"values": values, "seconds": seconds, "processor": processor}, sys.stdout)


@contextmanager
def service(metric: str) -> Iterator[tuple[str, int, int]]:
    """Run a service; yield its host, port and process id."""
    command = [sys.executable, "-m", "gistmeter", "serve", metric, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().strip())
        try:
            yield address.hostname or "", address.port or 0, process.pid
        finally:
            process.terminate()


async def post(connection: tuple[Any, Any], path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send a request on a connection that stays open; return status, headers and body."""
    reader, writer = connection
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    return int(lines[0].split()[1]), headers, await reader.readexactly(int(headers["content-length"]))


async def send(
    target: tuple[str, int, int],
    path: str,
    rows: list[Row],
    values: list[float],
    size: tuple[int, int, float],
) -> Load:
    """Let clients send rows, one at a time each, until there were so many requests or the time is over.

    Args:
        target: From `service`.
        path: The address of the metric.
        rows: Each request sends one of them, in turn.
        values: The value that each row must have.
        size: The number of clients, the number of requests, and the most seconds.
    """
    clients, requests, most = size
    load = Load()
    numbers = iter(range(requests))
    start, busy = time.perf_counter(), processor_seconds(target[2])

    async def client() -> None:
        connection = await asyncio.open_connection(*target[:2])
        for number in numbers:
            if time.perf_counter() - start > most:
                break
            await request(connection, number)
        connection[1].close()

    async def request(connection: tuple[Any, Any], number: int) -> None:
        at = number % len(rows)
        body = json.dumps(rows[at]).encode()
        while True:
            begun = time.perf_counter()
            status, headers, answer = await post(connection, path, body)
            load.statuses[status] += 1
            if status != 429:
                break
            await asyncio.sleep(float(headers["retry-after"]))
        load.seconds.append(time.perf_counter() - begun)
        found = json.loads(answer)["scores"] if status == 200 else []
        right = [
            each["id"] == rows[at]["id"] and abs((each["value"] or 0.0) - values[at]) < SLACK
            for each in found
        ]
        load.wrong += right != [True]
        if number % max(1, requests // 10) == 0:
            load.megabytes.append(resident(target[2]))

    await asyncio.gather(*(client() for _ in range(clients)))
    load.total = time.perf_counter() - start
    load.processor = processor_seconds(target[2]) - busy
    return load


def resident(process: int) -> float:
    """Return the memory of a process in megabytes."""
    status = Path(f"/proc/{process}/status").read_text("utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def processor_seconds(process: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def report(name: str, load: Load, alone: Alone) -> None:
    """Print what clients saw."""
    count = len(load.seconds)
    median, high = np.quantile(load.seconds, [0.5, 0.99])
    statuses = ", ".join(f"{status}: {n:,}" for status, n in sorted(load.statuses.items()))
    print(f"{name}")
    print(f"  requests            {count:,} in {load.total:.1f} s: {count / load.total:.1f} rows/s")
    print(f"  of one call         {count / load.total / alone.rows_a_second:.2f}")
    print(f"  by processor time   {count / load.processor / alone.rows_a_processor_second:.2f}")
    print(f"  p50, p99            {median * 1000:.0f} ms, {high * 1000:.0f} ms")
    print(f"  statuses            {statuses}")
    print(f"  wrong or lost       {load.wrong:,}")
    print(f"  memory              {', '.join(f'{megabytes:.0f}' for megabytes in load.megabytes)} MB")


async def measure(arguments: argparse.Namespace, values: list[float], alone: Alone) -> int:
    """Run both loads; return the number of wrong answers."""
    rows = made_rows(arguments.rows + WARM)
    path = f"/v1/score?spans=none&metric={quote(arguments.metric)}"
    with service(arguments.metric) as target:
        await ready(target, path, rows[arguments.rows :])
        rows = rows[: arguments.rows]
        few = await send(target, path, rows, values, (arguments.few, len(rows), arguments.seconds))
        report(f"{arguments.few} clients, each row once", few, alone)
        many = await send(target, path, rows, values, (arguments.many, arguments.requests, arguments.seconds))
        report(f"{arguments.many} clients, rows again and again (their encodings are in memory)", many, alone)
    refused = {status for load in (few, many) for status in load.statuses} - {200, 429}
    return few.wrong + many.wrong + len(refused)


async def ready(target: tuple[str, int, int], path: str, rows: list[Row]) -> None:
    """Wait until the metric is loaded, and score a few rows with it."""
    connection = await asyncio.open_connection(*target[:2])
    while (await post(connection, path, json.dumps(rows).encode()))[0] == 503:
        await asyncio.sleep(0.2)
    connection[1].close()


def main() -> int:
    """Run the measurements; return 1 if an answer was wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--metric", default="speed")
    parser.add_argument("--rows", type=int, default=800, help="distinct rows (default: 800)")
    parser.add_argument("--few", type=int, default=32, help="clients of the first load (default: 32)")
    parser.add_argument("--many", type=int, default=200, help="clients of the second load (default: 200)")
    parser.add_argument("--requests", type=int, default=20_000, help="of the second load (default: 20,000)")
    parser.add_argument("--seconds", type=float, default=600, help="most seconds of a load (default: 600)")
    parser.add_argument("--one-call", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one_call:
        one_call(arguments.metric, arguments.rows)
        return 0
    again = [sys.executable, __file__, "--one-call", "--metric", arguments.metric]
    again += ["--rows", str(arguments.rows)]
    found = json.loads(subprocess.run(again, stdout=subprocess.PIPE, check=True).stdout)
    count, seconds, processor = arguments.rows, found["seconds"], found["processor"]
    alone = Alone(count / seconds, count / processor)
    print(f"one call\n  rows                {count:,} in {seconds:.1f} s: {count / seconds:.1f} rows/s")
    return 1 if asyncio.run(measure(arguments, found["values"], alone)) else 0


if __name__ == "__main__":
    sys.exit(main())
