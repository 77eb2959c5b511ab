"""The package gistmeter-multilingual: what it declares, and the real weights where it is installed."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

import gistmeter as gm
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files import multilingual
from gistmeter.models.files.find import find_model

PACKAGES = Path(__file__).parents[3] / "packages"
installed = pytest.mark.skipif(
    not multilingual.is_packaged(), reason="gistmeter-multilingual is not installed, see docs/languages.md"
)


def test_the_package_declares_no_dependency_and_its_samples_are_in_its_languages() -> None:
    project = tomllib.loads((PACKAGES / "gistmeter-multilingual" / "pyproject.toml").read_text())["project"]
    assert "dependencies" not in project and project["license"] == "MIT"
    samples = json.loads((PACKAGES / "multilingual" / "samples.json").read_text(encoding="utf-8"))
    assert sorted(samples) == sorted(multilingual.LANGUAGES)
    assert {len(texts) for texts in samples.values()} == {23}


@installed
@pytest.mark.slow
def test_translations_are_closer_than_unrelated_sentences() -> None:
    samples = json.loads((PACKAGES / "multilingual" / "samples.json").read_text(encoding="utf-8"))
    encoder = Encoder.load("multilingual")
    assert encoder.prompt == multilingual.E5_PROMPT
    english, french = (encoder.embed(samples[language]).vectors for language in ("en", "fr"))
    similarity = english @ french.T
    unrelated = np.where(np.eye(len(similarity), dtype=bool), -1.0, similarity)
    assert (similarity.diagonal() > unrelated.max(axis=1)).mean() >= 0.95


@installed
@pytest.mark.slow
def test_a_french_row_has_a_value_and_a_japanese_one_has_none() -> None:
    assert find_model("multilingual").identity.startswith("multilingual-e5-small-10@d7002c347df3")
    texts = {"candidate": "Il pleut.", "references": ["Il pleut beaucoup."]}
    rows = [{**texts, "language": "fr"}, {**texts, "language": "ja"}]
    french, japanese = gm.score("speed", rows, preset="multilingual").scores
    assert 0.8 < french.value <= 1.0
    assert japanese.problem is not None and "the row is in ja" in japanese.problem
