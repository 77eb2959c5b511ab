"""Test the included models: recorded after training, found by name, and complete."""

import datetime
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gistmeter.app.cli import main
from gistmeter.core.errors import BadModel, GistmeterError, ModelNotFound, UsageError
from gistmeter.models.files.bundle import (
    BUDGET,
    BUNDLE,
    CARD,
    MANIFEST,
    Data,
    Entry,
    Facts,
    entries,
    entry,
    register,
    verify,
)
from gistmeter.models.files.digest import sha256
from gistmeter.models.files.find import find_model

FACTS: Facts = {
    "what": "Knows rain.",
    "recipe": "recipes/rain.toml",
    "data": [{"name": "Weather", "licence": "CC-BY-4.0", "rows": 12}],
    "seed": 7,
    "measured": {"zeal": 0.912345, "attention": "none"},
    "date": "2025-03-01",
}
NOT_FETCHED = "mpnet: not fetched; run: gistmeter models fetch base\n"
REINSTALL = "pip install --force-reinstall gistmeter"


def without(*place: str | int) -> str:
    """Return a manifest with one model that lacks one key."""
    file = {"sha256": "0" * 64, "bytes": 2}
    manifest = {"models": {"rain": json.loads(json.dumps({**FACTS, "files": {"config.json": file}}))}}
    inner: Any = manifest["models"]["rain"]
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    return json.dumps(manifest)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Return a bundle with one model, registered."""
    root = tmp_path / "bundle"
    save(root / "rain", {"config.json": "{}", "vocab/words": "drizzle", CARD: "A card."})
    (root / MANIFEST).write_text('{"models": {}}')
    (root / "__init__.py").touch()
    register("rain", root=root, **FACTS)
    return root


@pytest.fixture
def shipped(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a bundle that stands in for the real one."""
    monkeypatch.setattr("gistmeter.models.files.find.BUNDLE", shelf)
    monkeypatch.setattr("gistmeter.app.commands.models.BUNDLE", shelf)
    monkeypatch.setenv("GISTMETER_MODELS", str(shelf.parent / "nothing fetched"))
    return shelf


