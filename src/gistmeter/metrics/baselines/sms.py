"""Sentence Mover's Similarity (Clark et al., 2019): move a text's sentences to those of a reference."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gistmeter.core.example import Example, Need
from gistmeter.core.language import ENGLISH, Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_from, options_text, preset_from
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import no_word, truncation
from gistmeter.metrics.baselines.movers import Bag, References, moves, unit_spans
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.language import language_flags
from gistmeter.text.plain_words import TOKENIZER, words
from gistmeter.text.sentences import SPLITTER, split_sentences

PRESETS = {"mini": "minilm", "base": "mpnet", "paper": "minilm"}


@dataclass(frozen=True, slots=True)
class SmsOptions:
    """Options of SMS.

    Args:
        references: Combination of several references: `max` uses the closest one, `mean` the mean distance.
    """

    references: References = "max"


@dataclass(frozen=True, slots=True)
class Sms:
    """Sentence Mover's Similarity, above 0 and at most 1.

    A text is a bag of sentence vectors, each with as much mass as the sentence has words. The distance of two
    texts is the lowest cost of moving one bag to the other, with Euclidean distances between vectors
    (sections 3.1 and 3.2); the similarity is exp(−distance).

    Args:
        encoder: Encodes sentences as vectors of unit length; in the paper, means of word vectors.
        options: See `SmsOptions`.
    """

    encoder: Encoder
    options: SmsOptions = field(default_factory=SmsOptions)

    name = "sms"
    needs: ClassVar[tuple[Need, ...]] = ("references",)
    languages: ClassVar[Languages] = ENGLISH

    @property
    def signature(self) -> Signature:
        """Model, options, sentence splitter and word counter: everything that determines the score."""
        return Signature.of(
            "sms",
            version=1,
            model=self.encoder.text_identity,
            **options_text(self.options),
            splitter=SPLITTER,
            tokenizer=TOKENIZER,
        )

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the distance that its sentences move to those of its references."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        texts = dict.fromkeys(text for e in examples for text in (e.candidate, *e.references))
        cut = {text: _cut(text) for text in texts}
        sentences = list(dict.fromkeys(t[a:b] for t, units in cut.items() for a, b, _ in units))
        embedded = self.encoder.embed(sentences)
        at = {sentence: row for row, sentence in enumerate(sentences)}
        bags, kept = {}, {}
        for text, units in cut.items():
            rows = [at[text[start:end]] for start, end, _ in units]
            places = [(start, end) for start, end, _ in units]
            masses = np.array([count for *_, count in units], dtype=np.float64)
            bags[text] = Bag(text, places, embedded.vectors[rows], masses)
            tokens = [embedded.tokens[row] for row in rows]
            kept[text] = sum(each.kept for each in tokens), sum(each.total for each in tokens)
        return [self._score_one(example, bags, kept) for example in examples]

    def _score_one(
        self, example: Example, bags: Mapping[str, Bag], kept: Mapping[str, tuple[int, int]]
    ) -> Score:
        flags: list[Flag] = []
        for side, index, text in example.texts():
            if side != "source":
                flags += [] if bags[text].places else [Flag("no_words", side, index=index)]
                flags += truncation(side, index, *kept[text])
        flags += language_flags(example.compared("references"))
        ours = bags[example.candidate]
        others = [bags[text] for text in example.references if bags[text].places]
        if not ours.places or not others:
            return no_word(example, "reference" if ours.places else "candidate", TOKENIZER)
        distance, found = moves(ours, others, self.options.references)
        parts = {"distance": distance, "closeness": 1 - distance}
        return Score(example.id, math.exp(-distance), parts, unit_spans(ours, found), tuple(flags))


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Sms:
    """Build SMS.

    Args:
        preset: `mini` or `paper` (MiniLM; the paper averages GloVe or ELMo vectors), or `base` (MPNet-base).
        model: Encoder that replaces the preset's.
        runtime: Device, data type, and batch size.
        options: See `SmsOptions`.
    """
    chosen = options_from(SmsOptions, options)
    return Sms(Encoder.load(model or preset_from("sms", PRESETS, preset), runtime), chosen)


def _cut(text: str) -> list[tuple[int, int, int]]:
    """Return the places of the sentences with words, and their numbers of words."""
    counted = [(a, b, len(words(text[a:b], punctuation=False))) for a, b in split_sentences(text)]
    return [unit for unit in counted if unit[2]]
