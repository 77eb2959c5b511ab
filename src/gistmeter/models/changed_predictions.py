"""Counts the predictions that a lower precision changes, on texts that are not used for calibration."""

import numpy as np

from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files.adapters import is_kind
from gistmeter.models.files.families import COPY_INFILLER
from gistmeter.models.files.find import find_model
from gistmeter.models.files.pinned import PINNED
from gistmeter.models.fill.copy import CopyFiller
from gistmeter.models.run import calibration
from gistmeter.models.run.runtime import Runtime

ENCODERS = ("minilm", *PINNED)
EXACT = Runtime(device="cpu", backend="torch")
Predictions = list[bool] | list[int]


def changed_predictions(name: str, runtime: Runtime) -> tuple[int, int] | None:
    """Compare a model under a runtime with the same model in full precision on PyTorch.

    Args:
        name: A sentence encoder, `minilm` or `mpnet` (a prediction is the nearest neighbor of a text), or the
            bundled filler (a prediction is whether the most probable token equals the masked one).
        runtime: The precision and the device to test.

    Returns:
        The number of changed predictions and the number of all predictions; None for other models.
    """
    if name not in ENCODERS and not is_kind(find_model(name), COPY_INFILLER):
        return None
    decide = _nearest if name in ENCODERS else _matches
    theirs, ours = decide(name, EXACT), decide(name, runtime)
    return sum(one != two for one, two in zip(ours, theirs, strict=True)), len(theirs)


def _nearest(name: str, runtime: Runtime) -> Predictions:
    vectors = Encoder.load(name, runtime).embed(calibration.texts(check=True)).vectors
    similarity = vectors @ vectors.T
    np.fill_diagonal(similarity, -1)
    nearest: list[int] = similarity.argmax(axis=1).tolist()
    return nearest


def _matches(name: str, runtime: Runtime) -> Predictions:
    filler = CopyFiller.load(name, runtime)
    return [fill.matches for (fill,) in filler.fill(filler.own_queries(every=1, check=True))]
