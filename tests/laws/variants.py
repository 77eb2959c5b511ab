"""Every metric of the catalog with every value of each option, found through the catalog."""

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from gistmeter import catalog
from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.metrics.baselines import denials
from gistmeter.metrics.cloze import presets as cloze
from gistmeter.metrics.speed import presets as speed
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.factors import load_pipeline
from tests.tiny_frequencies import save_tables
from tests.tiny_models import save_bert, save_cross_encoder
from tests.tiny_spacy import tiny_pipeline

# Fixtures with tiny models; a metric that does not run on a plain encoder names its own, one an adapter. The
# first is of the kind that ships: options and long texts are tried on it.
FIXTURES: dict[str, list[str]] = {
    "maskeval": ["tiny_copy_infiller", "tiny_t5", "tiny_bart", "tiny_roberta_lm"],
    "cloze": ["tiny_copy_infiller", "tiny_t5", "tiny_bart", "tiny_roberta_lm"],
    "simplicity": ["tiny_tuned"],
    "sumqe": ["tiny_regressor"],
    "likelihood": ["tiny_bart", "tiny_t5"],
    "quality": ["tiny_quality"],
    "check": ["tiny_check"],
}
CASES = [(name, fixture) for name in catalog.names() for fixture in FIXTURES.get(name, ["tiny_bert"])]


def build(
    name: str, model: Path, *, batch_tokens: int = 256, bf16: bool = False, **options: object
) -> Metric:
    """Build a metric on a tiny model."""
    runtime = Runtime(device="cpu", batch_tokens=batch_tokens)
    if bf16:  # on PyTorch, because OpenVINO refuses bfloat16 on processors without it
        runtime = replace(runtime, dtype="bf16", backend="torch")
    if name in ("cloze", "denials"):
        options = {"pipeline": pipeline_folder(), **options}
    if name == "simplicity":
        options = {"frequencies": tables_folder(), **options}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(speed, "RETRIEVER", str(model))
        patch.setattr(cloze, "RETRIEVER", encoder_folder())
        patch.setattr(cloze, "load_pipeline", load_once)
        patch.setattr(denials, "load_pipeline", load_once)
        folder = nli_folder() if options.get("task") == "nli" else str(model)
        return catalog.build(name, model=folder, runtime=runtime, options=options)


load_once = cache(load_pipeline)
"""Loading a pipeline takes half of the time in which ClozE is built."""


def is_first_adapter(name: str, model: Path) -> bool:
    """Tell whether a model is of the first of a metric's adapters."""
    others = FIXTURES.get(name, [])[1:]
    return not any(
        model.name.startswith(fixture.removeprefix("tiny_").replace("_", "-")) for fixture in others
    )


@cache
def pipeline_folder() -> str:
    """Return a folder with the tiny pipeline that finds factors; it goes with the process."""
    return _kept("pipeline", lambda folder: tiny_pipeline().to_disk(folder))


@cache
def encoder_folder() -> str:
    """Return a folder with a tiny encoder; it goes with the process."""
    return _kept("encoder", save_bert)


@cache
def nli_folder() -> str:
    """Return a folder with a tiny model of natural language inference; it goes with the process."""
    labels = ("entailment", "neutral", "contradiction")
    return _kept("nli", lambda folder: save_cross_encoder(folder, labels=labels))


@cache
def tables_folder() -> str:
    """Return a folder with tiny frequency tables; it goes with the process."""
    return _kept("frequencies", save_tables)


def _kept(name: str, save: Callable[[Path], object]) -> str:
    """Save a model in a folder that goes with the process."""
    folder = tempfile.mkdtemp(prefix=f"gistmeter-{name}-")
    atexit.register(shutil.rmtree, folder)
    save(Path(folder))
    return folder


def variants(name: str, model: Path, *, batch_tokens: int = 256) -> Iterator[tuple[str, Metric]]:
    """Yield a metric with its defaults, and once for every other choice of every option, numbers included."""
    default = build(name, model, batch_tokens=batch_tokens)
    yield name, default
    if not is_first_adapter(name, model):
        return  # options are tried on a metric's first adapter
    for option, choice in choices(default):
        given: dict[str, Any] = {**BESIDE.get((name, option), {}), option: choice}
        yield f"{name}:{option}={choice}", build(name, model, batch_tokens=batch_tokens, **given)


