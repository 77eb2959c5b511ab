"""Encodes text pairs into one vector per token; a frozen encoder reads both texts together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.models.encode.bidirectional import load_bidirectional
from gistmeter.models.files.adapters import base_of
from gistmeter.models.files.families import COPY_INFILLER, SENTINELS, family_of
from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer
from gistmeter.models.run import calibration
from gistmeter.models.run.backend import place
from gistmeter.models.run.batching import in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.separator import SEPARATOR, give_mean_vector
from gistmeter.models.run.submodules import States, token_rows
from gistmeter.models.run.tokens import window_of
from gistmeter.models.run.types import Model, Tokenizer
from gistmeter.models.run.vocabulary import Vocabulary

Ids = tuple[int, ...]
FloatArray = NDArray[np.float32]
Place = tuple[int, int]

AT_ONCE = 2048
"""Maximum number of input tokens for T5 and mT5, which have no limit; memory grows quadratically."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """One model input, and where the two texts begin in it."""

    ids: Ids
    types: Ids
    starts: Ids
    lengths: Ids

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A chunk of the candidate and a chunk of the source, and whose vectors to keep."""

    candidate: Place
    source: Place
    wanted: tuple[bool, bool] = (True, True)


class PairEncoder:
    """Encodes a candidate together with its source.

    T5 and mT5 read `candidate <sep> source </s>`; other models read the pair format of their tokenizer. A
    pair that exceeds the window is encoded in chunks, each with the beginning of the other text. Nothing is
    truncated.

    Args:
        model: A transformers encoder with a `last_hidden_state`.
        tokenizer: The fast tokenizer of the model. If a T5 has no `<sep>` token, its embedding is set to the
            mean of all other embeddings.
        identity: The name of the model in signatures; the window and the precision are appended.
        runtime: The device, the precision and the backend.
    """

    def __init__(
        self, model: Model, tokenizer: Tokenizer, *, identity: str, runtime: Runtime | None = None
    ) -> None:
        self.runtime = runtime or Runtime()
        self.device = self.runtime.torch_device()
        self.relative = model.config.model_type in SENTINELS
        self.window = AT_ONCE if self.relative else window_of(model, tokenizer) or AT_ONCE
        self.vocabulary = Vocabulary(tokenizer, identity)
        self.pad_id = self.vocabulary.id(tokenizer.pad_token)
        if self.relative:
            self.separator = _separator(model, tokenizer)
            self.end = self.vocabulary.id(tokenizer.eos_token)
        self.typed = getattr(model.config, "type_vocab_size", 0) > 1
        example = token_rows(model.get_input_embeddings().num_embeddings, typed=self.typed)
        self.submodule = place(States(model), self.runtime, example, self._calibrate)
        self.width: int = model.config.hidden_size
        self.identity = f"{identity}/{self.window}/{self.runtime.precision}"

    @classmethod
    def load(cls, name: str, runtime: Runtime | None = None) -> "PairEncoder":
        """Load an encoder by name: `minilm`, a folder, or a Hub id.

        For a T5, a BART or a copy infiller, loads the encoder only.

        Raises:
            ModelNotFound: If the model does not exist.
            BadModel: If it cannot be loaded.
        """
        files = find_model(name)
        if family_of(files)[0] == COPY_INFILLER:
            return cls.load(base_of(files), runtime)
        tokenizer = load_tokenizer(files)
        model = load_bidirectional(files, tokenizer)
        return cls(model, tokenizer, identity=files.identity, runtime=runtime)

    def states(self, pairs: Sequence[tuple[Ids, Ids]]) -> list[tuple[FloatArray, FloatArray]]:
        """Return the last hidden state of each token of each pair: shapes (tokens, d).

        Args:
            pairs: Token ids of (candidate, source), without special tokens.
        """
        return self.read(pairs, lambda states: states)

    def read(
        self, pairs: Sequence[tuple[Ids, Ids]], project: Callable[[torch.Tensor], torch.Tensor]
    ) -> list[tuple[FloatArray, FloatArray]]:
        """Return a projection of the last hidden state of each token.

        Args:
            pairs: Token ids of (candidate, source), without special tokens.
            project: Maps states of shape (batch, tokens, d) into (batch, tokens, …).
        """
        added = 2 if self.relative else self.vocabulary.added(2)
        plans = [_plan(len(candidate), len(source), self.window - added) for candidate, source in pairs]
        items = [
            self._join(candidate[slice(*reading.candidate)], source[slice(*reading.source)])
            for (candidate, source), plan in zip(pairs, plans, strict=True)
            for reading in plan
        ]
        found = in_batches(
            items,
            lambda batch: self._forward(batch, project),
            length=len,
            runtime=self.runtime,
            label="weighing",
        )
        results = iter(found)
        return [_put_together([(reading, next(results)) for reading in plan]) for plan in plans]

    def _calibrate(self) -> None:
        for pair in calibration.pairs():
            candidate, source = (tokens.ids for tokens in self.vocabulary.tokenize(pair))
            self.states([(candidate, source)])

    def _join(self, candidate: Ids, source: Ids) -> _Pair:
        lengths = (len(candidate), len(source))
        if not self.relative:
            joined = self.vocabulary.join(candidate, source)
            starts = joined.starts if source else (*joined.starts, len(joined.ids))
            return _Pair(joined.ids, joined.types, starts, lengths)
        ids = (*candidate, self.separator, *source, self.end)
        return _Pair(ids, (0,) * len(ids), (0, len(candidate) + 1), lengths)

    def _forward(
        self, batch: list[_Pair], project: Callable[[torch.Tensor], torch.Tensor]
    ) -> list[tuple[FloatArray, FloatArray]]:
        rows = [pair.ids for pair in batch]
        inputs = [pad(rows, self.pad_id, self.device), mask(rows, self.device)]
        if self.typed:
            inputs.append(pad([pair.types for pair in batch], 0, self.device))
        values = project(self.submodule(*inputs).float()).cpu().numpy()
        # Copy, so that a short row does not keep the whole padded batch in memory.
        return [
            (
                row[pair.starts[0] :][: pair.lengths[0]].copy(),
                row[pair.starts[1] :][: pair.lengths[1]].copy(),
            )
            for row, pair in zip(values, batch, strict=True)
        ]


