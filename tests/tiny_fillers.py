"""Tiny random fill models, one per family, in the formats of the real ones."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForMaskedLM,
    DistilBertConfig,
    DistilBertForMaskedLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
)

from gistmeter.models.fill import copy_files as reader_files
from tests.tiny_models import SEED, SENTENCES, SIZE, Fast, byte_level, save_bert, wordpiece

T5_SIZE: dict[str, Any] = {"d_model": 48, "d_kv": 12, "d_ff": 96, "num_layers": 2, "num_heads": 4}
HALF: dict[str, Any] = {"layers": 2, "attention_heads": 4, "ffn_dim": 48}
BART_SIZE: dict[str, Any] = {
    "d_model": 32,
    "max_position_embeddings": 64,
    **{f"{half}_{name}": value for half in ("encoder", "decoder") for name, value in HALF.items()},
}


def sentinel_unigram() -> PreTrainedTokenizerFast:
    """Return a Unigram tokenizer like T5's, with sentinels and without a separator.

    Its pieces are listed, not trained: the library's trainer gives them other scores in each process.
    """
    special = ["<pad>", "</s>", "<unk>"]
    cases = [f(text) for text in SENTENCES for f in (str, str.lower, str.upper)]
    words = sorted({f"▁{word}" for text in cases for word in text.split()})
    letters = sorted(set("".join(words)))
    scores = dict.fromkeys(special, 0.0) | dict.fromkeys(letters, -8.0) | dict.fromkeys(words, -9.0)
    tokenizer = Tokenizer(models.Unigram(list(scores.items()), unk_id=2, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens([f"<extra_id_{at}>" for at in reversed(range(100))])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return Fast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        model_max_length=512,
    )


def t5(tokens: int) -> T5ForConditionalGeneration:
    """Return a tiny random T5 with a vocabulary of that many tokens."""
    torch.manual_seed(SEED)
    config = T5Config(vocab_size=tokens, **T5_SIZE)
    config.decoder_start_token_id = 0
    return T5ForConditionalGeneration(config)


def save_t5(folder: Path) -> Path:
    """Save a tiny random T5 with its tokenizer."""
    return _save(folder, t5(len(tokenizer := sentinel_unigram())), tokenizer)


def save_bert_mlm(folder: Path) -> Path:
    """Save a tiny random BERT with its head for masked words."""
    tokenizer = wordpiece()
    torch.manual_seed(SEED)
    return _save(folder, BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **SIZE)), tokenizer)


def save_roberta_mlm(folder: Path) -> Path:
    """Save a tiny random RoBERTa with its head for masked words."""
    tokenizer = byte_level()
    torch.manual_seed(SEED)
    config = RobertaConfig(vocab_size=len(tokenizer), pad_token_id=1, **SIZE)
    return _save(folder, RobertaForMaskedLM(config), tokenizer)


def save_distilbert_mlm(folder: Path) -> Path:
    """Save a tiny random DistilBERT, whose head lies where no other family has it."""
    tokenizer = wordpiece()
    torch.manual_seed(SEED)
    config = DistilBertConfig(vocab_size=len(tokenizer), dim=32, n_layers=2, n_heads=4, hidden_dim=48)
    return _save(folder, DistilBertForMaskedLM(config), tokenizer)


def save_bart(folder: Path) -> Path:
    """Save a tiny random BART with its tokenizer."""
    tokenizer = byte_level()
    torch.manual_seed(SEED)
    config = BartConfig(
        vocab_size=len(tokenizer),
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
        **BART_SIZE,
    )
    return _save(folder, BartForConditionalGeneration(config), tokenizer)


def save_copy_infiller(folder: Path) -> Path:
    """Save a tiny random reader, and the BERT encoder that it builds on inside its folder."""
    base = save_bert(folder / "base")
    torch.manual_seed(SEED)
    reader, _ = reader_files.new_copy_infiller(str(base), 2)
    for weight in reader.parameters():  # no layer that is nothing at first, no clear favourite
        if weight.requires_grad:
            torch.nn.init.normal_(weight, std=0.3)
    reader_files.save_copy_infiller(reader, str(base), folder)
    return folder


def _save(folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> Path:
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:  # the usual start is so small that all predictions are alike
                parameter.mul_(1 if isinstance(model, T5ForConditionalGeneration) else 4)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
