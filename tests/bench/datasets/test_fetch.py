"""Test fetching data sets from a local server, with and without a checksum, and with no server."""

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from gistmeter.app.cli import main
from gistmeter.app.commands import data
from gistmeter.bench.datasets import dataset as declared
from gistmeter.bench.datasets import fetch as datasets
from gistmeter.bench.datasets.dataset import Dataset, Source, find
from gistmeter.bench.datasets.fetch import fetch, rows_file
from gistmeter.core.errors import DataError
from gistmeter.io.rows import read_rows

VOTES = [{"sentence": "A goat ate.", "responses": [{"worker_id": 1, "response": "yes"}]}]
LINE = (json.dumps({"article": "A goat ate a hat.", "summary_sentences": VOTES}) + "\n").encode()
DIGEST = hashlib.sha256(LINE).hexdigest()
NOBODY = "http://127.0.0.1:9"  # the port of a service that discards everything, and that nobody runs


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path]]:
    """Return the address of a server and the folder that it serves."""
    monkeypatch.setenv("NO_PROXY", "*")
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "votes.jsonl").write_bytes(LINE)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_fetched_task_is_a_file_of_rows(published: tuple[str, Path], tmp_path: Path) -> None:
    task, said = _task(published[0], DIGEST), list[str]()
    found = fetch(task, tmp_path / "cache", say=said.append)
    assert (found.path, found.rows, found.unknown) == (tmp_path / "cache" / "votes.jsonl.gz", 1, ())
    (row,) = read_rows(found.path)
    assert (row.example.candidate, row.example.source) == ("A goat ate.", "A goat ate a hat.")
    assert row.scores == {"consistency": 1.0, "consistency_mean_vote": 1.0}
    assert said == [f"fetching {published[0]}/votes.jsonl"]
    (published[1] / "votes.jsonl").unlink()
    before = found.path.read_bytes()
    assert fetch(task, tmp_path / "cache", say=said.append).path.read_bytes() == before
    assert len(said) == 1  # what is there is not fetched again


