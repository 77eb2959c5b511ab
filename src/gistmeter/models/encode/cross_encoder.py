"""Cross-encoders: score text pairs by encoding both texts together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.core.errors import BadModel
from gistmeter.models.files.adapted import KIND, load_adapted
from gistmeter.models.files.adapters import is_kind
from gistmeter.models.files.find import ModelFiles
from gistmeter.models.files.load import load_tokenizer, load_weights
from gistmeter.models.run import calibration
from gistmeter.models.run.backend import place
from gistmeter.models.run.batching import in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import Logits, token_rows
from gistmeter.models.run.tokens import window_of
from gistmeter.models.run.types import Config, Model, Tokenizer
from gistmeter.models.run.vocabulary import Ids, Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class PairScores:
    """Scores of text pairs by a cross-encoder.

    Args:
        values: The scores, shape (pairs,): from 0 to 1 for models with one output; p(entailment) −
            p(contradiction), from −1 to 1, for natural language inference models.
        contradicted: p(contradiction), from 0 to 1, shape (pairs,); 0 for models with one output.
        kept: Number of tokens of each text after truncation, without special tokens, shape (pairs, 2).
        total: Number of tokens of each text, shape (pairs, 2).
    """

    values: NDArray[np.float64]
    contradicted: NDArray[np.float64]
    kept: NDArray[np.int64]
    total: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Pair:
    ids: tuple[int, ...]
    types: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)


class PairScorer:
    """Scores text pairs with a single-output cross-encoder or a natural language inference model.

    Args:
        model: A transformers sequence classifier with a single label, or with labels that include
            `entailment` and `contradiction`.
        tokenizer: The fast tokenizer of the model.
        identity: The name of the model in signatures; the window and the precision are appended.
        runtime: The device, the precision and the backend.
    """

    def __init__(
        self, model: Model, tokenizer: Tokenizer, *, identity: str, runtime: Runtime | None = None
    ) -> None:
        self.entailment = entailment_columns(model.config, identity)
        self.runtime = runtime or Runtime()
        self.device = self.runtime.torch_device()
        self.tokenizer = tokenizer
        self.window = window_of(model.base_model, tokenizer)
        self.typed = getattr(model.config, "type_vocab_size", 0) > 1
        self.vocabulary = Vocabulary(tokenizer, identity)
        self.format, self.segment = self.vocabulary.pair_format()
        self.room = None if self.window is None else self.window - sum(map(len, self.format))
        example = token_rows(model.config.vocab_size, typed=self.typed)
        self.submodule = place(Logits(model), self.runtime, example, self._calibrate)
        self.identity = f"{identity}/cross/{self.window}/{self.runtime.precision}"

    @classmethod
    def load(cls, files: ModelFiles, runtime: Runtime | None = None) -> "PairScorer":
        """Load a cross-encoder from its files.

        Raises:
            BadModel: If it cannot be loaded, or has several outputs without inference labels.
        """
        if is_kind(files, KIND):
            adapted, own_tokenizer, _ = load_adapted(files)
            return cls(adapted, own_tokenizer, identity=files.identity, runtime=runtime)
        tokenizer = load_tokenizer(files)
        model = load_weights(files, "AutoModelForSequenceClassification", tokenizer)
        return cls(model, tokenizer, identity=files.identity, runtime=runtime)

    def score(self, pairs: Sequence[tuple[str, str]]) -> PairScores:
        """Return the scores of each pair; see `PairScores`.

        If a pair exceeds the window of the model, its longer text is truncated at the end.
        """
        unique = list(dict.fromkeys(pairs))
        texts = list(dict.fromkeys(text for pair in unique for text in pair))
        tokens = {text: found.ids for text, found in zip(texts, self.vocabulary.tokenize(texts), strict=True)}
        total = [(len(tokens[first]), len(tokens[second])) for first, second in unique]
        kept = [longest_first(*lengths, self.room) for lengths in total]
        items = [
            self._item(tokens[first][:a], tokens[second][:b])
            for (first, second), (a, b) in zip(unique, kept, strict=True)
        ]
        results = in_batches(items, self._forward, length=len, runtime=self.runtime, label="scoring pairs")
        at = {pair: number for number, pair in enumerate(unique)}
        rows = [at[pair] for pair in pairs]
        values, contradicted = np.array(results, dtype=np.float64).reshape(-1, 2)[rows].T
        return PairScores(
            values,
            contradicted,
            np.array(kept, dtype=np.int64).reshape(-1, 2)[rows],
            np.array(total, dtype=np.int64).reshape(-1, 2)[rows],
        )

    def _calibrate(self) -> None:
        for pair in calibration.pairs():
            self.score([pair])

    def _item(self, first: Ids, second: Ids) -> _Pair:
        """Add the special tokens of the input format for pairs."""
        before, between, after = self.format
        ids = (*before, *first, *between, *second, *after)
        ours = len(before) + len(first) + len(between)
        return _Pair(ids, (0,) * ours + (self.segment,) * (len(ids) - ours))

    def _forward(self, batch: list[_Pair]) -> list[list[float]]:
        ids = [item.ids for item in batch]
        inputs = [pad(ids, self.tokenizer.pad_token_id, self.device), mask(ids, self.device)]
        if self.typed:
            inputs.append(pad([item.types for item in batch], 0, self.device))
        logits = self.submodule(*inputs).float()
        if self.entailment is None:
            scores = torch.sigmoid(logits[:, 0])
            return torch.stack([scores, torch.zeros_like(scores)], dim=1).tolist()
        probabilities = logits.softmax(dim=1)
        entailed, contradicted = (probabilities[:, column] for column in self.entailment)
        return torch.stack([entailed - contradicted, contradicted], dim=1).tolist()


def longest_first(first: int, second: int, room: int | None) -> tuple[int, int]:
    """Return how many tokens of two texts are kept: the longer one loses its end until both fit.

    The rule of the `tokenizers` library, whose own truncation of a pair needs memory that grows with the
    product of both lengths.

    >>> longest_first(3, 90, 50), longest_first(90, 80, 51), longest_first(3, 4, None)
    ((3, 47), (26, 25), (3, 4))
    """
    if room is None or first + second <= room:
        return first, second
    short = min(first, second, room // 2)
    return (room - short, short) if first > second else (short, room - short)


def entailment_columns(config: Config, identity: str) -> tuple[int, int] | None:
    """Return the indices of the outputs for entailment and contradiction; None for a model with one output.

    Raises:
        BadModel: If the model has several outputs and their labels do not include both names.
    """
    if config.num_labels == 1:
        return None
    names = {str(name).lower(): int(at) for at, name in config.id2label.items()}
    if {"entailment", "contradiction"} <= names.keys():
        return names["entailment"], names["contradiction"]
    raise BadModel(
        f"{identity} has {config.num_labels} outputs, labeled {', '.join(names)}; give a model with one "
        "output, or with outputs labeled entailment and contradiction"
    )
