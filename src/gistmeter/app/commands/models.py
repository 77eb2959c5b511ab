"""The command `gistmeter models`: list, verify and fetch models."""

import sys

from tabulate import tabulate

from gistmeter.app.options.models import ModelsOptions
from gistmeter.core.errors import GistmeterError, ModelError, ModelNotFound, UsageError
from gistmeter.models.files import minilm
from gistmeter.models.files.bundle import BUNDLE, Entry, entries, verify
from gistmeter.models.files.find import find_model
from gistmeter.models.files.pinned import PINNED, Pinned, models_folder
from gistmeter.models.run.runtime import Backend, Dtype, Runtime

MINILM = "Sentence encoder, all-MiniLM-L6-v2, from an installed package"
HEADERS = ("name", "description", "MB", "measured", "data licences", "date")
WIDTHS = (None, 38, None, None, 30, None)
NOTHING = "—"


def run(options: ModelsOptions) -> int:
    """List the models, verify their files, or fetch one.

    Returns:
        0, or 4 if `verify` finds a problem.

    Raises:
        UsageError: If the name of a model to fetch is missing or unknown.
        ModelError: If a model cannot be fetched.
    """
    if options.action == "fetch":
        return _fetch(options)
    if options.name is not None or options.origin is not None:
        raise UsageError(f"models {options.action} takes no name and no --from; use them with fetch")
    if options.action == "list":
        sys.stdout.write(_table() + "\n")
        return 0
    said = _verified()
    whole = not any(said.values())
    if whole and options.dtype is not None:
        changed = _changes(list(said), options.dtype, options.backend)
        lines = [f"{name}: ok{says}" for name, says in changed.items()]
    else:
        lines = [f"{name}: {_short(problems) if problems else 'ok'}" for name, problems in said.items()]
    lines += [f"{name}: not fetched; run: {PINNED[name].command}" for name in PINNED if name not in said]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if whole else ModelError.exit_code


def _fetch(options: ModelsOptions) -> int:
    from gistmeter.models.files.fetch import fetch

    by_preset = {model.preset: model for model in PINNED.values()}
    if options.name not in by_preset:
        given = f"no preset {options.name!r} to fetch" if options.name else "models fetch needs a preset"
        raise UsageError(f"{given}; choose from: {', '.join(by_preset)}")
    model = by_preset[options.name]
    fetched = fetch(model, options.origin)
    folder = models_folder() / model.name
    sys.stdout.write(f"{model.name}: {'fetched to' if fetched else 'already in'} {folder}\n")
    return 0


def _table() -> str:
    rows = [_row(model) for model in entries(root=BUNDLE)] + [_minilm_row()]
    rows += [_pinned_row(name, model) for name, model in PINNED.items()]
    aligned = ("left", "left", "right", "left", "left", "left")
    text = tabulate(
        rows, HEADERS, "simple", disable_numparse=True, colalign=aligned, maxcolwidths=list(WIDTHS)
    )
    return "\n".join(line.rstrip() for line in text.splitlines())


def _row(model: Entry) -> tuple[str, ...]:
    licences = ", ".join(dict.fromkeys(data["licence"] for data in model.data)) or NOTHING
    megabytes = f"{model.bytes / 1e6:.1f}"
    return f"gistmeter/{model.name}", model.what, megabytes, _headline(model), licences, model.date


def _headline(model: Entry) -> str:
    """Return the first result of a model, which its training lists as the main one."""
    name, value = next(iter(model.measured.items()), ("", NOTHING))
    return f"{name} {value if isinstance(value, str) else format(value, '.4g')}".strip()


def _minilm_row() -> tuple[str, ...]:
    try:
        folder = find_model("minilm").folder
    except ModelError as error:
        return "minilm", f"{MINILM}: {error}", NOTHING, NOTHING, NOTHING, NOTHING
    size = sum((folder / name).stat().st_size for name in minilm.SHA256)
    return "minilm", f"{MINILM}: found", f"{size / 1e6:.1f}", NOTHING, "see its package", NOTHING


def _pinned_row(name: str, model: Pinned) -> tuple[str, ...]:
    what = f"Encoder of preset {model.preset}, {model.repository}"
    try:
        find_model(name)
        state = "found"
    except ModelError as error:
        state = str(error)
    return name, f"{what}: {state}", f"{model.bytes / 1e6:.1f}", NOTHING, "see its card", NOTHING


def _changes(names: list[str], dtype: Dtype, backend: Backend) -> dict[str, str]:
    """Return, for each model, the number of predictions that a precision changes; "" if it makes none."""
    from gistmeter.models.changed_predictions import changed_predictions

    runtime = Runtime(device="cpu", dtype=dtype, backend=backend)
    said = {}
    for name in names:
        try:
            found = changed_predictions(name, runtime)
        except UsageError:
            raise
        except GistmeterError as error:
            said[name] = f"; {error}"
            continue
        said[name] = ""
        if found is not None:
            share = f"{found[0]:,} of {found[1]:,} ({found[0] / found[1]:.2%})"
            said[name] = f"; {runtime.precision} changes {share} predictions"
    return said


def _verified() -> dict[str, list[str]]:
    """Return the problems of each model; skip models that are not fetched."""
    said: dict[str, list[str]] = {f"gistmeter/{model.name}": [] for model in entries(root=BUNDLE)}
    for problem in verify(root=BUNDLE):
        model = f"gistmeter/{problem.name}"
        said.setdefault(model if model in said else problem.name, []).append(problem.says)
    for name in ("minilm", *PINNED):
        try:
            find_model(name, fresh=True)
            said[name] = []
        except ModelError as error:
            if name not in PINNED or not isinstance(error, ModelNotFound):
                said[name] = [str(error)]
    return said


def _short(problems: list[str]) -> str:
    rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return problems[0] + rest
