"""Finds and verifies the files of a model in an installed package."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from gistmeter.core.errors import BadModel
from gistmeter.models.files.digest import sha256


def find_packaged(packages: Sequence[str], files: Mapping[str, str], *, fresh: bool = False) -> Path | None:
    """Verify the model in the first package that is installed, and return its folder.

    Args:
        packages: The packages to look for, in order; the model is in their folder `model`.
        files: The SHA-256 of each file, by path relative to the folder.
        fresh: Whether to compute all checksums again instead of using cached ones.

    Returns:
        The folder, or None if no package is installed.

    Raises:
        BadModel: If a file differs from the published one.
    """
    for package in packages:
        spec = find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            continue
        folder = Path(spec.submodule_search_locations[0]) / "model"
        for name, expected in files.items():
            if not (folder / name).is_file() or sha256(folder / name, fresh=fresh) != expected:
                raise BadModel(
                    f"{folder / name} differs from the published file; "
                    f"run: pip install --force-reinstall {package.replace('_', '-')}"
                )
        return folder
    return None
