"""Let a larger regressor teach: its predictions join the labels of the training rows."""

from collections.abc import Sequence
from dataclasses import replace

from gistmeter.core.errors import BadModel
from gistmeter.metrics.sumqe.training.rows import Rated
from gistmeter.metrics.sumqe.training.task import read_rows_of
from gistmeter.models.rate.text_regressor import TextRegressor


def taught(rows: Sequence[Rated], teacher: TextRegressor) -> list[Rated]:
    """Add the predictions of a regressor to the labels of texts.

    A known label becomes the mean of itself and the prediction: for squared errors, this is a loss of which
    the teacher has one half (Hinton, Vinyals and Dean 2015, arXiv 1503.02531, section 2). An unknown label
    becomes the prediction.

    Args:
        rows: Texts with labels from 0 (bad) to 1 (good).
        teacher: Regressor that rates the same qualities.

    Raises:
        BadModel: If the teacher does not rate a labelled quality.
    """
    lacking = sorted({name for row in rows for name in row.labels} - set(teacher.qualities))
    if lacking:
        raise BadModel(f"model.teacher does not rate {', '.join(lacking)}; give another regressor")
    predictions = teacher.rate(read_rows_of(rows, teacher).ids).tolist()
    labelled = []
    for row, own in zip(rows, predictions, strict=True):
        said = dict(zip(teacher.qualities, own, strict=True))
        known = {name: (label + said[name]) / 2 for name, label in row.labels.items()}
        labelled.append(replace(row, labels={**said, **known}))
    return labelled
