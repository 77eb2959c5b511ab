"""List the versions and settings that a bug report needs, without personal paths."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from gistmeter import __version__

LIBRARIES = (
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "numpy",
    "scipy",
    "spacy",
    "narwhals",
    "openvino",
    "nncf",
    "ray",
    "pyarrow",
    "pandas",
    "polars",
    "matplotlib",
)


def version_text(*, verbose: bool) -> str:
    """Return the version of gistmeter; if verbose, also those of its libraries, the cores and the models."""
    lines = {"gistmeter": __version__}
    if verbose:
        lines |= {"python": f"{platform.python_version()} on {platform.system()} {platform.machine()}"}
        lines |= {name: _version(name) for name in LIBRARIES}
        lines |= _machine() | _models()
    return "".join(f"{name} {value}\n" for name, value in lines.items())


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _machine() -> dict[str, str]:
    from gistmeter.models.run.runtime import Runtime, has_openvino

    count = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else count
    device = str(Runtime(backend="torch").torch_device())
    backend = "openvino" if has_openvino() and device == "cpu" else "torch"
    return {"cores": f"{usable} of {count}", "device": device, "backend": backend}


def _models() -> dict[str, str]:
    from gistmeter.models.files import minilm
    from gistmeter.models.files.bundle import BUNDLE, entries
    from gistmeter.models.files.pinned import HOME, PINNED, models_folder

    included = ", ".join(model.name for model in entries(root=BUNDLE))
    found = next((package for package in minilm.PACKAGES if find_spec(package)), "not found")
    fetched = {
        model.name: "found" if (models_folder() / model.name).is_dir() else "not fetched"
        for model in PINNED.values()
    }
    folder = f"set by {HOME}" if HOME in os.environ else str(models_folder())
    return {"included models:": included, "minilm": found, **fetched, "models folder:": folder}
