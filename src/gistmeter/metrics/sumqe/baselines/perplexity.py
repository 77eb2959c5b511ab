"""Perplexity of the k least probable tokens, as an estimate of grammaticality (SUM-QE, section 4.2)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.correlation import pearson
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ENGLISH, Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature
from gistmeter.models.fill.protocol import Filler, Query

FloatArray = NDArray[np.float64]
Log2 = Callable[[Sequence[str]], list[FloatArray]]
"""Function that returns the log2 probabilities of the tokens of each text."""
LEAST = 2.0**-126
KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100)


@dataclass(frozen=True, slots=True)
class Perplexity:
    """Mean log-probability of the least probable tokens of a text.

    Args:
        log2: `TokenModel.log2` of GPT-2 or of a masked model, or `masked_log2` of a filler.
        identity: Name of the model and the method, for signatures.
        worst: Number k of least probable tokens; 0 for all tokens.
        count: `TokenModel.count` if `log2` is of a model that truncates long texts, which are then flagged.
    """

    log2: Log2 = field(repr=False)
    identity: str
    worst: int = 0
    count: Callable[[Sequence[str]], list[int]] | None = field(default=None, repr=False)

    name = "perplexity"
    needs: tuple[Need, ...] = ()
    languages: Languages = ENGLISH

    @property
    def signature(self) -> Signature:
        """Model and k: everything that determines the score."""
        return Signature.of("perplexity", version=1, model=self.identity, worst=self.worst or "all")

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the mean log2 probability of its worst tokens, with its perplexity."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        texts = [example.candidate for example in examples]
        found = self.log2(texts)
        totals = [len(tokens) for tokens in found] if self.count is None else self.count(texts)
        return [
            self._score_one(example.id, tokens, total)
            for example, tokens, total in zip(examples, found, totals, strict=True)
        ]

    def _score_one(self, id: str, tokens: FloatArray, total: int) -> Score:
        if not len(tokens):
            flag = Flag("empty_side", "candidate")
            return Score.undefined(id, "the model's tokenizer finds no word in the candidate", (flag,))
        value = worst_mean(tokens, self.worst)
        cut = len(tokens) < total
        flags = (Flag("truncated", "candidate", len(tokens), total),) if cut else ()
        return Score(id, value, {"perplexity": 2.0 ** min(-value, 1000.0)}, flags=flags)


def worst_mean(tokens: FloatArray, worst: int) -> float:
    """Return the mean log2 probability m of the k worst tokens; the perplexity is 2^(-m).

    >>> worst_mean(np.array([-1.0, -6.0, -2.0]), 2), worst_mean(np.array([-1.0, -3.0]), 0)
    (-4.0, -2.0)
    """
    return float(np.sort(tokens)[: worst or len(tokens)].mean())


def best_k(tokens: Sequence[FloatArray], people: Sequence[float], choices: Sequence[int] = KS) -> int:
    """Return the k with the highest Pearson correlation with human ratings, on training rows.

    Args:
        tokens: log2 probabilities of the tokens of each text; at least one per text.
        people: Human rating of each text.
        choices: Values of k to choose from.
    """
    found = [pearson([worst_mean(one, k) for one in tokens], people) for k in choices]
    return choices[int(np.argmax(np.nan_to_num(found, nan=-np.inf)))]


def masked_log2(filler: Filler, apart: int = 0) -> Log2:
    """Return a function that masks each token of a text and returns its log2 probability.

    Args:
        filler: Masked language model, or the filler that ships.
        apart: Number of tokens between two masks in one sequence; 0 masks one token per sequence, as in the
            paper. (The authors' code masks no token; for this, use `TokenModel` with `unmasked`.)

    Returns:
        Function for `Perplexity.log2`. Long texts are split into chunks that fit into the model's window.
    """

    def log2(texts: Sequence[str]) -> list[FloatArray]:
        room = (filler.window or 512) - max(0, filler.overhead(1))
        tokens = [one.ids for one in filler.tokenize(texts)]
        found = [np.zeros(len(ids)) for ids in tokens]
        queries: list[Query] = []
        owners: list[FloatArray] = []  # for each query, the view of `found` to fill
        for ids, own in zip(tokens, found, strict=True):
            for start in range(0, len(ids), room):
                new = _masked(ids[start : start + room], apart)
                queries += new
                owners += [own[start : start + room]] * len(new)
        for query, own, fills in zip(queries, owners, filler.fill(queries), strict=True):
            for (place, _), fill in zip(query.blanks, fills, strict=True):
                own[place] = math.log2(max(fill.gold_probabilities[0], LEAST))
        return found

    return log2


def _masked(ids: tuple[int, ...], apart: int) -> list[Query]:
    """Return queries that mask each token of a chunk once."""
    step = apart + 1 if apart else len(ids)
    return [
        Query(ids, tuple((at, at + 1) for at in range(first, len(ids), step)), context_first=False)
        for first in range(min(step, len(ids)))
    ]
