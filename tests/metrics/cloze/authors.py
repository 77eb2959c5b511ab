"""The model, the pipeline and the rows on which ClozE is compared with the authors' code."""

import json
from pathlib import Path
from typing import Any

import torch
from transformers import RobertaConfig, RobertaForMaskedLM

from gistmeter.core.example import Example
from gistmeter.text.factors import Pipeline
from tests.tiny_models import byte_level
from tests.tiny_spacy import tiny_pipeline

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "careful.jsonl"
GOLDEN = ROOT / "tests" / "golden" / "cloze_authors.json"
WINDOW = 512
LIKELY = "the of in and a to library school city bay new public river harbour council on for with her his"


def cloze_pipeline() -> Pipeline:
    """Return the pipeline that finds the factors."""
    return Pipeline(tiny_pipeline(), "tiny")


def read_examples() -> list[Example]:
    """Return the rows to score."""
    rows = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    return [Example(row["id"], row["candidate"], row["source"]) for row in rows]


def save_model(folder: Path) -> None:
    """Save a tiny random RoBERTa that reads 512 tokens, with varied and sometimes correct predictions."""
    tokenizer: Any = byte_level()
    torch.manual_seed(11)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        pad_token_id=1,
        type_vocab_size=1,
        initializer_range=1.5,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=WINDOW + 2,
    )
    model = RobertaForMaskedLM(config)
    model.lm_head.bias.data[tokenizer(LIKELY, add_special_tokens=False)["input_ids"]] += 10.0
    model.save_pretrained(folder)
    tokenizer.model_max_length = WINDOW
    tokenizer.save_pretrained(folder)
