"""Convert a recipe of the English pipeline to a spaCy configuration."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.util import registry
from thinc.api import Config

COMPONENTS = ["tok2vec", "tagger", "parser", "attribute_ruler", "ner"]


def count_steps(before: int) -> Callable[[Language, dict[str, Any]], None]:
    """Return a callback that records the total training steps, earlier runs included, in the pipeline."""

    def note(nlp: Language, update: dict[str, Any]) -> None:
        # After a run's first step only, the averaged weights are too close to 0 to resume from.
        taken = update["step"]
        nlp.meta["steps"] = before + taken + 1 if taken else before

    return note


registry.callbacks("gistmeter.count_steps.v1", func=count_steps)


def config_from(recipe: Mapping[str, Any], corpora: Path, *, before: int = 0) -> Config:
    """Return the configuration of the components and the next training run.

    Args:
        recipe: Recipe such as `recipes/en.toml`.
        corpora: Folder with `dev.spacy` and one `train-N.spacy` per stage, N from 0.
        before: Steps taken by earlier runs; the run covers the rest of the current stage.
    """
    syntax, entities = recipe["model"]["syntax"], recipe["model"]["entities"]
    paths = {"train": corpora / f"train-{_stage(recipe, before)[0]}.spacy", "dev": corpora / "dev.spacy"}
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": syntax["width"],
        "upstream": "*",
    }
    tagger = {"@architectures": "spacy.Tagger.v2", "nO": None, "normalize": False, "tok2vec": listener}
    return Config(
        {
            "nlp": {"lang": "en", "pipeline": COMPONENTS, "batch_size": 64},
            "components": {
                "tok2vec": {"factory": "tok2vec", "model": _tok2vec(syntax)},
                "tagger": {"factory": "tagger", "model": tagger},
                "parser": {"factory": "parser", "model": _transitions("parser", syntax, listener)},
                "attribute_ruler": {"factory": "attribute_ruler"},
                "ner": {"factory": "ner", "model": _transitions("ner", entities, _tok2vec(entities))},
            },
            "corpora": {
                name: {"@readers": "spacy.Corpus.v1", "path": str(path), "max_length": 0}
                for name, path in paths.items()
            },
            "training": _training(recipe, before),
        }
    )


def _tok2vec(size: Mapping[str, Any]) -> dict[str, Any]:
    embed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": size["width"],
        "attrs": list(size["rows"]),
        "rows": list(size["rows"].values()),
        "include_static_vectors": False,
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": size["width"],
        "depth": size["layers"],
        "window_size": 1,
        "maxout_pieces": size["pieces"],
    }
    return {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}


def _transitions(state: str, size: Mapping[str, Any], tok2vec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": state,
        "extra_state_tokens": False,
        "hidden_width": size["hidden"],
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": tok2vec,
    }


def _training(recipe: Mapping[str, Any], before: int) -> dict[str, Any]:
    training = recipe["training"]
    number, start = _stage(recipe, before)
    stage = recipe["model"]["stages"][number]
    end = start + stage["steps"]
    batch = stage["batch"]
    size = {
        "@schedules": "compounding.v1",
        "start": min(batch["first"] * batch["growth"] ** (before - start), batch["last"]),
        "stop": batch["last"],
        "compound": batch["growth"],
    }
    words = {
        "@batchers": "spacy.batch_by_words.v1",
        "discard_oversize": False,
        "tolerance": 0.2,
        "size": size,
    }
    adam = {
        "@optimizers": "Adam.v1",
        "learn_rate": _rate(training, stage, before - start),
        "L2": training["weight_decay"],
        "grad_clip": training["clip"],
        "use_averages": True,
    }
    return {
        "seed": training["seed"] + before,
        "gpu_allocator": None,
        "dropout": stage["dropout"],
        "max_steps": end - before,
        "max_epochs": 0,
        "patience": 0,
        "accumulate_gradient": 1,
        "eval_frequency": min(training["validate_every"], end - before),
        "train_corpus": "corpora.train",
        "dev_corpus": "corpora.dev",
        "frozen_components": [name for name in COMPONENTS if name not in stage["learn"]],
        "optimizer": adam,
        "batcher": words,
        "before_update": {"@callbacks": "gistmeter.count_steps.v1", "before": before},
        "logger": {"@loggers": "spacy.ConsoleLogger.v3", "progress_bar": None},
    }


def _stage(recipe: Mapping[str, Any], before: int) -> tuple[int, int]:
    """Return the stage that a step belongs to, from 0, and the first step of that stage."""
    start = 0
    for number, stage in enumerate(recipe["model"]["stages"]):
        if before < start + stage["steps"]:
            return number, start
        start += stage["steps"]
    raise ValueError(f"no stage after step {before}")


def _rate(training: Mapping[str, Any], stage: Mapping[str, Any], past: int) -> dict[str, Any]:
    """Return a learning-rate schedule with warm-up and linear decay; a resumed run starts lower."""
    left = stage["falls_to_0_at"] - past
    return {
        "@schedules": "warmup_linear.v1",
        "warmup_steps": min(training["warmup"], left - 1),
        "total_steps": left,
        "initial_rate": training["learning_rate"] * stage["rate"] * left / stage["falls_to_0_at"],
    }
