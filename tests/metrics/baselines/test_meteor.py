"""Test METEOR: hand-computed values, WordNet, and what is missing."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nltk.corpus
import pytest
from nltk.corpus.reader import WordNetCorpusReader
from nltk.corpus.util import LazyCorpusLoader

from gistmeter import catalog
from gistmeter.core.errors import MissingExtra, ModelNotFound, UsageError
from gistmeter.core.example import Example
from gistmeter.core.score import Flag

CASES = json.loads((Path(__file__).parents[2] / "golden" / "meteor.json").read_text())


def value(candidate: str, against: list[str], **options: object) -> float:
    [score] = catalog.build("meteor", options=options).score([Example("1", candidate, references=against)])
    return score.value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["provenance"])
def test_golden(case: dict[str, Any]) -> None:
    found = value(case["input"]["candidate"], case["input"]["references"], **case["input"].get("options", {}))
    assert found == pytest.approx(case["value"]["value"], abs=case["tolerance"])


class Synonyms:
    """A WordNet in which boat and ship are synonyms."""

    def ensure_loaded(self) -> None:
        pass

    def get_version(self) -> str:
        return "9.9"

    def synsets(self, word: str) -> list[Any]:
        names = [SimpleNamespace(name=lambda: "boat"), SimpleNamespace(name=lambda: "ship")]
        return [SimpleNamespace(lemmas=lambda: names)] if word in ("boat", "ship") else []


def test_synonyms_match_with_a_wordnet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk.corpus, "wordnet", Synonyms())
    assert value("the boat", ["the ship"]) < value("the boat", ["the ship"], synonyms="wordnet") == 0.9375
    metric = catalog.build("meteor", options={"synonyms": "wordnet"})
    assert "|synonyms=wordnet-9.9|" in metric.signature.text


def test_data_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = LazyCorpusLoader("absent_wordnet", WordNetCorpusReader, None)
    monkeypatch.setattr(nltk.corpus, "wordnet", absent)
    with pytest.raises(ModelNotFound, match=r"run: python -m nltk\.downloader wordnet, or omit"):
        catalog.build("meteor", options={"synonyms": "wordnet"})
    with pytest.raises(UsageError, match="NLTK has no WordNet of this name"):
        catalog.build("meteor", options={"synonyms": "stopwords_"})
    with pytest.raises(UsageError, match=r"alpha=2\.0: give a number from 0 to 1"):
        catalog.build("meteor", options={"alpha": 2})


def test_without_nltk_all_leaves_it_out_and_its_name_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "nltk", None)
    few = {name: catalog.METRICS[name] for name in ("meteor", "rouge")}
    monkeypatch.setattr(catalog, "METRICS", few)
    monkeypatch.setattr(catalog, "entry_points", lambda *, group: [])
    with caplog.at_level("INFO", "gistmeter"):
        assert list(catalog.load_all(["all"])) == ["rouge"]
    assert "pip install 'gistmeter[meteor]'" in caplog.text
    with pytest.raises(MissingExtra):
        catalog.load_all(["meteor"])


def test_texts_without_words() -> None:
    metric = catalog.build("meteor")
    blank, mixed = metric.score(
        [Example("1", "?!", references=["Rain"]), Example("2", "Rain fell", references=["...", "Rain fell"])]
    )
    assert blank.problem and blank.problem.endswith("finds no word in the candidate")
    assert (mixed.value, mixed.flags) == (0.9375, (Flag("no_words", "reference", index=0),))
