"""Wraps a tokenizer: tokenize texts without special tokens, then add these explicitly."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from gistmeter.core.errors import BadModel
from gistmeter.models.run.tokens import Tokens
from gistmeter.models.run.types import Encoding, Tokenizer

Ids = tuple[int, ...]
_SETTINGS = Lock()
"""Held while the settings of a tokenizer are changed; of the module, because a lock cannot be pickled."""


@dataclass(frozen=True, slots=True)
class Joined:
    """One or two tokenized texts with the special tokens of the model's input format.

    Args:
        ids: The input ids.
        types: The token type (segment) of each token.
        starts: The index in `ids` at which each text begins.
    """

    ids: Ids
    types: Ids
    starts: Ids


class Vocabulary:
    """Wraps a fast tokenizer of transformers.

    Args:
        tokenizer: The tokenizer; its vocabulary is not changed.
        name: The name of the model in error messages.
    """

    def __init__(self, tokenizer: Tokenizer, name: str = "the model") -> None:
        self.tokenizer = tokenizer
        self.name = name
        self.backend.no_truncation()
        self.backend.no_padding()
        added = tokenizer.added_tokens_decoder.items()
        self.special = frozenset(tokenizer.all_special_ids) | {at for at, token in added if token.special}

    @property
    def backend(self) -> Tokenizer:
        """The underlying tokenizer of the `tokenizers` library."""
        return self.tokenizer.backend_tokenizer

    def id(self, *spellings: str) -> int:
        """Return the id of the first spelling that is in the vocabulary.

        Raises:
            BadModel: If no spelling is in the vocabulary.
        """
        for spelling in spellings:
            found: int | None = self.backend.token_to_id(spelling)
            if found is not None:
                return found
        raise BadModel(
            f"the tokenizer of {self.name} has no token {spellings[0]}; give a model of a supported family"
        )

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Tokenize texts without truncation and without special tokens; equal texts are tokenized once.

        A special token that is written out in a text is read as ordinary characters or as an unknown word.
        """
        unique = list(dict.fromkeys(texts))
        with _SETTINGS:
            self.backend.no_truncation()  # other users of the tokenizer may have enabled it
            self.backend.no_padding()
            before = self.backend.encode_special_tokens
            self.backend.encode_special_tokens = True
            try:
                encodings = self.backend.encode_batch(unique, add_special_tokens=False)
            finally:
                self.backend.encode_special_tokens = before
        by_text = {text: self._tokens(encoding) for text, encoding in zip(unique, encodings, strict=True)}
        return [by_text[text] for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """Decode token ids without special tokens; leading and trailing white space is kept."""
        own = [at for at in ids if at not in self.special]
        text: str = self.backend.decode(own, skip_special_tokens=False)
        return text

    def join(self, first: Ids, second: Ids = ()) -> Joined:
        """Add the special tokens of the tokenizer's input format to one or two tokenized texts."""
        if not second:
            before, after = self._format("x")
            return Joined(
                before + first + after, (0,) * (len(before) + len(first) + len(after)), (len(before),)
            )
        (before, between, after), segment = self.pair_format()
        ids = before + first + between + second + after
        starts = (len(before), len(before) + len(first) + len(between))
        return Joined(ids, (0,) * starts[1] + (segment,) * (len(ids) - starts[1]), starts)

    def pair_format(self) -> tuple[tuple[Ids, ...], int]:
        """Return the special tokens before, between and after two texts, and the segment of the second.

        Only BERT-like tokenizers give the second text and its closing token a segment of its own.
        """
        return self._format("x", "x"), int(self.backend.encode("x", "x").type_ids[-1])

    def added(self, texts: int) -> int:
        """Return the number of special tokens that the format adds to one text or two texts."""
        return sum(len(part) for part in self._format(*("x",) * texts))

    def _format(self, *texts: str) -> tuple[Ids, ...]:
        """Return the special tokens before, between and after texts."""
        encoding = self.backend.encode(*texts)
        owners, ids = encoding.sequence_ids, encoding.ids
        parts: list[Ids] = []
        end = 0
        for owner in range(len(texts)):
            start = owners.index(owner)
            parts.append(tuple(ids[end:start]))
            end = start + owners.count(owner)
        return (*parts, tuple(ids[end:]))

    def _tokens(self, encoding: Encoding) -> Tokens:
        # Unigram vocabularies contain special tokens as ordinary entries and match them in texts.
        unknown = self.tokenizer.unk_token_id
        ids = tuple(unknown if at in self.special else at for at in encoding.ids)
        offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        return Tokens(ids, offsets, np.zeros(len(ids), dtype=bool), len(ids))
