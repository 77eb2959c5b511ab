"""Caches converted models on disk, one folder per model in the user's cache folder.

The name of a folder is a digest of the module's weights and architecture, the precision and the versions of
all libraries involved. A folder is written under a temporary name and then renamed, so it is always complete;
if two processes convert the same model at once, the first result is kept. SHA-256 checksums are verified on
reading, and a damaged folder is deleted and created again. If the cache is not writable, each process
converts the models itself.
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
"""Version of the conversion; increase it when the same module converts to a different model."""
PACKAGES = ("gistmeter", "openvino", "torch", "transformers")
FILES = ("model.xml", "model.bin")
CHECKSUMS = "sha256.json"


def key_of(submodule: torch.nn.Module, precision: str) -> str:
    """Return the cache key of a conversion: a digest of everything that affects the result."""
    digest = hashlib.sha256()
    packages = [*PACKAGES, *(["nncf"] if precision == "int8" else [])]
    facts = [FORMAT, precision, *(f"{name}={version(name)}" for name in packages)]
    configs = {id(config): config for config in (getattr(m, "config", None) for m in submodule.modules())}
    shapes = [config.to_json_string() for config in configs.values() if isinstance(config, PretrainedConfig)]
    digest.update(json.dumps([facts, type(submodule).__name__, repr(submodule), shapes]).encode())
    for name, tensor in submodule.state_dict().items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()[:32]


def read_model(key: str) -> Model | None:
    """Return a cached model, or None if there is none; delete a damaged one."""
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
    """Store a converted model, unless another process has stored it or the cache is not writable."""
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
