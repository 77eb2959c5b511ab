"""Test model folders from others: no code in them runs, and the signature names the loaded files."""

import ast
import builtins
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file, save_file

from gistmeter.app.cli import main
from gistmeter.core.errors import BadModel, GistmeterError
from gistmeter.models.encode.cross_encoder import PairScorer
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.encode.pair import PairEncoder
from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer
from gistmeter.models.fill.load import load_filler
from gistmeter.models.rate.text_regressor import TextRegressor
from gistmeter.models.run.runtime import Runtime

SOURCE = Path(__file__).parents[3] / "src" / "gistmeter"
SCORE = ["--candidate-text", "the ferry left", "--source-text", "the ferry left the harbour", "--quiet"]


@pytest.fixture
def folder(tiny_bert: Path, tmp_path: Path) -> Path:
    """Return a copy of a good encoder, to be damaged."""
    return Path(shutil.copytree(tiny_bert, tmp_path / "model"))


def edit(path: Path, **facts: object) -> None:
    """Change some keys of a file of JSON."""
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(known | facts))


def score(folder: Path, *, metric: str = "bertscore:against=source,layer=1") -> int:
    return main(["score", metric, "--model", str(folder), *SCORE])


def refused(folder: Path, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that a folder ends the command with 4 and one line."""
    code = score(folder)
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (4, 1), said
    assert says in said


# No code of a model runs.


def calls(tree: ast.AST) -> list[ast.Call]:
    """Return the calls that may run code of a model: `from_pretrained`, and `from_config` with it."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("from_pretrained", "from_config")
    ]


def test_every_call_that_loads_forbids_code_of_the_model() -> None:
    found = [(path, call) for path in SOURCE.rglob("*.py") for call in calls(ast.parse(path.read_text()))]
    assert len(found) >= 2, "there is a tokenizer and there are weights"
    for path, call in found:
        given = {word.arg: word.value for word in call.keywords}
        value = given.get("trust_remote_code")
        assert isinstance(value, ast.Constant), f"{path}:{call.lineno} leaves trust_remote_code open"
        assert value.value is False, f"{path}:{call.lineno}"


MARK = "import pathlib; pathlib.Path({mark!r}).touch()\n"
LOADERS: dict[str, Callable[[str], Any]] = {
    "tokenizer": lambda name: load_tokenizer(find_model(name)),
    "encoder": Encoder.load,
    "layers of an encoder": lambda name: Encoder.load(name, layers=1),
    "pair encoder": PairEncoder.load,
    "cross-encoder": lambda name: PairScorer.load(find_model(name)),
    "filler": lambda name: load_filler(name, Runtime()),
    "rater": TextRegressor.load,
}


@pytest.mark.parametrize("by", LOADERS)
@pytest.mark.parametrize("where", ["tokenizer", "model", "base"])
def test_code_of_a_model_never_runs(
    by: str, where: str, folder: Path, tiny_regressor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "the code has run"
    own = ("Config", "Model", "ModelForMaskedLM", "ModelForSequenceClassification", "ModelForTextEncoding")
    code = MARK.format(mark=str(mark)) + "Evil = object\n"
    (folder / "evil.py").write_text(code)
    if where != "model":
        edit(
            folder / "tokenizer_config.json",
            tokenizer_class="Evil",
            auto_map={"AutoTokenizer": ["evil.Evil"] * 2},
        )
    if where != "tokenizer":
        edit(folder / "config.json", model_type="evil", auto_map={f"Auto{kind}": "evil.Evil" for kind in own})
    name = folder
    if where == "base":  # of a rater: what it builds on is the evil model
        name = Path(shutil.copytree(tiny_regressor, tmp_path / "rater"))
        edit(name / "config.json", base=str(folder), base_identity=find_model(str(folder)).identity)
    asked: list[str] = []
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 99))

    def agree(prompt: str = "") -> str:
        asked.append(prompt)
        return "y"

    monkeypatch.setattr(builtins, "input", agree)
    with contextlib.suppress(GistmeterError):
        LOADERS[by](str(name))
    assert not mark.exists()
    assert asked == [], "nobody is asked"


