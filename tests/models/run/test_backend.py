"""Compare the predictions of OpenVINO with those of PyTorch for every family of models."""

import os
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gistmeter.app.cli import main
from gistmeter.core.errors import MissingExtra, UsageError
from gistmeter.models.encode.cross_encoder import PairScorer
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.encode.pair import PairEncoder
from gistmeter.models.files.find import find_model
from gistmeter.models.fill.load import load_filler
from gistmeter.models.fill.loss import trainable_filler
from gistmeter.models.rate.text_regressor import TextRegressor
from gistmeter.models.run import calibration, runtime, submodules
from gistmeter.models.run.openvino import submodule as openvino_submodule
from gistmeter.models.run.openvino.submodule import OpenVinoSubmodule
from gistmeter.models.run.runtime import Runtime
from tests import tiny_fillers
from tests.models.fill.test_filler import SAVERS, assert_close, queries_of
from tests.tiny_models import SENTENCES, save_bert, save_cross_encoder, save_roberta
from tests.tiny_regressor import save_regressor

FILLERS = {**SAVERS, "reader": tiny_fillers.save_copy_infiller}
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
def test_raters_rate_alike(folder: Callable[..., Path]) -> None:
    path = str(folder("regressor", save_regressor))
    ours, theirs = TextRegressor.load(path, OPENVINO), TextRegressor.load(path, TORCH)
    rows = [theirs.row([ids[:30]]) for ids in theirs.tokenize(UNEQUAL)]
    small = TextRegressor.load(path, replace(OPENVINO, dtype="int8"))
    for regressor in (ours, small):
        assert regressor.rate(rows) == pytest.approx(theirs.rate(rows), abs=1e-5)
        assert regressor.identity == theirs.identity, (
            "regressors do not bear int8, and say that they are in fp32"
        )


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


def test_without_the_extra_everything_runs_on_pytorch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Callable[..., Path]
) -> None:
    monkeypatch.setattr(runtime, "has_openvino", lambda: False)
    path = str(folder("bert", save_bert))
    submodule: Any = Encoder.load(path, Runtime(device="cpu")).submodule
    assert isinstance(submodule.run, torch.nn.Module)
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
        ({"device": "cuda", "backend": "openvino"}, "use --device cpu"),
        ({"cache_mb": -1}, "give 0 or more"),
    ):
        with pytest.raises(UsageError, match=says):
            Runtime(**wrong)


def test_openvino_in_a_forked_process_asks_for_spawn(monkeypatch: pytest.MonkeyPatch) -> None:
    module = torch.nn.Linear(2, 2)
    monkeypatch.setattr(runtime, "has_openvino", lambda: True)
    monkeypatch.setattr(openvino_submodule, "key_of", lambda *_: "key")
    monkeypatch.setattr(openvino_submodule, "read_model", lambda _: module)
    monkeypatch.setattr(openvino_submodule, "compiled", lambda model, _: model)

    def inputs(rows: int, _: int) -> tuple[torch.Tensor, ...]:
        return (torch.ones(rows, 2),)

    openvino = Runtime(device="cpu", backend="openvino")
    first, second = (OpenVinoSubmodule(module, openvino, inputs, None) for _ in range(2))
    assert first(torch.ones(1, 2)).shape == (1, 2)
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    for submodule in (first, second):  # one that has run in the parent, and one that has not
        with pytest.raises(UsageError, match='start method "spawn", or use --backend torch'):
            submodule(torch.ones(1, 2))
    monkeypatch.setattr(os, "getpid", lambda: parent)
    assert second(torch.ones(1, 2)).shape == (1, 2)


@pytest.mark.usefixtures("openvino")
def test_training_takes_no_converted_model(folder: Callable[..., Path]) -> None:
    path = str(folder("bert-filler", FILLERS["bert"]))
    with pytest.raises(UsageError, match="training runs on PyTorch"):
        trainable_filler(load_filler(path, OPENVINO))
    assert trainable_filler(load_filler(path, TORCH))


def test_examples_hold_padding() -> None:
    _, attention = submodules.token_rows(9)(2, 7)
    assert attention.tolist() == [[1] * 7, [1] * 4 + [0] * 3]


def test_what_calibrates_is_never_what_checks() -> None:
    ours, theirs = calibration.texts(), calibration.texts(check=True)
    assert not set(ours) & set(theirs)
    assert min(len(ours), len(theirs)) > 60
    for check in (False, True):
        for sentence, paragraph in calibration.pairs(check=check):
            assert sentence[:-1] in paragraph != sentence
