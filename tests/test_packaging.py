"""What a wheel contains: absolute links in its README, recipes by name, few dependencies."""

import re
import tomllib
from pathlib import Path

import pytest

from gistmeter.app.commands import train

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
HOOK = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]


def test_the_wheels_readme_has_absolute_links() -> None:
    readme = Path("README.md").read_text(encoding="utf-8")
    (rule,) = HOOK["substitutions"]
    relative = [target for target in re.findall(rule["pattern"], readme)]
    assert len(relative) > 10 and all(Path(target.partition("#")[0]).exists() for target in relative)
    absolute = re.sub(rule["pattern"], rule["replacement"], readme)
    assert not re.search(r"\]\((?!https?://|#)", absolute)
    assert rule["replacement"].startswith(f"]({PROJECT['project']['urls']['Source']}/blob/")


def test_recipes_and_examples_are_in_the_wheel() -> None:
    assert WHEEL["force-include"] == {"examples": "gistmeter/examples", "recipes": "gistmeter/recipes"}


def test_a_recipe_of_the_wheel_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "RECIPES", Path("recipes").resolve())
    assert train._recipe("fill") == train._recipe("fill.toml") == train.RECIPES / "fill.toml"
    assert train._recipe("recipes/fill.toml") == Path("recipes/fill.toml")
    assert train._recipe("none.toml") == Path("none.toml")
    monkeypatch.chdir(tmp_path)
    Path("fill.toml").write_text("")
    assert train._recipe("fill.toml") == Path("fill.toml"), "a file comes first"
    assert train._recipe("folder/fill.toml") == Path("folder/fill.toml")


def test_all_has_every_extra_for_users() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    named = re.search(r"\[(.*)\]", extras["all"][0])
    assert named is not None
    assert set(named[1].split(",")) == set(extras) - {"all", "bench", "dev", "docs"}
