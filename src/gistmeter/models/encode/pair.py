"""Pairs of texts to one vector a token: a frozen encoder reads both texts together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.models.files.families import COPY_INFILLER, SENTINELS, family_of
from gistmeter.models.files.load import find_model, load_tokenizer, load_weights, read_config
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
"""Most tokens that T5 and mT5 read at once: their positions have no end, but memory grows with the square."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """What the model reads at once, and where the two texts begin in it."""

    ids: Ids
    types: Ids
    starts: Ids
    lengths: Ids

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A stretch of the candidate and one of the source, and which of the two are wanted."""

    candidate: Place
    source: Place
    wanted: tuple[bool, bool] = (True, True)


class PairEncoder:
    """An encoder that reads a candidate and its source.

    T5 and mT5 read `candidate <sep> source </s>`, others their tokenizer's format for pairs. A pair that is
    too long is read in chunks, each beside the beginning of the other text; nothing is cut off.

    Args:
        model: An encoder of transformers with a `last_hidden_state`.
        tokenizer: The fast tokenizer that belongs to it. If a T5 has no `<sep>`, the model gets the mean of
            all other tokens' vectors for it.
        identity: What signatures call the model; the window and the precision are added.
        runtime: Where and how to run.
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

        Of a T5, a BART or a copy infiller, the encoder is taken.

        Raises:
            ModelNotFound: If there is no such model.
            BadModel: If it cannot be loaded.
        """
        files = find_model(name)
        family, encoder_decoder = family_of(files)
        if family == COPY_INFILLER:
            return cls.load(str(read_config(files)["base"]), runtime)
        tokenizer = load_tokenizer(files)
        if encoder_decoder and family not in SENTINELS:  # transformers loads no such encoder by itself
            model = load_weights(files, "AutoModel", tokenizer).get_encoder()
        else:
            model = load_weights(files, "AutoModelForTextEncoding", tokenizer)
        return cls(model, tokenizer, identity=files.identity, runtime=runtime)

    def states(self, pairs: Sequence[tuple[Ids, Ids]]) -> list[tuple[FloatArray, FloatArray]]:
        """Return the last layer's state of each token of each pair: shapes (tokens, d).

        Args:
            pairs: Tokens of (candidate, source), without special ones.
        """
        return self.read(pairs, lambda states: states)

    def read(
        self, pairs: Sequence[tuple[Ids, Ids]], project: Callable[[torch.Tensor], torch.Tensor]
    ) -> list[tuple[FloatArray, FloatArray]]:
        """Return what a projection makes of each token's state.

        Args:
            pairs: Tokens of (candidate, source), without special ones.
            project: Turns states of shape (batch, tokens, d) into (batch, tokens, …).
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
        # Copies, so that a short row does not keep its whole padded batch alive.
        return [
            (
                row[pair.starts[0] :][: pair.lengths[0]].copy(),
                row[pair.starts[1] :][: pair.lengths[1]].copy(),
            )
            for row, pair in zip(values, batch, strict=True)
        ]


def _plan(candidate: int, source: int, room: int) -> list[_Reading]:
    """Cut a pair of texts into what the model can read at once.

    Args:
        candidate: Tokens of the candidate.
        source: Tokens of the source.
        room: Most tokens of both at once.
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
    """Return the id of the separator; a model that has none gets the mean of all vectors for it."""
    known: int | None = tokenizer.backend_tokenizer.token_to_id(SEPARATOR)
    if known is not None:
        return known
    new = len(tokenizer)
    give_mean_vector(model, new, known=new)
    return new