# What an option needs beside it to decide anything.
BESIDE: dict[tuple[str, str], dict[str, object]] = {
    ("maskeval", "spacing"): {"masks_per_pass": 3},
    ("cloze", "prior"): {"criterion": "soft", "aggregate": "average"},
    ("simplicity", "damp"): {"weight": "frequency", "unit": "subword"},
    ("speed", "task"): {"mode": "cross", "against": "source"},
    ("speed", "contradiction"): {"mode": "cross", "against": "source", "task": "nli"},
    ("speed", "similarity"): {"mode": "cross", "against": "source", "task": "nli"},
}
# Texts that name a file, a model, a language or a token; what each may be, the metric's own tests say.
NAMES = {"weigher", "language", "pipeline", "frequencies", "tokenizer", "prefix", "synonyms", "baseline"}


def choices(metric: Metric) -> Iterator[tuple[str, object]]:
    """Yield every option of a metric with each value that it is tried with besides its own.

    Raises:
        LookupError: If an option is of a type that no value is known for: say in `_others` what to try.
    """
    options: Any = metric.options  # type: ignore[attr-defined]  # every metric of the catalog has some
    for option, hint in get_type_hints(type(options)).items():
        for choice in _others(option, hint, getattr(options, option)):
            yield option, choice


def _others(option: str, hint: Any, default: Any) -> list[object]:  # noqa: ANN401 - hints have no type
    kinds = set(get_args(hint) or (hint,)) - {type(None)}
    if get_origin(hint) is Literal:
        return [choice for choice in get_args(hint) if choice != default]
    if kinds == {bool}:
        return [not default]
    if option == "window":
        return [60]  # with less room, no factor of some texts fits
    if kinds == {int}:
        return [1 if default is None else default + 1]
    if kinds == {float}:
        return [default / 2 or 0.5]
    if kinds == {str} and option in NAMES:
        return []
    raise LookupError(f"no values are known for the option {option}: {hint}")


ORDINARY = [
    Example(
        "long",
        "The ferry left the harbour at noon. Forty passengers were on board, and rain fell over the hills. "
        "Nobody was hurt when it turned back.",
        "A ferry with forty passengers left the harbour at noon. It turned back when heavy rain fell over "
        "the hills. Nobody was hurt, the owner said, and all passengers got their money back.",
        ("The noon ferry turned back in the rain. Its forty passengers are unhurt.", "Ferry turns back."),
        "one",
        "d1",
    ),
    Example("word", "Rain.", "Rain fell.", ("Rain fell on the hills.",), "two", "d2"),
    Example(
        "lower",
        "engineers closed the old bridge . they found cracks in two beams .",
        "Engineers closed the old bridge after they found cracks in two of its beams. It opened in 1931.",
        ("The old bridge is closed: two beams are cracked.", "", "Cracks closed a bridge built in 1931."),
        "one",
        "d2",
    ),
    Example(
        "news", "The museum bought 12 paintings", "The museum bought 12 paintings.", ("12 paintings",), "two"
    ),
    Example("no-source", "A mayor spoke.", None, ("The mayor spoke.",)),
    Example("no-references", "A mayor spoke.", "The mayor spoke at length."),
]

MOST_CHARACTERS, SOME_CHARACTERS = 60_000, 6_000
"""Lengths of long texts; the shorter one is still beyond the window of every tiny model."""
LONG_TEXTS = ["The ferry left. ", "x", "."]
"""What long texts repeat."""
ODD_TEXTS = [
    "",
    "   \n ",
    "a",
    ".",
    "?!…—«»",
    "🙂👩‍👩‍👧 ok 🎉🎉",
    "קצר מאוד. עוד משפט אחד.",
    "天气很好。我们去公园。",
    "nul \x00 and \u200b zero width \ufeff",
    "line one\nline two\n\nline three\r\n",
    "[SEP] <s> </s> [MASK] <extra_id_0>",
    "é" * 3 + "e\u0301" * 3,
    "broken \ud800 half",
]


def odd_texts(characters: int) -> list[str]:
    """Return `ODD_TEXTS`, and long texts of a number of characters."""
    return [*ODD_TEXTS, *(text * (characters // len(text)) for text in LONG_TEXTS if characters)]
