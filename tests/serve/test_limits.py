"""Limits, errors and access: each error is a problem document that says what to do."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from gistmeter.core.errors import ModelNotFound, UsageError
from gistmeter.serve import bodies
from gistmeter.serve.bodies import file_rows
from gistmeter.serve.guard import Access
from gistmeter.serve.limits import Limits
from gistmeter.serve.problems import KINDS, Problem
from gistmeter.serve.service import Service
from tests.serve.running import JSON, NDJSON, Held, light_service, service_of, serving, until

ROW = {"candidate": "Rain fell.", "source": "Rain fell all day."}
TOKEN = "a-token-of-the-tests"


def problem(answer: httpx.Response, status: int, name: str) -> str:
    """Return the detail of an error, after its form is checked."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert set(found) == {"type", "title", "status", "detail"}
    assert (found["type"], found["status"]) == (f"/docs#{name}", status)
    assert "\n" not in found["detail"]
    return str(found["detail"])


def test_errors_are_problem_documents() -> None:
    limits = Limits(body_mb=1, rows=3, characters=1000, waiting=3)
    with serving(light_service("extractive", limits=limits)) as client:
        post = client.post
        assert "valid JSON" in problem(post("/v1/score", content=b"{", headers=JSON), 400, "bad-request")
        assert "UTF-8" in problem(post("/v1/score", content=b"\xff", headers=JSON), 400, "bad-request")
        assert "empty" in problem(post("/v1/score", json=[]), 400, "bad-request")
        nested = post("/v1/score", content=b"[" * 100_000, headers=JSON)
        problem(nested, 400, "bad-request")
        assert "extractive" in problem(post("/v1/score?metric=cloze", json=ROW), 400, "bad-request")
        assert "spans" in problem(post("/v1/score?spans=some", json=ROW), 400, "bad-request")
        assert "model" in problem(post("/v1/score?model=evil", json=ROW), 400, "bad-request")
        assert "no candidate" in problem(post("/v1/score", json={"source": "x"}), 422, "unusable-rows")
        problem(
            post("/v1/score", content=b"x", headers={"Content-Type": "text/plain"}), 415, "unsupported-type"
        )
        packed = post("/v1/score", content=b"x", headers=JSON | {"Content-Encoding": "gzip"})
        problem(packed, 415, "unsupported-type")
        assert "limit is 3" in problem(post("/v1/score", json=[ROW] * 4), 413, "too-large")
        problem(post("/v1/score", content=b" " * (2**20 + 1), headers=JSON), 413, "too-large")
        problem(post("/v1/score", content=b" " * (2**20 + 1), headers=NDJSON), 413, "too-large")
        chunked = post("/v1/score", content=(b" " * 2**16 for _ in range(17)), headers=JSON)
        problem(chunked, 413, "too-large")
        long = post("/v1/score", json=ROW | {"candidate": "x" * 1001}).json()["scores"][0]
        assert "the limit is 1,000" in long["problem"]
        problem(client.get("/etc/passwd"), 404, "not-found")
        problem(client.get("/assets/..%2fapp.py"), 404, "not-found")
        assert client.get("/v1/score").headers["allow"] == "POST"
        problem(client.get("/v1/score"), 405, "method-not-allowed")
        assert "serve check" in problem(post("/v1/check", json=ROW), 404, "not-found")


def test_a_stream_over_the_limit_ends_with_a_row_that_says_so() -> None:
    line = json.dumps(ROW | {"doc_id": "x" * 2**16}).encode() + b"\n"
    with serving(light_service("extractive", limits=Limits(body_mb=1))) as client:
        answer = client.post("/v1/score", content=(line for _ in range(30)), headers=NDJSON)
        rows = [json.loads(each) for each in answer.text.splitlines()]
    assert len(rows) == 16
    assert [row["value"] for row in rows[:-1]] == [1.0] * 15
    assert "over 1 MB" in rows[-1]["problem"]
    assert "the rest is not scored" in rows[-1]["problem"]


