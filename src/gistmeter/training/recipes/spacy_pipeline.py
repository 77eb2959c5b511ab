"""Train the English pipeline that ships with gistmeter: tagger, parser, noun chunks, entity recognizer.

spaCy's training loop saves the weights at every validation. A killed run loses the steps since the last
validation and the optimizer state; an interrupted run (Ctrl-C) loses no step. The next call resumes from the
last saved weights with the learning rate of that step. It draws other batches than an uninterrupted run, so
the result differs slightly.
"""

import io
import json
import random
import shutil
import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.pipeline import AttributeRuler
from spacy.strings import StringStore
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import DIR_MODEL_LAST, train
from spacy.util import load_model_from_config
from thinc.api import Config

from gistmeter.core.errors import BadModel, DataError, UsageError
from gistmeter.training.files import write_text
from gistmeter.training.recipes.silver import Silver, held_out, read_silver
from gistmeter.training.recipes.spacy_config import config_from
from gistmeter.training.recipes.spacy_quality import measure

PARTS = {
    "ADJ": "JJ JJR JJS AFX",
    "ADP": "IN RP",
    "ADV": "RB RBR RBS WRB",
    "AUX": "MD",
    "CCONJ": "CC",
    "DET": "DT PDT WDT PRP$ WP$",
    "INTJ": "UH",
    "NOUN": "NN NNS",
    "NUM": "CD",
    "PART": "POS TO",
    "PRON": "PRP WP EX",
    "PROPN": "NNP NNPS",
    "PUNCT": ". , : -LRB- -RRB- `` '' HYPH NFP",
    "SPACE": "_SP",
    "SYM": "$ SYM #",
    "VERB": "VB VBD VBG VBN VBP VBZ",
    "X": "ADD FW GW LS XX",
}
"""Universal part of speech → Penn Treebank tags. spaCy derives noun chunks from universal parts of speech."""


