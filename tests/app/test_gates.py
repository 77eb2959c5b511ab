"""The gates of `gistmeter score`: thresholds, the test against a baseline, JUnit XML."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from gistmeter.app.cli import main
from gistmeter.bench.regression import change
from gistmeter.io.measured import Measured

SOURCE = "one two three four five six seven eight nine ten"


def rows_file(path: Path, words: list[int], **more: str) -> str:
    """Write rows whose length_ratio is a tenth of the number of words."""
    rows = [
        {"id": f"r{at}", "doc_id": f"d{at}", "source": SOURCE, "candidate": " ".join(["word"] * n), **more}
        for at, n in enumerate(words)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def baseline(tmp_path: Path, words: list[int], **more: str) -> str:
    out = tmp_path / "base.jsonl"
    rows = rows_file(tmp_path / "before.jsonl", words, **more)
    assert main(["score", "length_ratio", "-i", rows, "-o", str(out), "--quiet"]) == 0
    return str(out)


def test_a_mean_above_the_threshold_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_file(tmp_path / "rows.jsonl", [2, 4, 6])
    assert main(["score", "length_ratio", "-i", rows, "--fail-under", "length_ratio=.4"]) == 0
    assert "gate passed: length_ratio >= 0.4: mean 0.4 of 3 rows" in capsys.readouterr().out


def test_a_mean_below_it_ends_with_5_and_the_worst_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_file(tmp_path / "rows.jsonl", [8, 1, 3, 2, 5, 4, 6])
    assert main(["score", "length_ratio", "-i", rows, "--fail-under", "length_ratio=.5"]) == 5
    printed = capsys.readouterr().out.splitlines()
    at = printed.index("gate failed: length_ratio >= 0.5: mean 0.4143 of 7 rows")
    assert [line.split()[:2] for line in printed[at + 1 :]] == [
        ["0.100", "r1"], ["0.200", "r3"], ["0.300", "r2"], ["0.400", "r5"], ["0.500", "r4"],
    ]  # fmt: skip


def test_rows_on_standard_output_leave_gates_to_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_file(tmp_path / "rows.jsonl", [1])
    assert main(["score", "length_ratio", "-i", rows, "-o", "-", "--fail-under", "length_ratio=.5"]) == 5
    printed = capsys.readouterr()
    assert [json.loads(line)["id"] for line in printed.out.splitlines()] == ["r0"]
    assert "gate failed" in printed.err


def test_a_fall_against_the_baseline_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = baseline(tmp_path, [5] * 12, system="v1")
    rows = rows_file(tmp_path / "rows.jsonl", [4] * 11 + [1], system="v2")
    assert main(["score", "length_ratio", "-i", rows, "--fail-below-baseline", base]) == 5
    printed = capsys.readouterr().out
    assert "gate failed: length_ratio not below the baseline (alpha 0.05): difference -0.1250" in printed
    assert "on 12 documents, one-sided p 0.0002" in printed  # 1 / 2 ** 12
    assert "  0.500 → 0.100 r11" in printed.splitlines()


@pytest.mark.parametrize("words", [[5] * 12, [9] * 12, [6, 4] * 6, [5] * 11 + [1]])
def test_no_fall_or_a_fall_that_chance_explains_passes(words: list[int], tmp_path: Path) -> None:
    base = baseline(tmp_path, [5] * 12)
    rows = rows_file(tmp_path / "rows.jsonl", words)
    assert main(["score", "length_ratio", "-i", rows, "--fail-below-baseline", base]) == 0


def test_alpha_says_how_sure_the_test_must_be(tmp_path: Path) -> None:
    base = baseline(tmp_path, [5] * 12)
    rows = rows_file(tmp_path / "rows.jsonl", [4, 4, 4, 5] * 2 + [5, 5, 5, 6])  # p = 8 / 128
    arguments = ["score", "length_ratio", "-i", rows, "--fail-below-baseline", base]
    assert main(arguments) == 0
    assert main([*arguments, "--alpha", ".1"]) == 5
    with pytest.raises(SystemExit, match="2"):
        main([*arguments, "--alpha", "5"])


def test_few_documents_get_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = baseline(tmp_path, [5] * 4)
    rows = rows_file(tmp_path / "rows.jsonl", [1] * 4)
    assert main(["score", "length_ratio", "-i", rows, "--fail-below-baseline", base]) == 0
    assert "only 4 documents are in both runs" in capsys.readouterr().err


def test_rows_that_lost_their_value_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = baseline(tmp_path, [5] * 12)
    rows = rows_file(tmp_path / "rows.jsonl", [0, *[5] * 10])
    main(["score", "length_ratio", "-i", rows, "--fail-below-baseline", base])
    assert "2 rows are not in both or lack a value" in capsys.readouterr().out


def test_the_junit_file_has_a_case_a_gate(tmp_path: Path) -> None:
    rows = rows_file(tmp_path / "rows.jsonl", [1, 2, 3])
    out = tmp_path / "out.xml"
    gates = ["--fail-under", "length_ratio=.5", "--fail-under", "novelty=0", "--junit", str(out)]
    assert main(["score", "length_ratio", "novelty", "-i", rows, *gates]) == 5
    suite = ElementTree.parse(out).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    cases = {case.get("name"): case for case in suite}
    assert list(cases) == ["length_ratio >= 0.5", "novelty >= 0"]
    failure = cases["length_ratio >= 0.5"].find("failure")
    assert failure is not None
    assert failure.get("message") == "mean 0.2 of 3 rows"
    assert (failure.text or "").startswith("0.100  r0")
    assert cases["novelty >= 0"].find("failure") is None


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--fail-under", "length_ratio"], 2, "write METRIC=MEAN"),
        (["--fail-under", "length_ratio=nan"], 2, "write METRIC=MEAN"),
        (["--fail-under", "length_rato=.4"], 2, "(did you mean 'length_ratio'?)"),
        (["--junit", "x.xml"], 2, "--junit needs a gate"),
        (["--fail-below-baseline", "nothing.jsonl"], 3, "nothing.jsonl does not exist"),
    ],
)
def test_gates_are_checked_before_anything_is_scored(
    arguments: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, out = rows_file(tmp_path / "rows.jsonl", [1]), tmp_path / "out.jsonl"
    assert main(["score", "length_ratio", "-i", rows, "-o", str(out), *arguments]) == code
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_a_baseline_of_other_metrics_or_settings_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = baseline(tmp_path, [5] * 12)
    rows = rows_file(tmp_path / "rows.jsonl", [5] * 12)
    assert main(["score", "novelty", "-i", rows, "--fail-below-baseline", base]) == 3
    assert "the baseline has no scores by novelty" in capsys.readouterr().err
    other = Path(base).with_name("other.jsonl")
    other.write_text(Path(base).read_text().replace("version=1", "version=0"))
    assert main(["score", "length_ratio", "-i", rows, "--fail-below-baseline", str(other)]) == 3
    assert "the baseline was scored in another way" in capsys.readouterr().err


def test_ids_that_repeat_in_each_system_match_within_it() -> None:
    def values(shift: float) -> list[Measured]:
        return [Measured(str(at), "m", at + shift, system) for system in "ab" for at in range(3)]

    found = change("m", values(0.0), values(1.0))
    assert (found.n, found.difference) == (6, -1.0)


@pytest.mark.slow
def test_an_unchanged_system_fails_in_five_of_a_hundred_runs() -> None:
    rng = np.random.default_rng(0)
    failed = 0
    for seed in range(1000):
        new, old = rng.normal(0, 1, size=(2, 9))
        values = [
            [Measured(str(at), "m", float(x), "") for at, x in enumerate(column)] for column in (new, old)
        ]
        failed += change("m", values[0], values[1], seed=seed).p <= 0.05
    assert 0.03 <= failed / 1000 <= 0.07


def test_what_exists_is_replaced_only_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, out = rows_file(tmp_path / "rows.jsonl", [5]), tmp_path / "mine.txt"
    words = ["score", "length_ratio", "-i", rows, "--fail-under", "length_ratio=.1"]
    for option in ("--json", "--junit"):
        out.write_text("mine")
        assert main([*words, option, str(out)]) == 2
        assert "already exists; replace it with --overwrite" in capsys.readouterr().err
        assert out.read_text() == "mine"
        assert main([*words, option, str(out), "--overwrite"]) == 0
        assert out.read_text() != "mine"


@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_no_output_replaces_the_baseline(option: str, tmp_path: Path) -> None:
    base = baseline(tmp_path, [5] * 12)
    before = Path(base).read_bytes()
    words = ["score", "length_ratio", "-i", str(tmp_path / "before.jsonl"), "--fail-below-baseline", base]
    assert main([*words, option, base, "--overwrite"]) == 2
    assert Path(base).read_bytes() == before
