"""Test models whose tokenizer is only a SentencePiece model, as mT5's on the Hub."""

import io
import json
import tomllib
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import torch
from transformers import MT5Config, MT5ForConditionalGeneration

from gistmeter.catalog import languages_by_preset
from gistmeter.core.errors import MissingExtra
from gistmeter.core.example import Example
from gistmeter.metrics.maskeval import build
from gistmeter.metrics.maskeval.presets import PRESETS
from gistmeter.models.files import load
from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer
from gistmeter.models.run.runtime import Runtime
from tests.tiny_fillers import T5_SIZE
from tests.tiny_models import SEED, SENTENCES

RUNTIME = Runtime(device="cpu")
SPECIAL = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


def save_mt5(folder: Path) -> Path:
    """Save a tiny random mT5 with the files that the Hub has: `spiece.model` and no `tokenizer.json`."""
    spm = pytest.importorskip("sentencepiece", reason="the extra 'multilingual' is not installed")
    pytest.importorskip("google.protobuf", reason="the extra 'multilingual' is not installed")
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 9),
        model_writer=model,
        vocab_size=150,
        # mT5's sentinels are pieces of its SentencePiece model, with a space in front.
        user_defined_symbols=[f"▁<extra_id_{at}>" for at in reversed(range(100))],
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (folder / "spiece.model").write_bytes(model.getvalue())
    tokens = spm.SentencePieceProcessor(model_proto=model.getvalue()).get_piece_size()
    torch.manual_seed(SEED)
    MT5ForConditionalGeneration(MT5Config(vocab_size=tokens + 12, **T5_SIZE)).save_pretrained(folder)
    facts = {**SPECIAL, "extra_ids": 0, "additional_special_tokens": None, "tokenizer_class": "T5Tokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(facts), encoding="utf-8")
    (folder / "special_tokens_map.json").write_text(json.dumps(SPECIAL), encoding="utf-8")
    return folder


def test_an_mt5_as_the_hub_stores_it_scores_texts(tmp_path: Path) -> None:
    folder = save_mt5(tmp_path)
    metric = build("multilingual", str(folder), RUNTIME, {"score": "probability"})
    text = "L'eau tombe au port, et le maire achète ` 12 tableaux."
    [score] = metric.score([Example("1", text, f"{text} {SENTENCES[0]}", language="fr")])
    assert score.problem is None and 0 < score.value < 1
    words = [text[span.start : span.end] for span in score.spans if span.side == "candidate"]
    assert words[:4] == ["L'", "eau", "tombe", "au"] and "`" not in words
    vocabulary = load_tokenizer(find_model(str(folder)))
    assert vocabulary.backend_tokenizer.id_to_token(metric.filler.sentinels[0]) == "▁<extra_id_0>"  # type: ignore[attr-defined]


@pytest.mark.parametrize("missing", ["sentencepiece", "protobuf"])
def test_a_missing_package_is_named(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spiece.model").write_bytes(b"pieces")
    (tmp_path / "model.safetensors").write_bytes(b"weights")

    def find_spec(name: str) -> ModuleSpec | None:
        if name == "google.protobuf" and missing == "protobuf":
            raise ModuleNotFoundError("No module named 'google'")
        return None if name == missing else ModuleSpec(name, None)

    monkeypatch.setattr(load, "find_spec", find_spec)
    with pytest.raises(MissingExtra, match=rf"{missing} is not installed; .*gistmeter\[multilingual\]"):
        load_tokenizer(find_model(str(tmp_path)))


def test_the_extra_and_the_preset() -> None:
    content = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    extras = content["project"]["optional-dependencies"]
    assert {name.partition(">=")[0] for name in extras["multilingual"]} == set(load.SENTENCEPIECE)
    assert PRESETS["multilingual"].model.startswith("google/mt5-base@")
    assert "fr" in languages_by_preset("maskeval")["multilingual"]
    assert "fr" not in languages_by_preset("maskeval")["paper"]
