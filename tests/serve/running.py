"""Shared by the tests of the service: a server in a thread, and a metric that waits to be let go."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import httpx

from gistmeter import Example, Metric, Score, Signature, Span, catalog
from gistmeter.core.example import Need
from gistmeter.core.language import ANY, Languages
from gistmeter.serve.guard import Access
from gistmeter.serve.limits import Limits
from gistmeter.serve.run import listening, server_of
from gistmeter.serve.service import Service

JSON = {"Content-Type": "application/json"}
NDJSON = {"Content-Type": "application/x-ndjson"}


class Held:
    """Gives each candidate its length as value; waits before each call while `gate` is closed."""

    name = "held"
    needs: tuple[Need, ...] = ()
    languages: Languages = ANY
    signature = Signature.of("held", version=1)

    def __init__(self, *, open: bool = True) -> None:
        self.gate = threading.Event()
        self.entered = threading.Event()
        self.batches: list[int] = []
        if open:
            self.gate.set()

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        self.entered.set()
        assert self.gate.wait(60)
        self.batches.append(len(examples))
        if any(example.candidate == "fail" for example in examples):
            raise RuntimeError("a secret of the service")
        return [self.one(example) for example in examples]

    @staticmethod
    def one(example: Example) -> Score:
        end = len(example.candidate)
        return Score(example.id, float(end), spans=(Span("candidate", 0, end, 1.0),))


def service_of(*metrics: Metric, limits: Limits | None = None) -> Service:
    """Return a service of metrics that are there already."""
    named = {metric.name: metric for metric in metrics}
    return Service(list(named), lambda: iter(named.items()), limits or Limits())


def light_service(*specs: str, limits: Limits | None = None) -> Service:
    """Return a service of metrics of the catalog."""
    parsed = catalog.parse_all(specs)
    return Service(list(parsed), lambda: catalog.load_each(specs, parsed), limits or Limits())


@contextmanager
def serving(service: Service, *, token: str | None = None, ready: bool = True) -> Iterator[httpx.Client]:
    """Serve in a thread while the block runs; yield a client, once the metrics are loaded."""
    access = Access(port=0, token=token)
    listener = listening(access)
    server = server_of(service, access)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=60) as client:
            until(lambda: server.started and (service.ready or not ready))
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not come about"
        time.sleep(0.005)
