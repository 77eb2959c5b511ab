"""Train the linear layer of the word weights (MaskEval, section 3.3, equations 5 to 7)."""

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
from gistmeter.metrics.maskeval.training.scale import balanced, spread_like_uniform
from gistmeter.metrics.maskeval.training.split import Split, draw_apart, share_out
from gistmeter.models.encode.token_weighter import falling
from gistmeter.training.batches import Batches
from gistmeter.training.loop import History, train
from gistmeter.training.recipe import Recipe


class Scale(Protocol):
    """Rating scale and its mapping to targets; see `RatingData`."""

    @property
    def low(self) -> float:
        """Lowest possible rating."""

    @property
    def high(self) -> float:
        """Highest possible rating."""

    @property
    def target(self) -> Literal["range", "max", "spread"]:
        """Scale of the targets: `range`, `max` or `spread`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings for training one layer.

    Args:
        recipe: Recipe whose `training` section is used.
        batch: Pairs per step.
        parts: Number of parts; one of them is held out for validation.
        start: Initial weights: `zero` or `random`.
        spread: Whether to map targets to the mean and standard deviation of the uniform scores.
        balance: Whether to learn the share of each side and the fall of the source's weights; otherwise each
            side counts one half, and nothing falls.
        done: Callback after each trained layer.
    """

    recipe: Recipe
    batch: int
    parts: int
    start: Literal["random", "zero"]
    spread: bool = False
    balance: bool = False
    done: Callable[[], object] = lambda: None


