"""Raters: an encoder makes a vector of a text, and linear heads read qualities off it (SUM-QE, figure 2)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.models.backend import place, token_rows
from gistmeter.models.batching import in_batches, mask, pad
from gistmeter.models.load import find_model
from gistmeter.models.runtime import Runtime
from gistmeter.models.vocabulary import Ids, Vocabulary

Flavour = Literal["s1", "m1", "m5"]
FloatArray = NDArray[np.float32]


class Rater(torch.nn.Module):
    """Encoders E and regressors R (equations 1 to 4).

    Args:
        encoders: Modules from token ids and their attention mask to vectors h, shape (rows, width): one that
            all heads share, or one for each head.
        width: Of h.
        sizes: How many qualities each head gives: one head of five is M-1, five heads of one are M-5, and
            with an encoder each S-1.
    """

    def __init__(self, encoders: Sequence[torch.nn.Module], width: int, sizes: Sequence[int]) -> None:
        super().__init__()
        self.encoders = torch.nn.ModuleList(encoders)
        self.heads = torch.nn.ModuleList(torch.nn.Linear(width, size) for size in sizes)

    def forward(self, ids: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """Return one number a row and quality, shape (rows, qualities)."""
        texts = [encoder(ids, attention) for encoder in self.encoders]
        return torch.cat([head(texts[at % len(texts)]) for at, head in enumerate(self.heads)], dim=1)


class FirstState(torch.nn.Module):
    """A bidirectional language model, of which the state of the first token, [CLS], stands for the text.

    Args:
        encoder: Any encoder of transformers with a `last_hidden_state`; its pooler is not used.
    """

    def __init__(self, encoder: Any) -> None:  # noqa: ANN401 - transformers' classes are untyped
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """Return h, shape (rows, width)."""
        states: torch.Tensor = self.encoder(input_ids=ids, attention_mask=attention).last_hidden_state
        return states[:, 0].float()


class TextRater:
    """A rater with its tokenizer, ready to rate.

    Args:
        rater: In evaluation mode.
        tokenizer: The fast tokenizer that belongs to its encoder.
        qualities: What the rater's numbers mean, in their order.
        window: Most tokens of a row, special ones included.
        identity: What signatures call the model; window and precision are added.
        runtime: Where and how to run; of `int8` it makes `fp32`, and says so in its identity.
    """

    def __init__(
        self,
        rater: Rater,
        tokenizer: Any,  # noqa: ANN401
        *,
        qualities: Sequence[str],
        window: int,
        identity: str,
        runtime: Runtime | None = None,
    ) -> None:
        wanted = runtime or Runtime()
        # 8 bits moved the shipped rater's correlation with people by .04.
        self.runtime = replace(wanted, dtype="fp32") if wanted.dtype == "int8" else wanted
        self.device = self.runtime.torch_device()
        self.rater = rater
        self.piece = place(rater, self.runtime, token_rows(len(tokenizer)))
        self.vocabulary = Vocabulary(tokenizer, identity)
        self.start = self.vocabulary.id(tokenizer.cls_token)
        self.end = self.vocabulary.id(tokenizer.sep_token)
        self.padding = self.vocabulary.id(tokenizer.pad_token)
        self.qualities, self.window = tuple(qualities), window
        self.identity = f"{identity}/{window}/{self.runtime.precision}"

    @classmethod
    def load(cls, name: str, runtime: Runtime | None = None) -> "TextRater":
        """Load a rater by name: one that ships, or a folder.

        Raises:
            ModelNotFound: If there is no such rater, or its encoder is not to be had.
            BadModel: If it is another kind of model, or damaged.
        """
        from gistmeter.models.rater_files import load_rater

        files = find_model(name)
        rater, tokenizer, plan = load_rater(files)
        return cls(
            rater,
            tokenizer,
            qualities=plan.qualities,
            window=plan.window,
            identity=files.identity,
            runtime=runtime,
        )

    def tokenize(self, sentences: Sequence[str]) -> list[Ids]:
        """Return the tokens of each sentence, without special ones."""
        return [tokens.ids for tokens in self.vocabulary.tokenize(sentences)]

    def row(self, sentences: Sequence[Ids]) -> Ids:
        """Put sentences into the model's format: [CLS] s1 [SEP] s2 [SEP] …, all one segment."""
        return (self.start, *(token for sentence in sentences for token in (*sentence, self.end)))

    def rate(self, rows: Sequence[Ids]) -> FloatArray:
        """Rate rows; equal rows run once, the order is kept.

        Args:
            rows: From `row`, of at most `window` tokens.

        Returns:
            Shape (rows, qualities), on the scale of training: 0 is bad, 1 is good, and the heads, being
            linear, may pass both ends.
        """
        found = in_batches(rows, self._forward, length=len, runtime=self.runtime, label="rating")
        return np.stack(found) if found else np.zeros((0, len(self.qualities)), np.float32)

    def batch(self, rows: Sequence[Ids]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return padded ids and their attention mask, both of shape (rows, longest)."""
        return pad(rows, self.padding, self.device), mask(rows, self.device)

    def _forward(self, rows: list[Ids]) -> list[FloatArray]:
        return list(self.piece(*self.batch(rows)).float().cpu().numpy())
