"""Test folders of shards: finished shards are kept, and scores equal those of a single file."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from gistmeter.app.cli import main
from gistmeter.core.errors import DataError, UsageError
from gistmeter.engine.frames import SCHEMA, score_frames
from gistmeter.engine.plan import Plan
from gistmeter.engine.shard import Job, score_shard
from gistmeter.io.shards import HEAD, Folder, check_outputs, output_name
from tests.engine.test_workers import write

PLAN = Plan(("extractive", "length_ratio"))


def job(source: object, target: object) -> Job:
    return Job(PLAN, Folder(str(source)), Folder(str(target)))


def test_a_shard_has_the_bytes_of_the_command(tmp_path: Path) -> None:
    shards = tmp_path / "in"
    shards.mkdir()
    write(shards / "a.jsonl", 700)
    done = score_shard(job(shards, tmp_path / "out"), PLAN.build(), "a.jsonl")
    assert (done.rows, done.problem) == (700, None)
    assert [(tally.n, tally.n_undefined) for tally in done.tallies.values()] == [(699, 1), (699, 1)]
    alone = str(tmp_path / "alone.jsonl")
    main(["score", *PLAN.specs, "-i", str(shards / "a.jsonl"), "-o", alone, "--quiet"])
    assert (tmp_path / "out" / "a.jsonl").read_bytes() == Path(alone).read_bytes()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.jsonl"]


def test_parquet_goes_in_and_comes_out(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "in").mkdir()
    pq.write_table(
        pa.table({"candidate": ["Rain."], "source": ["Rain fell."]}), tmp_path / "in" / "a.parquet"
    )
    done = score_shard(job(tmp_path / "in", tmp_path / "out"), PLAN.build(), "a.parquet")
    assert done.problem is None
    assert pq.read_table(tmp_path / "out" / "a.parquet")["metric"].to_pylist() == list(PLAN.specs)


def test_a_shard_that_cannot_be_read_has_a_problem_and_no_output(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(b"no gzip")
    done = score_shard(job(tmp_path, tmp_path / "out"), PLAN.build(), "a.jsonl.gz")
    assert done.problem is not None and "is not a gzip file" in done.problem
    assert not (tmp_path / "out").exists()


def test_storage_that_is_no_disk(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", 5)
    source, target = Folder("memory://rows"), Folder("memory://scores")
    source.put("a.jsonl", tmp_path / "a.jsonl")
    assert source.shards() == ["a.jsonl"]
    assert target.begin({"spans": None}, resume=False, overwrite=False) == set()
    done = score_shard(job(source.url, target.url), PLAN.build(), "a.jsonl")
    assert done.problem is None and target.shards() == ["a.jsonl"]
    with target.copy("a.jsonl") as copy:
        assert len(copy.read_bytes().splitlines()) == 2 * 5
    with pytest.raises(UsageError, match="cannot be reached"):
        Folder("nowhere://rows").shards()
    with pytest.raises(DataError, match="does not exist"):
        Folder(str(tmp_path / "none")).shards()
    with pytest.raises(DataError, match="name the folder"):
        Folder(str(tmp_path / "a.jsonl")).shards()


def test_finished_shards_are_kept_or_replaced_only_when_asked(tmp_path: Path) -> None:
    target = Folder(str(tmp_path / "out"))
    head = {"metrics": ["rouge"], "spans": None}
    target.begin(head, resume=False, overwrite=False)
    target.put("a.jsonl", Path(__file__))
    with pytest.raises(UsageError, match="holds 1 shards; --resume keeps"):
        target.begin(head, resume=False, overwrite=False)
    assert target.begin(head, resume=True, overwrite=False) == {"a.jsonl"}
    with pytest.raises(UsageError, match="other metrics"):
        target.begin({**head, "metrics": ["chrf"]}, resume=True, overwrite=False)
    with pytest.raises(UsageError, match=r"1 files that this run does not write, such as a\.jsonl"):
        target.begin(head, resume=False, overwrite=True, names=["b.jsonl"])
    new = {**head, "metrics": ["chrf"]}
    assert target.begin(new, resume=False, overwrite=True, names=["a.jsonl", "b.jsonl"]) == set()
    assert [path.name for path in (tmp_path / "out").iterdir()] == [HEAD]


@pytest.mark.parametrize(
    "words",
    [
        ["-i", "-", "-o", "OUT"],
        ["-i", "IN"],
        ["-i", "IN", "-o", "OUT", "--shard", "1/2"],
        ["-i", "IN", "-o", "OUT", "--device", "cuda:1"],
        ["-i", "IN", "-o", "IN"],
    ],
)
def test_words_that_do_not_go_with_a_cluster(words: list[str], tmp_path: Path) -> None:
    known = {"IN": str(tmp_path), "OUT": str(tmp_path / "out")}
    asked = [known.get(word, word) for word in words]
    assert main(["score", "rouge", "--engine", "ray", "--quiet", *asked]) == 2


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_the_extra_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["score", "rouge", "--engine", "ray", "-i", str(tmp_path), "-o", str(tmp_path / "out")]
    assert main(words) == 2
    assert "pip install 'gistmeter[ray]'" in capsys.readouterr().err


def test_the_function_for_spark(tmp_path: Path) -> None:
    import pandas as pd

    frames = [
        pd.DataFrame({"id": ["1", "2"], "candidate": ["Rain.", ""], "source": ["Rain fell.", "x"]}),
        pd.DataFrame({"id": ["3"], "candidate": ["Snow"], "source": ["Rain fell"]}),
    ]
    one, two = score_frames(iter(frames), Plan(("extractive",)))
    assert list(one.columns) == [column.split()[0] for column in SCHEMA.split(", ")]
    assert one["value"].tolist()[0] == 1.0 and two["value"].tolist() == [0.0]
    assert pd.isna(one["value"][1]) and one["problem"][1] == "the candidate is empty"


def test_output_names() -> None:
    assert output_name("a.jsonl.gz") == "a.jsonl.gz" and output_name("A.TSV") == "A.csv"
    assert output_name("a.tsv.d.jsonl") == "a.tsv.d.jsonl"


@pytest.mark.parametrize(
    "words", [["--fail-under", "rouge=.5"], ["--junit", "x.xml"], ["--explain"], ["--limit", "3"]]
)
def test_what_a_cluster_does_not_do_is_refused(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = ["-i", str(tmp_path), "-o", str(tmp_path / "out"), "--engine", "ray"]
    assert main(["score", "rouge", *folders, *words]) == 2
    assert f"{words[0]}: only with --engine local" in capsys.readouterr().err


def test_shards_are_never_replaced_by_their_scores(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    here = Folder(str(tmp_path / "rows"))
    assert here.is_same(Folder(f"file://{tmp_path}/rows/")) and here.is_same(Folder(f"{tmp_path}/x/../rows"))
    assert not here.is_same(Folder(str(tmp_path)))
    shard = tmp_path / "rows" / "a.jsonl"
    shard.write_text("{}\n")
    with pytest.raises(UsageError, match="that no run wrote"):
        here.begin({}, resume=False, overwrite=True)
    assert shard.read_text() == "{}\n"


def test_two_shards_with_one_output_are_refused() -> None:
    check_outputs(["a.tsv", "b.csv", "a.jsonl"])
    with pytest.raises(UsageError, match=r"a\.csv and a\.tsv would both become a\.csv"):
        check_outputs(["a.csv", "a.tsv"])


def test_an_empty_shard_has_an_empty_output(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    (source / "b.jsonl").write_text("")
    done = score_shard(job(source, target), PLAN.build(), "b.jsonl")
    assert (done.problem, done.rows) == (None, 0) and (target / "b.jsonl").read_text() == ""
