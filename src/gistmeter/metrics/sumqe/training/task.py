"""Training task for a quality regressor with partially known labels."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.core.correlation import pearson
from gistmeter.core.errors import DataError
from gistmeter.metrics.sumqe.training.rows import Rated
from gistmeter.metrics.sumqe.windows import Ids, pieces_of
from gistmeter.models.rate.text_regressor import TextRegressor
from gistmeter.text.sentences import split_sentences
from gistmeter.training.batches import LengthBatches
from gistmeter.training.files import HISTORY
from gistmeter.training.loop import trainable_weights

AT_ONCE = 32
"""Rows per validation batch."""


@dataclass(frozen=True, slots=True)
class RateOptions:
    """Options of the training.

    Args:
        loss: `joint` is the mean squared error over all known labels (M-1); `sum` is the sum of the mean
            squared errors of the qualities (M-5).
        batch: Rows per step.
        pool: Number of batches that are sorted by length together, to reduce padding; 1 does not sort.
        head_scale: Factor of the learning rate for the heads.
        seed: Seed of the row order.
    """

    loss: Literal["joint", "sum"] = "sum"
    batch: int = 8
    pool: int = 1
    head_scale: float = 1.0
    seed: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Tokenized texts with labels.

    Args:
        ids: Token IDs of the first window of each text.
        labels: Labels, shape (rows, qualities); NaN if unknown.
        sets: Data set of each text.
    """

    ids: Sequence[Ids]
    labels: NDArray[np.float32]
    sets: Sequence[str]


def read_rows_of(rated: Sequence[Rated], regressor: TextRegressor) -> Rows:
    """Tokenize rated texts; long texts are truncated to the first window, as in the paper."""
    places = [split_sentences(row.text) for row in rated]
    sentences = [row.text[start:end] for row, own in zip(rated, places, strict=True) for start, end in own]
    tokens = iter(regressor.tokenize(sentences))
    ids = []
    for own in places:
        pieces = pieces_of([next(tokens) for _ in own], regressor.window - 2)
        row = regressor.row([piece for _, piece in pieces])
        ids.append((*row[: regressor.window - 1], regressor.end))
    labels = [[row.labels.get(name, np.nan) for name in regressor.qualities] for row in rated]
    table = np.array(labels, dtype=np.float32).reshape(-1, len(regressor.qualities))
    return Rows([_closed_once(row, regressor.end) for row in ids], table, [row.set for row in rated])


class RateTask:
    """Training task that fits a regressor to labels (section 4.1), in random order each epoch.

    Args:
        regressor: Regressor to train.
        training: Training rows.
        validation: Validation rows.
        options: See `RateOptions`.
        folder: Output folder, whose history contains earlier epochs.

    Raises:
        DataError: If there are no training rows or no validation rows.
    """

    def __init__(
        self, regressor: TextRegressor, training: Rows, validation: Rows, options: RateOptions, folder: Path
    ) -> None:
        if not training.ids or not validation.ids:
            raise DataError("too few rated texts for training and validation; provide more")
        self.regressor, self.model, self.options = regressor, regressor.regressor, options
        self.training, self.validation = training, validation
        lengths = [len(ids) for ids in training.ids]
        self.batches = LengthBatches(lengths, options.batch, options.pool, options.seed)
        self.losses = _losses_so_far(folder)

    @property
    def steps(self) -> int:
        """Return the number of batches per epoch."""
        return len(self.batches)

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """Return the encoder's weights, and the heads', which may have a higher learning rate."""
        heads = {id(weight) for weight in self.model.heads.parameters()}
        weights = trainable_weights(self.model)
        return [
            {"params": [weight for weight in weights if id(weight) not in heads]},
            {
                "params": [weight for weight in weights if id(weight) in heads],
                "scale": self.options.head_scale,
            },
        ]

    def loss(self, step: int) -> torch.Tensor:
        """Return the error of a batch."""
        chosen = self.batches.rows_of(step)
        said = self.model(*self.regressor.batch([self.training.ids[at] for at in chosen]))
        return self._error(said, torch.from_numpy(self.training.labels[chosen]).to(said.device))

    def validate(self) -> dict[str, float]:
        """Return the loss, `stop`, and the Pearson correlation with the labels for each set and quality.

        `stop` is lowest at the epoch at which the authors' code stops: the first epoch whose loss does not
        improve on the best so far, or else the last epoch.
        """
        said = torch.cat(
            [
                self.model(*self.regressor.batch(self.validation.ids[at : at + AT_ONCE])).float()
                for at in range(0, len(self.validation.ids), AT_ONCE)
            ]
        )
        labels = torch.from_numpy(self.validation.labels).to(said.device)
        loss = float(self._error(said, labels).detach())
        risen = any(b >= min(self.losses[: at + 1]) for at, b in enumerate(self.losses[1:]))
        self.losses.append(loss)
        stop = 0.0 if risen else -float(len(self.losses))
        return {"loss": loss, "stop": stop, **self._correlations(said.cpu().numpy())}

    def _error(self, said: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        known = ~labels.isnan()
        squares = (said - labels.nan_to_num()).square() * known
        if self.options.loss == "joint":
            return squares.sum() / known.sum().clamp(min=1)
        return (squares.sum(dim=0) / known.sum(dim=0).clamp(min=1)).sum()

    def _correlations(self, said: NDArray[np.float32]) -> dict[str, float]:
        found = {}
        for name in dict.fromkeys(self.validation.sets):
            inside = np.array([one == name for one in self.validation.sets])
            for at, quality in enumerate(self.regressor.qualities):
                labels = self.validation.labels[inside, at]
                r = pearson(said[inside, at][~np.isnan(labels)], labels[~np.isnan(labels)])
                if np.isfinite(r) and (not name.startswith("made ") or name.endswith(quality)):
                    found[f"{name.split()[0]}_{quality}"] = r
        return found


def _closed_once(row: Ids, end: int) -> Ids:
    """Remove the second end token if a truncated row already ended with one."""
    return row[:-1] if len(row) > 1 and row[-2] == end else row


def _losses_so_far(folder: Path) -> list[float]:
    """Return the validation losses of an interrupted training."""
    path = folder / HISTORY
    if not path.is_file():
        return []
    return [float(point["loss"]) for point in json.loads(path.read_text(encoding="utf-8"))["validations"]]
