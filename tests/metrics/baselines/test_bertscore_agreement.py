"""Agreement of BERTScore, and of the simplicity metric with uniform weights, with the package bert-score."""

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from transformers import AutoTokenizer

from gistmeter import Example, catalog, load

# Its own warnings are not ours to fix, and pytest turns warnings into errors.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    bert_score = pytest.importorskip("bert_score")

FloatArray = NDArray[np.floating[Any]]
WINDOW = 64
LAYER = 2
# A random model changes little from layer to layer, so 1e-4, which real ones must keep, would be too coarse.
CLOSE = 2e-6
# References of unequal number and length; texts that are cut at the window; a word alone; unknown signs.
EXAMPLES = [
    Example(
        "several",
        "The ferry left the harbour. Rain fell over 12 hills.",
        references=["A ferry left at noon.", "Rain is expected; the ferry won't leave.", "Nobody came."],
    ),
    Example("one", "She said: 'The bridge is closed.'", references=["Engineers closed the old bridge."]),
    Example("same", "The mayor bought paintings.", references=["The mayor bought paintings."]),
    Example("word", "Rain", references=["The news", "Rain in the north, and a good day for farmers."]),
    Example("long", "The ferry left the harbour. " * 20, references=["Rain fell. " * 40, "It left."]),
    Example("unseen", "Zürich ☂ 2024", references=["Zurich 2024 🙂"]),
]


def as_published(model: Path, folder: Path, tokenizer: str) -> Path:
    """Copy a tiny model and add its tokenizer class and window, which the package requires."""
    shutil.copytree(model, folder, dirs_exist_ok=True)
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"tokenizer_class": tokenizer, "model_max_length": WINDOW}))
    return folder


@pytest.fixture(params=["BertTokenizer", "RobertaTokenizer"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    fixture = f"tiny_{request.param.removesuffix('Tokenizer').lower()}"
    return as_published(request.getfixturevalue(fixture), tmp_path, request.param)


def theirs(model: Path, examples: list[Example]) -> FloatArray:
    """Return the package's P, R and F, shape (examples, 3)."""
    candidates, references = [e.candidate for e in examples], [list(e.references) for e in examples]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bert_score.score(
            candidates, references, model_type=str(model), num_layers=LAYER, device="cpu"
        )
    return np.stack([part.numpy() for part in found], axis=1)


def ours(name: str, model: Path, examples: list[Example], **options: object) -> FloatArray:
    metric = catalog.build(name, model=str(model), options={"layer": LAYER, **options})
    scores = metric.score(examples)
    return np.array([[score.parts[part] for part in ("precision", "recall", "f1")] for score in scores])


def test_bertscore_is_the_packages(model: Path) -> None:
    np.testing.assert_allclose(ours("bertscore", model, EXAMPLES), theirs(model, EXAMPLES), atol=CLOSE)


def test_uniform_weights_give_bertscore(model: Path) -> None:
    plain = ours("simplicity", model, EXAMPLES, weight="uniform")
    np.testing.assert_allclose(plain, theirs(model, EXAMPLES), atol=CLOSE)
    np.testing.assert_allclose(plain, ours("bertscore", model, EXAMPLES), atol=1e-12)


def test_the_package_asks_for_a_leading_space_in_vain(model: Path) -> None:
    """The leading space has no effect with transformers 5; otherwise, scores on RoBERTa would differ."""
    tokenizer: Any = AutoTokenizer.from_pretrained(model)
    assert type(tokenizer).__name__ in ("BertTokenizer", "RobertaTokenizer")
    plain = tokenizer.encode("The ferry left.")
    assert tokenizer.encode("The ferry left.", add_prefix_space=True) == plain


def test_another_layer_is_another_number(model: Path) -> None:
    deeper = load("bertscore", model=str(model), layer=LAYER + 1).score(EXAMPLES[:1])[0]
    assert abs(deeper.value - theirs(model, EXAMPLES[:1])[0, 2]) > 10 * CLOSE
