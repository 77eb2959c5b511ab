"""Lists, verifies and registers the models that are bundled with gistmeter.

Each model is a folder in `gistmeter/bundle`. The `manifest.json` there records the purpose, the recipe, the
training data and the SHA-256 of every file of each model. The model card `README.md` does not affect scores
and is not hashed, so it can be corrected without a new manifest.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypedDict, Unpack

from gistmeter.core.errors import BadModel, ModelNotFound, UsageError
from gistmeter.models.files.digest import sha256

BUNDLE = Path(__file__).parents[2] / "bundle"
MANIFEST = "manifest.json"
CARD = "README.md"
BUDGET = 80_000_000  # maximum size of all models, in bytes, so that the wheel stays below 95 MB
REINSTALL = "run: pip install --force-reinstall gistmeter"


class Data(TypedDict):
    """A training data set of a model."""

    name: str
    licence: str
    rows: int


class FileFacts(TypedDict):
    """One file of a model: its SHA-256 in hexadecimal and its size."""

    sha256: str
    bytes: int


class Facts(TypedDict):
    """Facts about a trained model.

    `what` describes the model in one sentence. `recipe` is the path of the recipe in the repository, such as
    `recipes/x.toml`. `measured` maps names to numbers or text; the most important result comes first, because
    listings show only the first one. `date` has the form YYYY-MM-DD.
    """

    what: str
    recipe: str
    data: Sequence[Data]
    seed: int
    measured: Mapping[str, float | str]
    date: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A bundled model. Other fields are the same as in `Facts`.

    Args:
        name: The name of its folder; `find_model` finds it as `gistmeter/NAME`.
        files: The files by path relative to the folder, with forward slashes, without the model card.
    """

    name: str
    what: str
    recipe: str
    data: Sequence[Data]
    seed: int
    measured: Mapping[str, float | str]
    date: str
    files: Mapping[str, FileFacts]

    @property
    def bytes(self) -> int:
        """The total size of its files."""
        return sum(file["bytes"] for file in self.files.values())

    @property
    def digest(self) -> str:
        """The combined SHA-256 of all its files, in hexadecimal."""
        lines = "".join(f"{path} {file['sha256']}\n" for path, file in sorted(self.files.items()))
        return hashlib.sha256(lines.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with the bundle.

    Args:
        name: The name of the model or the extra file; `bundle` if the whole bundle is affected.
        says: The problem and how to fix it.
    """

    name: str
    says: str


def entries(*, root: Path = BUNDLE) -> list[Entry]:
    """Return the bundled models, sorted by name.

    Raises:
        BadModel: If the manifest is missing or damaged.
    """
    path = root / MANIFEST
    try:
        models = json.loads(path.read_text(encoding="utf-8"))["models"]
        return [_sound(Entry(name=name, **models[name])) for name in sorted(models)]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadModel(f"{path} is missing or damaged; {REINSTALL}") from error


def entry(name: str, *, root: Path = BUNDLE) -> Entry:
    """Return a bundled model.

    Raises:
        ModelNotFound: If there is no such model.
        BadModel: If the manifest is missing or damaged.
    """
    known = {one.name: one for one in entries(root=root)}
    if name not in known:
        names = ", ".join(known) or "none"
        raise ModelNotFound(f"gistmeter has no bundled model {name!r}; choose one of: {names}")
    return known[name]


def flaws(model: Entry, *, root: Path = BUNDLE, fresh: bool = False) -> list[str]:
    """Return the problems with the files of a model: missing, changed or extra files.

    Args:
        model: A bundled model.
        root: The folder of the bundle.
        fresh: Whether to compute all checksums again instead of using cached ones.
    """
    found = _files(root / model.name)
    said = []
    for path in sorted(model.files.keys() | found.keys()):
        if path not in found:
            said.append(f"{path} is missing; {REINSTALL}")
        elif path not in model.files:
            said.append(f"{path} is not in the manifest; delete it")
        elif sha256(found[path], fresh=fresh) != model.files[path]["sha256"]:
            said.append(f"{path} differs from the published file; {REINSTALL}")
    return said


def verify(*, root: Path = BUNDLE) -> list[Problem]:
    """Check all bundled files and the total size, and report extra files.

    All checksums are computed again.

    Raises:
        BadModel: If the manifest is missing or damaged.
    """
    known = entries(root=root)
    problems = [Problem(model.name, said) for model in known for said in flaws(model, root=root, fresh=True)]
    ours = {model.name for model in known} | {"__init__.py", MANIFEST}
    present = _files(root)
    beside = dict.fromkeys(path.partition("/")[0] for path in present)
    problems += [
        Problem(name, "is not in the manifest; register or delete it") for name in beside if name not in ours
    ]
    size = sum(path.stat().st_size for path in present.values())
    if size > BUDGET:
        problems.append(Problem("bundle", f"{size / 1e6:.1f} MB exceed the limit of {BUDGET / 1e6:.0f} MB"))
    return problems


def register(name: str, *, root: Path = BUNDLE, **facts: Unpack[Facts]) -> Entry:
    """Add a model to the manifest, or update its entry after training.

    Args:
        name: The name of its folder in the bundle: lowercase letters, digits, - and _.
        root: The folder of the bundle.
        **facts: The facts to record; see `Facts`.

    Raises:
        ModelNotFound: If the folder is missing or empty.
        UsageError: If the name, the date or a measured value is not valid.
        BadModel: If the manifest is missing or damaged.
    """
    _check(name, facts)
    found = _files(root / name)
    if not found:
        raise ModelNotFound(f"no files in {root / name}; save the model there first")
    files: dict[str, FileFacts] = {
        path: {"sha256": sha256(file), "bytes": file.stat().st_size} for path, file in found.items()
    }
    new = Entry(name=name, files=files, **facts)
    _write(root, {model.name: model for model in entries(root=root)} | {name: new})
    return new


def _sound(model: Entry) -> Entry:
    """Return an entry unchanged; raise KeyError or TypeError if it is incomplete."""
    for file in model.files.values():
        hash(str.lower(file["sha256"]) + format(file["bytes"], "d"))
    for data in model.data:
        str.lower(data["licence"])
    if not isinstance(model.measured, dict) or not isinstance(model.what, str):
        raise TypeError(f"the entry of {model.name} has values of the wrong type")
    return model


def _check(name: str, facts: Facts) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        raise UsageError(f"{name!r} is not a valid model name; use lowercase letters, digits, - and _")
    try:
        good = date.fromisoformat(facts["date"]).isoformat() == facts["date"]
    except ValueError:
        good = False
    if not good:
        raise UsageError(f"{name}: the date {facts['date']!r} is not valid; use YYYY-MM-DD")
    for figure, value in facts["measured"].items():
        if not isinstance(value, str) and not math.isfinite(value):
            raise UsageError(
                f"{name}: {figure} is {value}; give a finite number, or text that explains why there is none"
            )


def _files(folder: Path) -> dict[str, Path]:
    """Return the files in a folder by relative path, without the model card and `__pycache__`."""
    below = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        path.as_posix(): file
        for path, file in below.items()
        if path.as_posix() != CARD and "__pycache__" not in path.parts
    }


def _write(root: Path, models: Mapping[str, Entry]) -> None:
    """Replace the manifest atomically."""
    plain = {name: _plain(models[name]) for name in sorted(models)}
    text = json.dumps({"models": plain}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    draft = root / f".{MANIFEST}.{os.getpid()}"
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(root / MANIFEST)
    finally:
        draft.unlink(missing_ok=True)


def _plain(model: Entry) -> dict[str, Any]:
    """Return the manifest entry of a model, with all keys sorted except those of `measured`."""
    facts: dict[str, Any] = {key: value for key, value in sorted(asdict(model).items()) if key != "name"}
    facts["data"] = [dict(sorted(data.items())) for data in facts["data"]]
    facts["files"] = {path: dict(sorted(file.items())) for path, file in sorted(facts["files"].items())}
    return facts
