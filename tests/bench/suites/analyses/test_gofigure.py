"""Test the analyses of GO FIGURE."""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from scipy.stats import pearsonr

from gistmeter.bench.suites.analyses.cloze import Change
from gistmeter.bench.suites.analyses.gofigure import (
    FAMILIES,
    LEVELS,
    Corrupted,
    Injected,
    corrupt,
    others,
    sensitivity,
)
from gistmeter.bench.suites.analyses.gofigure_sites import Site, find_sites, wrong_texts
from gistmeter.bench.suites.gofigure_texts import changes_of
from gistmeter.text.factors import Pipeline

if TYPE_CHECKING:
    from spacy.tokens import Doc

# word/tag/dependency, and /entity where the word is part of one
PARSED = (
    "Anna/NNP/compound/B-PERSON Berg/NNP/nsubj/I-PERSON has/VBZ/aux sold/VBN/ROOT her/PRP$/poss boat/NN/dobj "
    "in/IN/prep Oslo/NNP/pobj/B-GPE for/IN/prep 1,200/CD/nummod/B-CARDINAL euros/NNS/pobj because/IN/mark "
    "she/PRP/nsubj could/MD/aux n't/RB/neg sail/VB/advcl it/PRP/dobj ./././",
    "The/DT/det mayor/NN/nsubj of/IN/prep Bergen/NNP/pobj/B-GPE never/RB/neg opened/VBD/ROOT "
    "two/CD/nummod/B-CARDINAL schools/NNS/dobj on/IN/prep Monday/NNP/pobj/B-DATE ./././",
    "Rain/NN/nsubj ././ROOT",
)


def parsed(line: str) -> "Doc":
    import spacy
    from spacy.tokens import Doc

    rows = [
        (*word.split("/"), "O")[:4] if word[0] != "." else (".", ".", "punct", "O") for word in line.split()
    ]
    words = [row[0] for row in rows]
    return Doc(
        spacy.blank("en").vocab,
        words=words,
        spaces=[after not in {".", "n't"} for after in (*words[1:], ".")],
        tags=[row[1] for row in rows],
        deps=[row[2] or "punct" for row in rows],
        heads=[0] * len(rows),
        ents=[row[3] for row in rows],
    )


DOCS = {doc.text: doc for doc in map(parsed, PARSED)}
SELLER, MAYOR, RAIN = DOCS


class ByHeart:
    """A pipeline that knows a few texts by heart, parsed by hand."""

    @contextmanager
    def session(self) -> Iterator["ByHeart"]:
        yield self

    def pipe(self, texts: Iterable[str]) -> Iterator["Doc"]:
        return (DOCS[text] for text in texts)


PIPELINE = cast(Pipeline, ByHeart())


def made(seed: int = 0) -> Mapping[str, tuple[Corrupted, ...]]:
    return cast(Mapping[str, tuple[Corrupted, ...]], corrupt([(SELLER, MAYOR)], PIPELINE, seed=seed)[0])


def test_sites_are_what_can_be_wrong() -> None:
    found = [(site.kind, site.text) for site in find_sites(DOCS[SELLER])]
    assert found == [
        ("entity", "Anna Berg"),
        ("negation", "has"),
        ("verb", "sold"),
        ("pronoun", "her"),
        ("entity", "Oslo"),
        ("number", "1,200"),
        ("pronoun", "she"),
        ("negation", "couldn't"),
        ("verb", "sail"),
        ("pronoun", "it"),
    ]
    assert ("negation", "never") in [(site.kind, site.text) for site in find_sites(DOCS[MAYOR])]


def test_each_kind_is_made_wrong_in_its_own_way() -> None:
    sites = {site.text: site for site in find_sites(DOCS[SELLER])}
    known = {"GPE": ["Oslo", "Bergen"], "PRP$ 0": ["her"]}

    def wrong(text: str) -> Mapping[str, str]:
        return cast(Mapping[str, str], wrong_texts(sites[text], known, Random(0)))

    assert wrong("Oslo")["swap"] == "Bergen"
    assert wrong("Oslo")["replace"] not in ("Oslo", "Bergen", "")
    assert wrong("Oslo")["delete"] == ""
    assert "swap" not in wrong("her") and wrong("her")["replace"] in ("his", "their", "our", "my")
    number = wrong("1,200")["replace"]
    assert number != "1,200" and number[1] == "," and number.replace(",", "").isdigit()
    assert wrong("couldn't") == {"delete": "could"}
    assert wrong("has") == {"replace": "has not"}
    assert wrong("sail")["replace"] in ("sell", "avoid", "forget", "praise", "leave")


