"""Collect what is known about a metric: its question, options, presets and anchors."""

import dataclasses
import inspect
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from gistmeter import catalog
from gistmeter.core.options import Preset

UNKNOWN = {"question": "a metric of another package"} | dict.fromkeys(
    ("needs", "better", "range"), "not stated"
)


@dataclass(frozen=True, slots=True)
class Anchors:
    """Values of a metric on texts whose quality is known.

    Args:
        spec: The metric with its options.
        signature: With which the values were measured.
        means: Mean value by kind of text, such as `reference`.
        deciles: The 0th, 10th, … 100th percentile of the outputs of systems.
        agreement: Pearson correlation with human judgements by dimension.
    """

    spec: str
    signature: str
    means: Mapping[str, float]
    deciles: Sequence[float]
    agreement: Mapping[str, float]

    def share_below(self, value: float) -> float:
        """Return the share of system outputs with a lower value, interpolated between deciles.

        >>> Anchors("x", "", {}, [0.0, *(0.5 + at / 10 for at in range(10))], {}).share_below(0.55)
        0.15
        """
        ends = list(self.deciles)
        if value <= ends[0]:
            return 0.0
        for at in range(1, len(ends)):
            if value < ends[at]:
                return round((at - 1 + (value - ends[at - 1]) / (ends[at] - ends[at - 1])) / 10, 4)
        return 1.0

    def standing(self, value: float) -> str:
        """Return where a value stands among those of known texts, as text."""
        return f"higher than {100 * self.share_below(value):.0f} % of the system outputs in {anchor_data()}"

    @property
    def listed(self) -> str:
        """The mean values as text, the lowest first.

        >>> Anchors("x", "", {"reference": 0.8, "other article": 0.25}, [], {}).listed
        'other article 0.25, reference 0.8'
        """
        means = sorted(self.means.items(), key=lambda pair: pair[1])
        return ", ".join(f"{kind} {value:.3g}" for kind, value in means)


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a metric.

    Args:
        name: The name.
        default: The default as text.
        what: What it decides, from the documentation of the option.
    """

    name: str
    default: str
    what: str


@dataclass(frozen=True, slots=True)
class Description:
    """What a person needs to choose a metric and to read its value.

    Args:
        name: The metric.
        question: What it asks.
        needs: The fields that it requires besides the candidate, as text.
        better: `higher`, or `neither` for metrics that describe a text.
        range: Of its values.
        languages: The languages that each preset scores, as text; without presets, one entry without a name.
        presets: Its presets with the options that each sets, as text; empty for a metric without models.
        options: Its options.
        anchors: Measured with the preset `mini`; one for each spec.
    """

    name: str
    question: str
    needs: str
    better: str
    range: str
    languages: Mapping[str, str]
    presets: Mapping[str, str]
    options: tuple[Option, ...]
    anchors: tuple[Anchors, ...]


def describe(name: str) -> Description:
    """Describe a metric without loading a model.

    Raises:
        UsageError: If the metric does not exist.
    """
    found = catalog.target(name)
    said = _metrics().get(name, UNKNOWN)
    anchors = tuple(each for each in _anchors() if each.spec.partition(":")[0] == name)
    return Description(
        name,
        said["question"],
        said["needs"],
        said["better"],
        said["range"],
        {preset: str(spoken) for preset, spoken in catalog.languages_by_preset(name).items()},
        _presets(found),
        _options(found),
        anchors,
    )


def question_of(name: str) -> str | None:
    """Return what a metric asks; None if it is of another package."""
    return _metrics().get(name, {}).get("question")


def anchors_of(signature: str) -> Anchors | None:
    """Return the anchors that were measured with a signature; None if there are none."""
    return next((each for each in _anchors() if each.signature == signature), None)


@cache
def anchor_data() -> str:
    """Return what the anchors were measured on."""
    return str(_content()["data"])


@cache
def _metrics() -> dict[str, dict[str, str]]:
    return tomllib.loads(files(__package__).joinpath("metrics.toml").read_text(encoding="utf-8"))


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        files(__package__).joinpath("anchors.json").read_text(encoding="utf-8")
    )
    return content


@cache
def _anchors() -> tuple[Anchors, ...]:
    return tuple(Anchors(**each) for each in _content()["metrics"])


def _presets(found: Any) -> dict[str, str]:  # noqa: ANN401 - a class, or a function that builds a metric
    """Return the presets with the options that each sets."""
    presets = getattr(import_module(found.__module__), "PRESETS", {})
    return {name: _sets(preset) if isinstance(preset, Preset) else "" for name, preset in presets.items()}


def _sets(preset: Preset) -> str:
    options = {**({"layer": preset.layer} if preset.layer else {}), **preset.options}
    return ",".join(f"{option}={value}" for option, value in options.items())


def _options(found: Any) -> tuple[Option, ...]:  # noqa: ANN401 - as above
    built = found if isinstance(found, type) else found.__annotations__.get("return")
    if not dataclasses.is_dataclass(built):  # a metric of another package
        return ()
    own = {field.name: field.type for field in dataclasses.fields(built)}
    kind = own.get("options")
    if not isinstance(kind, type) or not dataclasses.is_dataclass(kind):
        return ()
    what = _documented(inspect.getdoc(kind) or "")
    return tuple(
        Option(field.name, _text(field.default), what.get(field.name, ""))
        for field in dataclasses.fields(kind)
    )


def _text(default: object) -> str:
    """Return a default as it is given on the command line."""
    return str(default).lower() if default is None or isinstance(default, bool) else str(default)


def _documented(text: str) -> dict[str, str]:
    r"""Return the text of each argument in a docstring.

    >>> _documented("Options.\n\nArgs:\n    match: How to match:\n        `greedy`.\n    norm: Other.")
    {'match': 'How to match: `greedy`.', 'norm': 'Other.'}
    """
    _, _, section = text.partition("Args:\n")
    found = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: " ".join(said.split()) for name, said in found}
