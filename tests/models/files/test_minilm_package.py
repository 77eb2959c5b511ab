"""The package gistmeter-minilm: made of verified files, used where it is installed."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from gistmeter.core.errors import BadModel
from gistmeter.models.files import minilm
from gistmeter.models.files.find import find_model

PACKAGE = Path("packages/gistmeter-minilm")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make the package as `make weights` does, and put it on the path; return the folder of the model."""
    before = find_model("minilm")
    folder = tmp_path / "gistmeter_minilm" / "model"
    prepare().main(before.folder.parent.name, folder)
    (folder.parent / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(minilm, "PACKAGES", ("gistmeter_minilm", before.folder.parent.name))
    yield folder
    sys.modules.pop("gistmeter_minilm", None)


def prepare() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prepare_minilm", "packages/prepare_minilm.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_package_is_used_where_it_is_installed(installed: Path) -> None:
    found = find_model("minilm")
    assert found.folder == installed
    assert found.identity == "all-MiniLM-L6-v2@53aa51172d14", "scores and signatures stay the same"
    written = {path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()}
    assert written == set(minilm.SHA256), "weights and tokenizer only, no code"
    (installed / "vocab.txt").write_text("other")
    with pytest.raises(
        BadModel, match=r"vocab.txt differs .* pip install --force-reinstall gistmeter-minilm"
    ):
        find_model("minilm")


def test_the_package_declares_no_dependency() -> None:
    import tomllib

    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    assert "dependencies" not in project and project["license"] == "Apache-2.0"