@pytest.mark.parametrize(
    ("text", "right"), [("can't", "can"), ("Won't", "Will"), ("isn't", "is"), ("Never", "Always")]
)
def test_negations_are_undone(text: str, right: str) -> None:
    site = Site("negation", 0, len(text), "negated", text)
    assert wrong_texts(site, {}, Random(0)) == {"delete": right}


def test_levels_grow_by_one_error_each_of_their_family() -> None:
    for seed in range(30):
        for family, levels in made(seed).items():
            assert [len(level.errors) for level in levels] == [1, 2, 3]
            assert levels[2].errors[:2] == levels[1].errors and levels[1].errors[:1] == levels[0].errors
            for error in levels[2].errors:
                assert error.kind in FAMILIES[family]  # type: ignore[index]
                assert SELLER[error.start : error.end] != error.wrong
            assert len({SELLER, *(level.text for level in levels)}) == 1 + LEVELS
            places = sorted((error.start, error.end) for error in levels[2].errors)
            assert all(end <= start for (_, end), (start, _) in pairwise(places))
            assert "  " not in levels[2].text


def test_errors_stand_where_they_say() -> None:
    for level in made()["other"]:
        text, shift = SELLER, 0
        for error in sorted(level.errors, key=lambda error: error.start):
            text = text[: error.start + shift] + error.wrong + text[error.end + shift :]
            shift += len(error.wrong) - (error.end - error.start)
        assert text == level.text


def test_the_places_of_errors_in_the_text_with_errors() -> None:
    for levels in made().values():
        for level in levels:
            changes = changes_of(level, SELLER)
            kept = [error for error in level.errors if error.wrong]
            assert sorted(level.text[c.start : c.end] for c in changes) == sorted(e.wrong for e in kept)
            restored = level.text
            for change in reversed(changes):
                restored = restored[: change.start] + change.original + restored[change.end :]
            assert len(kept) < len(level.errors) or restored == SELLER
    swapped = Corrupted("Anna left Bergen.", (Injected("entity", "swap", 10, 14, "Bergen"),))
    assert changes_of(swapped, "Anna left Oslo.") == [Change(10, 16, "Oslo")]


def test_errors_depend_on_seed_and_text_alone() -> None:
    both = corrupt([(MAYOR, SELLER), (SELLER, MAYOR)], PIPELINE)
    assert both[1] == made() == made()
    assert len({made(seed)["entity"][2].text for seed in range(10)}) > 3


def test_a_text_without_room_for_three_errors_is_left_out() -> None:
    assert corrupt([(RAIN, SELLER)], PIPELINE) == [{}]
    assert set(made()) == {"entity", "other"}


def test_the_lower_bound_is_another_text() -> None:
    texts = ["a", "b", "a", "a", "c"]
    assert all(text != other for text, other in zip(texts, others(texts), strict=True))
    with pytest.raises(ValueError, match="two documents"):
        others(["a", "a"])


def test_sensitivity_is_scipys_correlation_over_texts_with_all_values() -> None:
    upper, lower = [0.9, 0.8, 0.7, math.nan], [0.1, 0.2, 0.3, 0.4]
    levels = [[0.8, 0.8, 0.9, 0.1], [0.7, 0.5, 0.2, 0.2], [0.6, 0.6, math.nan, 0.3]]
    found = sensitivity(upper, levels, lower)
    means = [float(np.mean(level[:2])) for level in levels]
    expected = pearsonr([1, 2, 3], means)
    assert (found.n, found.n_undefined, found.noticed) == (2, 2, 0.5)
    assert found.upper == pytest.approx(0.85)
    assert found.lower == pytest.approx(0.15)
    assert found.levels == pytest.approx(means)
    assert sensitivity(upper, levels, lower, [True, False, True, True]).noticed == 1.0, "the others equal"
    assert math.isnan(sensitivity(upper, levels, lower, [False] * 4).noticed)
    assert found.correlation == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)


def test_a_constant_metric_and_one_without_values_have_no_correlation() -> None:
    flat = sensitivity([0.5], [[0.5], [0.5], [0.5]], [0.5])
    assert math.isnan(flat.correlation) and math.isnan(flat.p) and flat.noticed == 0.0
    none = sensitivity([math.nan], [[1.0], [1.0], [1.0]], [1.0])
    assert (none.n, none.n_undefined) == (0, 1) and math.isnan(none.upper)


@pytest.mark.slow
def test_the_pipeline_that_ships_finds_places_for_errors() -> None:
    from gistmeter.text.factors import load_pipeline

    text = "Anna Berg has sold her boat in Oslo for 1,200 euros, but on Monday she could not find it."
    found = corrupt([(text, "Karl Lund lives in Bergen. He never sold his boat.")], load_pipeline("en"))[0]
    assert set(found) == {"entity", "other"}
    assert all(len({text, *(level.text for level in levels)}) == 4 for levels in found.values())
