"""Train a copy infiller to fill blanks in one text of a pair from the other."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from gistmeter.core.errors import UsageError
from gistmeter.models.files.adapters import restore_tuned
from gistmeter.models.files.find import find_model
from gistmeter.models.fill.copy_files import new_copy_infiller, save_copy_infiller
from gistmeter.models.fill.copy_head import gold_log_probability, mixed_probabilities
from gistmeter.models.fill.copy_infiller import CopyInfiller
from gistmeter.models.fill.pair_batch import PairBatch, pair_batch
from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.vocabulary import Vocabulary
from gistmeter.training.loop import kept, train
from gistmeter.training.recipe import Recipe, check_keys
from gistmeter.training.recipes.blanks import BlankDrawer, CutText, Mix
from gistmeter.training.recipes.fill_data import (
    FillOptions,
    build_options,
    frequency_bias,
    read_cut_pairs,
    step_queries,
    swapped,
    validation_queries,
)
from gistmeter.training.recipes.fill_teacher import FillTeacher, load_teacher

AT_ONCE = 16
"""Queries per validation batch."""
TEACHING = 0.5
"""Weight of the teacher's distributions in the loss; the blanked tokens have the rest."""


class FillTask:
    """Blank filling with queries drawn at every step; the loss is the mean −log p of the blanked tokens.

    With a teacher, the loss is the mean of this and of the cross-entropy with the teacher's distributions
    over the vocabulary (Hinton, Vinyals and Dean 2015, arXiv 1503.02531, section 2, at temperature 1).

    Args:
        model: Infiller to train.
        drawers: The first draws training queries, the second the validation queries, once.
        options: Composition of batches.
        steps: Total number of steps; context lengths depend on it.
        seed: Seed of all draws.
        teacher: See `FillTeacher`.
    """

    def __init__(
        self,
        model: CopyInfiller,
        drawers: tuple[BlankDrawer, BlankDrawer],
        options: FillOptions,
        *,
        steps: int,
        seed: int,
        teacher: FillTeacher | None = None,
    ) -> None:
        self.model, self.options = model, options
        self.drawer, validation = drawers
        self.steps, self.seed, self.teacher = steps, seed, teacher
        lengths = sorted(options.lengths[at % len(options.lengths)] for at in range(options.held_out))
        self.held_out, self.factors = validation_queries(validation, lengths, seed=seed)

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """Return the newly initialized weights, which learn faster, and those from the encoder."""
        new, pretrained = [], []
        for name, weight in self.model.named_parameters():
            if not weight.requires_grad:
                continue
            if name.startswith("layers") and "crossattention" not in name:
                pretrained.append(weight)
            else:
                new.append(weight)
        return [{"params": new, "scale": self.options.new_scale}, {"params": pretrained}]

    def loss(self, step: int) -> torch.Tensor:
        """Draw the queries of a step and return their loss."""
        queries = step_queries(self.drawer, self.options, step, share=step / self.steps, seed=self.seed)
        batch = self._batch(queries)
        logits, choices = self.model(batch)
        gold = -gold_log_probability(logits, choices, batch).mean()
        if self.teacher is None:
            return gold
        said = mixed_probabilities(logits, choices, batch.context[batch.sources]).clamp(min=1e-12)
        taught = -(self.teacher.probabilities(queries) * said.log()).sum(dim=1).mean()
        return (1 - TEACHING) * gold + TEACHING * taught

    def validate(self) -> dict[str, float]:
        """Return metrics with each query's own context and, as `NAME_other`, with another context.

        The metrics rely on the gap between the two.
        """
        own, other = self._measure(self.held_out), self._measure(swapped(self.held_out))
        if self.factors:
            own["factor_f1"] = self._factor_f1(self.factors)
            other["factor_f1"] = self._factor_f1(swapped(self.factors))
        return own | {f"{name}_other": value for name, value in other.items()}

    def _measure(self, queries: Sequence[Query]) -> dict[str, float]:
        found: dict[str, list[float]] = {}
        for start in range(0, len(queries), AT_ONCE):
            some = queries[start : start + AT_ONCE]
            batch = self._batch(some)
            logits, choices = self.model(batch)
            gold = gold_log_probability(logits, choices, batch)
            best = mixed_probabilities(logits, choices, batch.context[batch.sources]).argmax(dim=1)
            right = (best == batch.gold).float()
            kinds = ["source" if some[row].context_first else "candidate" for row in batch.rows.tolist()]
            found.setdefault("loss", []).extend((-gold).tolist())
            found.setdefault("accuracy", []).extend(right.tolist())
            for kind, value in zip(kinds, right.tolist(), strict=True):
                found.setdefault(f"accuracy_{kind}", []).append(value)
        return {name: sum(values) / len(values) for name, values in sorted(found.items())}

    def _factor_f1(self, queries: Sequence[Query]) -> float:
        """Return the mean bag-of-tokens F1 of factors, each blanked alone."""
        values = []
        for start in range(0, len(queries), AT_ONCE):
            batch = self._batch(queries[start : start + AT_ONCE])
            logits, choices = self.model(batch)
            best = mixed_probabilities(logits, choices, batch.context[batch.sources]).argmax(dim=1)
            for row in range(len(batch.text)):
                gold, said = (Counter(ids[batch.rows == row].tolist()) for ids in (batch.gold, best))
                values.append((gold & said).total() / gold.total())  # equal sizes: precision = recall = F1
        return sum(values) / len(values)

    def _batch(self, queries: Sequence[Query]) -> PairBatch:
        device = self.model.mask_vector.device
        return pair_batch(queries, mask_id=self.model.mask, pad_id=0, device=device)


