"""Converted models on disk: a folder each in the user's cache folder.

A folder's name says what is in it: a digest of the module's weights and shape, of the precision and of the
versions of everything that took part. Folders are written under another name and then renamed, so that there
is never half a one: of two processes that convert at once, the later keeps what the earlier wrote. Files are
checked by SHA-256 when they are read; a damaged folder is deleted and made again. Where nothing can be
written, each process converts for itself.
"""

import hashlib
import json
import shutil
import tempfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import torch
from platformdirs import user_cache_path
from transformers import PretrainedConfig

from gistmeter.models.run.openvino.model import openvino
from gistmeter.models.run.types import Model

FORMAT = 2
"""Raised whenever conversion would make something else of the same module."""
PACKAGES = ("gistmeter", "openvino", "torch", "transformers")
FILES = ("model.xml", "model.bin")
CHECKSUMS = "sha256.json"


def key_of(submodule: torch.nn.Module, precision: str) -> str:
    """Return the name of a conversion: a digest of everything that decides it."""
    digest = hashlib.sha256()
    packages = [*PACKAGES, *(["nncf"] if precision == "int8" else [])]
    facts = [FORMAT, precision, *(f"{name}={version(name)}" for name in packages)]
    configs = {id(config): config for config in (getattr(m, "config", None) for m in submodule.modules())}
    shapes = [
        config.to_json_string() for config in configs.values() if isinstance(config, PretrainedConfig)
    ]
    digest.update(json.dumps([facts, type(submodule).__name__, repr(submodule), shapes]).encode())
    for name, tensor in submodule.state_dict().items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()[:32]


def read_model(key: str) -> Model | None:
    """Return a converted model, or None where there is none; delete a damaged one."""
    folder = _root() / key
    if not folder.is_dir():
        return None
    try:
        wanted = json.loads((folder / CHECKSUMS).read_text(encoding="utf-8"))
        if wanted == _checksums(folder):
            return openvino().Core().read_model(folder / FILES[0])
    except (OSError, ValueError, RuntimeError):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    return None


def store_model(key: str, model: Model) -> None:
    """Store a converted model, unless another process did so before, or the cache cannot be written."""
    root = _root()
    with suppress(OSError, RuntimeError):
        root.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="new-", dir=root))
        try:
            openvino().save_model(model, folder / FILES[0], compress_to_fp16=False)
            (folder / CHECKSUMS).write_text(json.dumps(_checksums(folder)), encoding="utf-8")
            folder.rename(root / key)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _root() -> Path:
    return user_cache_path("gistmeter") / "openvino"


def _checksums(folder: Path) -> dict[str, str]:
    found = {}
    for name in FILES:
        with (folder / name).open("rb") as file:
            found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found
