"""Tiny random regressors on the tiny encoder, in the format of the included one."""

from collections.abc import Sequence
from pathlib import Path

import torch

from gistmeter.metrics.sumqe.qualities import QUALITIES
from gistmeter.models.files.adapters import save_tuned
from gistmeter.models.rate.files import QUALITY_REGRESSOR, RegressorPlan, facts_of, new_regressor
from gistmeter.models.rate.regressor import Flavour
from tests.tiny_models import SEED, save_bert


def save_regressor(
    folder: Path,
    flavour: Flavour = "m5",
    *,
    qualities: Sequence[str] = QUALITIES,
    encoder: str = "transformer",
    window: int = 40,
    rank: int = 0,
) -> Path:
    """Save a random regressor whose base, a tiny BERT, lies in a folder within its own."""
    base = folder / "base"
    save_bert(base)
    layers = 2 if encoder == "bigru" or flavour != "s1" else 0
    plan = RegressorPlan(qualities, flavour, encoder, layers, window, 6, rank)  # type: ignore[arg-type]
    torch.manual_seed(SEED)
    regressor, _, plan = new_regressor(str(base), plan)
    save_tuned(regressor, str(base), folder, kind=QUALITY_REGRESSOR, facts=facts_of(plan))
    return folder
