"""Build SUM-QE from a preset or a model folder."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gistmeter.core.errors import BadModel, ModelNotFound
from gistmeter.core.language import ENGLISH, check_spoken
from gistmeter.core.options import options_from, preset_from
from gistmeter.metrics.sumqe.metric import SumQE
from gistmeter.metrics.sumqe.options import SumQEOptions
from gistmeter.metrics.sumqe.qualities import QUALITIES

if TYPE_CHECKING:
    from gistmeter.models.run.runtime import Runtime

PRESETS = {"mini": "gistmeter/sumqe", "base": "gistmeter/sumqe-base", "paper": ""}
"""Models by preset. The paper's model was trained on licensed data and is not public."""


def build(preset: str, model: str | None, runtime: "Runtime", options: Mapping[str, object]) -> SumQE:
    """Build SUM-QE.

    Args:
        preset: `mini` (the regressor that ships), `base` (the one for MPNet), or `paper`, which requires
            `model`.
        model: Regressor that replaces the preset's: a folder from `gistmeter train`.
        runtime: Device, data type, and batch size.
        options: See `SumQEOptions`.

    Raises:
        ModelNotFound: If the regressor cannot be found.
        BadModel: If the regressor cannot be loaded, or does not rate the five qualities.
    """
    name = model or preset_from("sumqe", PRESETS, preset)
    chosen = options_from(SumQEOptions, options)
    if model is None:
        check_spoken(chosen.language, ENGLISH, preset)
    if not name:
        raise ModelNotFound(
            "the paper's model is not public; train a model on DUC with recipes/sumqe-duc.toml "
            "and give its folder with --model"
        )
    from gistmeter.models.rate.text_regressor import TextRegressor

    regressor = TextRegressor.load(name, runtime)
    if sorted(regressor.qualities) != sorted(QUALITIES):
        raise BadModel(
            f"{name} rates {', '.join(regressor.qualities)}, not {', '.join(QUALITIES)}; use another model"
        )
    return SumQE(regressor, chosen)