def train_pipeline(
    recipe: Mapping[str, Any], folder: Path, *, steps: int | None = None, progress: bool = True
) -> dict[str, float]:
    """Train a pipeline, or resume an earlier run, and evaluate it on held-out texts.

    The folder `NAME.work` next to the output folder holds the data and weights of an unfinished run.

    Args:
        recipe: Content of `recipes/en.toml`.
        folder: Output folder of the pipeline and `measured.json`.
        steps: Total steps of all stages, instead of the recipe's, for a trial run.
        progress: Whether to show spaCy's table of losses and scores on standard error.

    Returns:
        The metrics of `measure`.

    Raises:
        DataError: If the texts are missing or invalid, or none is left for training or evaluation.
        UsageError: If an unfinished run in the same place has another recipe.
        BadModel: If the weights of an unfinished run are damaged.
    """
    recipe = _shortened(recipe, steps)
    work = folder.with_name(folder.name + ".work")
    unseen = _prepare(recipe, work)
    table = sys.stderr if progress else io.StringIO()
    while (found := _last(work))[0] < recipe["training"]["steps"]:
        done, last = found
        run = work / f"from-{done:07d}"
        run.mkdir(exist_ok=True)
        train(_start(config_from(recipe, work, before=done), last), run, stdout=table, stderr=table)
    # Keep the last weights: they are averages under a decaying rate, and dev scores of a sample are noisier.
    save_pipeline(_start(config_from(recipe, work), _last(work)[1]), folder)
    figures = measure(spacy.load(folder), unseen)
    (folder / "measured.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(work)
    return figures


def save_pipeline(nlp: Language, folder: Path) -> None:
    """Save only what parsing needs: no vocabulary table, no vectors, no training settings.

    Args:
        nlp: Trained pipeline; the saved copy gives the same output.
        folder: Output folder.
    """
    plain = spacy.blank("en")
    # Parsing needs the strings of the tokenizer's rules and the labels; other words are only hashed.
    labels = chain.from_iterable(nlp.pipe_labels.values())
    for key in ("steps", "performance"):
        nlp.meta.pop(key, None)
    nlp.meta.update(name="gistmeter", spacy_version=">=3.8.0,<4.0.0")
    nlp.to_disk(folder, exclude=["vectors", "lookups"])
    words = StringStore(sorted({*plain.vocab.strings, *labels, *PARTS}))
    words.to_disk(folder / "vocab" / "strings.json")
    config = Config().from_disk(folder / "config.cfg", interpolate=False)
    for part in ("paths", "system", "corpora", "training", "initialize"):
        config[part] = plain.config[part]
    config.to_disk(folder / "config.cfg")


def silver_texts(data: Mapping[str, Any]) -> tuple[list[Silver], list[Silver]]:
    """Return the training texts and the held-out texts of a recipe's `data` table.

    Raises:
        DataError: If either is empty.
    """
    training: list[Silver] = []
    unseen: list[Silver] = []
    for name, text in read_silver(data):
        side = unseen if held_out(name, data["held_out"]) else training
        side.append(text)
    if not training or not unseen:
        raise DataError(
            f"{data['silver']}: no texts for training, or none held out; add texts or change data.held_out"
        )
    return training, unseen


def _shortened(recipe: Mapping[str, Any], steps: int | None) -> dict[str, Any]:
    """Return the recipe with another number of steps, divided among its stages in proportion."""
    whole = recipe["training"]["steps"]
    steps = whole if steps is None else steps
    stages = [dict(stage) for stage in recipe["model"]["stages"]]
    if sum(stage["steps"] for stage in stages) != whole:
        raise UsageError(f"training.steps={whole}: give the sum of the steps of all stages")
    if steps < len(stages):
        raise UsageError(f"steps={steps}: give at least {len(stages)}")
    for stage in stages[:-1] if steps != whole else []:
        stage["steps"] = max(1, stage["steps"] * steps // whole)
    stages[-1]["steps"] = steps - sum(stage["steps"] for stage in stages[:-1])
    return {
        **recipe,
        "training": {**recipe["training"], "steps": steps},
        "model": {**recipe["model"], "stages": stages},
    }


def _prepare(recipe: Mapping[str, Any], work: Path) -> list[Silver]:
    """Write the corpora in spaCy's format unless they exist; return the held-out texts."""
    note, text = work / "recipe.json", json.dumps(recipe, sort_keys=True)
    _, unseen = silver_texts(recipe["data"])
    if not note.is_file():
        work.mkdir(parents=True, exist_ok=True)
        _corpora(recipe, unseen, work)
        write_text(note, text)
    elif note.read_text(encoding="utf-8") != text:
        raise UsageError(f"{work} contains a run of another recipe; delete it, or choose another --output")
    return unseen


def _corpora(recipe: Mapping[str, Any], unseen: list[Silver], work: Path) -> None:
    data, vocab = recipe["data"], spacy.blank("en").vocab
    for number, stage in enumerate(recipe["model"]["stages"]):
        known, _ = silver_texts(data | {"skip_domains": stage["skip_domains"]})
        docs = DocBin()
        for group in (group for text in known for group in text.groups(data["sentences"])):
            for version in [group] * data["as_written"] + [group.lower()] * data["lower_cased"]:
                docs.add(version.gold(vocab))
        docs.to_disk(work / f"train-{number}.spacy")
    watched = [group for text in unseen for group in text.groups(data["sentences"])]
    random.Random(recipe["training"]["seed"]).shuffle(watched)
    versions = [group.lower() if at % 2 else group for at, group in enumerate(watched[: data["watched"]])]
    DocBin(docs=[version.gold(vocab) for version in versions]).to_disk(work / "dev.spacy")


def _last(work: Path) -> tuple[int, Path | None]:
    """Return the number of steps taken and the folder of the last saved weights."""
    saved = sorted(path.parent for path in work.glob(f"from-*/{DIR_MODEL_LAST}/meta.json"))
    return max(
        ((_meta(path)["steps"], path) for path in saved), key=lambda found: found[0], default=(0, None)
    )


def _meta(folder: Path) -> dict[str, Any]:
    try:
        meta: dict[str, Any] = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadModel(f"{folder} is damaged; delete it to resume from earlier weights") from error
    return meta


def _start(config: Config, last: Path | None) -> Language:
    """Return a new pipeline, or the one to resume."""
    if last is None:
        nlp = init_nlp(config)
        ruler = nlp.get_pipe("attribute_ruler")
        assert isinstance(ruler, AttributeRuler)
        ruler.load_from_tag_map({tag: {"POS": part} for part, tags in PARTS.items() for tag in tags.split()})
        return nlp
    try:
        return load_model_from_config(config, auto_fill=True).from_disk(last, exclude=["config"])
    except Exception as error:  # spaCy raises many kinds of errors on incomplete folders
        raise BadModel(f"{last} is damaged ({error}); delete it to resume from earlier weights") from error
