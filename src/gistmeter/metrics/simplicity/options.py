"""Options of the simplicity metric."""

from dataclasses import dataclass
from typing import Literal

from gistmeter.core.errors import UsageError

Value = Literal[
    "f1",
    "f_half",
    "precision",
    "recall",
    "rel_f1",
    "rel_f_half",
    "rel_precision",
    "rel_recall",
    "simplicity",
    "p_simple",
]
Weight = Literal["frequency", "ratio", "zipf", "uniform"]
Unit = Literal["subword", "word"]


@dataclass(frozen=True, slots=True)
class SimplicityOptions:
    """Options of the simplicity metric; the defaults are the paper's.

    Args:
        value: Component reported as the value. `f_half` is F0.5, in which precision counts twice as much as
            recall; the presets `mini` and `base` report it. `rel_…` (equation 6) require the source.
            `simplicity`, the mean weight of the candidate's words, and `p_simple`, the probability that the
            candidate is a simplified text, require neither references nor source; `p_simple` requires a model
            trained for it, such as `--preset tuned`.
        contrast: Factor from 0 to 1. The value is reduced by contrast × `kept`, the share of the source that
            the candidate keeps. For `precision`, `recall`, `f1` and `f_half`; requires the source.
        weight: Weight of a token. `frequency`: share of simple sentences that contain it (equation 4).
            `ratio`: frequency in simple texts divided by the sum of its frequencies in simple and complex
            texts. `zipf`: logarithm of its frequency in general English. `uniform`: equal weights, which
            is BERTScore.
        unit: Unit of the frequency lookup: the sub-word, or the word that contains it.
        damp: Whether to reduce the weights of very frequent words such as `the`. For `weight=frequency`; see
            `weights.damped`.
        clip: Whether to replace a negative RelBERTScore by 0.
        layer: Encoder layer, counted from 1. The default is the preset's layer; with a model and without a
            preset, the model's last layer.
        frequencies: Frequency tables: `gistmeter/frequencies`, which ships, or a folder made by
            `gistmeter train recipes/frequencies.toml`.
        language: Language of the words that are looked up (`unit=word`) and shown in spans.

    Raises:
        UsageError: If contrast is out of range, or options cannot be combined.
    """

    value: Value = "f1"
    contrast: float = 0.0
    weight: Weight = "frequency"
    unit: Unit = "subword"
    damp: bool = False
    clip: bool = False
    layer: int | None = None
    frequencies: str = "gistmeter/frequencies"
    language: str = "en"

    def __post_init__(self) -> None:
        if not 0 <= self.contrast <= 1:
            raise UsageError(f"contrast={self.contrast}: give a number from 0 to 1")
        if self.contrast and self.value not in ("f1", "f_half", "precision", "recall"):
            raise UsageError(f"contrast needs value=f1, f_half, precision or recall, not {self.value}")
        if self.damp and self.weight != "frequency":
            raise UsageError(f"damp needs weight=frequency, not {self.weight}; remove damp")
