"""Train a language model to fill the blanks that MaskEval or ClozE draws."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.options import options_from
from gistmeter.models.files.save import save_model
from gistmeter.models.fill.load import load_filler
from gistmeter.models.fill.loss import Trainable, gold_count, gold_loss, trainable_filler
from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.runtime import Runtime
from gistmeter.training.batches import Batches
from gistmeter.training.loop import kept, train, trainable_weights
from gistmeter.training.recipe import Recipe
from gistmeter.training.texts import TextPair, read_pairs

MODEL = "model"
"""Subfolder of the output folder that holds the trained model."""
Draw = Callable[[TextPair, random.Random], Query | None]
"""Draws a fill query from a pair; returns None if there is nothing to blank."""


@dataclass(frozen=True, slots=True)
class PairData:
    """The `data` table of a recipe, except `folder` and `sets`.

    Args:
        parts: Hold out one in `parts` documents for validation.
        batch: Queries per step, one per pair.
        micro_batch: Queries per forward pass; lower values save memory and give the same result.
        validation: Maximum number of validation pairs, drawn once; 0 uses all held-out pairs.
    """

    parts: int = 5
    batch: int = 8
    micro_batch: int = 8
    validation: int = 0

    def __post_init__(self) -> None:
        for name, least in (("parts", 2), ("batch", 1), ("micro_batch", 1), ("validation", 0)):
            if getattr(self, name) < least:
                raise UsageError(f"data.{name}={getattr(self, name)}: give at least {least}")


class QueryTask:
    """Blank filling with blanks redrawn every epoch; the loss is the mean −log p of the gold tokens.

    Args:
        filler: Filler whose model is trained, with its own input format.
        draw: Draws a query from a pair.
        pairs: Training pairs.
        held_out: Validation pairs; their blanks are drawn once.
        data: Batch sizes.
        seed: Seed of all draws.

    Raises:
        DataError: If there is no training pair, or no held-out pair has anything to blank.
    """

    def __init__(
        self,
        filler: Trainable,
        draw: Draw,
        pairs: Sequence[TextPair],
        held_out: Sequence[TextPair],
        *,
        data: PairData,
        seed: int,
    ) -> None:
        if not pairs:
            raise DataError("no training documents; add data, or raise data.parts to hold out fewer")
        self.filler, self.draw, self.pairs, self.data, self.seed = filler, draw, pairs, data, seed
        self.model: torch.nn.Module = filler.model
        self.batches = Batches(len(pairs), data.batch, seed)
        most = min(data.validation or len(held_out), len(held_out))
        watched = random.Random(seed).sample(held_out, most)
        drawn = (draw(pair, random.Random(f"{seed}/validation/{at}")) for at, pair in enumerate(watched))
        self.validation = [query for query in drawn if query is not None]
        if not self.validation:
            raise DataError(
                "no held-out document has anything to blank; add data, or lower data.parts to hold out more"
            )

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """Return all trainable weights, in one group."""
        return [{"params": trainable_weights(self.model)}]

    def queries(self, step: int) -> list[Query]:
        """Draw the queries of a step; if its pairs have nothing to blank, draw those of the next step."""
        for at in range(step, step + len(self.batches)):
            epoch = self.batches.epoch(at)
            drawn = (
                self.draw(self.pairs[row], random.Random(f"{self.seed}/{epoch}/{row}"))
                for row in self.batches.rows_of(at)
            )
            found = [query for query in drawn if query is not None]
            if found:
                return found
        raise DataError("no training pair has anything to blank; check the texts of data.sets")

    def loss(self, step: int) -> Iterator[torch.Tensor]:
        """Yield the losses of a step's micro-batches, which add up to the loss of the step."""
        queries = self.queries(step)
        total = gold_count(self.filler, queries)
        for part in self._cut(queries):
            yield gold_loss(self.filler, part) / total

    def validate(self) -> dict[str, float]:
        """Return `loss` on the held-out blanks, and `exact`, the share of blanks filled correctly."""
        total = gold_count(self.filler, self.validation)
        loss = (
            sum(float(gold_loss(self.filler, part).detach()) for part in self._cut(self.validation)) / total
        )
        fills = [fill.matches for fills in self.filler.fill(self.validation) for fill in fills]
        return {"loss": loss, "exact": sum(fills) / len(fills)}

    def _cut(self, queries: Sequence[Query]) -> Iterator[Sequence[Query]]:
        size = self.data.micro_batch
        return (queries[at : at + size] for at in range(0, len(queries), size))

    def save(self, folder: Path) -> None:
        """Save the model and its tokenizer in a folder that `--model` accepts."""
        save_model(self.model, self.filler.vocabulary.tokenizer, folder)


def train_on_queries(
    recipe: Recipe, folders: tuple[Path, Path], drawer: Callable[[Trainable], Draw], *, progress: bool
) -> dict[str, float]:
    """Train the model of a recipe to fill blanks, and save it.

    Args:
        recipe: Recipe with `model.name` and `data.sets`; see `read_pairs`.
        folders: Data folder and output folder; the model is saved in the subfolder `model` of the latter.
        drawer: Returns the function that draws queries for a filler.
        progress: Whether to show progress.

    Returns:
        The metrics of the validation whose weights were kept, including `step`.

    Raises:
        UsageError: If the recipe is invalid.
        DataError: If a data file is missing or invalid.
        ModelError: If the model cannot be loaded, or its type cannot be trained.
    """
    given = {name: value for name, value in recipe.data.items() if name not in ("folder", "sets")}
    data = options_from(PairData, given)
    if "name" not in recipe.model or not recipe.data.get("sets"):
        raise UsageError(f"{recipe.name}: the recipe lacks model.name or data.sets; add both")
    pairs, held_out = read_pairs(folders[0], recipe.data["sets"], parts=data.parts)
    runtime = Runtime(backend="torch", progress=progress)
    filler = trainable_filler(load_filler(str(recipe.model["name"]), runtime))
    task = QueryTask(filler, drawer(filler), pairs, held_out, data=data, seed=recipe.training.seed)
    settings = recipe.counted(len(task.batches))
    history = train(task, settings, folders[1], progress=progress)
    task.save(folders[1] / MODEL)
    return kept(history["validations"], settings.select)