def save(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        # Digests are remembered by size and time; two writes within a tick of the clock would look the same.
        os.utime(path, ns=(time.time_ns(), time.time_ns()))


def said(root: Path) -> list[tuple[str, str]]:
    return [(problem.name, problem.says) for problem in verify(root=root)]


def test_a_registered_model_reads_back_and_is_whole(shelf: Path) -> None:
    (model,) = entries(root=shelf)
    assert model == entry("rain", root=shelf)
    assert (model.name, model.what, model.seed, model.data) == ("rain", "Knows rain.", 7, FACTS["data"])
    assert list(model.measured) == ["zeal", "attention"], "the first figure stands for all"
    assert list(model.files) == ["config.json", "vocab/words"], "the card is not among them"
    empty_object = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"  # sha256sum of {}
    assert model.files["config.json"] == {"sha256": empty_object, "bytes": 2}
    assert model.bytes == len("{}") + len("drizzle")
    assert said(shelf) == []


def test_the_manifest_does_not_depend_on_the_order_of_registering(shelf: Path) -> None:
    save(shelf / "fog", {"b": "2", "a": "1"})
    save(shelf / "fog" / "__pycache__", {"a.pyc": "3"})
    register("fog", root=shelf, **FACTS)
    text = (shelf / MANIFEST).read_text()
    (shelf / MANIFEST).write_text('{"models": {}}')
    for name in ("fog", "rain"):
        register(name, root=shelf, **FACTS)
    assert (shelf / MANIFEST).read_text() == text
    models = json.loads(text)["models"]
    assert list(models) == ["fog", "rain"]
    assert list(models["fog"]) == sorted(models["fog"])
    assert list(models["fog"]["files"]) == ["a", "b"]
    assert sorted(path.name for path in shelf.iterdir()) == ["__init__.py", "fog", MANIFEST, "rain"]


def test_registering_again_replaces_only_that_model(shelf: Path) -> None:
    save(shelf / "fog", {"a": "1"})
    fog = register("fog", root=shelf, **FACTS)
    (shelf / "rain" / "vocab" / "words").unlink()
    save(shelf / "rain", {"config.json": '{"heavy": true}'})
    changed = register("rain", root=shelf, **(FACTS | {"seed": 8}))
    assert entries(root=shelf) == [fog, changed]
    assert (changed.seed, list(changed.files)) == (8, ["config.json"])
    assert said(shelf) == []


@pytest.mark.parametrize(
    ("name", "facts", "error", "says"),
    [
        ("snow", FACTS, ModelNotFound, "no files in"),
        ("Rain", FACTS, UsageError, "lowercase letters"),
        ("../rain", FACTS, UsageError, "lowercase letters"),
        ("rain", {**FACTS, "date": "20250301"}, UsageError, "YYYY-MM-DD"),
        ("rain", {**FACTS, "date": "yesterday"}, UsageError, "YYYY-MM-DD"),
        ("rain", {**FACTS, "measured": {"f1": float("nan")}}, UsageError, "f1 is nan"),
    ],
)
def test_what_cannot_be_registered_changes_nothing(
    name: str, facts: Facts, error: type[GistmeterError], says: str, shelf: Path
) -> None:
    before = (shelf / MANIFEST).read_text()
    with pytest.raises(error, match=says):
        register(name, root=shelf, **facts)
    assert (shelf / MANIFEST).read_text() == before


DAMAGE = [
    ({"vocab/words": "drizzlE"}, [], "vocab/words differs from the published file", REINSTALL),
    ({}, ["config.json"], "config.json is missing", REINSTALL),
    ({"added.json": "{}"}, [], "added.json is not in the manifest", "delete it"),
]


@pytest.mark.parametrize(("written", "deleted", "what", "to_do"), DAMAGE)
def test_damage_is_named_and_never_loaded(
    written: dict[str, str], deleted: list[str], what: str, to_do: str, shipped: Path
) -> None:
    assert find_model("gistmeter/rain").folder == shipped / "rain"
    save(shipped / "rain", written)
    for name in deleted:
        (shipped / "rain" / name).unlink()
    ((name, problem),) = said(shipped)
    assert (name, problem.startswith(what), problem.endswith(to_do)) == ("rain", True, True)
    with pytest.raises(BadModel, match=re.escape(what)) as caught:
        find_model("gistmeter/rain")
    assert str(caught.value).startswith((shipped / "rain").as_posix())
    assert str(caught.value).endswith(to_do)


def test_verify_sees_what_lies_beside_the_models(shelf: Path) -> None:
    save(shelf / "fog", {"a": "1", "b/c": "2"})
    save(shelf, {"notes.txt": "x"})
    what = "is not in the manifest; register or delete it"
    assert said(shelf) == [("fog", what), ("notes.txt", what)]


def test_the_budget_holds_for_all_models_together(shelf: Path) -> None:
    for name in ("fog", "hail"):
        (shelf / name).mkdir()
        with (shelf / name / "weights").open("wb") as file:
            file.truncate(BUDGET // 2)
        register(name, root=shelf, **FACTS)
    assert said(shelf) == [("bundle", "80.0 MB exceed the limit of 80 MB")]
    (shelf / "hail" / "weights").unlink()
    save(shelf / "hail", {"weights": "small"})
    register("hail", root=shelf, **FACTS)
    assert said(shelf) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"models": {"rain": {"what": "?"}}}',
        '{"models": ["rain"]}',
        "[" * 200_000,
        without("files", "config.json", "sha256"),
        without("files", "config.json", "bytes"),
        without("data", 0, "licence"),
        without("measured"),
        None,
    ],
)
def test_a_damaged_manifest_is_one_clear_error(text: str | None, shelf: Path) -> None:
    (shelf / MANIFEST).unlink()
    if text is not None:
        (shelf / MANIFEST).write_text(text)
    for read in (entries, verify):
        with pytest.raises(BadModel, match=REINSTALL):
            read(root=shelf)
    with pytest.raises(BadModel, match=REINSTALL):
        register("rain", root=shelf, **FACTS)


def test_an_identity_follows_the_files_and_not_the_card(shipped: Path) -> None:
    before = find_model("gistmeter/rain").identity
    assert re.fullmatch(r"gistmeter/rain@[0-9a-f]{12}", before)
    save(shipped / "rain", {CARD: "A better card."})
    assert find_model("gistmeter/rain").identity == before
    save(shipped / "rain", {"vocab/words": "drizzle and fog"})
    register("rain", root=shipped, **FACTS)
    assert find_model("gistmeter/rain").identity != before


def test_a_bundled_name_is_neither_a_folder_nor_on_the_hub(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "gistmeter" / "rain", {"model.safetensors": "not ours"})
    save(tmp_path / "gistmeter" / "sun", {"model.safetensors": "not ours"})
    monkeypatch.chdir(tmp_path)
    assert find_model("gistmeter/rain").folder == shipped / "rain"
    with pytest.raises(ModelNotFound, match=r"gistmeter has no bundled model 'sun'; choose one of: rain"):
        find_model("gistmeter/sun")
    with pytest.raises(ModelNotFound, match="no bundled model 'sun'"):
        entry("sun", root=shipped)


