"""Test `gistmeter train` and its plot of the training curves."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gistmeter.app.cli import main
from gistmeter.core.errors import MissingExtra
from gistmeter.training.plots import plot_history
from gistmeter.training.queries import QueryTask
from tests.tiny_models import SENTENCES

POINTS = [{"step": at, "loss": 3 / at, "learning_rate": 1e-3, "seconds": 0.1 * at} for at in (20, 40, 60)]
CHECKS = [{"step": at, "loss": 4 / at, "accuracy_other": at / 80} for at in (30, 60)]

RECIPE = """
task = "maskeval-mlm"
[model]
name = "{model}"
[data]
folder = "{folder}"
parts = 3
batch = 4
[[data.sets]]
file = "pairs.jsonl"
[training]
epochs = 3
learning_rate = 1e-3
"""


@pytest.fixture
def recipe(tiny_roberta_lm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a recipe in the working directory, with its data."""
    monkeypatch.chdir(tmp_path)
    rows = [{"source": f"{text} {at}", "candidate": text} for at, text in enumerate(SENTENCES * 3)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "mine.toml").write_text(
        RECIPE.format(model=tiny_roberta_lm, folder=tmp_path), encoding="utf-8"
    )
    return "mine.toml"


def test_train_go_on_and_score(recipe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", recipe]) == 0
    out = tmp_path / "out" / "mine"
    printed = capsys.readouterr()
    measured = json.loads((out / "measured.json").read_text())
    assert list(measured) == ["step", "loss", "exact"]
    assert printed.out.splitlines()[0].split() == ["measured", "value"]
    assert f"{measured['loss']:.4g}" in printed.out
    assert "results are in out/mine" in printed.err
    assert (out / "history.png").read_bytes().startswith(b"\x89PNG")
    assert len(json.loads((out / "history.json").read_text())["validations"]) == 3
    assert main(["train", recipe, "--quiet"]) == 0
    again = capsys.readouterr()
    assert (again.out, again.err) == (printed.out, "")
    pair = ["--candidate-text", SENTENCES[0], "--source-text", SENTENCES[1]]
    assert main(["score", "maskeval", "--model", str(out / "model"), *pair]) == 0


def test_a_trial_is_not_mistaken_for_the_whole(recipe: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", recipe, "--steps", "1", "--output", "x", "--data", ".", "--quiet"]) == 0
    assert json.loads(Path("x/history.json").read_text())["validations"][-1]["step"] == 1
    assert main(["train", recipe, "--output", "x", "--quiet"]) == 2
    assert "x contains a run of another recipe; choose another --output" in capsys.readouterr().err


def test_ctrl_c_and_on(
    recipe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def stop(self: QueryTask, step: int) -> None:
            raise KeyboardInterrupt

        patch.setattr(QueryTask, "queries", stop)
        assert main(["train", recipe, "--quiet"]) == 130
    assert "to resume from out/mine, run the same command again" in capsys.readouterr().err
    assert main(["train", recipe, "--quiet"]) == 0


def test_without_matplotlib(
    recipe: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["train", recipe, "--steps", "1"]) == 0
    assert "plots: matplotlib is not installed; run: pip install" in capsys.readouterr().err
    assert not Path("out/mine/history.png").exists()


@pytest.mark.parametrize("quiet", [True, False])
def test_quiet_reaches_the_pipeline(quiet: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def train_pipeline(recipe: object, folder: Path, **given: object) -> dict[str, float]:
        asked.update(given)
        folder.mkdir()
        return {}

    monkeypatch.setattr("gistmeter.training.recipes.spacy_pipeline.train_pipeline", train_pipeline)
    (tmp_path / "en.toml").write_text('task = "en"', encoding="utf-8")
    arguments = ["train", str(tmp_path / "en.toml"), "--output", str(tmp_path / "o")]
    assert main([*arguments, "--quiet"] if quiet else arguments) == 0
    assert asked == {"steps": None, "progress": not quiet}


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ('task = "poetry"', 2, "training needs steps (or epochs) and learning_rate"),
        (
            'task = "poetry"\n[training]\nsteps = 1\nlearning_rate = 1',
            2,
            "no task 'poetry'; there are: en, fill,",
        ),
        ('task = "en"', 2, "lists its data files"),
        ("task = ", 3, "is not valid TOML"),
    ],
)
def test_what_is_wrong(
    text: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.toml").write_text(text, encoding="utf-8")
    arguments = [
        "train",
        str(tmp_path / "bad.toml"),
        "--data",
        str(tmp_path),
        "--output",
        str(tmp_path / "o"),
    ]
    assert main(arguments) == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


def test_the_picture_shows_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    history = {"steps": POINTS, "validations": CHECKS}
    bare = {"steps": POINTS, "validations": [{"step": 60, "loss": 1.0}]}
    empty: dict[str, list[dict[str, float]]] = {"steps": [], "validations": []}
    for name, drawn in (("a", history), ("b", bare), ("c", empty)):
        plot_history(drawn, tmp_path / f"{name}.png")
    pictures = {path.read_bytes() for path in tmp_path.glob("*.png")}
    assert len(pictures) == 3
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"pip install 'gistmeter\[plots\]'"):
        plot_history(history, tmp_path / "none.png")


def test_a_mended_typo_goes_on(recipe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = (tmp_path / recipe).read_text(encoding="utf-8")
    (tmp_path / recipe).write_text(right.replace("pairs.jsonl", "pears.jsonl"), encoding="utf-8")
    assert main(["train", recipe, "--quiet"]) == 3
    assert "pears.jsonl" in capsys.readouterr().err
    (tmp_path / recipe).write_text(right, encoding="utf-8")
    assert main(["train", recipe, "--quiet"]) == 0, "nothing was trained, so it is not another recipe"


LIMITED = """
import resource, signal, sys
from gistmeter.app.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
sys.exit(main(["train", "mine.toml", "--quiet"]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
@pytest.mark.parametrize("size", [0, 400_000])
def test_a_disk_that_takes_no_more(recipe: str, tmp_path: Path, size: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(size=size)], capture_output=True, text=True, check=False
    )
    assert done.returncode in (1, 3)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("gistmeter: ")]
    assert "cannot " in line and "File too large" in line and "debug" not in line
    assert not list(tmp_path.glob("out/**/*.tmp"))
    assert main(["train", recipe, "--quiet"]) == 0, "run the same command again"
