"""SUM-QE: estimate five linguistic qualities of a text without source or references."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.example import Example, Need
from gistmeter.core.language import Languages, languages_of
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.metrics.sumqe.options import SumQEOptions
from gistmeter.metrics.sumqe.qualities import QUALITIES, to_scale
from gistmeter.metrics.sumqe.windows import Ids, pieces_of, windows
from gistmeter.text.language import CHECKED, english
from gistmeter.text.sentences import SPLITTER, split_sentences
from gistmeter.text.words import Place

if TYPE_CHECKING:
    from gistmeter.models.rate.text_regressor import TextRegressor

FloatArray = NDArray[np.float64]
Window = Sequence[tuple[int, Ids]]
"""Sentence chunks of a window, each with the number of its sentence."""
NO_WORD = "the candidate has no letter or digit, so it cannot be rated"
NO_ENGLISH = (
    "the candidate has almost no English words, and the model is for English; "
    "for a model of another language, set language=xx"
)
UNKNOWN = Flag("unknown_language", "candidate")
NO_TOKEN = "the model's tokenizer finds no word in the candidate"


@dataclass(frozen=True, slots=True)
class WindowedText:
    """Text split into windows.

    Args:
        rows: Token IDs of each window.
        lengths: Number of tokens of each window, used as its weight.
    """

    rows: tuple[Ids, ...]
    lengths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Drop:
    """Text without one of its sentences.

    Args:
        windows: Numbers of the windows that contain the sentence.
        left: These windows without the sentence.
    """

    windows: tuple[int, ...]
    left: WindowedText


@dataclass(frozen=True, slots=True)
class Text:
    """Candidate, prepared for the model.

    Args:
        places: First character and one past the last of each sentence.
        whole: Windows of the complete text.
        held: First and last sentence of each window.
        drops: Text without each of its sentences in turn; empty unless `spans` is set.
    """

    places: tuple[Place, ...]
    whole: WindowedText
    held: tuple[tuple[int, int], ...]
    drops: tuple[Drop, ...]


@dataclass(frozen=True, slots=True)
class SumQE:
    """Quality estimation for summarization (Xenouleas et al., 2019).

    Args:
        regressor: Model that rates the five qualities.
        options: See `SumQEOptions`.
    """

    regressor: "TextRegressor"
    options: SumQEOptions = field(default_factory=SumQEOptions)

    name = "sumqe"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Required fields besides the candidate: none."""
        return ()

    @property
    def languages(self) -> Languages:
        """The language of the model, as the options name it."""
        return languages_of(self.options.language)

    @property
    def signature(self) -> Signature:
        """Model with its window, options, and sentence splitter: everything that determines the score."""
        return Signature.of(
            "sumqe", version=1, model=self.regressor.identity, **options_text(self.options), splitter=SPLITTER
        )

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Rate each candidate on its own."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        texts = self._read(list(dict.fromkeys(example.candidate for example in examples)))
        rows = [row for text in texts.values() for row in _rows(text)]
        rated = dict(zip(rows, self.regressor.rate(rows).astype(float), strict=True))
        return [self._score_one(example, texts[example.candidate], rated) for example in examples]

    def _read(self, candidates: Sequence[str]) -> dict[str, Text]:
        """Split texts into sentences, and distribute the sentences over windows of the model."""
        places = {text: tuple(split_sentences(text)) for text in candidates}
        sentences = [text[start:end] for text in candidates for start, end in places[text]]
        tokens = iter(self.regressor.tokenize(sentences))
        return {text: self._text(places[text], [next(tokens) for _ in places[text]]) for text in candidates}

    def _text(self, places: tuple[Place, ...], sentences: Sequence[Ids]) -> Text:
        pieces = pieces_of(sentences, self.regressor.window - 2)  # room for [CLS] and [SEP]
        cuts = windows([len(piece) + 1 for _, piece in pieces], self.regressor.window - 1)
        held = [pieces[first:last] for first, last in cuts]
        drops = tuple(self._drops(held, len(sentences))) if self.options.spans else ()
        ends = tuple((window[0][0], window[-1][0]) for window in held)
        return Text(places, self._reading(held), ends, drops)

    def _drops(self, held: Sequence[Window], sentences: int) -> Iterator[Drop]:
        where: list[list[int]] = [[] for _ in range(sentences)]
        for at, window in enumerate(held):
            for number in dict.fromkeys(owner for owner, _ in window):
                where[number].append(at)
        for number, hit in enumerate(where):
            left = ([one for one in held[at] if one[0] != number] for at in hit)
            yield Drop(tuple(hit), self._reading([window for window in left if window]))

    def _reading(self, held: Sequence[Window]) -> WindowedText:
        rows = tuple(self.regressor.row([piece for _, piece in window]) for window in held)
        return WindowedText(rows, tuple(len(row) - 1 for row in rows))

    def _score_one(self, example: Example, text: Text, rated: dict[Ids, FloatArray]) -> Score:
        if not any(map(str.isalnum, example.candidate)):
            return Score.undefined(example.id, NO_WORD, (Flag("degenerate", "candidate"),))
        looks = english(example.candidate) if self.options.language == CHECKED else None
        if looks is not None and looks.unreadable:
            return Score.undefined(example.id, NO_ENGLISH, (UNKNOWN,))
        if not text.whole.rows:
            return Score.undefined(example.id, NO_TOKEN, (Flag("empty_side", "candidate"),))
        sums = [size * rated[row] for row, size in _windows(text.whole)]
        parts = self._parts(np.sum(sums, axis=0) / sum(text.whole.lengths))
        spans = (*self._window_spans(text, rated), *self._drop_spans(text, sums, rated))
        flags = [Flag("windowed", "candidate")] if len(sums) > 1 else []
        if looks is not None and looks.doubtful:
            flags.append(UNKNOWN)
        return Score(example.id, self._value(parts), parts, spans if self.options.spans else (), tuple(flags))

    def _window_spans(self, text: Text, rated: dict[Ids, FloatArray]) -> Iterator[Span]:
        """Yield one span per window; their mean, weighted by tokens, is the value."""
        for (first, last), (row, size) in zip(text.held, _windows(text.whole), strict=True):
            own = self._value(self._parts(rated[row]))
            yield Span("candidate", text.places[first][0], text.places[last][1], own, float(size))

    def _drop_spans(
        self, text: Text, sums: Sequence[FloatArray], rated: dict[Ids, FloatArray]
    ) -> Iterator[Span]:
        """Yield one span per sentence: the decrease of the value without the sentence, with weight 0."""
        total, length = np.sum(sums, axis=0), sum(text.whole.lengths)
        value = self._value(self._parts(total / length))
        for (start, end), drop in zip(text.places, text.drops, strict=False):
            kept = length - sum(text.whole.lengths[at] for at in drop.windows) + sum(drop.left.lengths)
            if drop.windows and kept > 0:
                lost = sum(sums[at] for at in drop.windows)
                found = total - lost + sum(size * rated[row] for row, size in _windows(drop.left))
                rest = self._value(self._parts(found / kept))
                yield Span("candidate", start, end, value - rest, 0.0, f"{rest:.2f} without it")

    def _parts(self, shares: FloatArray) -> dict[str, float]:
        said = dict(zip(self.regressor.qualities, shares.tolist(), strict=True))
        return {name: to_scale(said[name]) for name in QUALITIES}

    def _value(self, parts: dict[str, float]) -> float:
        chosen = self.options.dimension
        return math.fsum(parts.values()) / len(parts) if chosen == "mean" else parts[chosen]


def _windows(reading: WindowedText) -> Iterator[tuple[Ids, int]]:
    """Yield the token IDs and the length of each window."""
    yield from zip(reading.rows, reading.lengths, strict=True)


def _rows(text: Text) -> Iterator[Ids]:
    """Yield the token IDs of all windows of a text, with and without single sentences."""
    yield from text.whole.rows
    for drop in text.drops:
        yield from drop.left.rows
