"""Check which sentences of a candidate its source supports."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from gistmeter.combined.members import (
    Members,
    flags_of,
    languages_of,
    load_members,
    needs_of,
    read_combination,
    score_members,
    signed,
)
from gistmeter.combined.support import Risk, Sentence, read_sentences
from gistmeter.core.errors import BadModel
from gistmeter.core.example import Example, Need
from gistmeter.core.language import Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_from, preset_from
from gistmeter.core.score import Score, Span
from gistmeter.core.signature import Signature
from gistmeter.models.run.runtime import Runtime

KIND = "gistmeter-check"
PRESETS = {"mini": "gistmeter/check"}
REQUIRED, OPTIONAL = ("similarity", "facts"), "entailment"
"""Names of the members."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Options of `check`: none."""


@dataclass(frozen=True, slots=True)
class Check:
    """The probability that the source supports every sentence of the candidate.

    Args:
        members: `similarity` and, optionally, `entailment` (SPEED against the source), and `facts` (ClozE).
        risk: The probability that a sentence has no support.
        options: See `CheckOptions`.
        identity: Of the weights, for the signature.
    """

    members: Members
    risk: Risk
    options: CheckOptions = field(default_factory=CheckOptions)
    identity: str = "none"

    name = "check"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Required fields: the source."""
        return needs_of(self.members)

    @property
    def languages(self) -> Languages:
        """The languages that every member scores."""
        return languages_of(self.members)

    @property
    def signature(self) -> Signature:
        """The weights, and the hash of each member's signature."""
        return Signature.of("check", version=1, model=self.identity, **signed(self.members))

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate: 1 if every sentence surely has support, 0 if one surely has none."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        rows = score_members(self.members, examples)
        return [self._score_one(example, row) for example, row in zip(examples, rows, strict=True)]

    def _score_one(self, example: Example, row: Mapping[str, Score]) -> Score:
        flags = flags_of(row)
        problem = row["similarity"].problem
        if problem is not None:
            return Score.undefined(example.id, problem, flags)
        sentences = read_sentences(row["similarity"], row["facts"], row.get(OPTIONAL))
        supported = [1 - self.risk.of(sentence.features) for sentence in sentences]
        spans = tuple(_span(*each, example.candidate) for each in zip(sentences, supported, strict=True))
        parts = {"mean": fmean(supported), "min": min(supported), "sentences": float(len(supported))}
        return Score(example.id, math.prod(supported), parts, spans, flags)


def _span(sentence: Sentence, supported: float, text: str) -> Span:
    note, doubt = sentence.evidence, sentence.doubt
    if doubt is not None and supported < 0.5:
        note += f"; in doubt: “{text[doubt.start : doubt.end]}”, filled in: {doubt.note}"
    return Span("candidate", sentence.start, sentence.end, supported, 1.0, note)


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Check:
    """Build the metric.

    Args:
        preset: `mini`.
        model: A folder with other weights, from `gistmeter train`.
        runtime: Device, data type, and batch size of the members.
        options: None.

    Raises:
        ModelError: If the weights or a member's model cannot be found or loaded.
    """
    chosen = options_from(CheckOptions, options)
    name = model or preset_from("check", PRESETS, preset)
    identity, facts = read_combination(name, KIND)
    try:
        risk = Risk.from_dict(facts)
        members = {name: dict(entry) for name, entry in facts["members"].items()}
        if not set(REQUIRED) <= members.keys() <= {*REQUIRED, OPTIONAL}:
            raise ValueError(f"members are {', '.join(members)}")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadModel(f"{name}/config.json is not valid ({error}); train it again") from error
    return Check(load_members(members, runtime), risk, chosen, identity)
