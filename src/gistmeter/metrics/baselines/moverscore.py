"""MoverScore (Zhao et al., 2019): move the words of a candidate to those of a reference."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ENGLISH, Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import Preset, encoder_from, options_from, options_text
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import no_word, truncation
from gistmeter.metrics.baselines.movers import Bag, FloatArray, References, moves, unit_spans
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.tokens import Tokens
from gistmeter.text.language import language_flags

TOKENIZER = "the model's"
WORD = re.compile(r"\w+")
# The layers are those of BERTScore; the paper's model is a BERT that was fine-tuned on MNLI.
PRESETS = {
    "mini": Preset("minilm", layer=5),
    "base": Preset("mpnet", layer=7),
    "paper": Preset("bert-base-uncased", layer=12),
}


@dataclass(frozen=True, slots=True)
class MoverScoreOptions:
    """Options of MoverScore.

    Args:
        ngram: Number of consecutive words whose vectors are averaged: 1 for WMD-1, 2 for WMD-2; at least 1.
        references: Combination of several references: `max` uses the closest one, `mean` the mean distance.
        layer: Encoder layer, counted from 1. The default is the preset's layer; with a model and without a
            preset, the model's last layer.

    Raises:
        UsageError: If ngram is less than 1.
    """

    ngram: int = 1
    references: References = "max"
    layer: int | None = None

    def __post_init__(self) -> None:
        if self.ngram < 1:
            raise UsageError(f"ngram={self.ngram}: give at least 1")


@dataclass(frozen=True, slots=True)
class MoverScore:
    """MoverScore with equal weights of all words, from −1 to 1.

    A text is a bag of contextual vectors of n-grams (section 3.1). The score is 1 minus the lowest cost of
    moving one bag to the other, with Euclidean distances between vectors of unit length, as in the authors'
    program `moverscore_v2`. As there, punctuation and the later sub-words of a word are left out.

    Args:
        encoder: Encodes tokens as vectors; must stop at `options.layer`.
        options: See `MoverScoreOptions`.
    """

    encoder: Encoder
    options: MoverScoreOptions = field(default_factory=MoverScoreOptions)

    name = "moverscore"
    needs: ClassVar[tuple[Need, ...]] = ("references",)
    languages: ClassVar[Languages] = ENGLISH

    @property
    def signature(self) -> Signature:
        """Model, layer, and options: everything that determines the score."""
        options = options_text(self.options)
        del options["layer"]  # part of the encoder's identity
        return Signature.of("moverscore", version=1, model=self.encoder.identity, **options, weights="equal")

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the distance that its words move to those of its references."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        texts = list(dict.fromkeys(text for e in examples for text in (e.candidate, *e.references)))
        encoded = dict(zip(texts, self.encoder.embed_tokens(texts), strict=True))
        bags = {text: word_bag(text, *encoded[text], self.options.ngram) for text in texts}
        return [self._score_one(example, bags, encoded) for example in examples]

    def _score_one(
        self, example: Example, bags: Mapping[str, Bag], encoded: Mapping[str, tuple[Tokens, FloatArray]]
    ) -> Score:
        flags: list[Flag] = []
        for side, index, text in example.texts():
            if side != "source":
                tokens = encoded[text][0]
                flags += [] if bags[text].places else [Flag("no_words", side, index=index)]
                flags += truncation(side, index, tokens.kept, tokens.total)
        flags += language_flags(example.compared("references"))
        ours = bags[example.candidate]
        others = [bags[text] for text in example.references if bags[text].places]
        if not ours.places or not others:
            return no_word(example, "reference" if ours.places else "candidate", TOKENIZER)
        distance, found = moves(ours, others, self.options.references)
        spans = unit_spans(ours, found)
        return Score(example.id, 1 - distance, {"distance": distance}, spans, tuple(flags))


def word_bag(text: str, tokens: Tokens, vectors: FloatArray, ngram: int) -> Bag:
    """Return the n-grams of the words of a text; a text with fewer words is a single n-gram.

    Args:
        text: Text of the tokens.
        tokens: Tokens of the text.
        vectors: Unit vectors of the tokens, shape (tokens, dimensions).
        ngram: Number of words in an n-gram.
    """
    kept: list[int] = []
    places: list[tuple[int, int]] = []
    for at, ((start, end), special) in enumerate(zip(tokens.offsets.tolist(), tokens.special, strict=True)):
        word = WORD.search(text, start, end)
        if special or word is None or (word.start() and WORD.match(text[word.start() - 1])):
            continue  # a special token, punctuation, or the middle of a word
        if places and places[-1][0] == word.start():
            continue  # a later part of the same character
        kept.append(at)
        places.append((word.start(), WORD.match(text, word.start()).end()))  # type: ignore[union-attr]
    own = np.asarray(vectors[kept], dtype=np.float64)
    size = min(ngram, len(kept))
    if size > 1:
        windows = np.lib.stride_tricks.sliding_window_view(own, size, axis=0).mean(axis=-1)
        own = windows / np.maximum(np.linalg.norm(windows, axis=1, keepdims=True), 1e-12)
        places = places[: len(own)]
    return Bag(text, places, own, np.ones(len(own)))


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> MoverScore:
    """Build MoverScore.

    Args:
        preset: `mini` (MiniLM), `base` (MPNet-base), or `paper` (bert-base-uncased; the paper's BERT was also
            fine-tuned on MNLI, and is published as a pickle only).
        model: Encoder that replaces the preset's.
        runtime: Device, data type, and batch size.
        options: See `MoverScoreOptions`.
    """
    chosen = options_from(MoverScoreOptions, options)
    name, layer = encoder_from("moverscore", PRESETS, preset, model)
    return MoverScore(Encoder.load(name, runtime, layers=chosen.layer or layer), chosen)
