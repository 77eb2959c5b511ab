"""Text regressors: an encoder makes a vector, and linear heads read qualities off it (SUM-QE, figure 2)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.models.files.load import find_model
from gistmeter.models.rate.regressor import QualityRegressor
from gistmeter.models.run.backend import place
from gistmeter.models.run.batching import in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import token_rows
from gistmeter.models.run.types import Tokenizer
from gistmeter.models.run.vocabulary import Ids, Vocabulary

FloatArray = NDArray[np.float32]


class TextRegressor:
    """A regressor with its tokenizer, ready to rate.

    Args:
        regressor: In evaluation mode.
        tokenizer: The fast tokenizer that belongs to its encoder.
        qualities: What the regressor's numbers mean, in their order.
        window: Most tokens of a row, special ones included.
        identity: What signatures call the model; window and precision are added.
        runtime: Where and how to run; of `int8` it makes `fp32`, and says so in its identity.
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
        # 8 bits moved the shipped regressor's correlation with people by .04.
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
        """Load a regressor by name: one that ships, or a folder.

        Raises:
            ModelNotFound: If there is no such regressor, or its encoder is not to be had.
            BadModel: If it is another kind of model, or damaged.
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
        return list(self.submodule(*self.batch(rows)).float().cpu().numpy())
