"""The documents of the service: OpenAPI, its page, Prometheus, `/v1/check`, and the events of the page."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gistmeter import Example, load
from gistmeter.report.check import UNCERTAIN, UNSUPPORTED, check_text
from gistmeter.serve.addresses import ADDRESSES
from tests.serve.running import JSON, Held, light_service, service_of, serving
from tests.tiny_combined import save_check

ROW = {"candidate": "Rain fell in Bergen.", "source": "Rain fell in Oslo."}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with serving(light_service("extractive", "rouge")) as found:
        yield found


def test_openapi_describes_every_address_and_its_answers(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]) == {address.path for address in ADDRESSES}
    schemas = document["components"]["schemas"]
    for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)):
        assert name in schemas
    score = client.post("/v1/score", json=ROW).json()
    fits(score, "Scores", schemas)
    fits(client.get("/v1/metrics").json(), "Metrics", schemas)
    fits(client.get("/nothing").json(), "Problem", schemas)
    fits(ROW, "Row", schemas)


def fits(value: Any, schema: Any, schemas: dict[str, Any]) -> None:  # noqa: ANN401 - any JSON
    """Check a value against a schema, as far as the document uses JSON schema."""
    if isinstance(schema, str):
        schema = schemas[schema]
    if "$ref" in schema:
        return fits(value, schema["$ref"].rpartition("/")[2], schemas)
    if "enum" in schema:
        assert value in schema["enum"]
    kinds = schema.get("type", [])
    names = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    kind = names.get(type(value), "integer" if isinstance(value, int) else "number")
    allowed = [kinds] if isinstance(kinds, str) else kinds
    assert not allowed or kind in allowed or (kind == "integer" and "number" in allowed), (value, schema)
    if isinstance(value, list):
        for item in value:
            fits(item, schema["items"], schemas)
    if isinstance(value, dict) and "properties" in schema:
        assert set(schema["required"]) <= set(value) <= set(schema["properties"]), (value, schema)
        for name, member in value.items():
            fits(member, schema["properties"][name], schemas)
    return None


def test_the_documentation_shows_every_address_and_fetches_nothing(client: httpx.Client) -> None:
    for path in ("/", "/docs"):
        page = client.get(path)
        assert "unsafe" not in page.headers["content-security-policy"]
        assert not re.search(r"https?://(?!127\.0\.0\.1)", page.text)
        assert not re.search(r" style=| on\w+=|<script>|<style>", page.text), "the policy refuses inline code"
    text = client.get("/docs").text
    for address in ADDRESSES:
        assert f"<code>{address.path}</code>" in text
    assert f"curl {client.base_url}/v1/score" in text
    for name in ("page.css", "page.js", "docs.css", "report.css", "report.js"):
        assert (
            client.get(f"/assets/{name}").headers["content-type"].startswith(("text/css", "text/javascript"))
        )


def test_prometheus_counts_requests_scores_and_batches() -> None:
    with serving(service_of(Held())) as client:
        client.post("/v1/score", json=[{"candidate": "Rain."}, {"source": "x"}])
        client.get("/made/up")
        text = client.get("/metrics").text
    for line in (
        "gistmeter_ready 1",
        "gistmeter_waiting_scores 0",
        'gistmeter_requests_total{path="/v1/score",status="200"} 1',
        'gistmeter_requests_total{path="other",status="404"} 1',
        'gistmeter_scores_total{metric="held",outcome="value"} 1',
        'gistmeter_scores_total{metric="held",outcome="problem"} 1',
        'gistmeter_batch_rows_bucket{metric="held",le="1"} 1',
        'gistmeter_batch_seconds_count{metric="held"} 1',
    ):
        assert line in text.splitlines()
    assert "made" not in text
    sample = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [-+.e0-9]+')
    assert all(line.startswith("# ") or sample.fullmatch(line) for line in text.splitlines())


@pytest.mark.slow
def test_check_answers_as_the_command(tmp_path: Path) -> None:
    metric = load("check", model=str(save_check(tmp_path)))
    row = ROW | {"candidate": "Rain fell in Bergen. The mayor has resigned."}
    score = metric.score([Example("1", row["candidate"], row["source"])])[0]
    assert any(span.value < UNSUPPORTED for span in score.spans)
    with serving(service_of(metric)) as client:
        schemas = client.get("/openapi.json").json()["components"]["schemas"]
        found = client.post("/v1/check", json=[row, {"candidate": "x"}]).json()
        assert client.post("/v1/check?confidence=1", json=row).status_code == 400
    fits(found, "Checks", schemas)
    assert (found["metric"], found["signature"]) == ("check", metric.signature.text)
    one, without_source = found["checks"]
    assert one["value"] == pytest.approx(score.value, abs=1e-6)
    text = check_text(score, Example("1", row["candidate"], row["source"]))
    assert len(one["sentences"]) == len(score.spans) == 2
    for sentence in one["sentences"]:
        mark = "✗" if sentence["unsupported"] else "?" if sentence["value"] < UNCERTAIN else "✓"
        assert f"{mark} {sentence['value']:.2f} {sentence['text']}" in text
        assert sentence["text"] == row["candidate"][sentence["start"] : sentence["end"]]
        assert sentence["evidence"] == row["source"]
        assert not sentence["doubt"] or f"in doubt: {sentence['doubt']}" in text
    assert "source" in without_source["problem"]
    assert (without_source["value"], without_source["sentences"]) == (None, [])


def test_the_page_gets_progress_and_then_the_view(client: httpx.Client) -> None:
    hostile = "<script>alert(1)</script></textarea>"
    found = client.post("/view?metric=extractive", json=[ROW | {"system": hostile}, ROW | {"system": "b"}])
    assert found.headers["content-type"].startswith("text/event-stream")
    events = [block.split("\n") for block in found.text.strip().split("\n\n")]
    assert events[0][0] == "event: progress"
    assert json.loads(events[0][1].removeprefix("data: "))["total"] == 2
    assert events[-1][0] == "event: view"
    html = json.loads(events[-1][1].removeprefix("data: "))["html"]
    assert "gistmeter-report" in html
    assert hostile not in html


@pytest.mark.parametrize(
    ("kind", "text", "ids"),
    [
        ("text/csv", "id,summary,source\na,Rain.,Rain.\nb,Snow.,Rain.\n", ["a", "b"]),
        ("text/tab-separated-values", "candidate\tsource\nRain.\tRain.\n", ["1"]),
        ("application/x-ndjson", '{"id": "x", "candidate": "Rain.", "source": "Rain."}\n', ["x"]),
    ],
)
def test_files_of_rows_are_shown(client: httpx.Client, kind: str, text: str, ids: list[str]) -> None:
    found = client.post("/view?metric=extractive", content=text.encode(), headers={"Content-Type": kind})
    assert found.status_code == 200
    assert "event: view" in found.text
    html = json.loads(found.text.strip().split("\n")[-1].removeprefix("data: "))["html"]
    for id in ids:
        assert f"<td>{id}</td>" in html


def test_files_that_cannot_be_read_are_problems(client: httpx.Client) -> None:
    for kind, text, said in (
        ("text/csv", "a,b\n1,2\n", "no column 'candidate'"),
        ("text/csv", "", "no rows"),
        ("application/json", "[]", "empty"),
        ("application/pdf", "%PDF", "send"),
    ):
        answer = client.post("/view", content=text.encode(), headers=JSON | {"Content-Type": kind})
        assert answer.headers["content-type"] == "application/problem+json"
        assert said in answer.json()["detail"]
