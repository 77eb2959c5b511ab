"""Test the config file: defaults of options, with the command line first, and its error messages."""

from pathlib import Path

import pytest

from gistmeter.app.cli import main, parse

ROW = '{"id": "1", "candidate": "Rain fell.", "source": "Rain fell all day."}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text(ROW)
    return tmp_path


def test_both_files_set_defaults_and_the_command_line_wins(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.gistmeter]\npreset = "base"\nbatch-tokens = 512\nquiet = true\n'
    )
    found = parse(["score", "rouge"])
    assert (found.preset, found.batch_tokens, found.quiet) == ("base", 512, True)
    assert parse(["score", "rouge", "--preset", "mini"]).preset == "mini"
    assert parse(["reproduce", "maskeval", "--data", "x"]).preset == "base"
    (folder / "gistmeter.toml").write_text('seed = 7\n[score]\nseed = 8\nspans = "none"\n')
    found = parse(["score", "rouge"])
    assert (found.preset, found.seed, found.spans) == ("mini", 8, "none"), "gistmeter.toml replaces pyproject"
    assert parse(["compare", "scores.jsonl"]).seed == 7


def test_repeatable_options_are_replaced_not_extended(folder: Path) -> None:
    (folder / "gistmeter.toml").write_text('fail-under = ["cloze=.4", "rouge=.3"]\n')
    assert parse(["score", "rouge"]).fail_under == ["cloze=.4", "rouge=.3"]
    assert parse(["score", "rouge", "--fail-under", "rouge=.1"]).fail_under == ["rouge=.1"]


def test_fields_can_be_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gistmeter.toml").write_text('fields = { candidate = "text", source = "article" }\n')
    (folder / "mine.jsonl").write_text('{"text": "Rain fell.", "article": "Rain fell all day."}\n')
    assert main(["score", "novelty", "-i", "mine.jsonl"]) == 0
    assert "novelty" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('prest = "mini"', "gistmeter.toml: unknown key 'prest' (did you mean 'preset'?); there are: alpha"),
        ('[scroe]\npreset = "mini"', "gistmeter.toml: unknown key 'scroe' (did you mean 'score'?)"),
        ('[score]\nprest = "mini"', "gistmeter.toml, score: unknown key 'prest' (did you mean 'preset'?)"),
        ("score = 5", "gistmeter.toml: score must be a table of options, not 5"),
        ('output = "/etc/passwd"', "gistmeter.toml: unknown key 'output'"),
        ("overwrite = true", "gistmeter.toml: unknown key 'overwrite'"),
        ('dtype = "fp23"', "gistmeter.toml: dtype = 'fp23': choose one of fp32, bf16, int8 (did you mean"),
        ("batch-tokens = 0", "gistmeter.toml: batch-tokens = 0: 0 is not above 0; give at least 1"),
        ('seed = "x"', "gistmeter.toml: seed = 'x': 'x' is not a whole number of at least 0"),
        ("quiet = 1", "gistmeter.toml: quiet = 1: write true or false"),
        ('fail-under = "rouge=.3"', "write a list of texts"),
        ("preset = [1]", "gistmeter.toml: preset = [1]: write a text or a number"),
        ("preset = ", "cannot read the config file gistmeter.toml"),
    ],
)
def test_what_is_wrong_with_a_config_file_is_one_line(
    folder: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gistmeter.toml").write_text(text)
    assert main(["score", "novelty", "-i", "rows.jsonl"]) == 2
    printed = capsys.readouterr().err
    assert said in printed and printed.count("\n") == 1


def test_files_of_other_folders_and_of_other_tools_are_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "gistmeter.toml").write_text("wrong = 1\n")
    (folder / "inside").mkdir()
    monkeypatch.chdir(folder / "inside")
    Path("pyproject.toml").write_text("[tool.other]\nwrong = 1\n")
    assert parse(["score", "rouge"]).preset == "mini"
