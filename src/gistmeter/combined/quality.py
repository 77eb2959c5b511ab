"""Estimate what people would say about a text, from the scores of several metrics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from gistmeter.combined.linear import Linear
from gistmeter.combined.members import (
    Combined,
    flags_of,
    load_members,
    read_combination,
    signed,
)
from gistmeter.core.errors import BadModel, UsageError
from gistmeter.core.example import Example
from gistmeter.core.options import options_from, options_text, preset_from
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature
from gistmeter.models.run.runtime import Runtime

KIND = "gistmeter-quality"
PRESETS: Mapping[str, Mapping[str, str]] = {
    "mini": {"summary": "gistmeter/quality", "simplification": "gistmeter/quality-simplification"},
    "base": {"summary": "gistmeter/quality-base", "simplification": "gistmeter/quality-simplification-base"},
}
"""Weights by preset and kind of text."""
Dimension = Literal["mean", "consistency", "coherence", "fluency", "relevance", "meaning", "simplicity"]


@dataclass(frozen=True, slots=True)
class QualityOptions:
    """Options of `quality`.

    Args:
        text: The kind of the candidates, which decides the questions: `summary` (consistency, coherence,
            fluency, relevance), or `simplification` (meaning, fluency, simplicity), which needs references.
        dimension: The question whose answer is the value; `mean` is the mean over all questions.
    """

    text: Literal["summary", "simplification"] = "summary"
    dimension: Dimension = "mean"


@dataclass(frozen=True, slots=True)
class Quality(Combined):
    """A linear combination of metric scores for each question that people were asked.

    The parts are the questions.

    Args:
        members: Metrics by spec.
        dimensions: The combination for each question.
        options: See `QualityOptions`.
        identity: Of the weights, for the signature.

    Raises:
        UsageError: If the weights do not answer the question.
    """

    dimensions: Mapping[str, Linear]
    options: QualityOptions = field(default_factory=QualityOptions)
    identity: str = "none"

    name = "quality"

    def __post_init__(self) -> None:
        if self.options.dimension not in ("mean", *self.dimensions):
            raise UsageError(
                f"dimension={self.options.dimension}: these weights have mean, {', '.join(self.dimensions)}"
            )

    @property
    def signature(self) -> Signature:
        """The weights, the options, and the hash of each member's signature."""
        members = ",".join(f"{spec}@{hash}" for spec, hash in signed(self.members).items())
        return Signature.of(
            "quality", version=1, model=self.identity, members=members, **options_text(self.options)
        )

    def _combine(self, example: Example, row: Mapping[str, Score]) -> Score:
        problems = [score.problem for score in row.values() if score.problem is not None]
        if len(problems) == len(row):
            return Score.undefined(example.id, problems[0], flags_of(row))
        parts = {name: linear.of(row) for name, linear in self.dimensions.items()}
        wanted = self.options.dimension
        value = fmean(parts.values()) if wanted == "mean" else parts[wanted]
        return Score(example.id, value, parts, flags=flags_of(row))


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Quality:
    """Build the metric.

    Args:
        preset: `mini` or `base`.
        model: A folder with other weights, from `gistmeter train`.
        runtime: Device, data type, and batch size of the members.
        options: See `QualityOptions`.

    Raises:
        UsageError: If there is no such preset.
        ModelError: If the weights or a member's model cannot be found or loaded.
    """
    chosen = options_from(QualityOptions, options)
    name = model or preset_from("quality", PRESETS, preset)[chosen.text]
    identity, dimensions, members = read_quality(name)
    built = load_members({spec: {"spec": spec, **entry} for spec, entry in members.items()}, runtime)
    return Quality(built, dimensions, chosen, identity)


def read_quality(name: str) -> tuple[str, dict[str, Linear], dict[str, Mapping[str, str]]]:
    """Read weights that `train_quality` saved.

    Args:
        name: `gistmeter/NAME` or a folder.

    Returns:
        The identity of the weights, for signatures; the combination for each question; and the preset and
        model of each member, by spec.

    Raises:
        ModelNotFound: If they do not exist.
        BadModel: If they are damaged or of another kind.
    """
    identity, facts = read_combination(name, KIND)
    try:
        dimensions = {key: Linear.from_dict(linear) for key, linear in facts["dimensions"].items()}
        return identity, dimensions, {spec: dict(entry) for spec, entry in facts["members"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadModel(f"{name}/config.json is not valid ({error}); train it again") from error
