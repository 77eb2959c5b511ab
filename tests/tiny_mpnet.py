"""A tiny random MPNet with the file names of all-mpnet-base-v2, and checksums of its files."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import MPNetConfig, MPNetModel, PreTrainedTokenizerFast

from gistmeter.models.files.bundle import FileFacts
from gistmeter.models.files.pinned import MPNET, Pinned
from tests.tiny_models import SEED, SIZE, as_roberta, pieces, roberta_tokens


def save_mpnet(folder: Path) -> Path:
    """Save a tiny random MPNet with its tokenizer and its pooling."""
    tokenizer = mpnet_tokenizer()
    torch.manual_seed(SEED)
    config = MPNetConfig(vocab_size=len(tokenizer), pad_token_id=1, **SIZE)
    MPNetModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    (folder / "modules.json").write_text("[]")
    return folder


def pin(folder: Path) -> Pinned:
    """Return what pins the files of a folder as those of the real model are pinned."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.name not in MPNET.unread]
    return replace(MPNET, files={path.relative_to(folder).as_posix(): facts(path) for path in found})


def facts(path: Path) -> FileFacts:
    return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}


def mpnet_tokenizer() -> PreTrainedTokenizerFast:
    """Return a WordPiece tokenizer with MPNet's special tokens: letters, and the words of a few sentences."""
    special = roberta_tokens("[UNK]").values()
    vocabulary = {token: at for at, token in enumerate([*special, *pieces()])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return as_roberta(tokenizer, "[UNK]")
