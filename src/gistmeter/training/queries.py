"""Teach a language model to fill blanks that a metric draws: what MaskEval and ClozE have in common."""

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
"""Folder inside a training's own in which the trained model lies."""
Draw = Callable[[TextPair, random.Random], Query | None]
"""Blanks something in a pair; None if there is nothing to blank."""


@dataclass(frozen=True, slots=True)
class PairData:
    """The `data` part of a recipe, `folder` and `sets` aside.

    Args:
        parts: One part in so many of the documents is held out for validation.
        batch: Queries of a step, one a pair.
        micro_batch: Queries that go through the model at once; less saves memory and changes nothing.
        validation: Most pairs that a validation looks at, drawn once; 0 for all that are held out.
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
    """Blanks drawn anew every epoch; the loss is the mean −log p of the gold tokens of a step.

    Args:
        filler: Its model is trained, in the format in which it fills.
        draw: Blanks something in a pair.
        pairs: To learn from.
        held_out: To validate on; their blanks are drawn once.
        data: Sizes of batches.
        seed: Decides every draw.

    Raises:
        DataError: If no pair that is held out has anything to blank.
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
            raise DataError("no document is left to train on; give more, or raise data.parts")
        self.filler, self.draw, self.pairs, self.data, self.seed = filler, draw, pairs, data, seed
        self.model: torch.nn.Module = filler.model
        self.batches = Batches(len(pairs), data.batch, seed)
        most = min(data.validation or len(held_out), len(held_out))
        watched = random.Random(seed).sample(held_out, most)
        drawn = (draw(pair, random.Random(f"{seed}/validation/{at}")) for at, pair in enumerate(watched))
        self.validation = [query for query in drawn if query is not None]
        if not self.validation:
            raise DataError(
                "no document that is held out has anything to blank; give more, or lower data.parts"
            )

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """All weights of the model, at one learning rate."""
        return [{"params": trainable_weights(self.model)}]

    def queries(self, step: int) -> list[Query]:
        """Draw the queries of a step; where none of its pairs has anything to blank, those of the next."""
        for at in range(step, step + len(self.batches)):
            epoch = self.batches.epoch(at)
            drawn = (
                self.draw(self.pairs[row], random.Random(f"{self.seed}/{epoch}/{row}"))
                for row in self.batches.rows_of(at)
            )
            found = [query for query in drawn if query is not None]
            if found:
                return found
        raise DataError("no pair has anything to blank")

    def loss(self, step: int) -> Iterator[torch.Tensor]:
        """Yield the parts of a step's loss, one a micro-batch."""
        queries = self.queries(step)
        total = gold_count(self.filler, queries)
        for part in self._cut(queries):
            yield gold_loss(self.filler, part) / total

    def validate(self) -> dict[str, float]:
        """Return the loss on held-out blanks, and the share of them that the model fills as the text does."""
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
        """Save the model and its tokenizer, so that `--model FOLDER` loads them."""
        save_model(self.model, self.filler.vocabulary.tokenizer, folder)


def train_on_queries(
    recipe: Recipe, folders: tuple[Path, Path], drawer: Callable[[Trainable], Draw], *, progress: bool
) -> dict[str, float]:
    """Train the model of a recipe on blanks.

    Args:
        recipe: With `model.name`, and `data.sets` as `read_pairs` takes them.
        folders: Where the data is, and where the training goes: the model into `model` there.
        drawer: Makes what draws the blanks, for a filler.
        progress: Whether to show progress.

    Returns:
        The figures of the validation at which the weights were kept, its `step` among them.

    Raises:
        UsageError: If the recipe is not as it should be.
        DataError: If its files are not.
        ModelError: If its model cannot be loaded, or not be trained so.
    """
    given = {name: value for name, value in recipe.data.items() if name not in ("folder", "sets")}
    data = options_from(PairData, given)
    if "name" not in recipe.model or not recipe.data.get("sets"):
        raise UsageError(f"{recipe.name}: the recipe needs name in [model] and file in [[data.sets]]")
    pairs, held_out = read_pairs(folders[0], recipe.data["sets"], parts=data.parts)
    runtime = Runtime(backend="torch", progress=progress)
    filler = trainable_filler(load_filler(str(recipe.model["name"]), runtime))
    task = QueryTask(filler, drawer(filler), pairs, held_out, data=data, seed=recipe.training.seed)
    settings = recipe.counted(len(task.batches))
    history = train(task, settings, folders[1], progress=progress)
    task.save(folders[1] / MODEL)
    return kept(history["validations"], settings.select)
