"""gistmeter judges summaries and simplifications as people would, and shows where they are wrong.

>>> import gistmeter
>>> metric = gistmeter.load("rouge")
>>> example = gistmeter.Example("1", "The cat sat.", references=["The cat sat down."])
>>> round(metric.score([example])[0].parts["rouge1_recall"], 2)
0.75
"""

from typing import TYPE_CHECKING

from gistmeter.core.example import Example
from gistmeter.core.report import Report, evaluate
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature

if TYPE_CHECKING:
    from gistmeter.core.metric import Metric
    from gistmeter.models.runtime import Runtime

__version__ = "0.1.0"
__all__ = ["Example", "Flag", "Report", "Score", "Signature", "Span", "evaluate", "load"]


def load(
    name: str,
    /,
    *,
    preset: str = "mini",
    model: str | None = None,
    runtime: "Runtime | None" = None,
    **options: object,
) -> "Metric":
    """Build a metric by its name in the catalog.

    Args:
        name: `speed`, `bertscore`, `rouge`, …; `gistmeter score --help` lists them.
        preset: `mini` needs no network; `paper` is the paper's own setting, from the Hugging Face Hub.
        model: Another model instead of the preset's: a folder, or a Hub id with an optional `@revision`.
        runtime: Where and how the models run; the processor at full precision by default.
        **options: The metric's own options, as its README lists them.

    Raises:
        UsageError: If a name, a preset or an option does not exist.
        ModelError: If the model cannot be found or loaded.
    """
    from gistmeter.catalog import build

    return build(name, preset=preset, model=model, runtime=runtime, options=options)
