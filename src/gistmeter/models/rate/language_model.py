"""Computes token probabilities and next-sentence probabilities with language models."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer, load_weights
from gistmeter.models.run.backend import check_finite
from gistmeter.models.run.batching import in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.tokens import window_of
from gistmeter.models.run.types import Model, Tokenizer
from gistmeter.models.run.vocabulary import Ids, Vocabulary

FloatArray = NDArray[np.float64]
Kind = Literal["causal", "unmasked"]


class TokenModel:
    """Computes the probability of each token of a text.

    Args:
        model: A model from `AutoModelForCausalLM` or `AutoModelForMaskedLM`.
        tokenizer: The fast tokenizer of the model.
        kind: `causal` predicts each token from the tokens before it (GPT-2). `unmasked` reads the probability
            of each token from a masked language model without masking it, as in the authors' code for BERT.
        identity: The name of the model in signatures; the kind and the precision are appended.
        runtime: The device, the precision and the backend.
    """

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        *,
        kind: Kind,
        identity: str,
        runtime: Runtime | None = None,
    ) -> None:
        self.runtime = runtime or Runtime()
        self.device = self.runtime.torch_device()
        self.model = model.eval().to(self.device, self.runtime.torch_dtype())
        self.vocabulary, self.kind = Vocabulary(tokenizer, identity), kind
        start = tokenizer.bos_token if kind == "causal" else tokenizer.cls_token
        end = None if kind == "causal" else tokenizer.sep_token
        self.start = self.vocabulary.id(start or tokenizer.eos_token)
        self.end = () if end is None else (self.vocabulary.id(end),)
        self.window = window_of(model, tokenizer)
        self.identity = f"{identity}/{kind}/{_precision(self.runtime)}"

    @classmethod
    def load(cls, name: str, kind: Kind, runtime: Runtime | None = None) -> "TokenModel":
        """Load a model by name: a folder or a Hub id, such as `gpt2@REVISION`.

        Raises:
            ModelNotFound: If the model does not exist.
            BadModel: If it cannot be loaded, or is of another kind.
        """
        files = find_model(name)
        tokenizer = load_tokenizer(files)
        architecture = "AutoModelForCausalLM" if kind == "causal" else "AutoModelForMaskedLM"
        model = load_weights(files, architecture, tokenizer)
        return cls(model, tokenizer, kind=kind, identity=files.identity, runtime=runtime)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each whole text."""
        return [tokens.total for tokens in self.vocabulary.tokenize(texts)]

    def log2(self, texts: Sequence[str]) -> list[FloatArray]:
        """Return the log2 probability of each token, shape (tokens,); long texts are truncated."""
        room = (self.window or 10**9) - 1 - len(self.end)
        rows = [(self.start, *tokens.ids[:room], *self.end) for tokens in self.vocabulary.tokenize(texts)]
        return in_batches(rows, self._forward, length=len, runtime=self.runtime, label="reading")

    def _forward(self, rows: list[Ids]) -> list[FloatArray]:
        ids = pad(rows, 0, self.device)
        logits = self.model(input_ids=ids, attention_mask=mask(rows, self.device)).logits.float()
        check_finite(logits)
        seen = logits[:, :-1] if self.kind == "causal" else logits[:, 1:]
        said = seen.log_softmax(dim=-1).gather(2, ids[:, 1:].unsqueeze(-1))[..., 0].cpu().double().numpy()
        return [
            line[: len(row) - 1 - len(self.end)] / np.log(2) for line, row in zip(said, rows, strict=True)
        ]


class NextSentenceModel:
    """Computes the probability that a sentence follows another, with BERT's next-sentence head.

    Args:
        model: A model from `AutoModelForNextSentencePrediction`.
        tokenizer: The fast tokenizer of the model.
        identity: The name of the model in signatures; the precision is appended.
        runtime: The device, the precision and the backend.
    """

    def __init__(
        self, model: Model, tokenizer: Tokenizer, *, identity: str, runtime: Runtime | None = None
    ) -> None:
        self.runtime = runtime or Runtime()
        self.device = self.runtime.torch_device()
        self.model = model.eval().to(self.device, self.runtime.torch_dtype())
        self.vocabulary = Vocabulary(tokenizer, identity)
        self.window = window_of(model, tokenizer)
        self.identity = f"{identity}/next/{_precision(self.runtime)}"

    @classmethod
    def load(cls, name: str, runtime: Runtime | None = None) -> "NextSentenceModel":
        """Load a model by name: a folder or a Hub id, such as `bert-base-uncased@REVISION`.

        Raises:
            ModelNotFound: If the model does not exist.
            BadModel: If it cannot be loaded, or has no next-sentence head.
        """
        files = find_model(name)
        tokenizer = load_tokenizer(files)
        model = load_weights(files, "AutoModelForNextSentencePrediction", tokenizer)
        return cls(model, tokenizer, identity=files.identity, runtime=runtime)

    def log2(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """Return log2 p(second | first) of sentence pairs, shape (pairs,); both texts have the same limit."""
        tokens = self.vocabulary.tokenize([text for pair in pairs for text in pair])
        room = ((self.window or 10**9) - self.vocabulary.added(2)) // 2
        rows = [
            self.vocabulary.join(tokens[at].ids[:room], tokens[at + 1].ids[:room])
            for at in range(0, len(tokens), 2)
        ]
        both = [(row.ids, row.types) for row in rows]
        found = in_batches(
            both, self._forward, length=lambda row: len(row[0]), runtime=self.runtime, label="reading"
        )
        return np.array(found, dtype=np.float64)

    def _forward(self, rows: list[tuple[Ids, Ids]]) -> list[float]:
        ids = [row for row, _ in rows]
        logits: torch.Tensor = self.model(
            input_ids=pad(ids, 0, self.device),
            token_type_ids=pad([types for _, types in rows], 0, self.device),
            attention_mask=mask(ids, self.device),
        ).logits
        check_finite(logits)
        # The first output of BERT's head means "the sentence follows".
        said: list[float] = (logits.float().log_softmax(dim=-1)[:, 0] / np.log(2)).tolist()
        return said


def _precision(runtime: Runtime) -> str:
    """Return the precision in signatures; these models always run on PyTorch."""
    return "bf16" if runtime.torch_dtype() == torch.bfloat16 else "fp32"
