"""Computes the log probabilities of texts given other texts, with encoder-decoders."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.core.errors import BadModel
from gistmeter.models.files.families import family_of
from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer, load_weights
from gistmeter.models.run.backend import check_finite
from gistmeter.models.run.batching import in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.tokens import window_of
from gistmeter.models.run.types import Model, Tokenizer
from gistmeter.models.run.vocabulary import Ids, Vocabulary

FloatArray = NDArray[np.float64]
LONGEST = 1024
"""The window of models without a limit, as in BARTScore's code."""


@dataclass(frozen=True, slots=True, eq=False)
class TargetText:
    """A text in the model's format.

    Args:
        ids: Token ids, special tokens included; truncated to the window.
        offsets: Start and end character (exclusive) of each token, shape (tokens, 2). A special token has the
            offsets of the closest other token.
        kept: Number of tokens after truncation, without special tokens.
        total: Number of tokens of the whole text, without special tokens.
    """

    ids: Ids
    offsets: NDArray[np.int64]
    kept: int
    total: int


class ConditionalModel:
    """Computes log p(text | other text) with an encoder-decoder: BART, T5, M2M-100 and others.

    Args:
        model: A model from `AutoModelForSeq2SeqLM`.
        tokenizer: The fast tokenizer of the model.
        identity: The name of the model in signatures; the window and the precision are appended.
        prefix: A token that every decoded text begins with and that does not count, such as a language tag;
            empty for none.
        runtime: The device, the precision and the backend.

    Raises:
        BadModel: If the model has no start token, or the tokenizer does not have the prefix.
    """

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        *,
        identity: str,
        prefix: str = "",
        runtime: Runtime | None = None,
    ) -> None:
        self.runtime = runtime or Runtime()
        self.device = self.runtime.torch_device()
        self.model = model.eval().to(self.device, self.runtime.torch_dtype())
        self.vocabulary = Vocabulary(tokenizer, identity)
        self.pad_id = self.vocabulary.id(tokenizer.pad_token or tokenizer.eos_token)
        start = model.config.decoder_start_token_id
        if start is None:
            raise BadModel(f"{identity} has no decoder_start_token_id; add it to its config.json")
        self.before: Ids = (start, *((self.vocabulary.id(prefix),) if prefix else ()))
        self.window = window_of(model, tokenizer) or LONGEST
        precision = "bf16" if self.runtime.torch_dtype() == torch.bfloat16 else "fp32"
        self.identity = f"{identity}/conditional/{self.window}/{precision}"

    @classmethod
    def load(cls, name: str, runtime: Runtime | None = None, *, prefix: str = "") -> "ConditionalModel":
        """Load a model by name: a folder or a Hub id, such as `facebook/bart-large-cnn@REVISION`.

        Raises:
            ModelNotFound: If the model does not exist.
            BadModel: If it cannot be loaded, or is no encoder-decoder.
        """
        files = find_model(name)
        family, encoder_decoder = family_of(files)
        if not encoder_decoder:
            raise BadModel(f"{name} is a {family}, not an encoder-decoder; give a BART or a T5")
        tokenizer = load_tokenizer(files)
        model = load_weights(files, "AutoModelForSeq2SeqLM", tokenizer)
        return cls(model, tokenizer, identity=files.identity, prefix=prefix, runtime=runtime)

    def read(self, texts: Sequence[str]) -> list[TargetText]:
        """Tokenize texts, add the special tokens, and truncate to the window."""
        room = self.window - self.vocabulary.added(1) - (len(self.before) - 1)
        found = []
        for tokens in self.vocabulary.tokenize(texts):
            own, offsets = tokens.ids[:room], tokens.offsets[:room]
            joined = self.vocabulary.join(own)
            after = len(joined.ids) - joined.starts[0] - len(own)
            if own:
                offsets = np.pad(offsets, ((joined.starts[0], after), (0, 0)), mode="edge")
            found.append(TargetText(joined.ids, offsets, len(own), tokens.total))
        return found

    def log_probabilities(self, pairs: Sequence[tuple[Ids, Ids]]) -> list[FloatArray]:
        """Return the natural log probability of each token of a text, given another text.

        Args:
            pairs: Token ids from `read` of the (given text, decoded text).

        Returns:
            For each pair, an array of shape (tokens of the decoded text,), special tokens included.
        """
        return in_batches(
            pairs,
            self._forward,
            length=lambda pair: len(pair[0]) + len(pair[1]),
            runtime=self.runtime,
            label="reading",
        )

    def _forward(self, pairs: list[tuple[Ids, Ids]]) -> list[FloatArray]:
        given = [first for first, _ in pairs]
        inputs = [(*self.before, *second[:-1]) for _, second in pairs]
        logits = self.model(
            input_ids=pad(given, self.pad_id, self.device),
            attention_mask=mask(given, self.device),
            decoder_input_ids=pad(inputs, self.pad_id, self.device),
            use_cache=False,
        ).logits
        check_finite(logits)
        skipped = len(self.before) - 1
        return [
            self._chosen(row[skipped : skipped + len(second)], second)
            for row, (_, second) in zip(logits, pairs, strict=True)
        ]

    def _chosen(self, logits: torch.Tensor, ids: Ids) -> FloatArray:
        """Return log p of each token; one row at a time, because vocabularies are large."""
        said = logits.float().log_softmax(dim=-1)
        chosen = said.gather(1, torch.tensor(ids, device=self.device)[:, None])[:, 0]
        found: FloatArray = chosen.cpu().double().numpy()
        return found
