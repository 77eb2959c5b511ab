"""Test the model of the preset base: fetching, checksums of each file, and loading without a network."""

import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from gistmeter.app.cli import main
from gistmeter.core.errors import BadModel, ModelNotFound
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files import fetch as fetching
from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer, load_weights
from gistmeter.models.files.pinned import HOME, MPNET, PINNED
from tests.tiny_models import SENTENCES
from tests.tiny_mpnet import pin, save_mpnet

FETCH = "gistmeter models fetch base"
SCORE = ["score", "speed", "--model", "mpnet", "--candidate-text", "a", "--reference-text", "b", "--quiet"]


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny model in the files of the real one."""
    return save_mpnet(tmp_path_factory.mktemp("origin") / "mpnet")


@pytest.fixture
def home(origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pin the tiny model in the place of the real one, and return the empty folder of fetched models."""
    monkeypatch.setitem(PINNED, "mpnet", pin(origin))
    monkeypatch.setenv(HOME, str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def fetched(home: Path, origin: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return the folder of the model, fetched."""
    assert main(["models", "fetch", "base", "--from", str(origin)]) == 0
    capsys.readouterr()
    return home / MPNET.name


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Return a command's exit code and its one line on standard error."""
    code = main(list(arguments))
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return code, said


def left(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir()) if home.exists() else []


def test_what_is_pinned_is_the_published_model() -> None:
    assert MPNET.repository == "sentence-transformers/all-mpnet-base-v2"
    assert MPNET.revision == "e8c3b32edf5434bc2275fc9bab85f82640a19130"
    published = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
    assert MPNET.files["model.safetensors"] == {"sha256": published, "bytes": 437_971_872}
    assert MPNET.identity == "all-mpnet-base-v2@78c0197b6159"
    assert {"config.json", "tokenizer.json"} < MPNET.files.keys()


def test_a_model_that_was_not_fetched_names_the_command_and_touches_no_network(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(socket, "socket", lambda *_, **__: pytest.fail("a network was asked"))
    with pytest.raises(ModelNotFound, match=FETCH):
        find_model("mpnet")
    code, said = failure(capsys, *SCORE)
    assert (code, FETCH in said) == (4, True)
    assert not home.exists()


def test_the_default_folder_is_in_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOME, raising=False)
    monkeypatch.setattr("gistmeter.models.files.pinned.user_cache_path", lambda name: Path("/cache") / name)
    with pytest.raises(ModelNotFound, match="/cache/gistmeter/models/all-mpnet-base-v2"):
        find_model("mpnet")


def test_fetching_copies_what_is_pinned_and_nothing_else(
    home: Path, origin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (origin / "README.md").write_text("A card.")
    assert main(["models", "fetch", "base", "--from", str(origin)]) == 0
    folder = home / MPNET.name
    assert capsys.readouterr().out == f"all-mpnet-base-v2: fetched to {folder}\n"
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found == PINNED["mpnet"].files.keys()
    assert left(home) == [MPNET.name]
    before = {path: path.stat().st_ctime_ns for path in folder.rglob("*")}
    assert main(["models", "fetch", "base", "--from", str(origin)]) == 0
    assert capsys.readouterr().out == f"all-mpnet-base-v2: already in {folder}\n"
    assert {path: path.stat().st_ctime_ns for path in folder.rglob("*")} == before


def test_the_fetched_model_reads_as_transformers_does(fetched: Path) -> None:
    files = find_model("mpnet")
    assert files.folder == fetched
    assert files.identity == f"all-mpnet-base-v2@{PINNED['mpnet'].files['model.safetensors']['sha256'][:12]}"
    encoder = Encoder.load("mpnet")
    assert (encoder.window, encoder.pooling) == (64, "mean")
    tokenizer, model = AutoTokenizer.from_pretrained(fetched), AutoModel.from_pretrained(fetched).eval()
    for text, vector in zip(SENTENCES, encoder.embed(SENTENCES).vectors, strict=True):
        with torch.no_grad():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        np.testing.assert_allclose(vector, states.mean(0) / states.mean(0).norm(), atol=1e-6)


def flip(path: Path) -> None:
    """Change one bit, and set size and time of modification back to what they were."""
    stat, data = path.stat(), bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize(
    "name", ["model.safetensors", "tokenizer.json", "config.json", "1_Pooling/config.json"]
)
def test_one_changed_bit_is_noticed(name: str, fetched: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert find_model("mpnet").folder == fetched, "its checksums are now remembered"
    flip(fetched / name)
    with pytest.raises(BadModel, match=rf"{name} differs from the published file; delete .* run: {FETCH}"):
        find_model("mpnet")
    assert main(["models", "verify"]) == 4
    assert f"{name} differs from" in capsys.readouterr().out
    code, said = failure(capsys, "models", "fetch", "base")
    assert (code, f"delete {fetched} and run this command again" in said) == (4, True)


def test_a_missing_file_and_one_too_many_are_named(fetched: Path) -> None:
    (fetched / "adapter_config.json").write_text("{}")  # transformers would load an adapter
    with pytest.raises(BadModel, match=r"adapter_config\.json is not part of this model"):
        find_model("mpnet")
    (fetched / "adapter_config.json").unlink()
    (fetched / "modules.json").write_text("[]")  # of the repository, and nothing here reads it
    assert find_model("mpnet").folder == fetched
    (fetched / "tokenizer.json").unlink()
    with pytest.raises(BadModel, match=r"tokenizer\.json is missing"):
        find_model("mpnet")


@pytest.mark.parametrize("how", ["flipped", "longer", "missing", "pipe"])
def test_a_wrong_origin_leaves_nothing(
    how: str, home: Path, origin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = Path(shutil.copytree(origin, tmp_path / "bad"))
    weights = bad / "model.safetensors"
    if how == "flipped":
        flip(weights)
    elif how == "longer":
        weights.write_bytes(weights.read_bytes() + bytes(5_000_000))
    else:
        weights.unlink()
    if how == "pipe":
        os.mkfifo(weights)
    code, said = failure(capsys, "models", "fetch", "base", "--from", str(bad))
    assert (code, "model.safetensors" in said, left(home)) == (4, True, [])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["fetch"], "base"),
        (["fetch", "paper"], "base"),
        (["list", "base"], "fetch"),
        (["verify", "--from", "x"], "fetch"),
        (["fetch", "base", "--from", "no/such/folder"], "the folder does not exist"),
        (["fetch", "base", "--from", "http://example.org/x"], "begins with https:// or file://"),
    ],
)
def test_wrong_use_is_said(
    arguments: list[str], says: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = failure(capsys, "models", *arguments)
    assert (code, says in said, left(home)) == (2, True, [])


def test_a_cache_that_cannot_be_written_is_said(
    home: Path, origin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.write_text("in the way")
    code, said = failure(capsys, "models", "fetch", "base", "--from", str(origin))
    assert (code, "cannot write" in said) == (4, True)


def test_another_process_may_be_faster(home: Path, origin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, copy = PINNED["mpnet"], fetching._copy

    def slow(*arguments: object) -> None:
        if not (home / MPNET.name).exists():
            shutil.copytree(origin, home / MPNET.name)
        copy(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(fetching, "_copy", slow)
    assert fetching.fetch(model, str(origin)) is False
    assert left(home) == [MPNET.name]


def test_a_fetch_that_was_killed_long_ago_is_cleared_away(home: Path, origin: Path) -> None:
    old, new = home / f".{MPNET.name}.old", home / f".{MPNET.name}.new"
    for draft in (old, new):
        draft.mkdir(parents=True)
    os.utime(old, (0, 0))
    assert fetching.fetch(PINNED["mpnet"], origin.as_uri()) is True
    assert left(home) == [new.name, MPNET.name]


# From the Hub.


def test_the_hub_is_asked_for_the_pinned_revision(
    home: Path, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def download(repository: str, name: str, *, revision: str, local_dir: Path) -> None:
        asked.append((repository, revision, name))
        (local_dir / ".cache" / "huggingface").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(origin / name, local_dir / name)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    assert main(["models", "fetch", "base"]) == 0
    assert asked == [(MPNET.repository, MPNET.revision, name) for name in PINNED["mpnet"].files]
    assert not (home / MPNET.name / ".cache").exists()
    assert find_model("mpnet").folder == home / MPNET.name


def test_a_hub_out_of_reach_is_one_line(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    code, said = failure(capsys, "models", "fetch", "base")
    assert (code, "cannot download" in said, "--from" in said, left(home)) == (4, True, True, [])


# From an address.


@pytest.fixture
def server(origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve the tiny model over https, with a certificate of its own, and return the address."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate of the test's server, is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    ask = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-days", "2", "-subj", "/CN=localhost"]
    ask += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(ask, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *_: object) -> None:
            del format

    with ThreadingHTTPServer(("localhost", 0), partial(Quiet, directory=str(origin.parent))) as httpd:
        httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        yield f"https://localhost:{httpd.server_address[1]}"
        httpd.shutdown()


def test_an_address_brings_the_same_files(
    home: Path, origin: Path, server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "fetch", "base", "--from", f"{server}/{origin.name}/"]) == 0
    assert find_model("mpnet").folder == home / MPNET.name
    shutil.rmtree(home)
    capsys.readouterr()
    code, said = failure(capsys, "models", "fetch", "base", "--from", f"{server}/nothing")
    assert (code, left(home)) == (4, []), said
    assert "404" in said


# What the commands say.


def test_list_and_verify_say_its_state(
    home: Path, origin: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["models", "list"]) == 0
    listed = " ".join(capsys.readouterr().out.split())
    assert "mpnet Encoder of preset base" in listed
    assert main(["models", "verify"]) == 0, "nobody has to fetch it"
    assert f"mpnet: not fetched; run: {FETCH}\n" in capsys.readouterr().out
    assert main(["models", "fetch", "base", "--from", str(origin)]) == 0
    assert main(["models", "list"]) == 0
    assert ": found" in capsys.readouterr().out
    assert main(["models", "verify"]) == 0
    assert capsys.readouterr().out.endswith("mpnet: ok\n")


def test_fetching_needs_no_torch(home: Path, origin: Path) -> None:
    code = (
        "import sys; from gistmeter.app.cli import main\n"
        f"main(['models', 'fetch', 'base', '--from', {str(origin)!r}])\n"
        "sys.exit(len({'torch', 'transformers', 'spacy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
    assert left(home) == []  # the process knows only the real checksums


# Memory.


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory: you"),
        OSError(12, "Cannot allocate memory"),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    ],
)
def test_a_model_too_big_for_memory_is_one_clear_line(
    error: Exception, fetched: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("transformers.AutoModel.from_pretrained", fail)
    with pytest.raises(BadModel, match=r"needs about \d+ MB of free memory; free memory or") as caught:
        files = find_model("mpnet")
        load_weights(files, "AutoModel", load_tokenizer(files))
    assert str(fetched) in str(caught.value)
    assert failure(capsys, *SCORE)[0] == 4


# The real one.


@pytest.mark.slow
def test_the_real_model_knows_meaning() -> None:
    try:
        find_model("mpnet")
    except ModelNotFound as error:
        pytest.skip(str(error))
    encoder = Encoder.load("mpnet")
    assert encoder.identity == "all-mpnet-base-v2@78c0197b6159/512/fp32"
    same, other = "The firm fired its boss.", "Heavy rain is forecast."
    vectors = encoder.embed(["The company dismissed its chief executive.", same, other]).vectors
    assert vectors[0] @ vectors[1] > 0.7
    assert vectors[0] @ vectors[2] < 0.2
