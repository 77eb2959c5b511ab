"""Analyses of the simplicity paper: ablations (table 4) and scatter plots (figures 2 and 3)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.core.score import Score

PARTS = ("precision", "recall", "f1")
"""The components of which the paper reports the best."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of table 4.

    Args:
        preset: Preset, with a tuned or untuned encoder.
        options: Options of the metric.
        relative: Whether the score is relative to the input (equation 6).
    """

    preset: str
    options: Mapping[str, object] = field(default_factory=dict)
    relative: bool = True

    @property
    def parts(self) -> tuple[str, ...]:
        """Components to read from its scores."""
        return tuple(f"rel_{part}" for part in PARTS) if self.relative else PARTS


PAPER = {"weight": "frequency", "unit": "subword"}
"""The paper's weights; the presets for everyday use have others."""
TABLE_4 = {
    "proposed": Variant("tuned", PAPER),
    "without weighting": Variant("tuned", {"weight": "uniform"}),
    "without input": Variant("tuned", PAPER, relative=False),
    "without fine-tuning": Variant("mini", {**PAPER, "layer": 4}),
}
"""The paper's metric and its ablations with the included encoders, all at the tuned layer."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of table 4.

    Args:
        part: The best of precision, recall and F1, as reported in the paper.
        pearson: Correlation with human judgements; NaN for fewer than two scores or if all are equal.
        n: Number of candidates with a score.
    """

    part: str
    pearson: float
    n: int


def ablations(
    runs: Mapping[str, Sequence[Score]],
    human: Mapping[str, Sequence[float]],
    variants: Mapping[str, Variant] = TABLE_4,
) -> dict[str, dict[str, Cell]]:
    """Return table 4: for each variant and quality, the component with the highest correlation.

    Selecting the best component on the test data overestimates every row; use `scatter` for one component.

    Args:
        runs: Scores of each variant, over the same candidates.
        human: Judgements of each quality, one per candidate.
        variants: Definition of each variant.
    """
    return {
        name: {
            quality: _best([_cell(scores, given, part) for part in variants[name].parts])
            for quality, given in human.items()
        }
        for name, scores in runs.items()
    }


@dataclass(frozen=True, slots=True)
class Scatter:
    """A plot of figures 2 and 3.

    Args:
        human: Judgement of each point.
        metric: Score of each point, rescaled to 0 (lowest) to 100 (highest), as in section 4.5.
        pearson: Correlation of the two; NaN for fewer than two points or if all are equal.
    """

    human: tuple[float, ...]
    metric: tuple[float, ...]
    pearson: float


def scatter(scores: Sequence[Score], human: Sequence[float], part: str = "f1") -> Scatter:
    """Return the points of a plot, without undefined scores.

    Args:
        scores: Scores of one metric.
        human: Judgements, one per candidate.
        part: Component of the scores.

    >>> scatter([Score("1", 0.2, {"f1": 0.2}), Score("2", 0.6, {"f1": 0.6})], [1.0, 3.0])
    Scatter(human=(1.0, 3.0), metric=(0.0, 100.0), pearson=1.0)
    """
    values, given = _sound(scores, human, part)
    low, spread = (values.min(), np.ptp(values)) if len(values) else (0.0, 0.0)
    scaled = (values - low) / (spread or 1.0) * 100
    return Scatter(tuple(given.tolist()), tuple(scaled.tolist()), round(pearson(values, given), 12))


def _cell(scores: Sequence[Score], human: Sequence[float], part: str) -> Cell:
    values, given = _sound(scores, human, part)
    return Cell(part, round(pearson(values, given), 12), len(values))


def _best(cells: Sequence[Cell]) -> Cell:
    return max(cells, key=lambda cell: -math.inf if math.isnan(cell.pearson) else cell.pearson)


def _sound(scores: Sequence[Score], human: Sequence[float], part: str) -> "tuple[np.ndarray, np.ndarray]":
    pairs = [(score.parts.get(part, math.nan), own) for score, own in zip(scores, human, strict=True)]
    kept = np.array([pair for pair in pairs if math.isfinite(pair[0])]).reshape(-1, 2)
    return kept[:, 0], kept[:, 1]
