"""Reads the modules and the pooling mode of a sentence-transformers folder."""

import json
from pathlib import Path
from typing import Any, Literal, get_args

from gistmeter.core.errors import BadModel
from gistmeter.models.files.folder import MODULES_FILE, POOLING_FILE, read_json

Pooling = Literal["mean", "max", "cls"]
MODULES = ("Transformer", "Pooling", "Normalize")
"""Modules that the encoder has; its text vectors have unit length anyway."""
_SWITCHES: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_cls_token": "cls",
}


def check_modules(folder: Path) -> None:
    """Check that a sentence model consists of an encoder and its pooling only.

    Args:
        folder: Folder of any model.

    Raises:
        BadModel: If the folder lists another module, such as a dense layer.
    """
    path = folder / MODULES_FILE
    if not path.is_file():
        return
    try:
        modules = json.loads(path.read_text("utf-8"))
        names = [str(module["type"]).rpartition(".")[2] for module in modules]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadModel(f"{path} is not a list of modules; replace the file") from error
    other = [name for name in names if name not in MODULES]
    if other:
        raise BadModel(
            f"{path}: the module {other[0]} is not supported; load the model with sentence-transformers, and "
            "use gistmeter.adapters.sentence_transformers"
        )


def pooling_of(folder: Path, prompt: str) -> Pooling:
    """Return the pooling mode in a model folder; mean if there is none.

    Args:
        folder: Folder of the model.
        prompt: The model's default prompt.

    Raises:
        BadModel: If the mode is not supported, or pooling leaves out the prompt.
    """
    path = folder / POOLING_FILE
    if not path.is_file():
        return "mean"
    settings = read_json(path)
    if prompt and settings.get("include_prompt") is False:
        raise BadModel(
            f"{path}: include_prompt=false is not supported; load the model with sentence-transformers, and "
            "use gistmeter.adapters.sentence_transformers"
        )
    modes = _modes(settings)
    if len(modes) != 1 or modes[0] is None:
        raise BadModel(
            f"{path}: set exactly one of {', '.join(_SWITCHES)} to true, or pooling_mode to one of "
            f"{', '.join(get_args(Pooling))}"
        )
    return modes[0]


def _modes(settings: dict[str, Any]) -> list[Pooling | None]:
    """Return the modes that are on, None for an unsupported one.

    From version 6 of sentence-transformers, `pooling_mode` names them; before, each mode has a switch.
    """
    if "pooling_mode" in settings:
        named = settings["pooling_mode"]
        known: dict[object, Pooling] = {mode: mode for mode in _SWITCHES.values()}
        return [known.get(str(mode)) for mode in (named if isinstance(named, list) else [named])]
    return [
        _SWITCHES.get(name)
        for name, value in settings.items()
        if value is True and name.startswith("pooling_mode")
    ]
