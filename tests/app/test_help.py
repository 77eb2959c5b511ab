"""Test what helps people at the command line: suggestions, completion, and versions for bug reports."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gistmeter import __version__
from gistmeter.app.cli import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["scroe", "rouge"], "(did you mean 'score'?)"),
        (
            ["score", "rouge", "--prest", "mini"],
            "unrecognized arguments: --prest mini (did you mean '--preset'?)",
        ),
        (["score", "rouge", "--ouput=x.jsonl"], "(did you mean '--output'?)"),
        (["score", "rouge", "--dtype", "bf61"], "(did you mean 'bf16'?)"),
        (["score", "rouge", "--zzz"], "unrecognized arguments: --zzz\n"),
        (["data", "lst"], "(did you mean 'list'?)"),
        ([], "the following arguments are required: COMMAND"),
        (["--verbose"], "--verbose needs --version"),
    ],
)
def test_a_wrong_word_names_the_nearest(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_the_versions_for_a_bug_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GISTMETER_MODELS", str(tmp_path))
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"gistmeter {__version__}\n"
    assert main(["--version", "--verbose"]) == 0
    lines = dict(line.split(" ", 1) for line in capsys.readouterr().out.splitlines())
    assert lines["gistmeter"] == __version__
    assert {"python", "torch", "transformers", "openvino", "cores", "device", "backend"} <= set(lines)
    assert lines["all-mpnet-base-v2"] == "not fetched"
    assert str(tmp_path) not in "".join(lines.values()), "a folder that the user chose is not printed"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_options_choices_and_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out

    def completed(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in words)
        end = f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _gistmeter; echo ${{COMPREPLY[*]}}"
        done = subprocess.run(
            ["bash", "-c", script + end], capture_output=True, text=True, check=True, cwd="/"
        )
        return done.stdout.split()

    assert completed("gistmeter", "comp") == ["compare", "completion"]
    assert completed("gistmeter", "score", "--dt") == ["--dtype"]
    assert completed("gistmeter", "score", "--dtype", "b") == ["bf16"]
    assert completed("gistmeter", "score", "clo") == ["cloze"]
    assert completed("gistmeter", "data", "f") == ["fetch"]
    assert "etc" in completed("gistmeter", "score", "-i", "et"), "files after other options"


def test_other_shells_get_a_script_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "zsh"]) == 0
    assert "bashcompinit" in capsys.readouterr().out
    assert main(["completion", "fish"]) == 0
    script = capsys.readouterr().out
    assert (
        "complete -c gistmeter -n '__fish_seen_subcommand_from score' -l dtype -x -a 'fp32 bf16 int8'"
        in script
    )
