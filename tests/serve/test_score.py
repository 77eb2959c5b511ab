"""`/v1/score` over a real connection: equal to `score`, in order, batched, nothing lost."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

import gistmeter as gm
from tests.serve.running import JSON, NDJSON, Held, light_service, service_of, serving, until

SOURCE = "Rain fell all day in Oslo. The river rose by two metres."
ROWS: list[dict[str, Any]] = [
    {"id": f"r{at}", "candidate": f"Rain fell in Oslo. The river rose {'again ' * at}.", "source": SOURCE}
    for at in range(7)
]
METRICS = ("extractive", "novelty")


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with serving(light_service(*METRICS)) as found:
        yield found


def lines(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def same(found: list[dict[str, Any]], rows: list[dict[str, Any]]) -> bool:
    """Tell whether scores are what `gistmeter score -o` would write."""
    return found == [json.loads(json.dumps(row)) for row in gm.score(list(METRICS), rows).rows()]


def test_one_row_and_many_rows_score_as_in_python(client: httpx.Client) -> None:
    one = client.post("/v1/score", json=ROWS[3])
    assert one.status_code == 200
    assert same(one.json()["scores"], [ROWS[3]])
    many = client.post("/v1/score", json=ROWS)
    assert same(many.json()["scores"], ROWS)


def test_the_query_chooses_metrics_and_spans(client: httpx.Client) -> None:
    found = client.post("/v1/score?metric=novelty&metric=novelty&spans=none", json=ROWS[:2]).json()["scores"]
    assert [(row["id"], row["metric"], row["spans"]) for row in found] == [
        ("r0", "novelty", []),
        ("r1", "novelty", []),
    ]
    one = client.post("/v1/score?metric=extractive&spans=worst=1", json=ROWS[3]).json()["scores"][0]
    assert len(one["spans"]) == 1


def test_a_row_that_cannot_be_scored_has_a_problem_and_the_others_have_values(client: httpx.Client) -> None:
    given = [ROWS[0], {"source": "x"}, 7, {"candidate": "Rain."}, ROWS[1]]
    found = client.post("/v1/score?metric=extractive", json=given).json()["scores"]
    assert [row["id"] for row in found] == ["r0", "row 2", "row 3", "4", "r1"]
    assert [row["problem"] is None for row in found] == [True, False, False, False, True]
    assert "no candidate" in found[1]["problem"]
    assert "not a JSON object" in found[2]["problem"]
    assert "source" in found[3]["problem"]


def test_a_stream_is_answered_in_order_and_nothing_is_lost(client: httpx.Client) -> None:
    rows = [ROWS[at % 7] | {"id": f"s{at}"} for at in range(600)]
    found = client.post("/v1/score", content=lines(rows), headers=NDJSON)
    assert found.headers["content-type"] == NDJSON["Content-Type"]
    assert same([json.loads(line) for line in found.text.splitlines()], rows)


def test_bad_lines_of_a_stream_have_problems_with_their_numbers(client: httpx.Client) -> None:
    body = b"\xef\xbb\xbf" + lines(ROWS[:1]) + b"\n{broken\n\xff\n[1]\n" + lines(ROWS[1:2]).rstrip()
    found = client.post("/v1/score?metric=extractive", content=body, headers=NDJSON).text.splitlines()
    rows = [json.loads(line) for line in found]
    assert [row["id"] for row in rows] == ["r0", "line 3", "line 4", "line 5", "r1"]
    assert [row["problem"] is None for row in rows] == [True, False, False, False, True]


def test_a_stream_is_answered_while_it_arrives(client: httpx.Client) -> None:
    host, port = client.base_url.host, client.base_url.port
    with (
        socket.create_connection((host, port), timeout=60) as connection,
        connection.makefile("rb") as answer,
    ):
        head = f"POST /v1/score?metric=extractive HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
        head += f"Content-Type: {NDJSON['Content-Type']}\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head.encode())
        for row in ROWS[:3]:  # the next row is sent when the score of the one before has arrived
            line = lines([row])
            connection.sendall(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            while not (found := answer.readline()).startswith(b"{"):
                assert found
            assert json.loads(found)["id"] == row["id"]
        connection.sendall(b"0\r\n\r\n")
        assert answer.read().endswith(b"0\r\n\r\n"), "the answer is complete"


def test_rows_of_many_clients_are_scored_in_one_batch() -> None:
    metric = Held(open=False)
    service = service_of(metric)
    with serving(service) as client, ThreadPoolExecutor(32) as threads:
        first = threads.submit(client.post, "/v1/score", json={"candidate": "first"})
        until(metric.entered.is_set)  # the thread is busy, so that the others wait
        others = [
            threads.submit(client.post, "/v1/score", json={"id": f"c{at}", "candidate": "x" * at})
            for at in range(1, 32)
        ]
        until(lambda: service.batcher.waiting == 31)
        metric.gate.set()
        assert first.result().json()["scores"][0]["value"] == 5
        found = [future.result().json()["scores"][0] for future in others]
    assert [(row["id"], row["value"]) for row in found] == [(f"c{at}", at) for at in range(1, 32)]
    assert metric.batches == [1, 31]


def test_a_row_that_fails_does_not_fail_the_rows_of_other_clients(caplog: pytest.LogCaptureFixture) -> None:
    metric = Held()
    with serving(service_of(metric)) as client:
        rows = [{"candidate": text} for text in ("one", "fail", "three")]
        found = client.post("/v1/score", json=rows).json()["scores"]
    assert [row["value"] for row in found] == [3, None, 5]
    assert found[1]["problem"] == "held failed on this row; the log of the service says why"
    assert "a secret of the service" in caplog.text


def test_cancelled_rows_are_not_scored() -> None:
    metric = Held(open=False)
    service = service_of(metric)
    with serving(service) as client, ThreadPoolExecutor(1) as threads:
        first = threads.submit(client.post, "/v1/score", json={"candidate": "first"})
        until(metric.entered.is_set)
        for headers in (JSON, NDJSON):
            connection = socket.create_connection((client.base_url.host, client.base_url.port or 0))
            body = lines([{"candidate": "second"}])
            head = (
                f"POST /v1/score HTTP/1.1\r\nHost: {client.base_url.host}\r\nContent-Length: {len(body)}\r\n"
            )
            head += f"Content-Type: {headers['Content-Type']}\r\n\r\n"
            connection.sendall(head.encode() + body)
            until(lambda: service.batcher.waiting == 1)
            connection.close()
            until(lambda: service.batcher.waiting == 0)
        metric.gate.set()
        assert first.result().status_code == 200
    assert metric.batches == [1]
