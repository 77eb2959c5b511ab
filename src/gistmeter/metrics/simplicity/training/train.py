"""The fine-tuning of section 3.3: an encoder learns to tell simplified sentences from original ones."""

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
from gistmeter.models.files.load import find_model, load_tokenizer
from gistmeter.models.run.tokens import tokenize
from gistmeter.models.run.types import Tokenizer
from gistmeter.text.sentences import split_sentences
from gistmeter.training.loop import kept, train
from gistmeter.training.recipe import Recipe
from gistmeter.training.texts import TextPair, read_pairs

SHORTEST = 4
"""Words of a sentence that is cut out of a document; headings and broken sentences have fewer."""
_ESCAPE = re.compile("|".join(map(re.escape, ESCAPES)), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SentenceData:
    """The `data` part of a recipe, `folder` and `sets` aside.

    Args:
        parts: One part in so many of the sources is held out, with all that was written from them.
        batch: Sentences of a step.
        window: Most tokens of a sentence; its end is cut off.
        validation: Most sentences that a validation looks at, drawn once; 0 for all that are held out.
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
    """The `model` part of a recipe.

    Args:
        name: The encoder, as `find_model` knows it.
        layer: Whose states the sentence vector is the mean of, and the highest that is saved.
        depth: The layer that fills the masks; by default the last one of the model.
        layers: How many layers up to `layer` learn, and all above; 0 for every weight.
        new_scale: How much faster than the encoder new weights learn.
    """

    name: str
    layer: int
    depth: int | None = None
    layers: int = 0
    new_scale: float = 1.0


def train_simplicity(recipe: Recipe, data: Path, output: Path, *, progress: bool) -> dict[str, float]:
    """Teach an encoder to fill masks and to tell simplified sentences, half and half.

    Args:
        recipe: As `recipes/simplicity-mini.toml`. `sentences = true` in one of its `data.sets` says that
            source and candidate are documents, to be cut into sentences.
        data: Folder of the pairs.
        output: Folder of the training; the model goes into `model` there.
        progress: Whether to show progress.

    Returns:
        The figures of the validation at which the weights were kept, and how many sentences there were.

    Raises:
        UsageError: If the recipe is not as it should be.
        DataError: If the files are not.
        ModelError: If the encoder cannot be loaded, or is neither a BERT nor a RoBERTa.
    """
    given = {name: value for name, value in recipe.data.items() if name not in ("folder", "sets")}
    chosen = options_from(SentenceData, given)
    if not {"name", "layer"} <= recipe.model.keys() or not recipe.data.get("sets"):
        raise UsageError(
            f"{recipe.name}: the recipe needs name and layer in [model] and file in [[data.sets]]"
        )
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
"""A text, whether it is the simplified one, and the file that it comes from."""


def read_labelled(
    folder: Path, sets: Sequence[Mapping[str, Any]], parts: int, seed: int
) -> tuple[list[Labelled], list[Labelled]]:
    """Read the sentences of pairs, as many of either label, and hold a part of the pairs out.

    Args:
        folder: Where the files are.
        sets: As `read_pairs` takes them, each also with `sentences`.
        parts: One part in so many is held out.
        seed: Decides which sentences of the longer document are taken.

    Returns:
        Those to train on, and those that are held out.

    Raises:
        DataError: If a file is missing, or no sentence is left on one of the sides.
    """
    found: tuple[list[Labelled], list[Labelled]] = ([], [])
    for chosen in sets:
        name = Path(str(chosen["file"])).name.partition(".")[0]
        for side, pairs in zip(found, read_pairs(folder, [chosen], parts=parts), strict=True):
            side.extend(_labelled(pairs, name, seed, cut=bool(chosen.get("sentences"))))
    if not all(found):
        raise DataError("no pair is left to train on or to hold out; give more, or change data.parts")
    return found


def _labelled(pairs: Iterable[TextPair], name: str, seed: int, *, cut: bool) -> Iterator[Labelled]:
    for pair in pairs:
        sides = [[_plain(text)] for text in (pair.source, pair.candidate)]
        if cut:
            sides = [list(_sentences(texts[0])) for texts in sides]
        both = set(sides[0]) & set(sides[1])  # nobody can tell which side these come from
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
    """Write brackets and quotation marks as people do."""
    return _ESCAPE.sub(lambda match: ESCAPES[match[0].lower()], text)


def _tokenized(labelled: Sequence[Labelled], tokenizer: Tokenizer, window: int) -> list[Sentence]:
    tokens = tokenize(tokenizer, [text for text, _, _ in labelled], window)
    return [Sentence(own, *facts[1:]) for own, facts in zip(tokens, labelled, strict=True)]
