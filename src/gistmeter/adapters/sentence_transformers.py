"""Sentence Transformers: a model as the encoder of the metric `speed`."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gistmeter.adapters.common import library
from gistmeter.core.options import options_from
from gistmeter.metrics.speed import Speed, SpeedOptions
from gistmeter.metrics.speed.similarity import Block, Similarity

with library("sentence-transformers"):
    from sentence_transformers import SentenceTransformer


@dataclass(frozen=True, slots=True)
class SentenceEncoder:
    """Cosine similarity of the embeddings of a `SentenceTransformer`.

    Args:
        model: The model, with all its modules: pooling, dense layers, normalization.
        identity: The name of the model in signatures.
    """

    model: SentenceTransformer
    identity: str

    def compare(self, blocks: Sequence[Block]) -> list[Similarity]:
        """Return the similarities of each block; each distinct sentence is encoded once."""
        sentences = list(dict.fromkeys(s for block in blocks for s in (*block.candidate, *block.other)))
        at = {sentence: row for row, sentence in enumerate(sentences)}
        vectors = self.model.encode(sentences, normalize_embeddings=True, show_progress_bar=False)
        encoded = self.model.tokenizer(sentences, add_special_tokens=False)["input_ids"]
        total = np.array([len(ids) for ids in encoded], dtype=np.int64)
        most = self.model.max_seq_length or int(total.max(initial=0)) + 2
        kept = np.minimum(total, most - self.model.tokenizer.num_special_tokens_to_add())
        similarities = []
        for block in blocks:
            ours, theirs = ([at[sentence] for sentence in side] for side in (block.candidate, block.other))
            values = vectors[ours] @ vectors[theirs].T
            similarities.append(Similarity(values, kept[ours + theirs], total[ours + theirs]))
        return similarities


def as_sentence_transformers(model: SentenceTransformer, **options: object) -> Speed:
    """Return the metric `speed` with a `SentenceTransformer` as its encoder.

    Args:
        model: The model.
        **options: The options of `speed`: `against="source"`.

    Raises:
        UsageError: If an option does not exist, or sentence-transformers is not installed.
    """
    encoder = SentenceEncoder(model, f"sentence-transformers@{_digest(model)}/{model.max_seq_length}")
    return Speed((encoder,), options_from(SpeedOptions, options))


def _digest(model: SentenceTransformer) -> str:
    """Return the first 12 digits of the SHA-256 of modules, weights, prompt and tokenizer."""
    digest = hashlib.sha256(repr(model).encode())
    prompt = model.prompts.get(model.default_prompt_name) if model.default_prompt_name else None
    given = [model.truncate_dim, prompt or "", _tokenizer(model)]
    digest.update(json.dumps(given, sort_keys=True).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode() + tensor.cpu().float().numpy().tobytes())
    return digest.hexdigest()[:12]


def _tokenizer(model: SentenceTransformer) -> dict[str, object]:
    """Return what decides the tokens; truncation and padding are left out: encoding changes them."""
    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    if backend is None:
        return dict(model.tokenizer.get_vocab())
    settings = json.loads(backend.to_str())
    return {name: value for name, value in settings.items() if name not in ("truncation", "padding")}
