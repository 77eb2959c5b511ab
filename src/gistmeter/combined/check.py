"""Check which sentences of a candidate its source supports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean

from gistmeter.combined.members import (
    Combined,
    flags_of,
    load_members,
    read_combination,
    signed,
)
from gistmeter.combined.support import Risk, Sentence, geometric_mean, read_sentences
from gistmeter.core.errors import BadModel
from gistmeter.core.example import Example
from gistmeter.core.options import options_from, preset_from
from gistmeter.core.score import Score, Span
from gistmeter.core.signature import Signature
from gistmeter.models.run.runtime import Runtime
from gistmeter.report.check import DOUBT, UNSUPPORTED

KIND = "gistmeter-check"
PRESETS = {"mini": "gistmeter/check", "base": "gistmeter/check-base"}
REQUIRED, OPTIONAL = ("similarity", "facts", "names", "denials"), "entailment"
"""Names of the members."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Options of `check`: none."""


@dataclass(frozen=True, slots=True)
class Check(Combined):
    """How sure it is that the source supports the candidate.

    The geometric mean of the sentences: 1 if each of them surely has support, near 0 if one surely has none.
    The part `wrong` estimates the share of people who call the text wrong, among texts like those of the fit.

    Args:
        members: `similarity` and, optionally, `entailment` (SPEED against the source), `facts` (ClozE),
            `names` and `denials`.
        risk: The probability that people call a sentence wrong.
        options: See `CheckOptions`.
        identity: Of the weights, for the signature.
    """

    risk: Risk
    options: CheckOptions = field(default_factory=CheckOptions)
    identity: str = "none"

    name = "check"

    @property
    def signature(self) -> Signature:
        """The weights, and the hash of each member's signature."""
        return Signature.of("check", version=4, model=self.identity, **signed(self.members))

    def _combine(self, example: Example, row: Mapping[str, Score]) -> Score:
        flags = flags_of(row)
        problem = row["similarity"].problem
        if problem is not None:
            return Score.undefined(example.id, problem, flags)
        sentences = read_sentences(
            row["similarity"], row["facts"], row["names"], row["denials"], row.get(OPTIONAL)
        )
        supported = [self.risk.support(sentence.features) for sentence in sentences]
        spans = tuple(_span(*each, example.candidate) for each in zip(sentences, supported, strict=True))
        parts = {
            "mean": fmean(supported),
            "min": min(supported),
            "sentences": float(len(supported)),
            "wrong": self.risk.of_text([sentence.features for sentence in sentences]),
        }
        return Score(example.id, geometric_mean(supported), parts, spans, flags)


def _span(sentence: Sentence, supported: float, text: str) -> Span:
    note, doubt = sentence.evidence, sentence.doubt
    if supported < UNSUPPORTED:
        if sentence.denial:
            note += DOUBT + sentence.denial
        elif sentence.absent:
            absent = (f"“{text[name.start : name.end]}” is {name.note}" for name in sentence.absent)
            note += DOUBT + "; ".join(absent)
        elif doubt is not None:
            note += f"{DOUBT}“{text[doubt.start : doubt.end]}”, filled in: {doubt.note}"
    return Span("candidate", sentence.start, sentence.end, supported, 1.0, note)


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Check:
    """Build the metric.

    Args:
        preset: `mini`, or `base` (entailment on MPNet-base).
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
