"""MaskEval: predict the masked words of each text from the other text."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from gistmeter.core.example import Example, Need, Side
from gistmeter.core.language import UNSPACED, Languages, languages_of, row_language
from gistmeter.core.metric import score_sound
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.maskeval.aggregate import Asked, score_side
from gistmeter.metrics.maskeval.masks import WINDOW, Sharing, cut_at, mask_words
from gistmeter.metrics.maskeval.options import MaskEvalOptions
from gistmeter.metrics.maskeval.tokenized import Pair, cut_texts
from gistmeter.metrics.maskeval.weights import FloatArray, Uniform, Weighting, keep_heaviest
from gistmeter.models.fill.protocol import Fill, Filler
from gistmeter.text.language import language_flags
from gistmeter.text.words import has_tokenizer, row_tokenizer, row_tokenizer_name

SIDES: tuple[Side, Side] = ("candidate", "source")


@dataclass(frozen=True, slots=True)
class MaskEval:
    """Weighted masked-language-model evaluation (Liu et al., 2022).

    Args:
        filler: Language model that predicts the blanked words.
        weighting: Word weights.
        options: See `MaskEvalOptions`. `dimension` and `weigher` are used by `build` only, to load the
            weighting.
    """

    filler: Filler
    weighting: Weighting = field(default_factory=Uniform)
    options: MaskEvalOptions = field(default_factory=MaskEvalOptions)

    name = "maskeval"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Required fields: the source."""
        return ("source",)

    @property
    def languages(self) -> Languages:
        """The languages of the model, as the options name them, that can be split into words."""
        spoken = languages_of(self.options.language)
        whole = tuple(language for language in UNSPACED if not has_tokenizer(language))
        return spoken if spoken.only else Languages(but=whole)

    @property
    def signature(self) -> Signature:
        """Models, options, word tokenizer, and window sizes: everything that determines the score."""
        chosen = self.options
        return Signature.of(
            "maskeval",
            version=2,
            model=self.filler.identity,
            weights=self.weighting.identity,
            score=chosen.score,
            **({"prior": chosen.prior} if chosen.prior != "none" else {}),
            keep=chosen.keep,
            masks_per_pass=chosen.masks_per_pass,
            **({"spacing": chosen.spacing} if chosen.masks_per_pass > 1 else {}),
            words=f"{row_tokenizer_name(chosen.language)}&sub-words",
            # Otherwise, the tokenizer tells the language.
            **({"language": chosen.language} if "+" in chosen.language else {}),
            window=WINDOW,
            cut=cut_at(self.filler),
        )

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by how well candidate and source predict each other's words."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def words_asked(self, example: Example, /) -> int:
        """Estimate the number of words to predict; `prior=subtract` predicts the source's twice."""
        times = {"candidate": 1, "source": 2 if self.options.prior == "subtract" else 1}
        words = sum(times.get(side, 0) * len(text.split()) for side, _, text in example.texts())
        return int(words * self.options.keep)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        pairs = self._cut(examples)
        sound = [pair for pair in pairs if _missing(pair) is None]
        asked = [self._ask(*both) for both in zip(sound, self.weighting.weigh(sound), strict=True)]
        queries = [query for both in asked for side in both for query in side.masked.queries]
        fills, priors, sides = iter(self.filler.fill(queries)), iter(self._priors(asked)), iter(asked)
        return [
            self._score_one(example, next(sides), fills, priors)
            if missing is None
            else _undefined(example, missing)
            for example, missing in zip(examples, map(_missing, pairs), strict=True)
        ]

    def _cut(self, examples: Sequence[Example]) -> list[Pair]:
        texts = [(example.candidate, example.source or "") for example in examples]
        spoken = [row_language(example.language, self.options.language) for example in examples]
        found = {
            language: cut_texts(self.filler, _texts_in(language, texts, spoken), row_tokenizer(language))
            for language in dict.fromkeys(spoken)
        }
        return [
            (found[language][candidate], found[language][source])
            for (candidate, source), language in zip(texts, spoken, strict=True)
        ]

    def _ask(self, pair: Pair, weights: tuple[FloatArray, FloatArray]) -> tuple[Asked, Asked]:
        """Select the words of both texts and build their masked sequences."""
        candidate, source = (
            Asked(
                side,
                tokenized,
                ours,
                mask_words(
                    tokenized,
                    other,
                    keep_heaviest(ours, self.options.keep),
                    filler=self.filler,
                    candidate=side == "candidate",
                    sharing=Sharing(self.options.masks_per_pass, self.options.spacing),
                ),
            )
            for side, tokenized, other, ours in zip(SIDES, pair, pair[::-1], weights, strict=True)
        )
        return candidate, source

    def _priors(self, asked: Sequence[tuple[Asked, Asked]]) -> list[list[Fill]]:
        """Return the predictions for the words of the sources without the candidates; none if not needed.

        Candidates with the same source share these queries, and the filler runs equal queries once.
        """
        if self.options.prior == "none":
            return []
        queries = [query for _, source in asked for query in source.masked.queries]
        return self.filler.fill([replace(query, context=()) for query in queries])

    def _score_one(
        self,
        example: Example,
        asked: tuple[Asked, Asked],
        fills: Iterator[list[Fill]],
        priors: Iterator[list[Fill]],
    ) -> Score:
        """Combine both sides (equation 5): each counts one half, or the share learned for a dimension."""
        candidate, source = (
            score_side(
                side,
                list(islice(fills, len(side.masked.queries))),
                list(islice(priors, len(side.masked.queries))) if side.side == "source" else [],
                self.options.score,
                self.filler.decode,
            )
            for side in asked
        )
        share = self.weighting.candidate_share
        value = share * candidate.value + (1 - share) * source.value
        parts = {"candidate": candidate.value, "source": source.value}
        read = [text for text in example.texts() if text[0] != "reference"]
        doubts = language_flags(read, self.options.language)
        spans, flags = candidate.spans + source.spans, candidate.flags + source.flags + doubts
        problem = None
        if math.isnan(value):
            unscored = "candidate" if math.isnan(candidate.value) else "source"
            problem = f"no weighted word of the {unscored} fits into the model's window; use another model"
        return Score(example.id, value, parts, spans, flags, problem)


def _texts_in(language: str, texts: Sequence[tuple[str, str]], spoken: Sequence[str]) -> Iterator[str]:
    """Yield the texts of the rows in a language."""
    for both, own in zip(texts, spoken, strict=True):
        if own == language:
            yield from both


def _missing(pair: Pair) -> tuple[Side, ...] | None:
    """Return the sides without a word for the model, or None if both have words."""
    return tuple(side for side, tokenized in zip(SIDES, pair, strict=True) if not tokenized.words) or None


def _undefined(example: Example, sides: tuple[Side, ...]) -> Score:
    flags = tuple(Flag("empty_side", side) for side in sides)
    return Score.undefined(
        example.id, f"the model's tokenizer finds no word in the {' and the '.join(sides)}", flags
    )
