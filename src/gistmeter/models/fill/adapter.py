"""Base class of the filler adapters: loading by name, tokenizing and decoding."""

from collections.abc import Sequence
from typing import ClassVar, Self

import torch

from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer, load_weights
from gistmeter.models.fill import calibration
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.backend import place
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import DummyInputs, Submodule
from gistmeter.models.run.tokens import Tokens
from gistmeter.models.run.types import Model, Tokenizer
from gistmeter.models.run.vocabulary import Vocabulary

LONG, MARGIN = 512, 4
"""Length limit of calibration queries for models without a limit; tokens reserved for the format per text."""


class Adapter:
    """Implements the `Filler` protocol for a family of language models."""

    architecture: ClassVar[str]
    """The `Auto…` class of transformers that loads the family."""
    separate_windows: ClassVar[bool] = False
    window: int | None

    def __init__(
        self, model: Model, tokenizer: Tokenizer, *, identity: str, runtime: Runtime | None = None
    ) -> None:
        self.runtime = runtime or Runtime()
        self.device = self.runtime.torch_device()
        self.model = model.eval().to(self.device, self.runtime.torch_dtype())
        self.vocabulary = Vocabulary(tokenizer, identity)
        self.pad_id = self.vocabulary.id(tokenizer.pad_token)

    @classmethod
    def load(cls, name: str, runtime: Runtime | None = None) -> Self:
        """Load a model of the family by name: a folder or a Hub id.

        Raises:
            ModelNotFound: If the model does not exist.
            BadModel: If it cannot be loaded, or is of another kind.
        """
        files = find_model(name)
        tokenizer = load_tokenizer(files)
        model = load_weights(files, cls.architecture, tokenizer)
        return cls(model, tokenizer, identity=files.identity, runtime=runtime)

    def place(self, submodule: torch.nn.Module, example: DummyInputs) -> Submodule:
        """Return a callable that runs a submodule of the model; see `backend.place`."""
        return place(submodule, self.runtime, example, self._calibrate)

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        """Return one fill per blank for each query, in input order. Equal queries run once."""
        raise NotImplementedError

    def _calibrate(self) -> None:
        for query in self.own_queries(every=12):
            self.fill([query])

    def own_queries(self, *, every: int, check: bool = False) -> list[Query]:
        """Return queries on the calibration texts; see `calibration.queries`."""
        room = (self.window or LONG) // 2 - MARGIN
        return calibration.queries(self.tokenize, room, every=every, check=check)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Tokenize texts without truncation and without special tokens."""
        return self.vocabulary.tokenize(texts)

    def decode(self, ids: Sequence[int]) -> str:
        """Decode token ids without special tokens."""
        return self.vocabulary.decode(ids)
