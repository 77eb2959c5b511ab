"""What is read of a model's folder: which files decide a number, and that none of them lies elsewhere."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gistmeter.core.errors import BadModel
from gistmeter.models.files.digest import sha256

NEEDED_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
POOLING_FILE = "1_Pooling/config.json"  # where sentence-transformers says how it pools
SHA256_DIGITS, SHA1_DIGITS = 64, 40
TEMPLATES = "additional_chat_templates"
ADAPTER = "adapter_config.json"
"""Makes transformers load an adapter, or other weights than the folder's own."""


def weight_files(folder: Path) -> list[Path]:
    """Return the files of weights of a model.

    Raises:
        BadModel: If there are none that are safetensors.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise BadModel(
            f"{folder} holds no *.safetensors; pickled weights are never loaded, so convert them first"
        )
    return files


def folder_files(folder: Path) -> list[Path]:
    """Return everything in a model's folder that decides a number, checked.

    Raises:
        BadModel: If there are no weights, a file is a pipe or a device, leads out of the folder, or names
            another one outside of it.
    """
    weight_files(folder)
    for path in [*folder.iterdir(), *folder.glob(f"{TEMPLATES}/*"), *folder.glob(POOLING_FILE)]:
        if not path.name.startswith("."):
            _check(path, folder)
    if (folder / ADAPTER).exists():
        raise BadModel(
            f"{folder / ADAPTER}: adapters of other projects are not loaded; merge it into its model"
        )
    files = {path for pattern in NEEDED_FILES for path in folder.glob(pattern)}
    files |= {*folder.glob(POOLING_FILE), *_named(folder)}
    return sorted(path for path in files if path.is_file())


def folder_digest(folder: Path, *, fresh: bool = False) -> str:
    """Return one digest of everything in a model's folder that decides a number.

    Args:
        folder: Of a model.
        fresh: Compute every checksum anew instead of trusting those that are remembered.

    Raises:
        BadModel: As `folder_files`.
    """
    files = folder_files(folder)
    lines = "".join(f"{path.relative_to(folder).as_posix()} {sha256(path, fresh=fresh)}\n" for path in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def check_fetched(folder: Path, *, fresh: bool = False) -> None:
    """Check a model in the Hub's cache, where the name of each blob is its checksum.

    Raises:
        BadModel: As `folder_files`, or if a file is not the one that was fetched.
    """
    for path in folder_files(folder):
        blob = path.resolve()
        if blob.parent.name == "blobs" and _blob_digest(blob, fresh=fresh) != blob.name:
            raise BadModel(f"{path} differs from the file that was downloaded; delete {blob} and run again")


def read_json(path: Path) -> dict[str, Any]:
    """Read a file that holds one object of JSON.

    Raises:
        BadModel: If it does not.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise BadModel(f"{path} is nested too deeply") from None
    except (OSError, ValueError) as error:
        raise BadModel(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
    if not isinstance(value, dict):
        raise BadModel(f"{path} holds no object of JSON")
    return value


def _check(path: Path, folder: Path) -> None:
    root, real = folder.resolve(), path.resolve()
    if not real.is_relative_to(root) and not real.is_relative_to(_blobs(root)):
        raise BadModel(f"{path} leads out of its folder, to {real}; copy that file into the folder")
    if real.exists() and not (real.is_file() or real.is_dir()):
        raise BadModel(f"{path} is a pipe or a device, not a file; remove it")


def _blobs(root: Path) -> Path:
    """Return where the Hub's cache keeps the files of a snapshot; the folder itself, if it is none."""
    in_cache = root.parent.name == "snapshots" and root.parents[1].name.startswith("models--")
    return root.parents[1] / "blobs" if in_cache else root


def _named(folder: Path) -> Iterator[Path]:
    """Yield the files that other files of a folder name."""
    for path in sorted(folder.glob("*.index.json")):
        shards = read_json(path).get("weight_map")
        yield from _inside(folder, path, list(shards.values()) if isinstance(shards, dict) else [shards])
    for name, key in (
        ("config.json", "transformers_weights"),
        ("tokenizer_config.json", "fast_tokenizer_files"),
    ):
        named = read_json(folder / name).get(key) if (folder / name).is_file() else None
        if named is not None:
            yield from _inside(folder, folder / name, named if isinstance(named, list) else [named])


def _inside(folder: Path, by: Path, names: list[Any]) -> Iterator[Path]:
    for name in dict.fromkeys(map(str, names)):
        path = folder / name
        if ".." in Path(name).parts or not path.is_relative_to(folder):
            raise BadModel(f"{by} names {name}, which is outside of its folder")
        if not path.is_file():
            raise BadModel(f"{by} names {name}, which is no file of its folder")
        _check(path, folder)
        yield path


def _blob_digest(blob: Path, *, fresh: bool) -> str:
    """Return the checksum that the name of a blob should equal; the name itself if it is no checksum."""
    if len(blob.name) == SHA256_DIGITS:
        return sha256(blob, fresh=fresh)
    if len(blob.name) == SHA1_DIGITS:
        return _git_sha1(blob)
    return blob.name


def _git_sha1(path: Path) -> str:
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