def test_the_attack_from_the_command_line_does_nothing(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "the code has run"
    (folder / "evil.py").write_text(MARK.format(mark=str(mark)))
    edit(folder / "config.json", model_type="evil", auto_map={"AutoConfig": "evil.Evil"})
    edit(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Evil", "evil.Evil"]})
    command = [sys.executable, "-m", "gistmeter.app.cli", "score", "bertscore:against=source,layer=1", *SCORE]
    done = subprocess.run(
        [*command, "--model", str(folder)], input="y\n" * 99, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    assert not mark.exists()


def test_pickles_are_refused_whatever_they_are_called(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "the code has run"
    (folder / "model.safetensors").write_bytes(b"cposix\nsystem\n(S'touch " + str(mark).encode() + b"'\ntR.")
    with pytest.raises(BadModel):
        Encoder.load(str(folder))
    assert not mark.exists()


# What is signed is what is loaded.


def add_one(path: Path) -> None:
    """Change all weights in a file, and set size and time of modification back to what they were."""
    stat, tensors = path.stat(), load_file(path)
    save_file(
        {name: tensor + tensor.dtype.type(1) for name, tensor in tensors.items()}, path, {"format": "pt"}
    )
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size


def shard(folder: Path, place: str) -> Path:
    """Put the weights elsewhere, and an index in their place."""
    weights = folder / "model.safetensors"
    target = folder / place
    target.parent.mkdir(exist_ok=True)
    names = list(load_file(weights))
    weights.rename(target)
    (folder / "other.safetensors").write_bytes(b"")  # so that there are weights at first sight
    index = {"metadata": {}, "weight_map": dict.fromkeys(names, place)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return target


def test_other_weights_are_another_identity_whatever_the_clock_says(folder: Path) -> None:
    before = find_model(str(folder)).identity
    assert find_model(str(folder)).identity == before
    add_one(folder / "model.safetensors")
    assert find_model(str(folder)).identity != before


def test_weights_in_a_folder_below_are_part_of_the_identity(folder: Path) -> None:
    target = shard(folder, "parts/one.safetensors")
    before = find_model(str(folder)).identity
    vectors = Encoder.load(str(folder)).embed(["rain"]).vectors
    add_one(target)
    assert find_model(str(folder)).identity != before
    assert (Encoder.load(str(folder)).embed(["rain"]).vectors != vectors).any()


@pytest.mark.parametrize("place", ["../outside.safetensors", "{root}/outside.safetensors"])
def test_weights_outside_the_folder_are_refused(
    place: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard(folder, place.format(root=tmp_path))
    refused(folder, "outside", capsys)


def test_a_tokenizer_outside_the_folder_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(folder / "tokenizer.json", tmp_path / "tokenizer.4.0.json")
    edit(folder / "tokenizer_config.json", fast_tokenizer_files=["../tokenizer.4.0.json"])
    refused(folder, "outside", capsys)


def test_an_explicit_file_of_weights_is_part_of_the_identity(folder: Path) -> None:
    (folder / "parts").mkdir()
    (folder / "model.safetensors").rename(folder / "parts" / "own.safetensors")
    (folder / "other.safetensors").write_bytes(b"")
    edit(folder / "config.json", transformers_weights="parts/own.safetensors")
    before = find_model(str(folder)).identity
    add_one(folder / "parts" / "own.safetensors")
    assert find_model(str(folder)).identity != before


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "1_Pooling"])
def test_links_out_of_the_folder_are_refused(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "1_Pooling":
        (folder / name).mkdir()
        edit(folder / name / "config.json", pooling_mode_mean_tokens=True)
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    refused(folder, "outside its folder", capsys)


def test_links_within_the_folder_and_to_the_folder_are_fine(folder: Path, tmp_path: Path) -> None:
    before = find_model(str(folder)).identity
    (folder / ".kept").mkdir()
    (folder / "config.json").rename(folder / ".kept" / "config.json")
    (folder / "config.json").symlink_to(Path(".kept") / "config.json")
    (tmp_path / "link").symlink_to(folder)
    assert find_model(str(tmp_path / "link")).identity == before


def test_an_adapter_that_names_other_weights_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(folder / "adapter_config.json", base_model_name_or_path="../elsewhere")
    refused(folder, "adapter_config.json", capsys)


# The Hub's cache.

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cached(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a model in the cache of the Hub, its files links to blobs, as `owner/name`."""
    import hashlib

    root = tmp_path / "hub" / "models--owner--name"
    snapshot = root / "snapshots" / COMMIT
    for place in (snapshot, root / "blobs", root / "refs"):
        place.mkdir(parents=True)
    (root / "refs" / "main").write_text(COMMIT)
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        blob = hashlib.sha256(data).hexdigest() if path.suffix == ".safetensors" else git
        (root / "blobs" / blob).write_bytes(data)
        (snapshot / path.name).symlink_to(Path("../../blobs") / blob)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return snapshot


def test_the_layout_of_the_hubs_cache_is_known(cached: Path) -> None:
    assert find_model("owner/name").identity == f"owner/name@{COMMIT[:12]}"
    assert find_model(str(cached)).identity.startswith("sha256:")
    assert len(Encoder.load("owner/name").embed(["rain"]).vectors) == 1


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_changed_blob_is_noticed(name: str, cached: Path) -> None:
    assert find_model("owner/name").folder == cached, "its checksums are now remembered"
    blob = (cached / name).resolve()
    stat, data = blob.stat(), blob.read_bytes()
    other = data.replace(b"gelu", b"relu") if name == "config.json" else data[:-1] + bytes([data[-1] ^ 1])
    assert other != data
    blob.write_bytes(other)
    os.utime(blob, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(BadModel, match=rf"{name} differs from the file that was downloaded"):
        find_model("owner/name")


# Pipes, devices, and JSON without end.


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "name", ["config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja", "more.txt"]
)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipes_and_devices_do_not_hang(
    name: str, kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero")
    refused(folder, name, capsys)


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "tokenizer.json"])
def test_json_nested_too_deeply_is_refused(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).write_text("[" * 200_000 + "]" * 200_000)
    refused(folder, str(folder), capsys)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("config.json", {"architectures": 7}),
        ("config.json", {"model_type": ["bert"]}),
        ("config.json", {"hidden_size": "many"}),
        ("config.json", {"num_hidden_layers": None}),
        ("1_Pooling/config.json", {}),
        ("model.safetensors.index.json", {"weight_map": [1]}),
        ("model.safetensors.index.json", {"weight_map": {"a": 1}}),
        ("tokenizer_config.json", {"fast_tokenizer_files": 4}),
    ],
)
@pytest.mark.parametrize("metric", ["bertscore:against=source,layer=1", "speed:against=source"])
def test_values_of_the_wrong_kind_are_bad_models(
    name: str, facts: dict[str, object], metric: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    if facts:
        edit(folder / name, **facts)
    else:
        (folder / name).write_text("[1]")
    code = score(folder, metric=metric)
    said = capsys.readouterr().err
    assert (code in (0, 4), said.count("\n") <= 1, "--debug" in said) == (True, True, False), said
    if name != "config.json" or "architectures" not in facts:
        assert code == 4, said


@pytest.mark.parametrize("how", ["word", "special"])
def test_a_token_beyond_the_table_is_refused(
    how: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    if how == "word":
        tokenizer["model"]["vocab"]["ferry"] = 5_000
    else:
        tokenizer["post_processor"]["special_tokens"]["[CLS]"]["ids"] = [5_000]
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    refused(folder, "5000", capsys)


def test_a_device_without_numbers_is_wrong_use(tiny_bert: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["score", "bertscore:against=source", "--model", str(tiny_bert), *SCORE, "--device", "meta"])
        == 2
    )
    said = capsys.readouterr().err
    assert (said.count("\n"), "--device cpu" in said) == (1, True)
