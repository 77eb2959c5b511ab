"""Train a copy infiller to fill blanks in one text of a pair from the other."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import log
from pathlib import Path
from typing import Any, TypeVar

import torch

from gistmeter.core.errors import UsageError
from gistmeter.models.files.adapters import restore_tuned
from gistmeter.models.files.load import find_model
from gistmeter.models.fill.copy_files import new_copy_infiller, save_copy_infiller
from gistmeter.models.fill.copy_head import gold_log_probability, mixed_probabilities
from gistmeter.models.fill.copy_infiller import CopyInfiller
from gistmeter.models.fill.pair_batch import PairBatch, pair_batch
from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.vocabulary import Vocabulary
from gistmeter.text.factors import load_pipeline
from gistmeter.training.loop import kept, train
from gistmeter.training.recipe import Recipe
from gistmeter.training.recipes.blanks import BlankDrawer, CutText, Mix, cut_pairs
from gistmeter.training.recipes.factors import factor_places
from gistmeter.training.texts import read_pairs

AT_ONCE = 16
"""Queries per validation batch."""


@dataclass(frozen=True, slots=True)
class FillOptions:
    """Composition of batches and learning rates.

    Args:
        contexts: Contexts per batch.
        group: Queries per context.
        lengths: Maximum context lengths in tokens; training moves from the first to the last.
        new_scale: Learning-rate factor of the newly initialized weights.
        held_out: Number of validation queries, each asked with its own context and with another.
    """

    contexts: int = 6
    group: int = 6
    lengths: tuple[int, ...] = (160, 320, 480)
    new_scale: float = 4.0
    held_out: int = 192


Options = TypeVar("Options", Mix, FillOptions)


class FillTask:
    """Blank filling with queries drawn at every step; the loss is the mean −log p of the blanked tokens.

    Args:
        model: Infiller to train.
        training: Draws training queries.
        validation: Draws the validation queries, once.
        options: Composition of batches.
        steps: Total number of steps; context lengths depend on it.
        seed: Seed of all draws.
    """

    def __init__(
        self,
        model: CopyInfiller,
        training: BlankDrawer,
        validation: BlankDrawer,
        options: FillOptions,
        *,
        steps: int,
        seed: int,
    ) -> None:
        self.model, self.drawer, self.options = model, training, options
        self.steps, self.seed = steps, seed
        rng = random.Random(seed)
        lengths = [options.lengths[at % len(options.lengths)] for at in range(options.held_out)]
        self.held_out = [validation.draw(rng, length, 1)[0] for length in sorted(lengths)]
        factors = (validation.factor(rng, length) for length in sorted(lengths))
        self.factors = [query for query in factors if query is not None]

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
        rng = random.Random(self.seed * 7_919 + step)
        lengths, at = self.options.lengths, step / self.steps * len(self.options.lengths)
        length = lengths[min(len(lengths) - 1, int(at + rng.random()))]
        queries = [
            query
            for _ in range(self.options.contexts)
            for query in self.drawer.draw(rng, length, self.options.group)
        ]
        batch = self._batch(queries)
        logits, choices = self.model(batch)
        return -gold_log_probability(logits, choices, batch).mean()

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
            start from.
        data: Data folder.
        folder: Output folder; the model is saved in its subfolder `model`.
        progress: Whether to show a progress bar on standard error.

    Returns:
        The metrics of the validation whose weights were kept.

    Raises:
        DataError: If a data file is missing or has no matching row.
        UsageError: If the recipe is invalid.
    """
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
    learned, held = read_cut_pairs(recipe, data, Vocabulary(tokenizer, base), mix)
    start = recipe.model.get("start")
    if start is None:
        start_from_frequencies(model, learned)
    else:
        restore_tuned(model, find_model(str(start)))
    settings = recipe.training
    task = FillTask(
        model,
        BlankDrawer(learned, mix),
        BlankDrawer(held, mix),
        options,
        steps=settings.steps,
        seed=settings.seed,
    )
    history = train(task, settings, folder, progress=progress)
    save_copy_infiller(model, base, folder / "model")
    return kept(history["validations"], settings.select)


def read_cut_pairs(
    recipe: Recipe, data: Path, vocabulary: Vocabulary, mix: Mix
) -> tuple[list[tuple[CutText, CutText]], list[tuple[CutText, CutText]]]:
    """Read and tokenize the pairs of a recipe; find factors if the mix uses them.

    Returns:
        Training pairs and held-out pairs.
    """
    training, validation = read_pairs(data, recipe.data["sets"])
    pairs = training + validation
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.source, pair.candidate)))
    tokens = dict(zip(texts, vocabulary.tokenize(texts), strict=True))
    factors = {}
    if mix.factors:
        candidates = list(dict.fromkeys(pair.candidate for pair in pairs))
        factors = factor_places(candidates, tokens, load_pipeline())
    return cut_pairs(training, tokens, factors), cut_pairs(validation, tokens, factors)


def start_from_frequencies(model: CopyInfiller, pairs: Sequence[tuple[CutText, CutText]]) -> None:
    """Initialize the head's bias with log token frequencies."""
    with torch.no_grad():
        model.head.bias.copy_(frequency_bias(pairs, len(model.table)))


def frequency_bias(pairs: Sequence[tuple[CutText, CutText]], vocabulary: int) -> torch.Tensor:
    """Return smoothed log token frequencies, shifted to a maximum of 0, shape (vocabulary,)."""
    counts = Counter(token for pair in pairs for text in pair for token in text.ids)
    total = sum(counts.values()) + vocabulary
    bias = [log((counts[token] + 1) / total) for token in range(vocabulary)]
    return torch.tensor(bias) - max(bias)


def swapped(queries: Sequence[Query]) -> list[Query]:
    """Return the queries with exchanged contexts: each gets that of the next query of the same kind."""
    result = list(queries)
    for kind in (True, False):
        same = [at for at, query in enumerate(queries) if query.context_first is kind]
        for at, other in zip(same, same[1:] + same[:1], strict=True):
            query = queries[at]
            result[at] = Query(query.text, query.blanks, queries[other].context, context_first=kind)
    return result


def build_options(cls: type[Options], given: Mapping[str, Any]) -> Options:
    """Build an options dataclass from a table of a recipe."""
    unknown = sorted(set(given) - {one.name for one in fields(cls)})
    if unknown:
        raise UsageError(f"{cls.__name__} has no option {unknown[0]!r}; remove it from the recipe")
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return cls(**values)
