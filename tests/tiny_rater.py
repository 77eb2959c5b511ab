"""Tiny random raters on the tiny encoder, in the format of the one that ships."""

from collections.abc import Sequence
from pathlib import Path

import torch

from gistmeter.metrics.sumqe.qualities import QUALITIES
from gistmeter.models.rater import Flavour
from gistmeter.models.rater_files import RATER, RaterPlan, facts_of, new_rater
from gistmeter.models.tuned import save_tuned
from tests.tiny_models import SEED, save_bert


def save_rater(
    folder: Path,
    flavour: Flavour = "m5",
    *,
    qualities: Sequence[str] = QUALITIES,
    encoder: str = "transformer",
    window: int = 40,
) -> Path:
    """Save a random rater whose base, a tiny BERT, lies in a folder within its own."""
    base = folder / "base"
    save_bert(base)
    layers = 2 if encoder == "bigru" or flavour != "s1" else 0
    plan = RaterPlan(qualities, flavour, encoder, layers, window, hidden=6)  # type: ignore[arg-type]
    torch.manual_seed(SEED)
    rater, _, plan = new_rater(str(base), plan)
    save_tuned(rater, str(base), folder, kind=RATER, facts=facts_of(plan))
    return folder
