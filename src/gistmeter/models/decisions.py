"""How many decisions a precision changes, over texts of the project's own that calibrated nothing."""

import numpy as np

from gistmeter.models import calibration
from gistmeter.models.encoder import Encoder
from gistmeter.models.filler_load import READER
from gistmeter.models.filler_reader import ReaderFiller
from gistmeter.models.load import find_model
from gistmeter.models.pinned import PINNED
from gistmeter.models.runtime import Runtime
from gistmeter.models.tuned import is_kind

ENCODERS = ("minilm", *PINNED)
EXACT = Runtime(device="cpu", backend="torch")
Decisions = list[bool] | list[int]


def changed_decisions(name: str, runtime: Runtime) -> tuple[int, int] | None:
    """Compare a model that ships with itself in full precision on PyTorch.

    Args:
        name: An encoder of sentences, `minilm` or `mpnet`, whose decisions are which other text is the
            nearest to each; or the filler, whose decisions are whether its prediction for a token is right.
        runtime: In which precision, and on what.

    Returns:
        How many decisions changed, and how many there were; None for what makes no decisions.
    """
    if name not in ENCODERS and not is_kind(find_model(name), READER):
        return None
    decide = _nearest if name in ENCODERS else _matches
    theirs, ours = decide(name, EXACT), decide(name, runtime)
    return sum(one != two for one, two in zip(ours, theirs, strict=True)), len(theirs)


def _nearest(name: str, runtime: Runtime) -> Decisions:
    vectors = Encoder.load(name, runtime).embed(calibration.texts(check=True)).vectors
    similarity = vectors @ vectors.T
    np.fill_diagonal(similarity, -1)
    nearest: list[int] = similarity.argmax(axis=1).tolist()
    return nearest


def _matches(name: str, runtime: Runtime) -> Decisions:
    filler = ReaderFiller.load(name, runtime)
    return [fill.matches for (fill,) in filler.fill(filler.own_queries(every=1, check=True))]
