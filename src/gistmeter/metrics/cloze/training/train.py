"""Train a cloze model on blanked factors of random summary sentences (section 4.1)."""

import random
from pathlib import Path
from typing import get_args

from gistmeter.core.errors import UsageError
from gistmeter.metrics.cloze.chunks import cut_chunks, factor_tokens
from gistmeter.metrics.cloze.presets import PRESETS
from gistmeter.metrics.cloze.questions import ask_once
from gistmeter.models.fill.protocol import Filler, Query
from gistmeter.text.factors import Pipeline, Selection, find_factors, load_pipeline
from gistmeter.training.queries import Draw, train_on_queries
from gistmeter.training.recipe import Recipe, check_keys
from gistmeter.training.texts import TextPair


def train_cloze(recipe: Recipe, data: Path, output: Path, *, progress: bool) -> dict[str, float]:
    """Train a language model to fill in factors: a masked model or BART, as in the paper, or T5.

    Args:
        recipe: Recipe such as `recipes/cloze-paper.toml`.
        data: Folder of the training pairs.
        output: Output folder; the trained model goes into its folder `model`.
        progress: Whether to show progress.

    Returns:
        Metrics of the best validation.

    Raises:
        ModelError: If the model or the pipeline cannot be loaded.
    """
    check_keys(recipe.model, ("name", "pipeline", "selection", "window"), recipe.name)
    selection: Selection = recipe.model.get("selection", "entity_first")
    if selection not in get_args(Selection):
        raise UsageError(
            f"{recipe.name}: model.selection={selection}: choose one of {', '.join(get_args(Selection))}"
        )
    pipeline = load_pipeline(
        recipe.model.get("pipeline", PRESETS["paper"].options["pipeline"]), selection=selection
    )
    window = recipe.model.get("window", PRESETS["paper"].options["window"])
    if not isinstance(window, int) or window < 0:
        raise UsageError(
            f"{recipe.name}: model.window={window}: give a number of tokens, or 0 for the model's"
        )
    return train_on_queries(
        recipe,
        (data, output),
        lambda filler: factor_drawer(filler, pipeline, selection, window),
        progress=progress,
    )


def factor_drawer(filler: Filler, pipeline: Pipeline, selection: Selection, window: int = 0) -> Draw:
    """Return a function that blanks a random number of factors of a random sentence, as in scoring.

    Args:
        filler: Model that defines sub-words, window, and input format.
        pipeline: spaCy pipeline that finds factors.
        selection: Kinds of factors.
        window: Maximum number of tokens that the model reads; 0 for the model's own window.
    """

    def draw(pair: TextPair, rng: random.Random) -> Query | None:
        [marked] = find_factors([pair.candidate], pipeline, selection)
        sentences = [chunk for chunk in cut_chunks(marked, "sentence") if chunk.factors]
        if not sentences:
            return None
        chosen = rng.choice(sentences)
        numbers = sorted(rng.sample(range(len(chosen.factors)), rng.randint(1, len(chosen.factors))))
        text, document = filler.tokenize([chosen.text, pipeline.spaced(pair.source)])
        places = factor_tokens(chosen, text)
        group = [chosen.factors[at] for at in numbers]
        return ask_once(group, [places[at] for at in numbers], text, document.ids, filler, window).query

    return draw
