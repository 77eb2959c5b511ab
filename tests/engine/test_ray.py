"""Test scoring on a local Ray: equal values to one process, also when an actor dies."""

import json
from pathlib import Path

import pytest

from gistmeter.app.cli import main
from gistmeter.engine.shard import Job
from gistmeter.io.shards import Folder
from tests.engine.test_workers import LengthsPlan, write

pytest.importorskip("ray", reason="the extra 'ray' is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_the_cluster_writes_the_bytes_of_one_process_and_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shards, out = tmp_path / "in", tmp_path / "out"
    shards.mkdir()
    for number in range(4):
        write(shards / f"{number}.jsonl", 40 + number)
    (shards / "bad.jsonl.gz").write_bytes(b"no gzip")
    words = ["score", "rouge", "extractive", "-i", str(shards), "-o", str(out), "--engine", "ray", "--quiet"]
    assert main([*words, "--workers", "2"]) == 3
    assert sorted(path.name for path in out.glob("[!_]*")) == [f"{number}.jsonl" for number in range(4)]
    for number in range(4):
        alone = tmp_path / f"{number}.jsonl"
        main([*words[:4], str(shards / alone.name), "-o", str(alone), "--quiet"])
        assert (out / alone.name).read_bytes() == alone.read_bytes()
    (out / "2.jsonl").unlink()
    (shards / "bad.jsonl.gz").unlink()
    times = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    capsys.readouterr()
    assert main([*words, "--resume"]) == 0
    assert (out / "2.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    assert all((out / name).stat().st_mtime_ns == time for name, time in times.items())
    assert ["extractive", "41", "1"] in [
        [*line.split()[:1], *line.split()[2:]] for line in capsys.readouterr().out.splitlines()
    ]


def test_the_shard_of_an_actor_that_dies_is_scored_again(tmp_path: Path) -> None:
    from gistmeter.engine.ray import Cluster, score_shards

    shards = tmp_path / "in"
    shards.mkdir()
    for name, text in (("a", "long"), ("b", "once"), ("c", "longer")):
        (shards / f"{name}.jsonl").write_text(json.dumps({"candidate": text}) + "\n", encoding="utf-8")
    plan = LengthsPlan(str(tmp_path))
    job = Job(plan, Folder(str(shards)), Folder(str(tmp_path / "out")))  # type: ignore[arg-type]
    done = list(score_shards(job, ["a.jsonl", "b.jsonl", "c.jsonl"], Cluster(workers=2, progress=False)))
    assert (tmp_path / "died").exists()
    assert {shard.name: shard.tallies["lengths"].total for shard in done} == {
        "a.jsonl": 4.0,
        "b.jsonl": 4.0,
        "c.jsonl": 6.0,
    }
