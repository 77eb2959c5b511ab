"""SUM-QE from names: which regressor each preset takes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gistmeter.core.errors import BadModel, ModelNotFound
from gistmeter.core.options import options_from, preset_from
from gistmeter.metrics.sumqe.metric import SumQE
from gistmeter.metrics.sumqe.options import SumQEOptions
from gistmeter.metrics.sumqe.qualities import QUALITIES

if TYPE_CHECKING:
    from gistmeter.models.run.runtime import Runtime

PRESETS = {"mini": "gistmeter/sumqe", "paper": ""}
"""The paper's own model was trained on texts that only holders of a licence may have."""


def build(preset: str, model: str | None, runtime: "Runtime", options: Mapping[str, object]) -> SumQE:
    """Build SUM-QE.

    Args:
        preset: `mini` (what ships), or `paper`, for which a model of one's own is needed.
        model: A regressor in place of the preset's: a folder that `gistmeter train` made.
        runtime: Where and how to run.
        options: See `SumQEOptions`.

    Raises:
        ModelNotFound: If the regressor is not to be had.
        BadModel: If it cannot be loaded, or does not rate these five qualities.
    """
    name = model or preset_from("sumqe", PRESETS, preset)
    chosen = options_from(SumQEOptions, options)
    if not name:
        raise ModelNotFound(
            "the paper's model is not public: train one on DUC with recipes/sumqe-duc.toml, "
            "and give its folder with --model"
        )
    from gistmeter.models.rate.text_regressor import TextRegressor

    regressor = TextRegressor.load(name, runtime)
    if sorted(regressor.qualities) != sorted(QUALITIES):
        raise BadModel(f"{name} rates {', '.join(regressor.qualities)}, not {', '.join(QUALITIES)}")
    return SumQE(regressor, chosen)
