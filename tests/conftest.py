"""Fixtures of all tests: tiny models with fixed seeds, and the development data where it is available."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from gistmeter.models.run import runtime
from gistmeter.models.run.openvino import cache as openvino_cache
from tests.tiny_combined import save_check, save_quality
from tests.tiny_fillers import save_bart, save_copy_infiller, save_roberta_mlm, save_t5
from tests.tiny_heads import save_heads
from tests.tiny_models import save_bert, save_cross_encoder, save_roberta
from tests.tiny_regressor import save_regressor
from tests.tiny_tuned import save_tuned_encoder

# No test may reach a network; set before any library reads them.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# Tiny models are slower on several threads, which wait for each other.
torch.set_num_threads(1)
# The same examples every time: a build that fails says something about the change before it. Fresh ones every
# night (`make nightly`), which prints its seed, and with a failure the line that repeats it.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("fresh", derandomize=False, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("GISTMETER_HYPOTHESIS", "repeatable"))


@pytest.fixture(scope="session", autouse=True)
def pytorch_unless_asked_for() -> Iterator[None]:
    """Let `auto` mean PyTorch, also where OpenVINO is installed: converting takes seconds a model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime, "has_openvino", lambda: False)
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of development data, which is not part of the project."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the development data is not on this machine")
    return folder


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny random BERT encoder."""
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def tiny_roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny random RoBERTa encoder and a byte-level tokenizer."""
    return save_roberta(tmp_path_factory.mktemp("roberta"))


@pytest.fixture(scope="session")
def tiny_cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny random cross-encoder."""
    return save_cross_encoder(tmp_path_factory.mktemp("cross"))


@pytest.fixture(scope="session")
def tiny_t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny random T5 and a SentencePiece-like tokenizer with sentinels."""
    return save_heads(save_t5(tmp_path_factory.mktemp("t5")), 48)


@pytest.fixture(scope="session")
def tiny_roberta_lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny random RoBERTa that fills masks."""
    return save_heads(save_roberta_mlm(tmp_path_factory.mktemp("roberta-lm")), 32)


@pytest.fixture(scope="session")
def tiny_bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny random BART."""
    return save_heads(save_bart(tmp_path_factory.mktemp("bart")), 32)


@pytest.fixture(scope="session")
def tiny_copy_infiller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny random copy infiller, the kind of model that ships."""
    return save_heads(save_copy_infiller(tmp_path_factory.mktemp("reader")), 32)


@pytest.fixture(scope="session")
def tiny_tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny random encoder that tells two kinds of texts apart."""
    return save_tuned_encoder(tmp_path_factory.mktemp("tuned"))


@pytest.fixture(scope="session")
def tiny_regressor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny random regressor of five qualities."""
    return save_regressor(tmp_path_factory.mktemp("rater"))


@pytest.fixture(scope="session")
def tiny_quality(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with weights of `quality` whose members need no model."""
    return save_quality(tmp_path_factory.mktemp("quality"))


@pytest.fixture(scope="session")
def tiny_check(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with weights of `check` whose members have tiny random models."""
    return save_check(tmp_path_factory.mktemp("check"))


@pytest.fixture(scope="session")
def conversions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of conversions for OpenVINO, which all tests share."""
    return tmp_path_factory.mktemp("cache") / "openvino"


@pytest.fixture
def openvino(monkeypatch: pytest.MonkeyPatch, conversions: Path) -> Path:
    """Allow OpenVINO, and keep conversions in a folder of the tests, which is returned."""
    pytest.importorskip("openvino", reason="the extra 'cpu' is not installed")
    monkeypatch.setattr(runtime, "has_openvino", lambda: True)
    monkeypatch.setattr(openvino_cache, "_root", lambda: conversions)
    return conversions
