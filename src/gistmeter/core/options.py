"""Build a metric's options, a frozen dataclass, from Python values or command-line text."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar, get_args, get_origin, get_type_hints

from gistmeter.core.errors import UsageError
from gistmeter.core.language import check_spoken, languages_of
from gistmeter.core.nearest import did_you_mean


class Spoken(Protocol):
    """Options with a language, `en` by default."""

    @property
    def language(self) -> str:
        """Language of the model, or several as `de+en`; `xx` for any."""


T = TypeVar("T")
S = TypeVar("S", bound=Spoken)
DEFAULT_PRESET = "mini"
WORDS = ("preset", "model", "device", "dtype", "backend", "batch_tokens", "cache_mb", "runtime", "options")
"""Keywords of `gistmeter.load` and the command line that are not options of a metric."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A model with the options that suit it.

    Args:
        model: The name of the model.
        options: Values that replace a metric's defaults; the caller's options take precedence.
        layer: The encoder layer whose vectors are used, counted from 1; None for the last.
    """

    model: str
    options: Mapping[str, object] = field(default_factory=dict)
    layer: int | None = None


def options_from(cls: type[T], given: Mapping[str, object]) -> T:
    """Build an options dataclass from names and values.

    Args:
        cls: A dataclass whose fields have the type Literal, bool, int, float or str, or one of these or None.
        given: Values of the field's type, or their text.

    Raises:
        UsageError: If a name or a value does not exist; the message lists those that exist.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Options:
    ...     match: Literal["greedy", "optimal"] = "greedy"
    ...     layer: int | None = None
    >>> options_from(Options, {"layer": "5"})
    Options(match='greedy', layer=5)
    >>> options_from(Options, {"match": "best"})
    Traceback (most recent call last):
    gistmeter.core.errors.UsageError: match=best: choose one of greedy, optimal
    """
    hints = get_type_hints(cls)
    for name in given:
        if name not in hints:
            hint = did_you_mean(name, [*hints, *WORDS])
            raise UsageError(f"no option {name!r}{hint}; there are: {', '.join(hints) or 'none'}")
    return cls(**{name: _convert(name, value, hints[name]) for name, value in given.items()})


def spoken_options(
    cls: type[S], given: Mapping[str, object], languages: Mapping[str, str], preset: str, model: str | None
) -> S:
    """Build an options dataclass whose language, if not given, is that of the preset's model.

    Args:
        cls: As in `options_from`.
        given: As in `options_from`.
        languages: Languages of the presets' models; `en` if a preset is not listed.
        preset: The preset.
        model: The model that replaces the preset's, whose language only the caller knows.

    Raises:
        UsageError: As in `options_from`, or if the preset's model is for another language.
    """
    if model is not None:
        return options_from(cls, given)
    spoken = languages.get(preset, "en")
    chosen = options_from(cls, {"language": spoken, **given})
    check_spoken(chosen.language, languages_of(spoken), preset)
    return chosen


def preset_from(metric: str, presets: Mapping[str, T], name: str) -> T:
    """Return a metric's preset.

    Raises:
        UsageError: If the metric has no preset of that name; the message lists those it has.
    """
    if name not in presets:
        raise UsageError(f"{metric} has no preset {name!r}; there are: {', '.join(presets)}")
    return presets[name]


def encoder_from(
    metric: str, presets: Mapping[str, Preset], name: str, model: str | None
) -> tuple[str, int | None]:
    """Return the encoder and its layer that a preset and a model name select.

    A model replaces the preset's encoder and keeps the preset's layer. The default preset `mini` has the
    layer of its own small encoder, so with it a model keeps all its layers (None).

    Raises:
        UsageError: If the metric has no preset of that name.

    >>> presets = {"mini": Preset("minilm", layer=3), "paper": Preset("roberta-large", layer=17)}
    >>> encoder_from("bertscore", presets, "paper", None), encoder_from("bertscore", presets, "paper", "mine")
    (('roberta-large', 17), ('mine', 17))
    >>> encoder_from("bertscore", presets, "mini", "mine")
    ('mine', None)
    """
    preset = preset_from(metric, presets, name)
    if model is None:
        return preset.model, preset.layer
    return model, None if name == DEFAULT_PRESET else preset.layer


def options_given(options: object) -> dict[str, object]:
    """Return the names and values of options, given as a mapping or as a metric's options dataclass.

    For a dataclass, the result has all fields, including those at their defaults.

    Raises:
        UsageError: If `options` is neither a mapping nor a dataclass instance.
    """
    if options is None:
        return {}
    if isinstance(options, Mapping):
        return {str(name): value for name, value in options.items()}
    if dataclasses.is_dataclass(options) and not isinstance(options, type):
        return {each.name: getattr(options, each.name) for each in dataclasses.fields(options)}
    raise UsageError(f"options must be a dict or an options object, not {options!r}")


def options_text(options: Any) -> dict[str, str]:  # noqa: ANN401 - any dataclass instance
    """Return the options as strings, for a signature."""
    return {field.name: str(getattr(options, field.name)) for field in dataclasses.fields(options)}


def _convert(name: str, value: object, hint: Any) -> object:  # noqa: ANN401 - a type hint has no type
    if get_origin(hint) is Literal:
        choices = {str(choice): choice for choice in get_args(hint)}
        if str(value) not in choices:
            raise UsageError(f"{name}={value}: choose one of {', '.join(choices)}")
        return choices[str(value)]
    allowed = get_args(hint) or (hint,)
    if type(None) in allowed and (value is None or value in ("", "none", "None")):
        return None
    kind = next(kind for kind in allowed if kind is not type(None))
    if kind is bool:
        return _convert(name, str(value).lower(), Literal["true", "false"]) == "true"
    try:
        converted: object = kind(value)
        if kind is int and isinstance(value, float) and converted != value:
            raise ValueError("a fraction")
        if kind in (int, float) and isinstance(value, bool):
            raise ValueError("a truth value")
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{name}={value}: give {'an' if kind is int else 'a'} {kind.__name__}") from None
    return converted
