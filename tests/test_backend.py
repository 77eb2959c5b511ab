"""What runs a model: OpenVINO makes the decisions that PyTorch makes, for every family of models."""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from gistmeter.app.cli import main
from gistmeter.core.errors import GistmeterError, MissingExtra, UsageError
from gistmeter.models import backend, calibration, cpu, openvino_cache, openvino_piece, runtime
from gistmeter.models.backend import place, state_rows
from gistmeter.models.encoder import Encoder
from gistmeter.models.filler_load import load_filler
from gistmeter.models.filler_loss import trainable_filler
from gistmeter.models.load import find_model
from gistmeter.models.pair_encoder import PairEncoder
from gistmeter.models.pair_scorer import PairScorer
from gistmeter.models.runtime import Runtime
from tests import tiny_fillers
from tests.test_filler import SAVERS, assert_close, queries_of
from tests.tiny_models import SENTENCES, save_bert, save_cross_encoder, save_roberta

FILLERS = {**SAVERS, "reader": tiny_fillers.save_reader}
ENCODERS = {"bert": save_bert, "roberta": save_roberta}
TORCH = Runtime(device="cpu", backend="torch", cache_mb=0)
OPENVINO = Runtime(device="cpu", backend="openvino" if find_spec("openvino") else "torch", cache_mb=0)
UNEQUAL = ["rain", *SENTENCES, "the bridge and the ferry"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], Path]], Path]:
    """Return what makes a model's folder once."""
    made: dict[str, Path] = {}

    def get(name: str, save: Callable[[Path], Path]) -> Path:
        if name not in made:
            made[name] = save(tmp_path_factory.mktemp(name))
        return made[name]

    return get


@pytest.fixture(scope="module")
def conversions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache") / "openvino"


@pytest.fixture
def openvino(monkeypatch: pytest.MonkeyPatch, conversions: Path) -> Path:
    """Allow OpenVINO, and keep conversions in a folder of the tests, which is returned."""
    pytest.importorskip("openvino", reason="the extra 'cpu' is not installed")
    monkeypatch.setattr(runtime, "has_openvino", lambda: True)
    monkeypatch.setattr(openvino_cache, "_root", lambda: conversions)
    return conversions


