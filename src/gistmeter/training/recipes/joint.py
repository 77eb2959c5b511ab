"""Train an encoder with a copy head to fill blanks, reading both texts of a pair jointly.

Source and masked candidate form one sequence, as in ClozE-R. Low-rank updates (LoRA) in all layers and the
head are trained; the pretrained weights are frozen.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

import torch

from gistmeter.core.errors import UsageError
from gistmeter.models.files.adapted import trainee_from
from gistmeter.models.fill.copy_head import gold_log_probability
from gistmeter.models.fill.joint_copy import (
    JointCopyFiller,
    JointInfiller,
    new_joint_infiller,
    save_joint_infiller,
)
from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.runtime import Runtime
from gistmeter.training.loop import kept, train, trainable_weights
from gistmeter.training.queries import MODEL
from gistmeter.training.recipe import Recipe, check_keys
from gistmeter.training.recipes.blanks import BlankDrawer, Mix
from gistmeter.training.recipes.fill_data import (
    FillOptions,
    build_options,
    frequency_bias,
    read_cut_pairs,
    step_queries,
    swapped,
    validation_queries,
)

VOCABULARY = 0.5
"""Weight of the loss of the vocabulary alone. Without it, the head copies and never learns the language."""


class JointFillTask:
    """Blank filling with queries drawn at every step.

    The loss is the mean −log p of the blanked tokens, plus a share of −log p by the vocabulary alone.

    Args:
        filler: Filler whose model is trained.
        training: Draws training queries.
        validation: Draws the validation queries, once.
        options: Contexts per batch, their lengths, and the number of validation queries.
        steps: Total number of steps; context lengths depend on it.
        seed: Seed of all draws.
    """

    def __init__(
        self,
        filler: JointCopyFiller,
        training: BlankDrawer,
        validation: BlankDrawer,
        options: FillOptions,
        *,
        steps: int,
        seed: int,
    ) -> None:
        self.filler, self.drawer, self.options = filler, training, options
        self.model: torch.nn.Module = filler.model
        self.steps, self.seed = steps, seed
        lengths = options.lengths[-1:] * options.held_out
        self.words, self.factors = validation_queries(validation, lengths, seed=seed)

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """Return the head's weights, which start untrained and learn faster, and the low-rank updates."""
        model = self.filler.model
        head = {"params": trainable_weights(model.head), "scale": self.options.new_scale}
        return [head, {"params": trainable_weights(model.encoder)}]

    def loss(self, step: int) -> torch.Tensor:
        """Draw the queries of a step and return their loss."""
        queries = step_queries(self.drawer, self.options, step, share=step / self.steps, seed=self.seed)
        states, memory, batch = self.filler.read(queries)
        logits, choices = self.filler.point(states, memory, batch)
        alone = logits.log_softmax(dim=1).gather(1, batch.gold[:, None])[:, 0]
        return -(gold_log_probability(logits, choices, batch) + VOCABULARY * alone).mean()

    def validate(self) -> dict[str, float]:
        """Return metrics of words and factors, with their own context and, as `NAME_other`, with another."""
        figures: dict[str, float] = {}
        kinds = (("", self.words), ("factor_", self.factors))
        for kind, queries in ((kind, queries) for kind, queries in kinds if queries):
            figures |= {f"{kind}{name}": value for name, value in self._measure(queries).items()}
            others = self._measure(swapped(queries))
            figures |= {f"{kind}{name}_other": value for name, value in others.items()}
        return figures

    def _measure(self, queries: Sequence[Query]) -> dict[str, float]:
        fills = [fill for own in self.filler.fill(queries) for fill in own]
        losses = [-log(max(p, 1e-12)) for fill in fills for p in fill.gold_probabilities]
        ranks = [rank for fill in fills for rank in fill.gold_ranks]
        return {
            "loss": sum(losses) / len(losses),
            "accuracy": sum(rank == 1 for rank in ranks) / len(ranks),
        }


def train_joint(recipe: Recipe, data: Path, output: Path, *, progress: bool) -> dict[str, float]:
    """Train the joint filler of a recipe and save it.

    Args:
        recipe: Recipe such as `recipes/fill-base.toml`.
        data: Data folder.
        output: Output folder; the model is saved in its subfolder `model`.
        progress: Whether to show progress.

    Returns:
        The metrics of the validation whose weights were kept.

    Raises:
        UsageError: If the recipe is invalid.
        DataError: If a data file is missing or has no matching row.
        ModelError: If the base model is missing or cannot be loaded.
    """
    check_keys(recipe.model, ("base", "rank", "start", "batch"), recipe.name)
    mix: Mix = build_options(Mix, recipe.data.get("mix", {}))
    options: FillOptions = build_options(FillOptions, recipe.model.get("batch", {}))
    seed = recipe.training.seed
    found = trainee_from(recipe.model, new_joint_infiller, seed=seed)
    model, base = found.model, found.base
    runtime = Runtime(backend="torch", progress=False)
    filler = JointCopyFiller(model, found.tokenizer, identity=base, runtime=runtime)
    room = filler.window or 0
    if mix.window + max(options.lengths) + filler.overhead(1) > room:
        raise UsageError(
            f"{recipe.name}: {base} reads {room} tokens; lower data.mix.window or model.batch.lengths"
        )
    learned, held = read_cut_pairs(recipe, data, filler.vocabulary, mix)
    if "start" not in recipe.model:
        start_head(model, frequency_bias(learned, len(model.table)))
    drawers = (BlankDrawer(learned, mix), BlankDrawer(held, mix))
    settings = recipe.training
    task = JointFillTask(filler, *drawers, options, steps=settings.steps, seed=seed)
    history = train(task, settings, output, progress=progress)
    save_joint_infiller(model, base, found.rank, output / MODEL)
    return kept(history["validations"], settings.select)


def start_head(model: JointInfiller, bias: torch.Tensor) -> None:
    """Initialize a new head to predict token frequencies, which saves training steps.

    Args:
        model: Untrained infiller.
        bias: Log frequencies, shape (vocabulary,).
    """
    with torch.no_grad():
        model.head.bias.copy_(bias)
        model.head.norm.weight.fill_(0.1)  # keeps the untrained logits small next to the bias
