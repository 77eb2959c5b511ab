"""Options, texts and queries of the tasks that train models to fill blanks."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import log
from pathlib import Path
from typing import Any, TypeVar

import torch

from gistmeter.core.errors import UsageError
from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.vocabulary import Vocabulary
from gistmeter.text.factors import load_pipeline
from gistmeter.training.recipe import Recipe
from gistmeter.training.recipes.blanks import BlankDrawer, CutText, Mix, cut_pairs
from gistmeter.training.recipes.factors import factor_places
from gistmeter.training.texts import read_pairs


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


def validation_queries(
    drawer: BlankDrawer, lengths: Sequence[int], *, seed: int
) -> tuple[list[Query], list[Query]]:
    """Draw the queries of every validation.

    Args:
        drawer: Draws from held-out pairs.
        lengths: The maximum context length of each query, in tokens.
        seed: Seed of the draws.

    Returns:
        One query of blanked words per length, and one of a blanked factor where the drawn pair has one.
    """
    rng = random.Random(seed)
    words = [drawer.draw(rng, length, 1)[0] for length in lengths]
    factors = [drawer.factor(rng, length) for length in lengths]
    return words, [query for query in factors if query is not None]


def step_queries(
    drawer: BlankDrawer, options: FillOptions, step: int, *, share: float, seed: int
) -> list[Query]:
    """Draw the queries of a training step.

    Args:
        drawer: Draws from training pairs.
        options: Composition of batches.
        step: Number of the step.
        share: Completed share of the training, which sets the context length.
        seed: Seed of all draws.
    """
    rng = random.Random(seed * 7_919 + step)
    at = int(share * len(options.lengths) + rng.random())
    length = options.lengths[min(len(options.lengths) - 1, at)]
    return [query for _ in range(options.contexts) for query in drawer.draw(rng, length, options.group)]


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
