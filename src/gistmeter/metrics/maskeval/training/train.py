"""Train the filler (section 4.1, "Training the MLM") and the word weights of MaskEval (section 3.3)."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tqdm.auto import tqdm

from gistmeter.core.errors import UsageError
from gistmeter.core.options import options_from
from gistmeter.metrics.maskeval.masks import mask_words
from gistmeter.metrics.maskeval.metric import MaskEval
from gistmeter.metrics.maskeval.options import MaskEvalOptions
from gistmeter.metrics.maskeval.presets import WEIGHERS, load_encoder
from gistmeter.metrics.maskeval.tokenized import cut_texts
from gistmeter.metrics.maskeval.training.rows import RatedPair, read_ratings, word_states
from gistmeter.metrics.maskeval.training.split import PAPER_SHARE, Split, share_out
from gistmeter.metrics.maskeval.training.weights import (
    Plan,
    cross_validate,
    fit,
    keys_of,
    target_of,
    validate_on_the_rest,
)
from gistmeter.models.encode.token_weighter import OWN, Head
from gistmeter.models.fill.load import load_filler
from gistmeter.models.fill.protocol import Filler, Query
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.words import tokenizer_name
from gistmeter.training.loop import kept
from gistmeter.training.queries import Draw, train_on_queries
from gistmeter.training.recipe import Precision, Recipe, check_keys
from gistmeter.training.texts import TextPair


def train_filler(recipe: Recipe, data: Path, output: Path, *, progress: bool) -> dict[str, float]:
    """Fine-tune a language model to predict one blanked word per pair.

    Args:
        recipe: Recipe such as `recipes/maskeval-mlm.toml`.
        data: Folder of the training pairs.
        output: Output folder; the trained model goes into its folder `model`.
        progress: Whether to show progress.

    Returns:
        Metrics of the best validation.
    """
    check_keys(recipe.model, ("name", "language"), recipe.name)
    language = str(recipe.model.get("language", "en"))
    for chosen in recipe.data.get("sets", ()):
        tokenizer_name(chosen.get("language", language))  # reject an unknown language before reading data
    return train_on_queries(
        recipe, (data, output), lambda filler: word_drawer(filler, language), progress=progress
    )


def word_drawer(filler: Filler, language: str) -> Draw:
    """Return a function that blanks one random word of one random side, as in scoring.

    Args:
        filler: Model that defines sub-words, window, and input format.
        language: Language of the word tokenizer for pairs without a language of their own.
    """

    def draw(pair: TextPair, rng: random.Random) -> Query | None:
        texts = (pair.candidate, pair.source)
        tokenized_texts = cut_texts(filler, texts, pair.language or language)
        side = rng.randrange(2)
        tokenized, other = tokenized_texts[texts[side]], tokenized_texts[texts[1 - side]]
        if not tokenized.words:
            return None
        word = rng.randrange(len(tokenized.words))
        masked = mask_words(tokenized, other, [word], filler=filler, candidate=side == 0)
        return masked.queries[0] if masked.queries else None

    return draw


SPLITS: tuple[Split, ...] = ("document", "example")


@dataclass(frozen=True, slots=True)
class RatingData:
    """Section `data` of a recipe for word weights, without `folder` and `dimensions`.

    Args:
        file: File of rows with human `scores`.
        low: Lowest possible rating.
        high: Highest possible rating.
        target: Scale of the targets. `range` is (score − low) / (high − low); `max` is score / high. `spread`
            maps the scores to the mean and standard deviation of the uniform scores, so that the weights
            learn the ranking of candidates and not the level of the ratings.
        split: Unit of validation sets and folds: whole documents, or single examples. With `example`, as in
            the paper, other examples of a held-out document are in the training set.
        parts: Number of parts; one of them is held out for validation.
        folds: Number of cross-validation folds; 0 for none.
        trained_share: Share of the examples that train the weights of the paper's split; all others test
            them. 0 omits this test.
        batch: Pairs per step.
    """

    file: str
    low: float = 1.0
    high: float = 5.0
    target: Literal["range", "max", "spread"] = "range"
    split: Split = "document"
    parts: int = 5
    folds: int = 5
    trained_share: float = PAPER_SHARE
    batch: int = 1

    def __post_init__(self) -> None:
        folds = self.folds == 0 or self.folds > 1
        if self.high <= max(self.low, 0) or self.parts < 2 or self.batch < 1 or not folds:
            raise UsageError(
                "data: high must be greater than low and 0; parts at least 2; folds 0 or at least 2; "
                "batch at least 1"
            )
        if not 0 <= self.trained_share < 1:
            raise UsageError(f"data: trained_share={self.trained_share}: give 0 or a share below 1")


@dataclass(frozen=True, slots=True)
class WeigherModel:
    """Section `model` of a recipe for word weights, without the metric's `options`.

    Args:
        filler: Model that fills the blanks: a folder, or an ID on the Hub.
        encoder: Encoder that reads the pairs; `filler` is the encoder of the filler.
        start: Initial weights of the linear layer: `zero` (uniform weights of sub-words), or `random`.
        balance: Whether to learn the share of each side, and how much more the first words of the source
            count; in the paper, each side counts one half, and all words are alike.
        dtype: Precision of both models, as in `Runtime`.
    """

    filler: str
    encoder: str = OWN
    start: Literal["random", "zero"] = "random"
    balance: bool = False
    dtype: Precision = "fp32"


def train_weighers(recipe: Recipe, data: Path, output: Path, *, progress: bool) -> dict[str, float]:
    """Train word weights for each dimension, with frozen filler and encoder (section 3.3).

    Args:
        recipe: Recipe such as `recipes/maskeval-weighers.toml`.
        data: Folder of the rated rows.
        output: Output folder; the weights go into its folder `weigher`.
        progress: Whether to show progress.

    Returns:
        For each dimension, the validation loss and the Pearson correlation of held-out scores with human
        ratings, for learned and for uniform weights: from the cross-validation by document and by example,
        and from the paper's split.
    """
    rated, chosen, model = _rated(recipe, data, output, progress=progress)
    dimensions = list(recipe.data["dimensions"])
    figures: dict[str, float] = {"rows": len(rated)}
    layers = len(dimensions) * (1 + 2 * chosen.folds + bool(chosen.trained_share))
    with tqdm(total=layers, desc="weights", disable=not progress, unit="layer") as bar:
        plan = Plan(
            recipe,
            chosen.batch,
            chosen.parts,
            model.start,
            spread=chosen.target == "spread",
            balance=model.balance,
            done=bar.update,
        )
        for dimension in dimensions:
            known = [pair for pair in rated if dimension in pair.scores]
            targets = [target_of(pair.scores[dimension], chosen) for pair in known]
            keys = {split: keys_of(known, split) for split in SPLITS}
            held = share_out(keys[chosen.split], chosen.split, chosen.parts, recipe.training.seed)[0]
            task, history = fit(known, targets, held, plan, output / dimension)
            figures[f"{dimension}_loss"] = kept(history["validations"], recipe.training.select)["loss"]
            Head(dimension, model.encoder, task.weight, task.share, task.fall).save(output / WEIGHERS)
            for split in SPLITS if chosen.folds else ():
                folds = share_out(keys[split], split, chosen.folds, recipe.training.seed)
                found = cross_validate(known, targets, folds, plan, (split, output / "folds" / dimension))
                figures |= {f"{dimension}_{split}_{name}": value for name, value in found.items()}
            if chosen.trained_share:
                place = output / "folds" / dimension / "paper"
                found = validate_on_the_rest(known, targets, chosen.trained_share, plan, place)
                figures |= {f"{dimension}_paper_{name}": value for name, value in found.items()}
    return figures


def _rated(
    recipe: Recipe, data: Path, output: Path, *, progress: bool
) -> tuple[list[RatedPair], RatingData, WeigherModel]:
    """Check the recipe, and compute the frozen inputs of the training."""
    others = ("folder", "dimensions")
    if not recipe.data.get("dimensions") or "file" not in recipe.data or "filler" not in recipe.model:
        raise UsageError(f"{recipe.name}: add file and dimensions to [data], and filler to [model]")
    chosen = options_from(RatingData, {k: v for k, v in recipe.data.items() if k not in others})
    model = options_from(WeigherModel, {k: v for k, v in recipe.model.items() if k != "options"})
    options = options_from(MaskEvalOptions, recipe.model.get("options", {}))
    if options.keep < 1 or options.dimension != "none":
        raise UsageError(
            f"{recipe.name}: training uses all words; remove keep and dimension from model.options"
        )
    rows = read_ratings(data / chosen.file, recipe.data["dimensions"])
    runtime = Runtime(dtype=model.dtype, progress=progress)
    filler = load_filler(model.filler, runtime)
    encoder = load_encoder(model.encoder, model.filler, filler, runtime)
    rated = word_states(rows, MaskEval(filler, options=options), encoder, output)
    return rated, chosen, model