def test_models_lists_what_ships(shipped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    alone = capsys.readouterr().out
    assert main(["models", "list"]) == 0
    assert capsys.readouterr().out == alone
    assert re.search(
        r"^gistmeter/rain +Knows rain\. +0\.0 +zeal 0\.9123 +CC-BY-4\.0 +2025-03-01$", alone, re.M
    )
    assert re.search(r"^minilm .* 91\.6 ", alone, re.M)


def test_verify_ends_with_4_if_anything_is_wrong(shipped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "verify"]) == 0
    assert capsys.readouterr().out == f"gistmeter/rain: ok\nminilm: ok\n{NOT_FETCHED}"
    (shipped / "rain" / "config.json").unlink()
    (shipped / "rain" / "vocab" / "words").unlink()
    save(shipped, {"notes.txt": "x"})
    assert main(["models", "verify"]) == 4
    assert capsys.readouterr().out == (
        f"gistmeter/rain: config.json is missing; run: {REINSTALL} (and 1 more)\n"
        "notes.txt: is not in the manifest; register or delete it\n"
        f"minilm: ok\n{NOT_FETCHED}"
    )


def test_verify_never_trusts_a_remembered_checksum(
    shipped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gistmeter.models.files.digest.user_cache_path", lambda _: tmp_path / "cache")
    assert main(["models", "verify"]) == 0
    # Even a file whose times the system itself hides: what is remembered is put in their place.
    (shipped / "rain" / "config.json").write_text("[]")
    memory = tmp_path / "cache" / "sha256.json"
    known = json.loads(memory.read_text())
    (old,) = (value for key, value in known.items() if "rain/config.json" in key)
    sha256(shipped / "rain" / "config.json")
    known = json.loads(memory.read_text())
    memory.write_text(json.dumps({key: old if "rain/config.json" in key else known[key] for key in known}))
    assert find_model("gistmeter/rain").folder == shipped / "rain", "what is remembered is believed elsewhere"
    capsys.readouterr()
    assert main(["models", "verify"]) == 4
    assert "config.json differs from the published file" in capsys.readouterr().out


def test_a_missing_encoder_is_said(
    shipped: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gistmeter.models.files.minilm.PACKAGES", ("no_such_package",))
    assert main(["models"]) == 0
    assert "encoder is not installed" in " ".join(capsys.readouterr().out.split())
    assert main(["models", "verify"]) == 4
    assert "gistmeter/rain: ok\nminilm: the MiniLM encoder is not installed" in capsys.readouterr().out


def test_a_damaged_manifest_ends_the_command_with_4(
    shipped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shipped / MANIFEST).write_text("{")
    assert main(["models"]) == 4
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(BadModel):
        main(["models", "--debug"])


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["verify"]])
def test_the_command_needs_no_torch(arguments: list[str]) -> None:
    code = (
        "import sys; from gistmeter.app.cli import main\n"
        f"try: main(['models', *{arguments}])\n"
        "except SystemExit: pass\n"
        "sys.exit(len({'torch', 'transformers', 'spacy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


# The bundle that ships.


def test_what_ships_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify() == []
    assert main(["models", "verify"]) == 0
    assert main(["models", "list"]) == 0
    printed = capsys.readouterr().out
    assert all(len(re.findall(rf"gistmeter/{model.name}(?![\w-])", printed)) == 2 for model in entries())


def test_every_model_that_ships_says_where_it_comes_from() -> None:
    for model in entries():
        assert unsaid(model) == [], model.name


def test_a_model_that_does_not_say_it_is_caught(shelf: Path) -> None:
    good = entry("rain", root=shelf)
    doubtful: list[Data] = [
        {"name": "x", "licence": licence, "rows": 1} for licence in ("CC BY-NC 4.0", "LGPL-3.0", "OGL", "")
    ]
    bad = register("rain", root=shelf, **(FACTS | {"data": doubtful}))
    assert unsaid(good, shelf) == ["recipe"]
    assert unsaid(bad, shelf) == ["recipe", "CC BY-NC 4.0", "LGPL-3.0", ""]
    (shelf / "rain" / CARD).unlink()
    assert unsaid(good, shelf) == ["card", "recipe"]


def unsaid(model: Entry, root: Path = BUNDLE) -> list[str]:
    """Return what a model lacks of the things each must have."""
    card, recipe = root / model.name / CARD, Path(__file__).parents[3] / model.recipe
    datetime.date.fromisoformat(model.date)
    lacks = []
    if not card.is_file() or not card.read_text(encoding="utf-8").strip():
        lacks.append("card")
    if not recipe.is_file():
        lacks.append("recipe")
    return lacks + [data["licence"] for data in model.data if not may_ship(data["licence"])]


def may_ship(licence: str) -> bool:
    words = re.split(r"[^a-z]+", licence.lower())
    return bool(licence.strip()) and not any(word == "nc" or "gpl" in word for word in words)
