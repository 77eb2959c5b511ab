"""Lists and checks the files in a model folder that affect scores, and computes their digest."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gistmeter.core.errors import BadModel
from gistmeter.models.files.digest import sha256

NEEDED_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
POOLING_FILE = "1_Pooling/config.json"  # the pooling configuration of sentence-transformers
MODULES_FILE = "modules.json"  # the modules of sentence-transformers
PROMPT_FILE = "config_sentence_transformers.json"
LIMIT_FILE = "sentence_bert_config.json"  # the maximum number of tokens of sentence-transformers
SHA256_DIGITS, SHA1_DIGITS = 64, 40
TEMPLATES = "additional_chat_templates"
ADAPTER = "adapter_config.json"
"""If this file exists, transformers loads an adapter or weights from elsewhere."""


def weight_files(folder: Path) -> list[Path]:
    """Return the weight files of a model.

    Raises:
        BadModel: If there is no safetensors file.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise BadModel(
            f"{folder} has no *.safetensors file; pickled weights are not loaded: convert them to safetensors"
        )
    return files


def folder_files(folder: Path) -> list[Path]:
    """Return the files in a model folder that affect scores, after checking them.

    Raises:
        BadModel: If there are no weights, a file is a pipe or a device, or a file links or refers to a file
            outside the folder.
    """
    weight_files(folder)
    for path in [*folder.iterdir(), *folder.glob(f"{TEMPLATES}/*"), *folder.glob(POOLING_FILE)]:
        if not path.name.startswith("."):
            _check(path, folder)
    if (folder / ADAPTER).exists():
        raise BadModel(
            f"{folder / ADAPTER}: PEFT adapters are not supported; merge the adapter into its model"
        )
    files = {path for pattern in NEEDED_FILES for path in folder.glob(pattern)}
    files |= {*folder.glob(POOLING_FILE), *_named(folder)}
    return sorted(path for path in files if path.is_file())


def folder_digest(folder: Path, *, fresh: bool = False) -> str:
    """Return one digest of all files in a model folder that affect scores.

    Args:
        folder: A model folder.
        fresh: Whether to compute all checksums again instead of using cached ones.

    Raises:
        BadModel: As in `folder_files`.
    """
    files = folder_files(folder)
    lines = "".join(f"{path.relative_to(folder).as_posix()} {sha256(path, fresh=fresh)}\n" for path in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def check_fetched(folder: Path, *, fresh: bool = False) -> None:
    """Check a model in the Hub's cache, where each blob is named by its checksum.

    Raises:
        BadModel: As in `folder_files`, or if a file differs from the downloaded one.
    """
    for path in folder_files(folder):
        blob = path.resolve()
        if blob.parent.name == "blobs" and _blob_digest(blob, fresh=fresh) != blob.name:
            raise BadModel(f"{path} differs from the file that was downloaded; delete {blob} and run again")


def read_json(path: Path) -> dict[str, Any]:
    """Read a file with one JSON object.

    Raises:
        BadModel: If the file is not readable or not a JSON object.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise BadModel(f"{path} is nested too deeply; replace the file") from None
    except (OSError, ValueError) as error:
        raise BadModel(f"cannot read {path}: {str(error).splitlines()[0]}; replace the file") from error
    if not isinstance(value, dict):
        raise BadModel(f"{path} is not a JSON object; replace the file")
    return value


def _check(path: Path, folder: Path) -> None:
    root, real = folder.resolve(), path.resolve()
    if not real.is_relative_to(root) and not real.is_relative_to(_blobs(root)):
        raise BadModel(f"{path} links to {real}, outside its folder; copy that file into the folder")
    if real.exists() and not (real.is_file() or real.is_dir()):
        raise BadModel(f"{path} is a pipe or a device, not a file; delete it")


def _blobs(root: Path) -> Path:
    """Return the blob folder of a snapshot in the Hub's cache; for other folders, the folder itself."""
    in_cache = root.parent.name == "snapshots" and root.parents[1].name.startswith("models--")
    return root.parents[1] / "blobs" if in_cache else root


def _named(folder: Path) -> Iterator[Path]:
    """Yield the files that other files in a folder refer to."""
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
            raise BadModel(
                f"{by} refers to {name}, which is outside its folder; copy that file into the folder"
            )
        if not path.is_file():
            raise BadModel(
                f"{by} refers to {name}, which does not exist in its folder; download the model again"
            )
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
