"""Fine-tune an encoder to identify simplified sentences (section 3.3)."""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.options import options_from
from gistmeter.metrics.simplicity.training.frequencies import ESCAPES
from gistmeter.metrics.simplicity.training.task import MultiTask, Sentence, SimplicityTask, masked_model
from gistmeter.models.encode.tuned import KIND
from gistmeter.models.files.adapters import save_tuned
from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer
from gistmeter.models.run.tokens import tokenize
from gistmeter.models.run.types import Tokenizer
from gistmeter.text.sentences import split_sentences
from gistmeter.training.loop import kept, train
from gistmeter.training.recipe import Recipe
from gistmeter.training.texts import TextPair, read_pairs

SHORTEST = 4
"""Minimum number of words of a sentence from a document; excludes headings and fragments."""
_ESCAPE = re.compile("|".join(map(re.escape, ESCAPES)), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SentenceData:
    """Section `data` of a recipe, without `folder` and `sets`.

    Args:
        parts: Number of parts; one part of the sources is held out, with all texts written from them.
        batch: Sentences per step.
        window: Maximum number of tokens of a sentence; longer sentences are truncated.
        validation: Maximum number of validation sentences, drawn once; 0 for all held-out sentences.
    """

    parts: int = 10
    batch: int = 32
    window: int = 128
    validation: int = 0

    def __post_init__(self) -> None:
        for name, least in (("parts", 2), ("batch", 1), ("window", 4), ("validation", 0)):
            if getattr(self, name) < least:
                raise UsageError(f"data.{name}={getattr(self, name)}: give at least {least}")


@dataclass(frozen=True, slots=True)
class EncoderModel:
    """Section `model` of a recipe.

    Args:
        name: Encoder name for `find_model`.
        layer: Layer whose mean state is the sentence vector; the highest layer that is saved.
        depth: Layer that predicts masked tokens; by default the last layer of the model.
        layers: Number of layers up to `layer` that are trained, together with all layers above; 0 trains all
            weights.
        new_scale: Factor of the learning rate for new weights.
    """

    name: str
    layer: int
    depth: int | None = None
    layers: int = 0
    new_scale: float = 1.0


def train_simplicity(recipe: Recipe, data: Path, output: Path, *, progress: bool) -> dict[str, float]:
    """Fine-tune an encoder on masked language modeling and simplified-sentence identification.

    Args:
        recipe: Recipe such as `recipes/simplicity-mini.toml`. `sentences = true` in one of its `data.sets`
            means that source and candidate are documents, which are split into sentences.
        data: Folder of the training pairs.
        output: Output folder; the trained model goes into its folder `model`.
        progress: Whether to show progress.

    Returns:
        Metrics of the best validation, and the numbers of training and validation sentences.

    Raises:
        UsageError: If the recipe is incomplete or invalid.
        DataError: If the files are missing or invalid.
        ModelError: If the encoder cannot be loaded, or is not a BERT, RoBERTa or XLM-R.
    """
    given = {name: value for name, value in recipe.data.items() if name not in ("folder", "sets")}
    chosen = options_from(SentenceData, given)
    if not {"name", "layer"} <= recipe.model.keys() or not recipe.data.get("sets"):
        raise UsageError(f"{recipe.name}: add name and layer to [model], and file to [[data.sets]]")
    wanted = options_from(EncoderModel, recipe.model)
    seed = recipe.training.seed
    torch.manual_seed(seed)
    tokenizer = load_tokenizer(find_model(wanted.name))
    whole = masked_model(wanted.name, tokenizer, wanted.depth)
    model = MultiTask(whole, layer=wanted.layer, layers=wanted.layers)
    labelled = read_labelled(data, recipe.data["sets"], chosen.parts, seed)
    if chosen.validation:
        most = min(chosen.validation, len(labelled[1]))
        labelled = (labelled[0], random.Random(seed).sample(labelled[1], most))
    training, held_out = (_tokenized(side, tokenizer, chosen.window) for side in labelled)
    task = SimplicityTask(
        model,
        (training, held_out),
        tokenizer,
        batch=chosen.batch,
        new_scale=wanted.new_scale,
        seed=seed,
    )
    settings = recipe.counted(len(task.batches))
    history = train(task, settings, output, progress=progress)
    model.tuned.cut(wanted.layer)
    facts = {"layer": wanted.layer, "layers": wanted.layers}
    save_tuned(model.tuned, wanted.name, output / "model", kind=KIND, facts=facts)
    counts = {"sentences": float(len(training)), "held_out": float(len(held_out))}
    return {**kept(history["validations"], settings.select), **counts}


Labelled = tuple[str, bool, str]
"""Text, whether it is simplified, and the name of its file."""


def read_labelled(
    folder: Path, sets: Sequence[Mapping[str, Any]], parts: int, seed: int
) -> tuple[list[Labelled], list[Labelled]]:
    """Read the sentences of pairs, balanced over both labels, and hold out a part of the pairs.

    Args:
        folder: Folder of the files.
        sets: Data sets as for `read_pairs`, each optionally with `sentences`.
        parts: Number of parts; one of them is held out.
        seed: Seed for sampling sentences of the longer document.

    Returns:
        Training sentences and validation sentences.

    Raises:
        DataError: If a file is missing, or there are no training or no validation sentences.
    """
    found: tuple[list[Labelled], list[Labelled]] = ([], [])
    for chosen in sets:
        name = Path(str(chosen["file"])).name.partition(".")[0]
        for side, pairs in zip(found, read_pairs(folder, [chosen], parts=parts), strict=True):
            side.extend(_labelled(pairs, name, seed, cut=bool(chosen.get("sentences"))))
    if not all(found):
        raise DataError(
            "no pair is left for training or validation; provide more pairs, or change data.parts"
        )
    return found


def _labelled(pairs: Iterable[TextPair], name: str, seed: int, *, cut: bool) -> Iterator[Labelled]:
    for pair in pairs:
        sides = [[_plain(text)] for text in (pair.source, pair.candidate)]
        if cut:
            sides = [list(_sentences(texts[0])) for texts in sides]
        both = set(sides[0]) & set(sides[1])  # sentences on both sides have no clear label
        sides = [[text for text in dict.fromkeys(texts) if text not in both] for texts in sides]
        number = min(map(len, sides))
        draw = random.Random(f"{seed}/{pair.source}")
        for simple, texts in enumerate(sides):
            yield from ((text, bool(simple), name) for text in draw.sample(texts, number))


def _sentences(text: str) -> Iterator[str]:
    for start, end in split_sentences(text):
        if len(text[start:end].split()) >= SHORTEST:
            yield text[start:end]


def _plain(text: str) -> str:
    """Replace Penn Treebank escapes by brackets and quotation marks."""
    return _ESCAPE.sub(lambda match: ESCAPES[match[0].lower()], text)


def _tokenized(labelled: Sequence[Labelled], tokenizer: Tokenizer, window: int) -> list[Sentence]:
    tokens = tokenize(tokenizer, [text for text, _, _ in labelled], window)
    return [Sentence(own, *facts[1:]) for own, facts in zip(tokens, labelled, strict=True)]
