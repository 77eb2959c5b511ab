"""Tiny random models in the formats of the real ones, the same on every machine."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)

SENTENCES = [
    "The ferry left the harbour at noon with forty passengers on board.",
    "Engineers closed the old bridge after they found cracks in two of its beams.",
    "A museum in the north bought 12 paintings, and the mayor called it a good day.",
    "Rain is expected over the hills; farmers who lost their crops welcomed the news.",
    "She said: 'We won't stop until the last house has power again.'",
]
SIZE: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 66,
}
SEED = 7
Fast: Callable[..., PreTrainedTokenizerFast] = PreTrainedTokenizerFast  # its constructor has no types


def roberta_tokens(unknown: str) -> dict[str, str]:
    """Return the special tokens of RoBERTa's kind of tokenizer, in the order of their ids from 0."""
    return {
        "bos_token": "<s>",
        "pad_token": "<pad>",
        "eos_token": "</s>",
        "unk_token": unknown,
        "mask_token": "<mask>",
    }


def as_roberta(tokenizer: Tokenizer, unknown: str) -> PreTrainedTokenizerFast:
    """Give a tokenizer RoBERTa's input format and special tokens."""
    tokens = roberta_tokens(unknown)
    ids = {token: at for at, token in enumerate(tokens.values())}
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", ids["</s>"]), ("<s>", ids["<s>"]), add_prefix_space=False
    )
    return Fast(tokenizer_object=tokenizer, cls_token="<s>", sep_token="</s>", **tokens)


def wordpiece() -> PreTrainedTokenizerFast:
    """Return a WordPiece tokenizer like BERT's: letters, and the words of a few sentences.

    Its vocabulary is listed, not trained: the library's WordPiece trainer gives tokens other ids, and now and
    then another number of them, in each process.
    """
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {token: at for at, token in enumerate([*special, *pieces()])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.decoder = decoders.WordPiece()
    names = dict(zip(("pad", "unk", "cls", "sep", "mask"), special, strict=True))
    return Fast(tokenizer_object=tokenizer, **{f"{kind}_token": name for kind, name in names.items()})


def pieces() -> list[str]:
    """Return every letter, first in a word and later, and every word of the sentences, in order."""
    words = sorted({word for text in SENTENCES for word in re.findall(r"\w+|[^\w\s]", text.lower())})
    letters = sorted(set("".join(words)))
    later = [f"##{letter}" for letter in letters if letter.isalnum()]
    return list(dict.fromkeys([*letters, *later, *words]))


def byte_level() -> PreTrainedTokenizerFast:
    """Return a byte-level BPE tokenizer like RoBERTa's, trained on a few sentences."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = list(roberta_tokens("<unk>").values())
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return as_roberta(tokenizer, "<unk>")


def save_bert(folder: Path) -> Path:
    """Save a tiny random BERT encoder with its tokenizer."""
    tokenizer = wordpiece()
    torch.manual_seed(SEED)
    BertModel(BertConfig(vocab_size=len(tokenizer), **SIZE)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_roberta(folder: Path) -> Path:
    """Save a tiny random RoBERTa encoder with its tokenizer."""
    tokenizer = byte_level()
    torch.manual_seed(SEED)
    config = RobertaConfig(vocab_size=len(tokenizer), pad_token_id=1, **SIZE)
    RobertaModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_cross_encoder(folder: Path, labels: Sequence[str] = ("similar",)) -> Path:
    """Save a tiny random BERT cross-encoder with its tokenizer."""
    tokenizer = wordpiece()
    torch.manual_seed(SEED)
    config = BertConfig(vocab_size=len(tokenizer), **SIZE, id2label=dict(enumerate(labels)))
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
