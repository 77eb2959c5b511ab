"""The models that ship with gistmeter: which there are, where they lie, whether they are whole.

Each is a folder of `gistmeter/bundle`; `manifest.json` there says of each what it is, how it was made, what
it was trained on and what every file's SHA-256 is. A model's card, its `README.md`, decides no number and
stands outside those hashes, so a card can be corrected without a new manifest.
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
BUDGET = 60_000_000  # bytes of all models together
REINSTALL = "run: pip install --force-reinstall gistmeter"


class Data(TypedDict):
    """A data set that a model was trained on."""

    name: str
    licence: str
    rows: int


class FileFacts(TypedDict):
    """One file of a model: its SHA-256 in hexadecimal and its size."""

    sha256: str
    bytes: int


class Facts(TypedDict):
    """What a training knows of the model it made.

    `what` is one sentence; `recipe` the recipe's path in the repository, as `recipes/x.toml`; `measured`
    holds numbers or text by name, the most telling first, since a list shows only that one; `date` is
    written YYYY-MM-DD.
    """

    what: str
    recipe: str
    data: Sequence[Data]
    seed: int
    measured: Mapping[str, float | str]
    date: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A model that ships. Fields as in `Facts`.

    Args:
        name: Of its folder; `find_model` knows it as `gistmeter/NAME`.
        files: By path below its folder, written with slashes; its card is not among them.
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
        """The size of its files."""
        return sum(file["bytes"] for file in self.files.values())

    @property
    def digest(self) -> str:
        """One SHA-256 of all its files, in hexadecimal."""
        lines = "".join(f"{path} {file['sha256']}\n" for path, file in sorted(self.files.items()))
        return hashlib.sha256(lines.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with what ships.

    Args:
        name: Of the model, or of what lies in the bundle beside the models; `bundle` for all of it.
        says: What is wrong and what to do.
    """

    name: str
    says: str


def entries(*, root: Path = BUNDLE) -> list[Entry]:
    """Return the models that ship, by name.

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
    """Return a model that ships.

    Raises:
        ModelNotFound: If there is no such model.
        BadModel: If the manifest is missing or damaged.
    """
    known = {one.name: one for one in entries(root=root)}
    if name not in known:
        names = ", ".join(known) or "none"
        raise ModelNotFound(f"no model {name!r} ships with gistmeter; choose one of: {names}")
    return known[name]


def bundled(name: str, *, root: Path = BUNDLE) -> Path:
    """Return the folder of a model that ships, its files unchecked; `find_model` checks them.

    Raises:
        ModelNotFound: If there is no such model.
        BadModel: If the manifest is missing or damaged.
    """
    return root / entry(name, root=root).name


def flaws(model: Entry, *, root: Path = BUNDLE, fresh: bool = False) -> list[str]:
    """Say what is wrong with a model's files: missing, changed, or not its own; nothing if it is whole.

    Args:
        model: One that ships.
        root: The bundle.
        fresh: Compute every checksum anew instead of trusting those that are remembered.
    """
    found = _files(root / model.name)
    said = []
    for path in sorted(model.files.keys() | found.keys()):
        if path not in found:
            said.append(f"{path} is missing; {REINSTALL}")
        elif path not in model.files:
            said.append(f"{path} is not in the manifest; remove it")
        elif sha256(found[path], fresh=fresh) != model.files[path]["sha256"]:
            said.append(f"{path} is not the file that was published; {REINSTALL}")
    return said


def verify(*, root: Path = BUNDLE) -> list[Problem]:
    """Check every file that ships, that there are no others, and that all fit the budget.

    Every checksum is computed anew.

    Raises:
        BadModel: If the manifest is missing or damaged.
    """
    known = entries(root=root)
    problems = [Problem(model.name, said) for model in known for said in flaws(model, root=root, fresh=True)]
    ours = {model.name for model in known} | {"__init__.py", MANIFEST}
    present = _files(root)
    beside = dict.fromkeys(path.partition("/")[0] for path in present)
    problems += [
        Problem(name, "is not in the manifest; register or remove it") for name in beside if name not in ours
    ]
    size = sum(path.stat().st_size for path in present.values())
    if size > BUDGET:
        problems.append(Problem("bundle", f"{size / 1e6:.1f} MB, of {BUDGET / 1e6:.0f} MB at most"))
    return problems


def register(name: str, *, root: Path = BUNDLE, **facts: Unpack[Facts]) -> Entry:
    """Write a model that lies in its folder into the manifest, or write it anew after a training.

    Args:
        name: Of its folder in the bundle: small letters, digits, - and _.
        root: The bundle.
        **facts: What to say of it.

    Raises:
        ModelNotFound: If its folder is missing or empty.
        UsageError: If its name, its date or a measured figure cannot be written down.
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
    """Return an entry as it is; raise KeyError or TypeError if it lacks something."""
    for file in model.files.values():
        hash(str.lower(file["sha256"]) + format(file["bytes"], "d"))
    for data in model.data:
        str.lower(data["licence"])
    if not isinstance(model.measured, dict) or not isinstance(model.what, str):
        raise TypeError(f"{model.name} is described by values of the wrong kind")
    return model


def _check(name: str, facts: Facts) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        raise UsageError(f"a model cannot be called {name!r}; use small letters, digits, - and _")
    try:
        good = date.fromisoformat(facts["date"]).isoformat() == facts["date"]
    except ValueError:
        good = False
    if not good:
        raise UsageError(f"{name}: the date {facts['date']!r} is not written YYYY-MM-DD")
    for figure, value in facts["measured"].items():
        if not isinstance(value, str) and not math.isfinite(value):
            raise UsageError(
                f"{name}: {figure} is {value}; give a number, or text that says why there is none"
            )


def _files(folder: Path) -> dict[str, Path]:
    """Return the files below a folder by their path there, without its card and Python's own leavings."""
    below = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        path.as_posix(): file
        for path, file in below.items()
        if path.as_posix() != CARD and "__pycache__" not in path.parts
    }


def _write(root: Path, models: Mapping[str, Entry]) -> None:
    """Replace the manifest in one step, so that nobody reads half of it."""
    plain = {name: _plain(models[name]) for name in sorted(models)}
    text = json.dumps({"models": plain}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    draft = root / f".{MANIFEST}.{os.getpid()}"
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(root / MANIFEST)
    finally:
        draft.unlink(missing_ok=True)


def _plain(model: Entry) -> dict[str, Any]:
    """Return what the manifest says of a model: all keys sorted, but the figures in the order they came."""
    facts: dict[str, Any] = {key: value for key, value in sorted(asdict(model).items()) if key != "name"}
    facts["data"] = [dict(sorted(data.items())) for data in facts["data"]]
    facts["files"] = {path: dict(sorted(file.items())) for path, file in sorted(facts["files"].items())}
    return facts
