"""A fake filler that returns listed answers, and the correct answer for all other blanks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.tokens import Tokens

Answers = Mapping[str, Mapping[str, str]]
Numbers = Mapping[str, Mapping[str, Sequence[float]]]


@dataclass
class Listed:
    """A filler whose sub-words are up to four letters, or one other character.

    Args:
        said: Side, or `alone` for queries without context, word -> what the model says in its place.
        probabilities: Side, word -> of each of its sub-words; 1 where nothing is listed.
        ranks: Side, word -> of each of its sub-words; 1 where nothing is listed.
        dropped: Characters that the tokenizer does not see.
        added: Tokens that the format adds to a query.
        complete: Whether predictions are told to their end.
    """

    said: Answers = field(default_factory=dict)
    probabilities: Numbers = field(default_factory=dict)
    ranks: Numbers = field(default_factory=dict)
    window: int | None = None
    separate_windows: bool = False
    dropped: str = ""
    added: int = 3
    complete: bool = True
    identity: str = "listed"
    pieces: list[str] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)
    asked: list[Query] = field(default_factory=list)
    tokenized: list[str] = field(default_factory=list)

    def overhead(self, query_blanks: int) -> int:
        return self.added

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        return [self._tokens(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.pieces[at] for at in ids)

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        self.asked += queries
        return [[self._fill(query, query.text[slice(*blank)]) for blank in query.blanks] for query in queries]

    def _fill(self, query: Query, gold: tuple[int, ...]) -> Fill:
        side, word = "source" if query.context_first else "candidate", self.decode(gold)
        side = side if query.context or "alone" not in self.said else "alone"
        said = self.said.get(side, {}).get(word, word)
        predicted = tuple(self._id(piece) for piece in re.findall(".", said))
        return Fill(
            predicted,
            said.lower() == word.lower(),
            (1.0,) * len(predicted),
            tuple(self.probabilities.get(side, {}).get(word, [1.0] * len(gold))),
            tuple(int(rank) for rank in self.ranks.get(side, {}).get(word, [1] * len(gold))),
            self.complete,
        )

    def _tokens(self, text: str) -> Tokens:
        self.tokenized.append(text)
        found = re.finditer(rf"(?![{re.escape(self.dropped)} ])(?:[^\W_]{{1,4}}|[\W_])", text, re.DOTALL)
        places = [match.span() for match in found]
        ids = tuple(self._id(text[start:end]) for start, end in places)
        offsets = np.array(places, dtype=np.int64).reshape(-1, 2)
        return Tokens(ids, offsets, np.zeros(len(ids), dtype=bool), len(ids))

    def _id(self, piece: str) -> int:
        if piece not in self.known:
            self.known[piece] = len(self.pieces)
            self.pieces.append(piece)
        return self.known[piece]