def test_a_full_queue_answers_429_and_empties() -> None:
    metric = Held(open=False)
    service = service_of(metric, limits=Limits(rows=2, waiting=2))
    with serving(service) as client, ThreadPoolExecutor(3) as threads:
        running = threads.submit(client.post, "/v1/score", json={"candidate": "a"})
        until(metric.entered.is_set)
        waiting = threads.submit(client.post, "/v1/score", json=[{"candidate": "bb"}, {"candidate": "ccc"}])
        until(lambda: service.batcher.waiting == 2)
        for headers in (JSON, NDJSON):
            refused = client.post("/v1/score", content=b'{"candidate": "d"}', headers=headers)
            assert "2 scores wait" in problem(refused, 429, "queue-full")
            assert int(refused.headers["retry-after"]) >= 1
        metric.gate.set()
        assert running.result().status_code == 200
        assert [row["value"] for row in waiting.result().json()["scores"]] == [2, 3]
        assert client.post("/v1/score", json={"candidate": "d"}).status_code == 200


def test_a_stream_larger_than_the_queue_waits_for_room() -> None:
    service = service_of(Held(), limits=Limits(rows=2, waiting=2))
    rows = [{"id": str(at), "candidate": "x" * (at % 9 + 1)} for at in range(300)]
    with serving(service) as client:
        body = "\n".join(map(json.dumps, rows)).encode()
        answer = client.post("/v1/score", content=body, headers=NDJSON)
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [(row["id"], row["value"]) for row in found] == [(str(at), at % 9 + 1) for at in range(300)]


def test_a_request_over_the_time_limit_ends_and_is_forgotten() -> None:
    metric = Held(open=False)
    service = service_of(metric, limits=Limits(seconds=0.2))
    with serving(service) as client:
        assert "0.2 s" in problem(client.post("/v1/score", json=ROW), 503, "time-limit")
        assert "0.2 s" in problem(client.post("/v1/score", json=ROW), 503, "time-limit")
        assert service.batcher.waiting == 0
        metric.gate.set()
    assert len(metric.batches) == 1, "the second row left the queue"


def test_a_client_that_stops_sending_is_not_waited_for() -> None:
    with serving(service_of(Held(), limits=Limits(seconds=0.2))) as client:
        address = (client.base_url.host, client.base_url.port or 0)
        with socket.create_connection(address, timeout=60) as connection:
            head = f"POST /v1/score HTTP/1.1\r\nHost: {address[0]}\r\nContent-Length: 9\r\n"
            connection.sendall(f"{head}Content-Type: application/json\r\n\r\n{{".encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 408 ")


def test_metrics_load_in_the_background() -> None:
    go = threading.Event()
    held = Held()

    def load() -> Any:  # noqa: ANN401 - an iterator of pairs
        yield "first", held
        assert go.wait(60)
        yield "second", held

    service = Service(["first", "second"], load, Limits())
    with serving(service, ready=False) as client:
        assert client.get("/").status_code == 200
        assert client.get("/healthz").text == "ok\n"
        until(lambda: len(service.metrics) == 1)
        problem(client.get("/readyz"), 503, "not-ready")
        refused = client.post("/v1/score", json=ROW)
        problem(refused, 503, "not-ready")
        assert refused.headers["retry-after"] == "2"
        state = client.get("/v1/metrics").json()
        assert (state["ready"], [each["ready"] for each in state["metrics"]]) == (False, [True, False])
        go.set()
        until(lambda: service.ready)
        assert client.get("/readyz").text == "ready\n"
        assert client.post("/v1/score", json=ROW).status_code == 200


def test_a_metric_that_cannot_be_loaded_stops_the_service() -> None:
    def load() -> Any:  # noqa: ANN401 - an iterator of pairs
        raise ModelNotFound("no model")

    stopped = threading.Event()
    service = Service(["m"], load, Limits(), on_failure=stopped.set)
    with serving(service, ready=False) as client:
        until(stopped.is_set)
        problem(client.get("/readyz"), 503, "not-ready")
    assert isinstance(service.failure, ModelNotFound)


def test_the_token_guards_everything_that_holds_data() -> None:
    with serving(light_service("extractive"), token=TOKEN) as client:
        for method, path in (
            ("POST", "/v1/score"),
            ("POST", "/view"),
            ("GET", "/v1/metrics"),
            ("GET", "/metrics"),
        ):
            for header in ("", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer \xff"):
                headers = {b"Authorization": header.encode("latin-1")} if header else {}
                answer = client.request(method, path, json=ROW, headers=headers)
                problem(answer, 401, "unauthorized")
                assert answer.headers["www-authenticate"] == "Bearer"
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert client.post("/v1/score", json=ROW, headers=right).status_code == 200
        assert client.get("/v1/metrics", headers=right | {"Host": "scores.example"}).status_code == 200
        for path in ("/", "/docs", "/openapi.json", "/healthz", "/readyz", "/assets/page.js"):
            assert client.get(path).status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "scores.example"])
