"""Check the pairs in examples: each has a correct text and one that differs in one fact."""

import importlib.util
import json
import re
from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gistmeter.core.score import Score
from gistmeter.io.rows import read_rows
from gistmeter.text.sentences import split_sentences

ROOT = Path(__file__).parents[1]
FILE = ROOT / "examples" / "careful.jsonl"
ERRORS = ("person", "place", "number", "time", "role", "negation", "cause")
ROWS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
PAIRS = list(zip(ROWS[::2], ROWS[1::2], strict=True))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def new_bigrams(row: dict[str, Any]) -> float:
    """Return the share of a candidate's pairs of words that its source does not have."""
    own, there = (list(pairwise(w)) for w in (words(row["candidate"]), words(row["source"])))
    return sum(pair not in there for pair in own) / len(own)


def test_there_are_forty_pairs_of_each_kind_and_style_as_many() -> None:
    assert len(ROWS) == 80
    assert len({row["id"] for row in ROWS}) == 80
    counts = Counter(careful["error"] for careful, _ in PAIRS)
    assert set(counts) == set(ERRORS)
    assert max(counts.values()) - min(counts.values()) <= 1
    assert Counter(careful["style"] for careful, _ in PAIRS) == {"retold": 20, "close": 20}
    for error in ERRORS:
        styles = Counter(careful["style"] for careful, _ in PAIRS if careful["error"] == error)
        assert abs(styles["retold"] - styles["close"]) <= 1


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0]["doc_id"])
def test_the_two_texts_of_a_pair_differ_in_one_place(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    careful, careless = pair
    name = careful["doc_id"]
    assert [row["id"] for row in pair] == [f"{name}-careful", f"{name}-careless"]
    assert [row["system"] for row in pair] == ["careful", "careless"]
    for field in ("doc_id", "source", "error", "style"):
        assert careful[field] == careless[field]
    assert 5 <= len(split_sentences(careful["source"])) <= 9
    lengths = [len(row["candidate"].split()) for row in pair]
    assert abs(lengths[0] - lengths[1]) <= 0.15 * lengths[0]
    first, second = words(careful["candidate"]), words(careless["candidate"])
    changed = [
        code
        for code in SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
        if code[0] != "equal"
    ]
    assert changed
    if careful["error"] == "role":  # exchanged: the words stay
        assert sorted(first) == sorted(second)
    else:
        assert changed[-1][2] - changed[0][1] <= 9


@pytest.mark.parametrize("error", ["person", "place", "number", "time"])
def test_half_of_the_wrong_values_stand_elsewhere_in_the_source(error: str) -> None:
    found = []
    for careful, careless in PAIRS:
        if careful["error"] == error:
            new = set(words(careless["candidate"])) - set(words(careful["candidate"]))
            found.append(len(new & set(words(careful["source"]))) > len(new) / 2)
    assert sum(found) == len(found) / 2


def test_retold_texts_have_few_of_the_words_of_their_sources() -> None:
    for careful, _ in PAIRS:
        share = new_bigrams(careful)
        assert share > 0.8 if careful["style"] == "retold" else share < 0.3


def test_rows_are_read_with_their_further_fields() -> None:
    assert all(row.problem is None for row in read_rows(FILE))


@pytest.fixture
def careful_script() -> ModuleType:
    """Return the benchmark script that counts the pairs."""
    spec = importlib.util.spec_from_file_location("careful", ROOT / "benchmarks" / "careful.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pairs_are_counted_by_error_and_style(careful_script: ModuleType) -> None:
    """A metric that prefers longer texts, but cannot tell three pairs apart and has no score for one."""
    rows = careful_script.read_careful(FILE)
    scores = [Score(row.example.id, float(len(row.example.candidate))) for row in rows]
    for at in range(6):
        scores[at] = Score(rows[at].example.id, 1.0)
    scores[7] = Score(rows[7].example.id, float("nan"), problem="no score")
    outcomes = careful_script.compare(rows, scores)
    assert len(outcomes) == 40
    assert [outcome.result for outcome in outcomes[:4]] == ["tie", "tie", "tie", "unscored"]
    for outcome, (careful, careless) in zip(outcomes[4:], PAIRS[4:], strict=True):
        lengths = len(careful["candidate"]), len(careless["candidate"])
        wanted = "right" if lengths[0] > lengths[1] else "tie" if lengths[0] == lengths[1] else "wrong"
        assert outcome.result == wanted
    line = careful_script.line("length", outcomes)
    right = sum(outcome.result == "right" for outcome in outcomes)
    assert line[:2] == ["length", str(right)]
    persons = [outcome for outcome in outcomes if outcome.error == "person"]
    assert line[4] == f"{sum(outcome.result == 'right' for outcome in persons)}/6"


def test_a_lower_value_may_be_better(careful_script: ModuleType) -> None:
    rows = careful_script.read_careful(FILE)[:2]
    scores = [Score(rows[0].example.id, 1.0), Score(rows[1].example.id, 2.0)]
    assert careful_script.compare(rows, scores)[0].result == "wrong"
    assert careful_script.compare(rows, scores, lower_is_better=True)[0].result == "right"


def test_other_sources_can_stand_before_a_source(careful_script: ModuleType) -> None:
    rows, longer = careful_script.read_careful(FILE), careful_script.read_careful(FILE, before=650)
    sources = {row.example.source for row in rows}
    for row, long in zip(rows, longer, strict=True):
        front, own = long.example.source.split(row.example.source)
        assert own == ""
        assert 650 <= len(front.split()) < 800
        assert row.example.source not in front
        assert any(front.startswith(other) for other in sources)


def test_the_interval_is_wilsons(careful_script: ModuleType) -> None:
    """Worked by hand: 34 of 40 with z = 1.96."""
    low, high = careful_script.interval(34, 40)
    assert low == pytest.approx(0.7093, abs=5e-4)
    assert high == pytest.approx(0.9294, abs=5e-4)