def _plan(candidate: int, source: int, room: int) -> list[_Reading]:
    """Split a text pair into chunks that fit into the window.

    Args:
        candidate: Number of tokens of the candidate.
        source: Number of tokens of the source.
        room: Maximum number of tokens of both together.
    """
    ours = min(candidate, max(room // 2, room - source))
    theirs = min(source, room - ours)
    first = _Reading((0, ours), (0, theirs))
    more_source = [
        _Reading((0, ours), (start, min(source, start + room - ours)), (False, True))
        for start in range(theirs, source, room - ours)
    ]
    more_candidate = [
        _Reading((start, min(candidate, start + room - theirs)), (0, theirs), (True, False))
        for start in range(ours, candidate, room - theirs)
    ]
    return [first, *more_source, *more_candidate]


def _put_together(
    parts: Sequence[tuple[_Reading, tuple[FloatArray, FloatArray]]],
) -> tuple[FloatArray, FloatArray]:
    candidate = [values[0] for reading, values in parts if reading.wanted[0]]
    source = [values[1] for reading, values in parts if reading.wanted[1]]
    return np.concatenate(candidate), np.concatenate(source)


def _separator(model: Model, tokenizer: Tokenizer) -> int:
    """Return the id of the separator; add it with the mean embedding if the tokenizer has none."""
    known: int | None = tokenizer.backend_tokenizer.token_to_id(SEPARATOR)
    if known is not None:
        return known
    new = len(tokenizer)
    give_mean_vector(model, new, known=new)
    return new