def test_other_machines_need_a_token(host: str) -> None:
    with pytest.raises(UsageError, match="--token-file"):
        Access(host)
    assert Access(host, token=TOKEN).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_needs_none(host: str) -> None:
    assert Access(host).knows(f"[{host}]:80" if ":" in host else f"{host}:80")
    assert not Access(host).knows("evil.example:80")


def test_pages_of_other_sites_cannot_use_the_service() -> None:
    with serving(light_service("extractive")) as client:
        problem(
            client.post("/v1/score", json=ROW, headers={"Origin": "http://evil.example"}), 403, "forbidden"
        )
        problem(client.post("/v1/score", json=ROW, headers={"Origin": "null"}), 403, "forbidden")
        problem(client.post("/v1/score", json=ROW, headers={"Sec-Fetch-Site": "same-site"}), 403, "forbidden")
        problem(client.get("/", headers={"Host": "evil.example"}), 403, "forbidden")
        own = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
        answer = client.post("/v1/score", json=ROW, headers=own)
        assert answer.status_code == 200
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert client.options("/v1/score", headers={"Origin": "http://evil.example"}).status_code == 403


def test_problem_types_lead_to_the_documentation() -> None:
    with serving(light_service("extractive")) as client:
        docs = client.get("/docs").text
    for kind in KINDS:
        assert f"id='{kind.name}'" in docs


def test_the_rows_of_a_file_are_its_lines() -> None:
    for odd in ("\u2028", "\x85", "\x0c", "\x1c"):
        assert len(file_rows(f'{{"candidate": "One.{odd}Two."}}\r\n', "jsonl", Limits())) <= 1
        (row,) = file_rows(f"candidate\nOne.{odd}Two.\n", "csv", Limits())
        assert row.example.candidate == f"One.{odd}Two."


def test_rows_over_the_limit_are_not_read() -> None:
    limits = Limits(rows=2)
    with pytest.raises(Problem, match="the limit is 2"):
        file_rows("candidate\n" + "Rain.\n" * 10**6, "csv", limits)


def test_a_body_that_trickles_in_ends_at_the_time_limit() -> None:
    def trickle() -> Iterator[bytes]:
        for _ in range(30):
            time.sleep(0.1)
            yield b" "

    with serving(light_service("extractive", limits=Limits(seconds=0.5))) as client:
        assert "over 0.5 s" in problem(
            client.post("/v1/score", content=trickle(), headers=JSON), 408, "too-slow"
        )


def test_rows_of_json_over_the_limit_are_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[object] = []
    monkeypatch.setattr(bodies, "row_at", lambda *given: built.append(given))
    with serving(light_service("extractive", limits=Limits(rows=2))) as client:
        refused = client.post("/v1/score", json=[1] * 100)
        assert "limit is 2" in problem(refused, 413, "too-large")
    assert not built
