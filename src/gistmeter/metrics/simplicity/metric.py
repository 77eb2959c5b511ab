"""Simplicity metric: BERTScore with higher weights for simple words, and RelBERTScore."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gistmeter.core.example import Example, Need
from gistmeter.core.language import Languages, languages_of
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.metrics.simplicity.match import PARTS, Parts, Text, TextJudge, TokenEncoder, best, match, read
from gistmeter.metrics.simplicity.options import SimplicityOptions
from gistmeter.metrics.simplicity.relative import is_one, relative_parts
from gistmeter.metrics.simplicity.weights import FrequencyWeighter
from gistmeter.metrics.simplicity.words import simplicity, word_spans
from gistmeter.text.language import language_flags
from gistmeter.text.words import tokenizer_name

Pair = tuple[str, str]
"""Source and reference."""


@dataclass(frozen=True, slots=True)
class Simplicity:
    """Simplicity-aware BERTScore and RelBERTScore (Zuo and Yoshinaga).

    As in BERTScore, special tokens can be matched but have weight 0, and with several references each
    component is the maximum over them. With `weight=uniform` the score equals BERTScore.

    Args:
        encoder: Encodes tokens as vectors.
        weighter: Assigns weights to tokens.
        tables: Name of the frequency tables in signatures.
        options: See `SimplicityOptions`; encoder and weighter must match them.
        judge: Classifier for simplified texts; None if the encoder was not trained for it.
    """

    encoder: TokenEncoder
    weighter: FrequencyWeighter
    tables: str = "none"
    options: SimplicityOptions = field(default_factory=SimplicityOptions)
    judge: TextJudge | None = None

    name = "simplicity"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Required fields: references, and the source if used; none for `simplicity` and `p_simple`."""
        if self.options.value in ("simplicity", "p_simple"):
            return ()
        source = self.options.contrast or self.options.value.startswith("rel_")
        return ("references", "source") if source else ("references",)

    @property
    def languages(self) -> Languages:
        """The language of the model, as the options name it."""
        return languages_of(self.options.language)

    @property
    def signature(self) -> Signature:
        """Model, layer, options, and frequency tables: everything that determines the score."""
        options = options_text(self.options)
        del options["layer"]  # part of the encoder's identity
        language = options.pop("language")
        options["frequencies"] = self.tables
        # The component `simplicity` is a mean over words, so the word tokenizer always matters.
        options["words"] = tokenizer_name(language)
        return Signature.of("simplicity", version=2, model=self.encoder.identity, **options)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by its weighted similarity to the references."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        texts = read([text for e in examples for _, _, text in e.texts()], self.encoder, self.weighter)
        known: dict[Pair, Parts] = {}
        return [
            self._unread(example, texts) or self._score_one(example, texts, known) for example in examples
        ]

    def _score_one(self, example: Example, texts: dict[str, Text], known: dict[Pair, Parts]) -> Score:
        ours, references = texts[example.candidate], [texts[text] for text in _read(example, texts)]
        matches = [match(ours, reference) for reference in references]
        parts = best([one.parts for one in matches])
        source = _source_parts(example, texts, known)
        relative = relative_parts(parts, source, clip=self.options.clip)
        spans: tuple[Span, ...] = ()
        if matches:
            # The spans explain the precision, so they show the reference with the highest precision.
            nearest = int(np.argmax([one.parts["precision"] for one in matches]))
            spans = word_spans(ours, references[nearest], matches[nearest].forward)
        kept = _kept(example, ours, texts)
        parts = {**parts, **relative, "kept": kept, "simplicity": simplicity(ours)}
        if self.judge is not None:
            parts["p_simple"] = self.judge.probability(ours.vectors)
        flags = _flags(example, texts, degenerate=any(is_one(score) for score in source.values()))
        flags += language_flags(example.texts(), self.options.language)
        value = parts[self.options.value]
        if self.options.contrast:
            value -= self.options.contrast * kept
        return Score(example.id, value, parts, spans, flags)

    def _unread(self, example: Example, texts: dict[str, Text]) -> Score | None:
        """Return an undefined score if the tokenizer finds no token on a required side, otherwise None."""
        found = {side for side, _, text in example.texts() if texts[text].tokens.kept}
        for side in ("candidate", *(need.removesuffix("s") for need in self.needs)):
            if side not in found:
                problem = f"the model's tokenizer finds no token in the {side}"
                return Score.undefined(example.id, problem, _flags(example, texts))
        return None


def _source_parts(example: Example, texts: dict[str, Text], known: dict[Pair, Parts]) -> Parts:
    """Return the components of the source scored as a candidate; cached for each source and reference."""
    source = example.source
    if source is None or not texts[source].tokens.kept:
        return dict.fromkeys(PARTS, math.nan)
    references = _read(example, texts)
    for reference in references:
        if (source, reference) not in known:
            known[source, reference] = match(texts[source], texts[reference]).parts
    return best([known[source, reference] for reference in references])


def _kept(example: Example, ours: Text, texts: dict[str, Text]) -> float:
    """Return the share of the source that the candidate keeps: its recall against the source."""
    if example.source is None or not texts[example.source].tokens.kept:
        return math.nan
    return match(ours, texts[example.source]).parts["recall"]


def _read(example: Example, texts: dict[str, Text]) -> list[str]:
    """Return the references with at least one token."""
    return [text for text in example.references if texts[text].tokens.kept]


def _flags(example: Example, texts: dict[str, Text], *, degenerate: bool = False) -> tuple[Flag, ...]:
    flags = [Flag("degenerate", "source")] if degenerate else []
    for side, index, text in example.texts():
        tokens = texts[text].tokens
        if tokens.kept < tokens.total:
            flags.append(Flag("truncated", side, tokens.kept, tokens.total, index))
        elif not tokens.total:
            flags.append(Flag("empty_side", side, index=index))
    return tuple(flags)