class WeighTask:
    """Training task that fits W, so that the weighted scores approximate the targets.

    Args:
        rows: Rated pairs.
        targets: Human rating of each pair, scaled as in `RatingData.target`.
        held_out: Numbers of the validation rows.
        batch: Pairs per step.
        seed: Seed of the row order and of random initial weights.
        start: Initial weights: `zero` or `random`.

    Raises:
        DataError: If there are no training rows.
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
            raise DataError("all rows are held out for validation; provide more rated rows")
        self.rows = [rows[at] for at in learned]
        self.targets = torch.tensor([targets[at] for at in learned])
        self.held_out = [rows[at] for at in held_out]
        self.held_targets = torch.tensor([targets[at] for at in held_out])
        self.batches = Batches(len(learned), batch, seed)
        self.share = 0.5  # share of the candidate's side
        self.fall = 0.0  # of the source's weights, see `falling`
        torch.manual_seed(seed)
        self.model = torch.nn.Linear(rows[0].sides[0].states.shape[1], 1, bias=False)
        if start == "zero":
            torch.nn.init.zeros_(self.model.weight)

    @property
    def weight(self) -> NDArray[np.float32]:
        """Weights W of the linear layer, shape (d,)."""
        return self.model.weight.detach()[0].numpy().copy()

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """Return the parameters to train: W."""
        return [{"params": [self.model.weight]}]

    def loss(self, step: int) -> torch.Tensor:
        """Return the mean squared error of a batch."""
        chosen = self.batches.rows_of(step)
        return self._error([self.rows[at] for at in chosen], self.targets[chosen])

    def validate(self) -> dict[str, float]:
        """Return the mean squared error on the validation rows."""
        return {"loss": float(self._error(self.held_out, self.held_targets).detach())}

    def predict(self, rows: Sequence[RatedPair]) -> torch.Tensor:
        """Return the weighted score of each row, combined over both sides (equation 5), shape (rows,)."""
        return torch.stack([self._score(*row.sides) for row in rows])

    def _score(self, candidate: SideStates, source: SideStates) -> torch.Tensor:
        return self.share * self._side(candidate, 0.0) + (1 - self.share) * self._side(source, self.fall)

    def _side(self, side: SideStates, fall: float) -> torch.Tensor:
        # Equals the sum over words: sub-words share the score of their word, and their weights add up.
        states, values = _tensors(side)
        logits: torch.Tensor = self.model(states)[:, 0] + torch.from_numpy(falling(len(values), fall))
        return (logits.softmax(dim=0) * values).sum()

    def _error(self, rows: Sequence[RatedPair], targets: torch.Tensor) -> torch.Tensor:
        return mse_loss(self.predict(rows), targets)


def fit(
    rows: Sequence[RatedPair], targets: Sequence[float], held_out: Sequence[int], plan: Plan, folder: Path
) -> tuple[WeighTask, History]:
    """Train one layer, or resume an interrupted training.

    Args:
        rows: Rated pairs.
        targets: Human rating of each pair, scaled as in `RatingData.target`.
        held_out: Numbers of the validation rows.
        plan: Training settings.
        folder: Folder of the checkpoint and the history.

    Returns:
        Task with the best weights, and the history.
    """
    seed = plan.recipe.training.seed
    if plan.spread:
        targets = spread_like_uniform(rows, targets, held_out)
    task = WeighTask(rows, targets, held_out, batch=plan.batch, seed=seed, start=plan.start)
    if plan.balance:
        task.share, task.fall = balanced(rows, targets, held_out)
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
    """Cross-validate learned weights, and compare them with uniform weights.

    One part of each training set is held out for validation.

    Args:
        rows: Rated pairs.
        targets: Human rating of each pair.
        folds: Row numbers of each fold.
        plan: Training settings.
        place: Unit of the validation split, and folder of the checkpoints.

    Returns:
        Pooled Pearson correlation of the `learned` and `uniform` scores, and the difference `gain`.
    """
    split, folder = place
    learned = np.zeros(len(rows))
    for number, fold in enumerate(folds):
        apart = set(fold)
        rest = [at for at in range(len(rows)) if at not in apart]
        known = [rows[at] for at in rest]
        held = share_out(keys_of(known, split), split, plan.parts, plan.recipe.training.seed + 1)[0]
        task, _ = fit(known, [targets[at] for at in rest], held, plan, folder / f"{split}-{number}")
        with torch.no_grad():
            known_scores, scores = task.predict(known), task.predict([rows[at] for at in fold])
        # Standardize per fold, because the scores of different folds have different scales.
        learned[list(fold)] = ((scores - known_scores.mean()) / known_scores.std().clamp(min=1e-9)).numpy()
    return _compared(learned, rows, targets)


def validate_on_the_rest(
    rows: Sequence[RatedPair], targets: Sequence[float], share: float, plan: Plan, folder: Path
) -> dict[str, float]:
    """Train weights on a share of the examples, and test them on all others, as in the paper.

    Args:
        rows: Rated pairs.
        targets: Human rating of each pair.
        share: Share of the examples to train on; one part of them is held out for validation.
        plan: Training settings.
        folder: Folder of the checkpoint.

    Returns:
        Figures as in `cross_validate`, and the number of test `rows`.
    """
    seed = plan.recipe.training.seed
    chosen, rest = draw_apart(keys_of(rows, "example"), share, seed)
    known = [rows[at] for at in chosen]
    held = share_out(keys_of(known, "example"), "example", plan.parts, seed + 1)[0]
    task, _ = fit(known, [targets[at] for at in chosen], held, plan, folder)
    unseen = [rows[at] for at in rest]
    with torch.no_grad():
        learned = task.predict(unseen).tolist()
    return {**_compared(learned, unseen, [targets[at] for at in rest]), "rows": len(rest)}


def _compared(
    learned: Sequence[float] | NDArray[np.float64], rows: Sequence[RatedPair], targets: Sequence[float]
) -> dict[str, float]:
    """Return the correlation of learned and of uniform scores with the ratings, and the difference."""
    ours, uniform = pearson(learned, targets), pearson([row.uniform for row in rows], targets)
    return {"learned": ours, "uniform": uniform, "gain": ours - uniform}


def keys_of(rows: Sequence[RatedPair], split: Split) -> list[str]:
    """Return the names by which rows are split: of the document, or of the example."""
    return [row.document if split == "document" else f"{row.document}\n{row.id}" for row in rows]


def target_of(score: float, scale: Scale) -> float:
    """Return the training target of a human rating."""
    if scale.target == "max":
        return score / scale.high
    return (score - scale.low) / (scale.high - scale.low)


def _tensors(side: SideStates) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(side.states), torch.from_numpy(side.values)