def train_fill(recipe: Recipe, data: Path, folder: Path, *, progress: bool = True) -> dict[str, float]:
    """Train the infiller of a recipe and save it.

    Args:
        recipe: Recipe with `data.sets` (see `read_pairs`), `data.mix` (see `Mix`), `model.base`,
            `model.layers`, `model.batch` (see `FillOptions`) and optionally `model.start`, an infiller to
            start from, and `model.teacher`, a larger one to learn from (see `load_teacher`).
        data: Data folder.
        folder: Output folder; the model is saved in its subfolder `model`.
        progress: Whether to show a progress bar on standard error.

    Returns:
        The metrics of the validation whose weights were kept.

    Raises:
        DataError: If a data file is missing or has no matching row.
        UsageError: If the recipe is invalid.
        ModelError: If a model is missing or cannot be loaded.
    """
    check_keys(recipe.model, ("base", "layers", "start", "teacher", "batch"), recipe.name)
    torch.manual_seed(recipe.training.seed)
    base = str(recipe.model.get("base", "minilm"))
    # On CPUs, the backward pass of eager attention is several times faster than that of fused attention.
    model, tokenizer = new_copy_infiller(
        base, int(recipe.model.get("layers", 3)), attn_implementation="eager"
    )
    mix = build_options(Mix, recipe.data.get("mix", {}))
    options = build_options(FillOptions, recipe.model.get("batch", {}))
    room = model.embeddings.position_embeddings.num_embeddings
    if mix.window > room or max(options.lengths) + 2 > room:
        raise UsageError(
            f"{base} reads {room} tokens; lower data.mix.window to {room}, model.batch.lengths to {room - 2}"
        )
    vocabulary = Vocabulary(tokenizer, base)
    teacher = None
    if name := str(recipe.model.get("teacher", "")):
        teacher = load_teacher(name, vocabulary, dtype=recipe.training.precision)
        most = teacher.room()
        if most is not None and mix.window + max(options.lengths) > most:
            raise UsageError(
                f"{name} reads {most} tokens; lower data.mix.window + model.batch.lengths to {most}"
            )
    learned, held = read_cut_pairs(recipe, data, vocabulary, mix)
    start = recipe.model.get("start")
    if start is None:
        start_from_frequencies(model, learned)
    else:
        restore_tuned(model, find_model(str(start)))
    settings = recipe.training
    task = FillTask(
        model,
        (BlankDrawer(learned, mix), BlankDrawer(held, mix)),
        options,
        steps=settings.steps,
        seed=settings.seed,
        teacher=teacher,
    )
    history = train(task, settings, folder, progress=progress)
    save_copy_infiller(model, base, folder / "model")
    return kept(history["validations"], settings.select)


def start_from_frequencies(model: CopyInfiller, pairs: Sequence[tuple[CutText, CutText]]) -> None:
    """Initialize the head's bias with log token frequencies."""
    with torch.no_grad():
        model.head.bias.copy_(frequency_bias(pairs, len(model.table)))
