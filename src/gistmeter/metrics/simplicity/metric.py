"""Simplicity-aware BERTScore: is it close to good simplifications, simple words counting more?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gistmeter.core.example import Example, Need
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
"""A source and a reference."""


@dataclass(frozen=True, slots=True)
class Simplicity:
    """Simplicity-aware BERTScore and RelBERTScore (Zuo and Yoshinaga).

    Special tokens of the model may be matched but do not count themselves, and of several references each
    part takes its own best, as in BERTScore: with `weight=uniform` the two are equal.

    Args:
        encoder: Turns tokens into vectors.
        weighter: Weighs tokens.
        tables: What signatures call the weighter's tables.
        options: See `SimplicityOptions`; encoder and weighter already follow theirs.
        judge: Says how probably a text is a simplified one; None if the encoder was not taught to.
    """

    encoder: TokenEncoder
    weighter: FrequencyWeighter
    tables: str = "none"
    options: SimplicityOptions = field(default_factory=SimplicityOptions)
    judge: TextJudge | None = None

    name = "simplicity"

    @property
    def needs(self) -> tuple[Need, ...]:
        """The references; the source, too, where the value rests on it; nothing for one about one text."""
        if self.options.value in ("simplicity", "p_simple"):
            return ()
        source = self.options.contrast or self.options.value.startswith("rel_")
        return ("references", "source") if source else ("references",)

    @property
    def signature(self) -> Signature:
        """Model, layer, options and tables decide the number."""
        options = options_text(self.options)
        del options["layer"]  # the encoder's identity says it
        language = options.pop("language")
        options["frequencies"] = self.tables
        # The part `simplicity` is a mean over words, so these decide a number whatever is looked up.
        options["words"] = tokenizer_name(language)
        return Signature.of("simplicity", version=1, model=self.encoder.identity, **options)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by how close it is to the references."""
        return score_sound(examples, self.needs, self._score)

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
            # The spans explain the precision, so they show the reference that it comes from.
            nearest = int(np.argmax([one.parts["precision"] for one in matches]))
            spans = word_spans(ours, references[nearest], matches[nearest].forward)
        kept = _kept(example, ours, texts)
        parts = {**parts, **relative, "kept": kept, "simplicity": simplicity(ours)}
        if self.judge is not None:
            parts["p_simple"] = self.judge.probability(ours.vectors)
        flags = _flags(example, texts, degenerate=any(is_one(score) for score in source.values()))
        flags += language_flags(example.texts(), self.options.language)
        value = parts[self.options.value] - (self.options.contrast * kept if self.options.contrast else 0)
        return Score(example.id, value, parts, spans, flags)

    def _unread(self, example: Example, texts: dict[str, Text]) -> Score | None:
        """Return the undefined score of an example in which the model sees nothing, or None."""
        needed = {"candidate", *(need.removesuffix("s") for need in self.needs)}
        for side, _, text in example.texts():
            if side in needed and not texts[text].tokens.kept:
                problem = f"the model's tokenizer finds no token in the {side}"
                return Score.undefined(example.id, problem, _flags(example, texts))
        return None


def _source_parts(example: Example, texts: dict[str, Text], known: dict[Pair, Parts]) -> Parts:
    """Score the input as if it were an output; many outputs of one input share this."""
    source = example.source
    if source is None or not texts[source].tokens.kept:
        return dict.fromkeys(PARTS, math.nan)
    references = _read(example, texts)
    for reference in references:
        if (source, reference) not in known:
            known[source, reference] = match(texts[source], texts[reference]).parts
    return best([known[source, reference] for reference in references])


def _kept(example: Example, ours: Text, texts: dict[str, Text]) -> float:
    """Return how much of the source's words the candidate keeps: the recall against the source."""
    if example.source is None or not texts[example.source].tokens.kept:
        return math.nan
    return match(ours, texts[example.source]).parts["recall"]


def _read(example: Example, texts: dict[str, Text]) -> list[str]:
    """Return the references in which the model sees something; a value about one text needs none."""
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
