"""Text regressors: an encoder and linear heads that predict qualities (SUM-QE, figure 2)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.models.files.find import find_model
from gistmeter.models.rate.regressor import QualityRegressor
from gistmeter.models.run.backend import place
from gistmeter.models.run.batching import in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import token_rows
from gistmeter.models.run.types import Tokenizer
from gistmeter.models.run.vocabulary import Ids, Vocabulary

FloatArray = NDArray[np.float32]


class TextRegressor:
    """Rates texts with a regressor and its tokenizer.

    Args:
        regressor: The regressor, in evaluation mode.
        tokenizer: The fast tokenizer of the encoder.
        qualities: The names of the regressor outputs, in order.
        window: Maximum number of tokens per row, special tokens included.
        identity: The name of the model in signatures; the window and the precision are appended.
        runtime: The device, the precision and the backend. `int8` is replaced by `fp32`, also in the
            identity.
    """

    def __init__(
        self,
        regressor: QualityRegressor,
        tokenizer: Tokenizer,
        *,
        qualities: Sequence[str],
        window: int,
        identity: str,
        runtime: Runtime | None = None,
    ) -> None:
        wanted = runtime or Runtime()
        # int8 changes the correlation of the bundled regressor with human judgments by .04.
        self.runtime = replace(wanted, dtype="fp32") if wanted.dtype == "int8" else wanted
        self.device = self.runtime.torch_device()
        self.regressor = regressor
        self.submodule = place(regressor, self.runtime, token_rows(len(tokenizer)))
        self.vocabulary = Vocabulary(tokenizer, identity)
        self.start = self.vocabulary.id(tokenizer.cls_token)
        self.end = self.vocabulary.id(tokenizer.sep_token)
        self.padding = self.vocabulary.id(tokenizer.pad_token)
        self.qualities, self.window = tuple(qualities), window
        self.identity = f"{identity}/{window}/{self.runtime.precision}"

    @classmethod
    def load(cls, name: str, runtime: Runtime | None = None) -> "TextRegressor":
        """Load a regressor by name: a bundled one, or a folder.

        Raises:
            ModelNotFound: If the regressor does not exist, or its encoder is not available.
            BadModel: If the model is of another kind, or damaged.
        """
        from gistmeter.models.rate.files import load_regressor

        files = find_model(name)
        regressor, tokenizer, plan = load_regressor(files)
        return cls(
            regressor,
            tokenizer,
            qualities=plan.qualities,
            window=plan.window,
            identity=files.identity,
            runtime=runtime,
        )

    def tokenize(self, sentences: Sequence[str]) -> list[Ids]:
        """Return the token ids of each sentence, without special tokens."""
        return [tokens.ids for tokens in self.vocabulary.tokenize(sentences)]

    def row(self, sentences: Sequence[Ids]) -> Ids:
        """Join sentences in the input format [CLS] s1 [SEP] s2 [SEP] …, as a single segment."""
        return (self.start, *(token for sentence in sentences for token in (*sentence, self.end)))

    def rate(self, rows: Sequence[Ids]) -> FloatArray:
        """Rate rows, in input order; equal rows run once.

        Args:
            rows: Rows from `row`, with at most `window` tokens.

        Returns:
            Ratings, shape (rows, qualities), from 0 (bad) to 1 (good). The heads are linear, so values can
            lie outside this range.
        """
        found = in_batches(rows, self._forward, length=len, runtime=self.runtime, label="rating")
        return np.stack(found) if found else np.zeros((0, len(self.qualities)), np.float32)

    def batch(self, rows: Sequence[Ids]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return padded token ids and their attention mask, both of shape (rows, longest)."""
        return pad(rows, self.padding, self.device), mask(rows, self.device)

    def _forward(self, rows: list[Ids]) -> list[FloatArray]:
        return list(self.submodule(*self.batch(rows)).float().cpu().numpy())
