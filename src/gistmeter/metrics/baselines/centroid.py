"""Centroid: how close the candidate's mean sentence vector is to the source's (Rossiello et al., 2017)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.example import Example, Need
from gistmeter.core.language import Languages, languages_of, row_language
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text, preset_from, spoken_options
from gistmeter.core.score import Score, Span
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import early_weights, reading
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files import multilingual
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.language import CHECKED
from gistmeter.text.sentences import split_sentences, splitter_name

FloatArray = NDArray[np.floating[Any]]
PRESETS = {"mini": "minilm", "base": "mpnet", "multilingual": "multilingual"}
LANGUAGES = {"multilingual": multilingual.spoken()}
"""Languages of the models, by preset; English if it is not listed."""


@dataclass(frozen=True, slots=True)
class CentroidOptions:
    """Options of centroid.

    Args:
        value: Component reported as the value.
        language: Language of the model, or several as `de+en`; rows in another language have no value. `xx`
            for a model of any language.
    """

    value: Literal["early", "equal"] = "early"
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of a text.

    Args:
        cuts: Their first characters, and one past their last.
        vectors: Their vectors, of unit length, shape (sentences, dimensions).
        kept: Number of tokens that the model read.
        total: Number of all tokens.
    """

    cuts: list[tuple[int, int]]
    vectors: FloatArray
    kept: int
    total: int


@dataclass(frozen=True, slots=True)
class Centroid:
    """Cosine of the mean sentence vectors of candidate and source, from −1 to 1, without references.

    The mean vector of a text stands for what it is about (Rossiello et al., 2017, "Centroid-based Text
    Summarization through Compositionality of Word Embeddings", section 3, here with sentence vectors).
    `equal` is that cosine. In `early`, the source's n-th sentence has the weight 1/√n, because a report tells
    what matters first; this is not in the paper. The spans are the candidate's sentences, each with its own
    cosine to the source's mean vector of the value; `sentences` is their mean.

    Args:
        encoder: Encodes sentences as vectors of unit length.
        options: See `CentroidOptions`.
    """

    encoder: Encoder
    options: CentroidOptions = field(default_factory=CentroidOptions)

    name = "centroid"
    needs: ClassVar[tuple[Need, ...]] = ("source",)

    @property
    def languages(self) -> Languages:
        """The languages of the model, as the options name them."""
        return languages_of(self.options.language)

    @property
    def signature(self) -> Signature:
        """Model, options and sentence splitter: everything that determines the score."""
        options = options_text(self.options)
        if options["language"] == CHECKED:
            del options["language"]
        model, splitter = self.encoder.text_identity, splitter_name(self.options.language)
        return Signature.of("centroid", version=1, model=model, **options, splitter=splitter)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the closeness of its mean sentence vector to the source's."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        keys = dict.fromkeys(key for example in examples for key in self._keys(example))
        cuts = {(language, text): split_sentences(text, language) for language, text in keys}
        texts = [text[start:end] for (_, text), places in cuts.items() for start, end in places]
        embedded = self.encoder.embed(texts)
        known, first = {}, 0
        for key, places in cuts.items():
            own = slice(first, first + len(places))
            tokens = embedded.tokens[own]
            kept, total = sum(each.kept for each in tokens), sum(each.total for each in tokens)
            known[key] = Sentences(places, embedded.vectors[own], kept, total)
            first = own.stop
        return [self._score_one(example, known) for example in examples]

    def _keys(self, example: Example) -> list[tuple[str, str]]:
        """Return the language and the text of the candidate, then of the source."""
        language = row_language(example.language, self.options.language)
        return [(language, text) for *_, text in example.compared("source")]

    def _score_one(self, example: Example, known: Mapping[tuple[str, str], Sentences]) -> Score:
        ours, theirs = (known[key] for key in self._keys(example))
        counts = [(ours.kept, ours.total), (theirs.kept, theirs.total)]
        flags, problem = reading(example.compared("source"), counts, self.options.language)
        if problem:
            return Score.undefined(example.id, problem, flags)
        means = {
            "early": unit_mean(theirs.vectors, early_weights(len(theirs.cuts))),
            "equal": unit_mean(theirs.vectors),
        }
        our_mean = unit_mean(ours.vectors)
        parts = {name: float(our_mean @ mean) for name, mean in means.items()}
        cosines = (ours.vectors @ means[self.options.value]).tolist()
        parts["sentences"] = fmean(cosines)
        spans = tuple(
            Span("candidate", start, end, cosine)
            for (start, end), cosine in zip(ours.cuts, cosines, strict=True)
        )
        return Score(example.id, parts[self.options.value], parts, spans, flags)


def unit_mean(vectors: FloatArray, weights: Sequence[float] | None = None) -> FloatArray:
    """Return the weighted mean of vectors, scaled to unit length; zeros if the mean is zero.

    Args:
        vectors: Shape (vectors, dimensions).
        weights: One a vector; equal by default.
    """
    mean = np.average(vectors.astype(np.float64), axis=0, weights=weights)
    length = np.linalg.norm(mean)
    return mean / length if length else mean


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Centroid:
    """Build the centroid metric.

    Args:
        preset: `mini` (MiniLM), `base` (MPNet-base), or `multilingual` (multilingual-e5-small).
        model: Encoder that replaces the preset's.
        runtime: Device, data type, and batch size.
        options: See `CentroidOptions`.
    """
    chosen = spoken_options(CentroidOptions, options, LANGUAGES, preset, model)
    return Centroid(Encoder.load(model or preset_from("centroid", PRESETS, preset), runtime), chosen)
