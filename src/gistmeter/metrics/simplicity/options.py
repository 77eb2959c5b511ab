"""What can be chosen about the simplicity metric."""

from dataclasses import dataclass
from typing import Literal

from gistmeter.core.errors import UsageError

Value = Literal[
    "f1", "precision", "recall", "rel_f1", "rel_precision", "rel_recall", "simplicity", "p_simple"
]
Weight = Literal["frequency", "ratio", "zipf", "uniform"]
Unit = Literal["subword", "word"]


@dataclass(frozen=True, slots=True)
class SimplicityOptions:
    """Options of the simplicity metric; the defaults are the paper's.

    Args:
        value: Which part is the value. `rel_…` are equation 6 and need the source. Two look at the candidate
            alone and need no references: `simplicity`, the mean weight of its words, and `p_simple`, how
            probably it is a simplified text, by a model that was trained to tell (`--preset tuned`).
        contrast: How much of what the candidate keeps of the source (part `kept`) is taken off the value,
            from 0 to 1: of outputs as close to the references, those nearer to the input are less simple.
            For `precision`, `recall` and `f1`; needs the source.
        weight: What a token weighs. `frequency`: the share of simple sentences that hold it (eq. 4).
            `ratio`: its frequency in simple texts, as a share of that in simple and complex texts
            together. `zipf`: the logarithm of its frequency in general English. `uniform`: all the same,
            which is BERTScore.
        unit: Whether sub-words are looked up, or the words that they belong to.
        damp: Whether the weights of frequent words are held down, so that `the` does not decide; for
            `weight=frequency`. See `weights.damped`.
        clip: Whether a negative RelBERTScore becomes 0.
        layer: Which layer's states to compare, counted from 1; the preset's by default, and the last one
            of a model given by name.
        frequencies: The tables: `gistmeter/frequencies`, which ships, or a folder that
            `gistmeter train recipes/frequencies.toml` made.
        language: Whose words are looked up (`unit=word`) and shown.
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
        if self.contrast and self.value not in ("f1", "precision", "recall"):
            raise UsageError(f"contrast goes with value=f1, precision or recall, not with {self.value}")
        if self.damp and self.weight != "frequency":
            raise UsageError(f"damp holds frequencies down; weight={self.weight} needs none: leave damp out")