class Doubled(torch.nn.Module):
    """A piece that is converted in a moment."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        doubled: torch.Tensor = self.layer(states) * 2
        return doubled


class Unknown(Doubled):
    """A piece that no conversion is kept of."""


@pytest.mark.parametrize("name", FILLERS)
@pytest.mark.usefixtures("openvino")
def test_fillers_fill_alike(name: str, folder: Callable[..., Path]) -> None:
    path = str(folder(f"{name}-filler", FILLERS[name]))
    ours, theirs = load_filler(path, OPENVINO), load_filler(path, TORCH)
    queries = queries_of(theirs)
    for one, two in zip(ours.fill(queries), theirs.fill(queries), strict=True):
        assert_close(one, two)
    assert ours.identity == theirs.identity, "at full precision, what runs a model decides nothing"


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.usefixtures("openvino")
def test_encoders_encode_alike(name: str, folder: Callable[..., Path]) -> None:
    path = str(folder(name, ENCODERS[name]))
    ours, theirs = Encoder.load(path, OPENVINO), Encoder.load(path, TORCH)
    assert ours.embed(UNEQUAL).vectors == pytest.approx(theirs.embed(UNEQUAL).vectors, abs=1e-5)
    for (_, one), (_, two) in zip(ours.embed_tokens(UNEQUAL), theirs.embed_tokens(UNEQUAL), strict=True):
        assert one == pytest.approx(two, abs=1e-5)
    assert ours.identity == theirs.identity


@pytest.mark.parametrize("name", ["bert", "t5", "bart"])
@pytest.mark.usefixtures("openvino")
def test_pairs_are_encoded_alike(name: str, folder: Callable[..., Path]) -> None:
    path = str(folder(f"{name}-filler", FILLERS[name]))
    ours, theirs = PairEncoder.load(path, OPENVINO), PairEncoder.load(path, TORCH)
    texts = [tokens.ids for tokens in theirs.vocabulary.tokenize(SENTENCES)]
    pairs = list(pairwise(texts))
    for one, two in zip(ours.states(pairs), theirs.states(pairs), strict=True):
        assert np.concatenate(one) == pytest.approx(np.concatenate(two), abs=1e-4)


@pytest.mark.usefixtures("openvino")
def test_pairs_are_scored_alike(folder: Callable[..., Path]) -> None:
    files = find_model(str(folder("cross", save_cross_encoder)))
    pairs = [(one, two) for one in UNEQUAL for two in SENTENCES]
    theirs = PairScorer.load(files, TORCH).score(pairs).values
    # Tiny random classifiers hardly tell pairs apart, but by far more than what may differ here.
    assert np.ptp(theirs) > 2e-5
    assert PairScorer.load(files, OPENVINO).score(pairs).values == pytest.approx(theirs, abs=5e-7)


@pytest.mark.usefixtures("openvino")
def test_half_precision_is_near_and_says_who_made_it(folder: Callable[..., Path]) -> None:
    path = str(folder("bert", save_bert))
    exact = Encoder.load(path, TORCH).embed(UNEQUAL).vectors
    half = replace(OPENVINO, dtype="bf16")
    try:
        vectors = Encoder.load(path, half).embed(UNEQUAL).vectors
    except UsageError as error:  # a processor without bf16
        assert "use --dtype fp32" in str(error)
    else:
        assert 0 < np.abs(vectors - exact).max() < 0.05
    assert Encoder.load(path, half).identity.endswith("/bf16-openvino")
    assert Encoder.load(path, replace(half, backend="torch")).identity.endswith("/bf16")


def test_a_conversion_is_kept_and_read_again(openvino: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = state_rows(4)(5, 1)
    first = place(Doubled(), OPENVINO, state_rows(4))(*inputs)
    monkeypatch.setattr(openvino_piece, "convert", lambda *_: pytest.fail("converted twice"))
    assert torch.equal(place(Doubled(), OPENVINO, state_rows(4))(*inputs), first)
    assert first.allclose(Doubled()(*inputs), atol=1e-5)
    assert not list(openvino.glob("new-*")), "nothing is left lying about"


def test_other_weights_have_a_conversion_of_their_own() -> None:
    pytest.importorskip("openvino")
    one, two = Doubled(), Doubled()
    assert openvino_cache.key_of(one, "float") == openvino_cache.key_of(two, "float")
    with torch.no_grad():
        two.layer.weight[0, 0] += 1e-7
    assert openvino_cache.key_of(one, "float") != openvino_cache.key_of(two, "float")
    assert openvino_cache.key_of(one, "float") != openvino_cache.key_of(one, "int8")


@pytest.mark.parametrize("damage", ["model.bin", "model.xml", "sha256.json", "another model"])
def test_a_damaged_conversion_is_made_again(openvino: Path, damage: str) -> None:
    inputs = state_rows(4)(5, 1)
    right = place(Doubled(), OPENVINO, state_rows(4))(*inputs)
    kept = openvino / openvino_cache.key_of(Doubled(), "float")
    if damage == "another model":  # whole, but not what its name says
        other = Doubled()
        torch.nn.init.ones_(other.layer.weight)
        place(other, OPENVINO, state_rows(4))(*inputs)
        shutil.rmtree(kept)
        shutil.copytree(openvino / openvino_cache.key_of(other, "float"), kept)
    else:
        content = (kept / damage).read_bytes()
        (kept / damage).write_bytes(content[:-3] + b"???")
    assert torch.equal(place(Doubled(), OPENVINO, state_rows(4))(*inputs), right)
    sums = json.loads((kept / "sha256.json").read_text())
    assert sums == openvino_cache._checksums(kept), "it was written anew"
    assert torch.equal(place(Doubled(), OPENVINO, state_rows(4))(*inputs), right)


def test_without_a_cache_every_process_converts(openvino: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    openvino.parent.joinpath("file").write_text("in the way")
    monkeypatch.setattr(openvino_cache, "_root", lambda: openvino.parent / "file" / "openvino")
    inputs = state_rows(4)(5, 1)
    assert place(Doubled(), OPENVINO, state_rows(4))(*inputs).allclose(Doubled()(*inputs), atol=1e-5)


def test_two_that_convert_at_once_do_not_harm_each_other(openvino: Path) -> None:
    shutil.rmtree(openvino, ignore_errors=True)
    inputs = state_rows(4)(5, 1)
    pieces = [place(Doubled(), OPENVINO, state_rows(4)) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda piece: piece(*inputs), pieces)
    assert torch.equal(one, two)
    assert [path.name for path in openvino.iterdir()] == [openvino_cache.key_of(Doubled(), "float")]


@pytest.mark.parametrize("wrong", ["convert", "difference"])
@pytest.mark.usefixtures("openvino")
def test_what_cannot_be_converted_runs_on_pytorch_or_says_so(
    wrong: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if wrong == "convert":
        monkeypatch.setattr(openvino_piece, "convert", lambda *_: [].pop())
    else:  # converted, but into something else
        monkeypatch.setattr(openvino_piece, "difference", lambda *_: 0.2)
    inputs = state_rows(4)(14, 1)
    with caplog.at_level("WARNING"):
        assert place(Unknown(), OPENVINO, state_rows(4))(*inputs).equal(Unknown()(*inputs))
    assert "PyTorch runs a part that OpenVINO cannot convert" in caplog.text
    for asked in (replace(OPENVINO, backend="openvino"), replace(OPENVINO, dtype="bf16")):
        with pytest.raises(GistmeterError, match=r"use --(backend torch|dtype fp32)"):
            place(Unknown(), asked, state_rows(4))(*inputs)


def test_without_the_extra_everything_runs_on_pytorch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Callable[..., Path]
) -> None:
    monkeypatch.setattr(runtime, "has_openvino", lambda: False)
    path = str(folder("bert", save_bert))
    assert isinstance(Encoder.load(path, Runtime(device="cpu")).piece, torch.nn.Module)
    for asked in ({"backend": "openvino"}, {"dtype": "int8"}):
        with pytest.raises(MissingExtra, match=r"pip install 'gistmeter\[cpu\]'"):
            Runtime(**asked)  # type: ignore[arg-type]
    pair = ["--candidate-text", "Rain.", "--source-text", "Rain fell.", "--model", path]
    assert main(["score", "speed:against=source", *pair, "--backend", "openvino"]) == 2
    assert "run: pip install 'gistmeter[cpu]'" in capsys.readouterr().err


def test_what_does_not_go_together_is_refused() -> None:
    for wrong, says in (
        ({"backend": "onnx"}, "choose one of auto, torch, openvino"),
        ({"dtype": "int8", "backend": "torch"}, "int8 runs on OpenVINO only"),
        ({"device": "cuda", "backend": "openvino"}, "try --device cpu"),
        ({"cache_mb": -1}, "give 0 or more"),
    ):
        with pytest.raises(UsageError, match=says):
            Runtime(**wrong)


@pytest.mark.usefixtures("openvino")
def test_training_takes_no_converted_model(folder: Callable[..., Path]) -> None:
    path = str(folder("bert-filler", FILLERS["bert"]))
    with pytest.raises(UsageError, match="training runs on PyTorch"):
        trainable_filler(load_filler(path, OPENVINO))
    assert trainable_filler(load_filler(path, TORCH))


@pytest.mark.parametrize(
    ("files", "share"),
    [
        ({}, None),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu.max": "150000 100000\n"}, 1.5),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5),
    ],
)
def test_a_containers_limit_is_read(tmp_path: Path, files: dict[str, str], share: float | None) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    assert cpu.granted_share(tmp_path) == share


def test_no_more_threads_than_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(cpu, "granted_share", lambda: 1.5)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    cpu.grant_threads.__wrapped__()
    assert asked == [1]


def test_examples_hold_padding() -> None:
    _, attention = backend.token_rows(9)(2, 7)
    assert attention.tolist() == [[1] * 7, [1] * 4 + [0] * 3]


def test_what_calibrates_is_never_what_checks() -> None:
    ours, theirs = calibration.texts(), calibration.texts(check=True)
    assert not set(ours) & set(theirs)
    assert min(len(ours), len(theirs)) > 60
    for check in (False, True):
        for sentence, paragraph in calibration.pairs(check=check):
            assert sentence[:-1] in paragraph != sentence
