"""One linear layer that learns how much each word counts (MaskEval, section 3.3, equations 5 to 7)."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import mse_loss

from gistmeter.core.correlation import pearson
from gistmeter.core.errors import DataError
from gistmeter.metrics.maskeval.training.rows import RatedPair, SideStates
from gistmeter.metrics.maskeval.training.scale import balanced_share, spread_like_uniform
from gistmeter.training.batches import Batches
from gistmeter.training.loop import History, train
from gistmeter.training.recipe import Recipe

Split = Literal["document", "example"]


class Scale(Protocol):
    """What people could say, and how it is turned into a number from 0 to 1; see `RatingData`."""

    @property
    def low(self) -> float:
        """The worst."""

    @property
    def high(self) -> float:
        """The best."""

    @property
    def target(self) -> Literal["range", "max", "spread"]:
        """`range`, `max` or `spread`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How one layer is trained.

    Args:
        recipe: Its `training` part is used.
        batch: Pairs of a step.
        parts: One part in so many is held out, to choose the best weights by.
        start: Where the layer starts: `zero` or `random`.
        spread: Whether targets are mapped to the mean and the spread of the uniform scores.
        balance: Whether the share of each side is learned, too; otherwise each has one half.
        done: Is called whenever a layer is trained.
    """

    recipe: Recipe
    batch: int
    parts: int
    start: Literal["random", "zero"]
    spread: bool = False
    balance: bool = False
    done: Callable[[], object] = lambda: None


class WeighTask:
    """Learns W so that the weighted score comes near to what people say.

    Args:
        rows: Rated pairs.
        targets: What people say of each, from 0 to 1.
        held_out: The numbers of those that choose the best weights.
        batch: Pairs of a step.
        seed: Of their order, and of a random start.
        start: Where W starts.

    Raises:
        DataError: If no row is left to learn from.
    """

    def __init__(
        self,
        rows: Sequence[RatedPair],
        targets: Sequence[float],
        held_out: Sequence[int],
        *,
        batch: int,
        seed: int,
        start: str,
    ) -> None:
        apart = set(held_out)
        learned = [at for at in range(len(rows)) if at not in apart]
        if not learned:
            raise DataError("all rows are held out; give more")
        self.rows = [rows[at] for at in learned]
        self.targets = torch.tensor([targets[at] for at in learned])
        self.held_out = [rows[at] for at in held_out]
        self.held_targets = torch.tensor([targets[at] for at in held_out])
        self.batches = Batches(len(learned), batch, seed)
        self.share = 0.5  # how much the candidate's side counts
        torch.manual_seed(seed)
        self.model = torch.nn.Linear(rows[0].sides[0].states.shape[1], 1, bias=False)
        if start == "zero":
            torch.nn.init.zeros_(self.model.weight)

    @property
    def weight(self) -> NDArray[np.float32]:
        """W, shape (d,)."""
        return self.model.weight.detach()[0].numpy().copy()

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """W."""
        return [{"params": [self.model.weight]}]

    def loss(self, step: int) -> torch.Tensor:
        """Return the mean squared error of a batch."""
        chosen = self.batches.rows_of(step)
        return self._error([self.rows[at] for at in chosen], self.targets[chosen])

    def validate(self) -> dict[str, float]:
        """Return the mean squared error of the rows that are held out."""
        return {"loss": float(self._error(self.held_out, self.held_targets).detach())}

    def predict(self, rows: Sequence[RatedPair]) -> torch.Tensor:
        """Return both sides' weighted scores, put together (equation 5), shape (rows,)."""
        shares = torch.tensor([self.share, 1 - self.share])
        return torch.stack(
            [
                (shares * torch.stack([self._side(*_tensors(side)) for side in row.sides])).sum()
                for row in rows
            ]
        )

    def _side(self, states: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        # A word's weight is the sum of its sub-words', which share its value: the sum runs over sub-words.
        logits: torch.Tensor = self.model(states)[:, 0]
        return (logits.softmax(dim=0) * values).sum()

    def _error(self, rows: Sequence[RatedPair], targets: torch.Tensor) -> torch.Tensor:
        return mse_loss(self.predict(rows), targets)


def fit(
    rows: Sequence[RatedPair], targets: Sequence[float], held_out: Sequence[int], plan: Plan, folder: Path
) -> tuple[WeighTask, History]:
    """Train one layer, or go on where an earlier call stopped.

    Args:
        rows: Rated pairs.
        targets: What people say of each, from 0 to 1.
        held_out: The numbers of those that choose the best weights.
        plan: How.
        folder: Of this layer's checkpoint and history.

    Returns:
        The task, with the best weights, and its history.
    """
    seed = plan.recipe.training.seed
    if plan.spread:
        targets = spread_like_uniform(rows, targets, held_out)
    task = WeighTask(rows, targets, held_out, batch=plan.batch, seed=seed, start=plan.start)
    if plan.balance:
        task.share = balanced_share(rows, targets, held_out)
    settings = plan.recipe.counted(len(task.batches))
    history = train(task, settings, folder, progress=False)
    plan.done()
    return task, history


def cross_validate(
    rows: Sequence[RatedPair],
    targets: Sequence[float],
    folds: Sequence[Sequence[int]],
    plan: Plan,
    place: tuple[Split, Path],
) -> dict[str, float]:
    """Score every row with weights that were learned without its fold, beside uniform ones.

    Within the rows that a fold leaves, one part is held out again, to choose the best weights by.

    Args:
        rows: Rated pairs.
        targets: What people say of each.
        folds: The rows' numbers.
        plan: How a layer is trained.
        place: What the rows are split by, and the folder of the folds' checkpoints.

    Returns:
        Pooled Pearson over all rows, of `learned` and `uniform` scores, and their difference, `gain`.
    """
    split, folder = place
    learned = np.zeros(len(rows))
    for number, fold in enumerate(folds):
        apart = set(fold)
        rest = [at for at in range(len(rows)) if at not in apart]
        known = [rows[at] for at in rest]
        held = share_out(known, split, plan.parts, plan.recipe.training.seed + 1)[0]
        task, _ = fit(known, [targets[at] for at in rest], held, plan, folder / f"{split}-{number}")
        with torch.no_grad():
            known_scores, scores = task.predict(known), task.predict([rows[at] for at in fold])
        # Each fold's weights have a scale of their own, which must not count as a difference between rows.
        learned[list(fold)] = ((scores - known_scores.mean()) / known_scores.std().clamp(min=1e-9)).numpy()
    found = {
        "learned": pearson(learned, targets),
        "uniform": pearson([row.uniform for row in rows], targets),
    }
    return {**found, "gain": found["learned"] - found["uniform"]}


def share_out(rows: Sequence[RatedPair], split: Split, parts: int, seed: int) -> list[list[int]]:
    """Share rows out into parts that are as equal as may be, by hashes, so that their order plays no part.

    Args:
        rows: At least as many as parts.
        split: What stays together: the rows of a `document`, or nothing but each `example` itself.
        parts: How many.
        seed: Another one gives other parts.

    Returns:
        The rows' numbers in each part.

    Raises:
        DataError: If there are fewer documents, or examples, than parts.
    """
    keys = [row.document if split == "document" else f"{row.document}\n{row.id}" for row in rows]
    order = sorted(set(keys), key=lambda key: hashlib.sha256(f"{seed}\n{key}".encode()).hexdigest())
    if len(order) < parts:
        raise DataError(f"{len(order)} {split}s cannot be shared out among {parts} parts; give more rows")
    part = {key: at % parts for at, key in enumerate(order)}
    return [[at for at, key in enumerate(keys) if part[key] == number] for number in range(parts)]


def target_of(score: float, scale: Scale) -> float:
    """Scale what people say to numbers from 0 to 1."""
    if scale.target == "max":
        return score / scale.high
    return (score - scale.low) / (scale.high - scale.low)


def _tensors(side: SideStates) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(side.states), torch.from_numpy(side.values)
