"""What tests share: tiny seeded models made here, and the development data where it is at hand."""

import os
from pathlib import Path

import pytest

from tests.tiny_models import save_bert, save_cross_encoder, save_roberta

# No test may reach a network; set before any library reads them.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"


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
