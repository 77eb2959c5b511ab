"""Fills blanks with encoder-decoders that were trained on sentinels: T5 and mT5.

The encoder reads `text <sep> context </s>`, or the reverse order, with `<extra_id_i>` for the i-th blank. The
decoder generates `<extra_id_0> words <extra_id_1> words <extra_id_2>`. Tokens are generated step by step only
if one teacher-forced pass on the gold text does not determine the result of greedy decoding.
"""

import copy
from collections.abc import Sequence

import torch

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.fill.adapter import Adapter
from gistmeter.models.fill.paths import Path, Rules
from gistmeter.models.fill.positions import PositionPredictions, read_positions
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.fill.t5_submodules import Encoded, T5Decoder, T5Encoder, T5Head, decoder_rows
from gistmeter.models.run.batching import in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.separator import SEPARATOR, give_mean_vector
from gistmeter.models.run.submodules import state_rows, token_rows
from gistmeter.models.run.tokens import NO_LIMIT
from gistmeter.models.run.types import Model, Tokenizer

SENTINELS = 100
WINDOW = 512
"""The input length in T5's training; relative positions allow longer inputs."""


class Seq2SeqFiller(Adapter):
    """Fills blanks with a T5 or mT5.

    Each blank is predicted given the gold text of the blanks before it, so that one pass suffices for all.

    Args:
        model: A transformers language model of the T5 family.
        tokenizer: The fast tokenizer of the model. If it has no `<sep>` token, a copy with this token is
            used, and its embedding in the model is set to the mean of all other embeddings.
        identity: The name of the model in signatures; the format, the window and the precision are appended.
        runtime: The device, the precision and the backend.

    Raises:
        BadModel: If the model has no decoder, or its tokenizer has no sentinels.
    """

    architecture = "AutoModelForSeq2SeqLM"

    def __init__(
        self, model: Model, tokenizer: Tokenizer, *, identity: str, runtime: Runtime | None = None
    ) -> None:
        if not model.config.is_encoder_decoder:
            raise BadModel(f"{identity} is not an encoder-decoder with sentinels; give a T5 or mT5 model")
        if tokenizer.eos_token is None or tokenizer.pad_token is None:
            raise BadModel(
                f"the tokenizer of {identity} has no end or padding token; give the complete model folder"
            )
        separated = with_separator(model, tokenizer)
        super().__init__(model, separated, identity=identity, runtime=runtime)
        self.sentinels = tuple(
            self.vocabulary.id(f"<extra_id_{at}>", f"▁<extra_id_{at}>") for at in range(SENTINELS)
        )
        self.separator = self.vocabulary.id(SEPARATOR)
        self.end = self.vocabulary.id(tokenizer.eos_token)
        # The unknown token is special, but it represents text, so it does not end a prediction.
        self.vocabulary.special |= set(self.sentinels)  # mT5 does not mark them as special
        self.rules = Rules(self.vocabulary.special - {tokenizer.unk_token_id}, self.decode)
        limit = tokenizer.model_max_length
        self.window: int | None = limit if limit < NO_LIMIT else WINDOW
        size, width = model.get_input_embeddings().num_embeddings, model.config.d_model
        self.encoder = self.place(T5Encoder(model.get_encoder()), token_rows(size))
        self.decoder = self.place(T5Decoder(model.get_decoder()), decoder_rows(size, width))
        self.head = self.place(T5Head(model), state_rows(width))
        kind = "sentinels" if separated is tokenizer else "sentinels-new-sep"
        self.identity = f"{identity}/{kind}/{self.window}/{self.runtime.precision}"

    def overhead(self, query_blanks: int) -> int:
        """Return the number of added tokens: the separator and the end token; blanks add none."""
        return 2

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        """Return one fill per blank for each query, in input order. Equal queries run once.

        Raises:
            UsageError: If a query has more blanks than sentinels.
        """
        if any(len(query.blanks) >= SENTINELS for query in queries):
            raise UsageError(f"a query can have at most {SENTINELS - 1} blanks; use fewer blanks per query")
        return in_batches(queries, self._forward, length=len, runtime=self.runtime, label="filling")

    def _forward(self, batch: list[Query]) -> list[list[Fill]]:
        encoded = self._encode([self._input(query) for query in batch])
        targets = [self._target(query) for query in batch]
        inputs = [target[:-1] for target in targets]
        states = self._decoder(inputs, encoded)
        gold = [token for target in targets for token in target]
        readings = read_positions(states, self.head, gold)
        starts, paths = [], []
        at = 0
        for row, (query, target) in enumerate(zip(batch, targets, strict=True)):
            starts.append(_first_positions(query, at))
            paths.append(self._paths(row, query, target, readings, at))
            at += len(target)
        self._go_on([path for row in paths for path in row if path.open], encoded)
        return [
            [path.fill(readings, start) for path, start in zip(*pair, strict=True)]
            for pair in zip(paths, starts, strict=True)
        ]

    def _paths(
        self, row: int, query: Query, target: tuple[int, ...], readings: PositionPredictions, at: int
    ) -> list[Path]:
        """Return the path of each blank of a query; the predictions of its target begin at index `at`."""
        paths = []
        for start, (first, last) in zip(_first_positions(query, at), query.blanks, strict=True):
            path = Path(row, target[: start - at], query.text[first:last], self.rules)
            if start == at + 1 and readings.predicted[at] != self.sentinels[0]:
                # Greedy decoding does not begin with the sentinel, so its first token is the prediction.
                path.prefix = ()
                path.add(readings.predicted[at], readings.predicted_probabilities[at])
            else:
                path.follow(readings, start)
            paths.append(path)
        return paths

    def _go_on(self, paths: list[Path], encoded: Encoded) -> None:
        """Continue greedy decoding for paths that the teacher-forced pass leaves open."""
        while paths:
            inputs = [(*path.prefix, *path.predicted) for path in paths]
            states = self._decoder(inputs, encoded.rows([path.row for path in paths]), last=True)
            readings = read_positions(states, self.head, [self.end] * len(paths))
            for at, path in enumerate(paths):
                path.add(readings.predicted[at], readings.predicted_probabilities[at])
            paths = [path for path in paths if path.open]

    def _input(self, query: Query) -> tuple[int, ...]:
        """Return the input ids of the encoder."""
        text: list[int] = []
        end = 0
        for sentinel, (start, after) in zip(self.sentinels, query.blanks, strict=False):
            text += [*query.text[end:start], sentinel]
            end = after
        text += query.text[end:]
        first, second = (query.context, text) if query.context_first else (text, query.context)
        return (*first, self.separator, *second, self.end)

    def _target(self, query: Query) -> tuple[int, ...]:
        """Return the decoder output in which every blank is filled with the gold text."""
        target: list[int] = []
        for sentinel, (start, end) in zip(self.sentinels, query.blanks, strict=False):
            target += [sentinel, *query.text[start:end]]
        return (*target, self.sentinels[len(query.blanks)])

    def _encode(self, rows: list[tuple[int, ...]]) -> Encoded:
        attention = mask(rows, self.device)
        ids = pad(rows, self.pad_id, self.device)
        return Encoded(self.encoder(ids, attention), attention)

    def _decoder(self, rows: list[tuple[int, ...]], encoded: Encoded, *, last: bool = False) -> torch.Tensor:
        """Return the decoder's states after its start token and after each token of each row.

        Args:
            rows: The decoder input after the start token.
            encoded: The encoder output of the same rows.
            last: Whether to return only the state after the last token of each row.

        Returns:
            States of shape (states, dimensions), row by row.
        """
        begun = [(self.model.config.decoder_start_token_id, *row) for row in rows]
        states = self.decoder(pad(begun, self.pad_id, self.device), encoded.states, encoded.attention)
        places = [
            (at, position)
            for at, row in enumerate(begun)
            for position in range(len(row) - 1 if last else 0, len(row))
        ]
        which, where = torch.tensor(places, device=self.device).T
        found: torch.Tensor = states[which, where]
        return found


def with_separator(model: Model, tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer with the separator, and add its embedding to the model if the token is new.

    The new embedding is the mean of all other embeddings, so that it is deterministic.

    Args:
        model: The model; changed in place if the tokenizer has no separator.
        tokenizer: The tokenizer; returned unchanged if it has the separator, otherwise copied.
    """
    from transformers import AddedToken

    known = len(tokenizer)
    if tokenizer.backend_tokenizer.token_to_id(SEPARATOR) is None:
        extended = copy.deepcopy(tokenizer)
        extended.add_tokens([AddedToken(SEPARATOR, special=True, normalized=False)], special_tokens=True)
    else:
        return tokenizer
    new = extended.backend_tokenizer.token_to_id(SEPARATOR)
    give_mean_vector(model, new, known)
    return extended


def _first_positions(query: Query, at: int) -> list[int]:
    """Return the position that predicts the first token of each blank; the target begins at `at`."""
    starts = []
    for start, end in query.blanks:
        starts.append(at + 1)
        at += 1 + end - start
    return starts