def test_another_file_at_the_address_is_refused(published: tuple[str, Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"does not have the expected SHA-256 000.*by hand to"):
        fetch(_task(published[0], "0" * 64), tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("*.jsonl*"))


def test_an_address_without_the_file_says_where_to_put_it(
    published: tuple[str, Path], tmp_path: Path
) -> None:
    (published[1] / "votes.jsonl").unlink()
    with pytest.raises(DataError, match=r"status 404\); download the file by hand to .*originals"):
        fetch(_task(published[0], DIGEST), tmp_path / "cache")


def test_a_file_without_a_known_digest_is_said_and_remembered(
    published: tuple[str, Path], tmp_path: Path
) -> None:
    task, folder = _task(published[0], None), tmp_path / "cache"
    original = folder / "originals" / "here" / "votes.jsonl"
    assert fetch(task, folder).unknown == ((original, DIGEST),)
    assert original.with_name("votes.jsonl.sha256").read_text() == f"{DIGEST}  votes.jsonl\n"
    assert fetch(task, folder).unknown == ((original, DIGEST),)
    original.write_bytes(LINE * 2)
    with pytest.raises(
        DataError, match=r"has changed since it was pinned; to accept the change, delete .*sha256"
    ):
        fetch(task, folder)
    original.with_name("votes.jsonl.sha256").unlink()
    assert fetch(task, folder).rows == 2


def test_offline_a_file_can_be_put_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    task = _task(NOBODY, DIGEST)
    path = tmp_path / "originals" / "here" / "votes.jsonl"
    with pytest.raises(DataError, match=r"cannot fetch http://127.0.0.1:9/votes.jsonl \(") as caught:
        fetch(task, tmp_path)
    assert f"download the file by hand to {path}" in str(caught.value) and "\n" not in str(caught.value)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(LINE[:-2])
    with pytest.raises(DataError, match="is not the expected file"):
        fetch(task, tmp_path)
    path.write_bytes(LINE)
    assert fetch(task, tmp_path).rows == 1


def test_a_file_that_cannot_be_read_leaves_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "originals" / "here" / "votes.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(LINE + b"{}\n")
    with pytest.raises(DataError, match="line 2 has no 'summary_sentences'"):
        fetch(_task(NOBODY, None), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["originals"]


def test_a_task_without_an_address_says_how_to_come_by_it(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"duc05 cannot be fetched: sign NIST's agreement .* named duc05.jsonl"
    ):
        fetch(find("duc05"), tmp_path)


def test_the_command_fetches_and_lists(
    published: tuple[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    task = _task(published[0], None)
    monkeypatch.setattr(data, "datasets", lambda: (task, find("muss_fr")))
    monkeypatch.setattr(data, "find", lambda name: task)
    monkeypatch.setattr(data, "default_folder", lambda: tmp_path / "cache")
    assert main(["data"]) == 0
    listed = capsys.readouterr().out
    assert "not fetched" in listed and "manual" in listed and "MUSS, French" in listed
    assert main(["data", "fetch", "votes"]) == 0
    said = capsys.readouterr()
    assert said.out == f"votes: 1 rows in {tmp_path / 'cache' / 'votes.jsonl.gz'}\n"
    assert (
        "no published checksum" in said.err and DIGEST in said.err and "please cite Somebody 2020" in said.err
    )
    assert main(["data", "list"]) == 0
    assert "not fetched" not in capsys.readouterr().out
    assert gzip.decompress(rows_file(task, tmp_path / "cache").read_bytes()).count(b"\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["data", "fetch"], 2, "name a data set"),
        (["data", "list", "summeval"], 2, "gistmeter data fetch NAME"),
        (["data", "fetch", "nothing"], 2, "no data set 'nothing'"),
        (["data", "fetch", "frank"], 2, "never pooled"),
        (["data", "fetch", "realsumm"], 3, "cannot be fetched"),
    ],
)
def test_a_command_that_cannot_be_done_says_why(
    arguments: list[str], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    assert says in capsys.readouterr().err


def test_the_default_folder_is_in_the_users_cache() -> None:
    assert datasets.default_folder().parts[-2:] == ("gistmeter", "data")


def _task(address: str, sha256: str | None) -> Dataset:
    source = Source(f"{address}/votes.jsonl", "here/votes.jsonl", sha256=sha256)
    return Dataset("votes", "Votes", ("votes",), citation="Somebody 2020", loader="qags", sources=(source,))


@pytest.mark.parametrize("page", [b"<html>Log in to the hotel's network</html>", b"", b"[]\n", b"{}\n"])
def test_a_login_page_is_not_pinned(published: tuple[str, Path], tmp_path: Path, page: bytes) -> None:
    task, folder = _task(published[0], None), tmp_path / "cache"
    (published[1] / "votes.jsonl").write_bytes(page)
    with pytest.raises(DataError):
        fetch(task, folder)
    assert not list(folder.rglob("*.sha256")) and not rows_file(task, folder).exists()
    (published[1] / "votes.jsonl").write_bytes(LINE)
    assert fetch(task, folder).rows == 1, "the next fetch gets the right file by itself"


@pytest.fixture
def summeval(published: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Serve made-up rows with published ids in the authors' format; return these ids."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = find("summeval")
    half = found.variant("development").documents
    annotations: list[dict[str, object]] = []
    articles: list[dict[str, object]] = []
    for document in (*half[:3], "0" * 40):
        record: dict[str, object] = {
            "id": f"dm-test-{document}",
            "decoded": "Rain fell.",
            "references": ["It rained."],
        }
        articles.append(record | {"model_id": "M10", "text": f"Rain fell on {document} houses."})
        for system in range(3):
            votes = [dict.fromkeys(("coherence", "consistency", "fluency", "relevance"), 1 + system)]
            text = "Rain fell. " * (1 + system)
            own: dict[str, object] = {"decoded": text, "model_id": f"M{system}", "expert_annotations": votes}
            annotations.append(record | own)
    sources = []
    for source, records in zip(found.sources, (annotations, articles), strict=True):
        name = Path(source.file).name
        content = "".join(json.dumps(record) + "\n" for record in records).encode()
        (published[1] / name).write_bytes(content)
        digest = source.sha256 and hashlib.sha256(content).hexdigest()
        sources.append(replace(source, address=f"{published[0]}/{name}", sha256=digest))
    local = replace(found, sources=tuple(sources))
    for module in (declared, datasets, data):
        monkeypatch.setattr(module, "datasets", lambda: (local,))
    return half


def test_a_stranger_reproduces_the_development_half(
    summeval: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["benchmark", "extractive", "--data", "summeval:development"]) == 3
    assert "summeval is not fetched; run: gistmeter data fetch summeval" in capsys.readouterr().err
    assert main(["data", "fetch", "summeval"]) == 0
    assert "summeval: 12 rows in" in capsys.readouterr().out
    measured = {}
    for name in ("summeval", "summeval:development"):
        out = tmp_path / "figures.json"
        assert main(["benchmark", "extractive", "--data", name, "--json", str(out), "--overwrite"]) == 0
        measured[name] = json.loads(out.read_text())[0]
    assert measured["summeval"]["n"] == 12
    assert (measured["summeval:development"]["n"], measured["summeval:development"]["task"]) == (
        9,
        "summeval:development",
    )
    assert main(["benchmark", "rouge", "--data", "summeval:test"]) == 2
    assert "summeval has no variant 'test'; choose from: development" in capsys.readouterr().err


def test_the_ids_of_the_development_half_are_published() -> None:
    half = find("summeval").variant("development").documents
    assert len(half) == len(set(half)) == 50
    assert all(len(bytes.fromhex(document)) == 20 for document in half), "ids only, no texts"


@pytest.mark.shared
def test_the_published_ids_are_those_of_the_development_data(shared_data: Path) -> None:
    rows = read_rows(str(shared_data / "benchmarks" / "summeval.dev.jsonl.gz"))
    assert {row.example.doc_id for row in rows} == set(find("summeval").variant("development").documents)


def test_an_address_that_cannot_be_reached_is_one_line(
    summeval: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (local,) = declared.datasets()
    away = replace(local, sources=(replace(local.sources[0], address=f"{NOBODY}/a.jsonl"),))
    for module in (declared, datasets, data):
        monkeypatch.setattr(module, "datasets", lambda: (away,))
    assert main(["data", "fetch", "summeval", "--quiet"]) == 3
    said = capsys.readouterr().err
    assert f"cannot fetch {NOBODY}/a.jsonl" in said and "download the file by hand to" in said
    assert said.count("\n") == 1
