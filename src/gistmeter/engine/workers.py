"""Scores rows with several processes on this machine, in input order.

The input is cut into the same chunks as in one process. Every worker builds the metrics itself and gets one
chunk at a time, so that a worker that dies costs one chunk, which another worker scores again.
"""

import logging
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Self

from gistmeter.core.errors import GistmeterError, UsageError
from gistmeter.core.row import Row
from gistmeter.engine.local import Size, chunks
from gistmeter.engine.plan import Plan
from gistmeter.engine.worker import Note, Ready, serve
from gistmeter.io.scored import Labelled, Scored

LOG = logging.getLogger("gistmeter")
AHEAD = 4
"""Chunks a worker that may be under way or wait for an earlier one: they bound the memory."""
PATIENCE = 5.0
"""Seconds that a worker has to end before it is killed."""


@dataclass
class _Task:
    """A chunk of rows.

    Args:
        number: Counted from 0.
        first: Number of its first row in the input, counted from 1.
        rows: To score.
        lost: Whether a worker has died with it.
    """

    number: int
    first: int
    rows: list[Row]
    lost: bool = False


@dataclass
class _Worker:
    """A process and what it is doing."""

    device: str
    process: SpawnProcess
    connection: Connection
    ready: bool = False
    task: _Task | None = None

    @property
    def idle(self) -> bool:
        return self.ready and self.task is None


class Workers:
    """Processes that score; use it as a context, at whose end they are gone.

    Args:
        plan: What every worker builds.
        devices: The device of each worker.

    Attributes:
        metrics: What the workers have built, with labels; it cannot score here.
    """

    metrics: Labelled

    def __init__(self, plan: Plan, devices: Sequence[str]) -> None:
        self._plan, self._devices = plan, devices
        self._threads = max(1, _processors() // len(devices))
        self._workers: list[_Worker] = []
        self._lost: deque[_Task] = deque()
        self.metrics = ()

    def __enter__(self) -> Self:
        """Start the workers; return when the first one has built its metrics."""
        try:
            for device in self._devices:
                self._workers.append(self._start(device))
            while not self.metrics:
                self._hear({})
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the workers: those that are idle by themselves, the others at once."""
        self._end()

    def score_rows(self, rows: Iterable[Row], *, size: Size | None = None) -> Iterator[list[Scored]]:
        """Score rows, a chunk at a time, in input order.

        Args:
            rows: Read a few chunks a worker ahead of what is yielded.
            size: Of a chunk.

        Raises:
            GistmeterError: If a worker fails, or two workers die with the same chunk.
        """
        tasks = _tasks(rows, size or Size())
        done: dict[int, list[Scored]] = {}
        due = 0
        while True:
            self._hand_out(tasks, due + AHEAD * len(self._workers))
            if due in done:
                yield done.pop(due)
                due += 1
            elif any(worker.task for worker in self._workers) or self._lost:
                self._hear(done)
            else:
                return

    def _hand_out(self, tasks: "_Ahead", limit: int) -> None:
        """Give idle workers tasks: first what others have died with, then new ones below the limit."""
        for worker in [worker for worker in self._workers if worker.idle]:
            task = self._lost.popleft() if self._lost else tasks.next_below(limit)
            if task is None:
                return
            worker.task = task
            try:
                worker.connection.send(task.rows)
            except OSError:
                self._replace(worker)

    def _hear(self, done: dict[int, list[Scored]]) -> None:
        """Wait for answers of workers that load or score."""
        busy = {worker.connection: worker for worker in self._workers if not worker.idle}
        for connection in wait(list(busy)):
            worker = busy[connection]  # type: ignore[index]  # the same objects come back
            try:
                self._take(worker, worker.connection.recv(), done)
            except (EOFError, OSError):
                self._replace(worker)

    def _take(self, worker: _Worker, answer: object, done: dict[int, list[Scored]]) -> None:
        if isinstance(answer, Note):
            LOG.log(answer.level, answer.text)
        elif isinstance(answer, Ready):
            worker.ready = True
            self.metrics = self.metrics or answer.metrics
            if [*self.metrics] != answer.metrics:
                raise GistmeterError("the workers have built different metrics; use devices of one kind")
        elif isinstance(answer, Exception):
            raise answer
        elif worker.task is not None and isinstance(answer, list):
            pairs = zip(worker.task.rows, answer, strict=True)
            done[worker.task.number] = [Scored(row, scores) for row, scores in pairs]
            worker.task = None

    def _replace(self, worker: _Worker) -> None:
        """Start another worker for one that has died, and queue its task again, once."""
        worker.process.join()
        why, task = _reason(worker.process.exitcode), worker.task
        if task is None:
            raise GistmeterError(f"a worker died while it loaded its metrics ({why}); try fewer --workers")
        rows = f"rows {task.first} to {task.first + len(task.rows) - 1}"
        if task.lost:
            raise GistmeterError(f"two workers died with {rows} ({why}); try fewer --workers")
        LOG.warning(f"gistmeter: a worker died ({why}); {rows} are scored again")
        task.lost = True
        self._lost.append(task)
        worker.connection.close()
        self._workers[self._workers.index(worker)] = self._start(worker.device)

    def _start(self, device: str) -> _Worker:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=serve, args=(theirs, self._plan.on(device), self._threads), daemon=True
        )
        with _without_interrupts():
            process.start()
        theirs.close()  # so that its end is seen here when the process ends
        return _Worker(device, process, ours)

    def _end(self) -> None:
        for worker in self._workers:
            with suppress(OSError):
                if worker.idle:
                    worker.connection.send(None)
                else:
                    worker.process.terminate()
        for worker in self._workers:
            worker.process.join(PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.connection.close()


class _Ahead:
    """Tasks that are made only when there is room for them."""

    def __init__(self, tasks: Iterator[_Task]) -> None:
        self._tasks = tasks
        self._made = 0

    def next_below(self, limit: int) -> _Task | None:
        """Return the next task if its number is below the limit; None otherwise or at the end."""
        if self._made >= limit:
            return None
        task = next(self._tasks, None)
        if task is not None:
            self._made += 1
        return task


def assign(device: str, workers: int | None) -> list[str]:
    """Return the device of each worker: the devices in turn.

    Args:
        device: One or several, with commas between them.
        workers: How many; None for one a device.

    Raises:
        UsageError: If a device would have no worker.

    >>> assign("cuda:0,cuda:1", 3)
    ['cuda:0', 'cuda:1', 'cuda:0']
    """
    devices = [name.strip() for name in device.split(",")]
    if not all(devices):
        raise UsageError(f"--device {device}: a device has no name; write cuda:0,cuda:1")
    count = workers or len(devices)
    if count < len(devices):
        raise UsageError(f"{len(devices)} devices need as many workers; leave --workers out")
    return [devices[at % len(devices)] for at in range(count)]


def _tasks(rows: Iterable[Row], size: Size) -> _Ahead:
    def made() -> Iterator[_Task]:
        first = 1
        for number, part in enumerate(chunks(rows, size)):
            yield _Task(number, first, part)
            first += len(part)

    return _Ahead(made())


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _reason(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        return f"{name}, perhaps out of memory" if name == "SIGKILL" else name
    return f"exit code {code}"


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from a process that starts, which inherits what is blocked; here it comes afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
