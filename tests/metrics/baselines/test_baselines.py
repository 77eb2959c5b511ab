"""Test the baselines: golden tables and edge cases."""

import json
import math
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import eq
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.core.metric import Metric
from gistmeter.core.options import options_from
from gistmeter.core.score import Score
from gistmeter.matching.overlap import common_length
from gistmeter.metrics import baselines
from gistmeter.metrics.baselines.content import divergence
from gistmeter.metrics.baselines.extractive import Fragment, fragments
from gistmeter.metrics.baselines.sari_operations import Definition, sari
from gistmeter.metrics.baselines.substrings import SubstringIndex

GOLDEN = Path(__file__).parents[2] / "golden"
BUILDERS: dict[str, tuple[Any, Any]] = {
    "rouge": (baselines.Rouge, baselines.RougeOptions),
    "bleu": (baselines.Bleu, baselines.BleuOptions),
    "chrf": (baselines.Chrf, baselines.ChrfOptions),
    "sari": (baselines.Sari, baselines.SariOptions),
    "length_ratio": (baselines.LengthRatio, baselines.LengthRatioOptions),
    "novelty": (baselines.Novelty, baselines.NoveltyOptions),
    "names": (baselines.Names, baselines.NamesOptions),
    "extractive": (baselines.Extractive, baselines.ExtractiveOptions),
    "content": (baselines.Content, baselines.ContentOptions),
    "surface": (baselines.Surface, baselines.SurfaceOptions),
}
RANGES = {"bleu": 100.0, "chrf": 100.0, "sari": 100.0} | dict.fromkeys(
    ("length_ratio", "extractive", "surface"), math.inf
)
LONG = "The cat sat on the mat, and 12 dogs ran — home! " * 1250
ODD = ["🙂🙂", "مرحبا بالعالم", "...", "x", "猫坐在垫子上。", "a\u0301\u200d\u200b\x00", "<skipped>", LONG]

small_words = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12)
VOCABULARY = ["The", "the", "cats", "cat", "Running", "runs", "12", "é", "—", "don't", ",", "."]
sentences = st.lists(st.sampled_from(VOCABULARY), min_size=1)
texts = st.one_of(sentences.map(" ".join), st.text(min_size=1), st.sampled_from(ODD[:-1]))
examples = st.builds(Example, st.just("1"), texts, st.none() | texts, st.lists(texts, max_size=3).map(tuple))


@dataclass(frozen=True)
class Counted:
    """Options with numbers."""

    passage: int = 0
    share: float = 0.5


def build(name: str, options: Mapping[str, object] | None = None) -> Metric:
    metric_class, options_class = BUILDERS[name]
    metric: Metric = metric_class(options_from(options_class, options or {}))
    assert metric.name == name
    return metric


def figures(scores: Sequence[Score]) -> list[tuple[Any, ...]]:
    """Return all fields of a score, with NaN replaced for comparisons."""
    return [
        (score.id, repr(score.value), repr(score.parts), score.spans, score.flags, score.problem)
        for score in scores
    ]


def golden() -> list[Any]:
    return [
        pytest.param(name, case, id=f"{name}-{at}")
        for name in BUILDERS
        for at, case in enumerate(json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize(("name", "case"), golden())
def test_golden(name: str, case: dict[str, Any]) -> None:
    fields = {key: value for key, value in case["input"].items() if key != "options"}
    (score,) = build(name, case["input"].get("options")).score([Example("1", **fields)])
    expected = case["value"] if isinstance(case["value"], dict) else {"value": case["value"]}
    found = {"value": score.value, **score.parts}
    for part, number in expected.items():
        wanted = math.nan if number is None else number
        assert found[part] == pytest.approx(wanted, abs=case["tolerance"], rel=0, nan_ok=True), part


@pytest.mark.parametrize("name", BUILDERS)
@settings(deadline=None)  # the first example imports a library
@given(rows=st.lists(examples, min_size=3, max_size=5))
def test_laws(name: str, rows: list[Example]) -> None:
    metric = build(name)
    rows = [Example(str(at), e.candidate, e.source, e.references) for at, e in enumerate(rows)]
    scores = metric.score(rows)
    assert [score.id for score in scores] == [row.id for row in rows]
    assert figures(scores) == figures(metric.score(rows[:1]) + metric.score(rows[1:]))
    assert figures(scores) == figures(metric.score(rows[::-1])[::-1])
    assert figures(scores) == figures(pickle.loads(pickle.dumps(metric)).score(rows))
    for score, row in zip(scores, rows, strict=True):
        assert math.isnan(score.value) or 0 <= score.value <= RANGES.get(name, 1.0) + 1e-9
        check_spans(score, row)


def check_spans(score: Score, row: Example) -> None:
    if not score.spans:
        return
    text = row.candidate if score.spans[0].side == "candidate" else row.source or ""
    ends = [0, *(at for span in score.spans for at in (span.start, span.end)), len(text)]
    assert ends == sorted(ends)
    weights = sum(span.weight for span in score.spans)
    mean = sum(span.value * span.weight for span in score.spans) / weights
    [part] = {"novel_1", "coverage", "mentioned", "all"} & score.parts.keys()
    assert mean == pytest.approx(score.parts[part])


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize(
    ("name", "itself"),
    [("rouge", 1), ("bleu", 100), ("chrf", 100), ("length_ratio", 1), ("novelty", 0), ("extractive", 1),
     ("content", 1), ("names", 1)],
)  # fmt: skip
def test_a_text_beside_itself(name: str, itself: float, text: str) -> None:
    (score,) = build(name).score([Example("1", text, text, ("Another one.", text))])
    assert score.value == pytest.approx(itself) or (score.problem is not None and text != LONG)


@settings(deadline=None)
@given(counts=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8))
def test_divergence_is_that_of_scipy(counts: list[tuple[int, int]]) -> None:
    from scipy.spatial.distance import jensenshannon

    one, other = ({str(at): pair[side] for at, pair in enumerate(counts) if pair[side]} for side in (0, 1))
    if one and other:
        first, second = np.array(counts, dtype=float).T
        theirs = float(jensenshannon(first, second, base=2)) ** 2
        assert divergence(one, other) == pytest.approx(theirs, abs=1e-9)


def test_a_text_of_stop_words_has_no_content() -> None:
    (none,) = build("content").score([Example("1", "It was so.", "The ferry sank.")])
    assert none.problem == "the candidate has no content word (tokenizer words-1)"
    (german,) = build("content").score([Example("1", "Die Fähre sank.", "Sie sank.", language="de")])
    assert german.problem is not None and "de" in german.problem


def test_surface_needs_a_word() -> None:
    (none,) = build("surface").score([Example("1", "...")])
    assert none.problem == "the tokenizer (words-1) finds no word in the candidate"


def test_sari_needs_a_word_and_a_language_that_its_tokenizer_splits() -> None:
    rows = [Example(text, text, text, (text, LONG)) for text in ODD]
    chinese, skipped = [score for score in build("sari").score(rows) if score.problem]
    assert chinese.problem is not None and "the row is in zh" in chinese.problem
    assert skipped.id == "<skipped>"
    spaced = build("sari", {"tokenizer": "char"}).score(rows)
    assert not [score for score in spaced if score.problem]


@pytest.mark.parametrize("references", ["max", "mean"])
@pytest.mark.parametrize("stemmer", [True, False])
@settings(deadline=None)
@given(candidate=texts, references_given=st.lists(texts, min_size=1, max_size=3))
def test_rouge_is_the_librarys(
    references: str, stemmer: bool, candidate: str, references_given: list[str]
) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    kinds = ["rouge1", "rouge2", "rouge3", "rougeL"]
    scorer = RougeScorer(kinds, use_stemmer=stemmer)
    worded = [text for text in references_given if scorer._tokenizer.tokenize(text)]
    options = {"references": references, "stemmer": stemmer}
    (score,) = build("rouge", options).score([Example("1", candidate, references=tuple(references_given))])
    if not worded or not scorer._tokenizer.tokenize(candidate):
        assert score.problem is not None
        return
    for kind in kinds:
        one = [scorer.score(text, candidate)[kind] for text in worded]
        found = [scorer.score_multi(worded, candidate)[kind]] if references == "max" else one
        for part, position in (("precision", 0), ("recall", 1), ("f1", 2)):
            mean = sum(figure[position] for figure in found) / len(found)
            assert score.parts[f"{kind}_{part}"] == pytest.approx(mean, abs=1e-15)


@settings(deadline=None)
@given(first=small_words, second=small_words)
def test_common_length_is_the_tables(first: list[str], second: list[str]) -> None:
    from rouge_score.rouge_scorer import _lcs_table

    assert common_length(first, second) == _lcs_table(first, second)[-1][-1]


@settings(deadline=None)
@given(candidate=texts.filter(str.strip), others=st.lists(texts.filter(str.strip), min_size=1, max_size=3))
def test_bleu_and_chrf_are_the_librarys(candidate: str, others: list[str]) -> None:
    import sacrebleu

    example = Example("1", candidate, references=tuple(others))
    bleu, chrf = build("bleu").score([example])[0], build("chrf", {"word_order": 2}).score([example])[0]
    assert bleu.problem or bleu.value == min(sacrebleu.sentence_bleu(candidate, others).score, 100)
    assert chrf.value == sacrebleu.sentence_chrf(candidate, others, word_order=2).score


@pytest.mark.parametrize("definition", ["authors", "equations", "evaluate"])
@settings(deadline=None)
@given(source=small_words, candidate=small_words, references=st.lists(small_words, min_size=1, max_size=3))
def test_sari_parts_are_shares(
    definition: Definition, source: list[str], candidate: list[str], references: list[list[str]]
) -> None:
    parts = sari(source, candidate, references, definition)
    assert all(0 <= part <= 100 + 1e-9 for part in parts.values())
    if definition == "evaluate":
        assert sari(source, candidate, [candidate], definition)["add"] == pytest.approx(100)
        assert sari(source, candidate, [candidate], definition)["keep"] == pytest.approx(100)


@settings(deadline=None)
@given(candidate=small_words, source=small_words)
def test_fragments_are_the_longest_and_first(candidate: list[str], source: list[str]) -> None:
    at = 0
    expected: list[Fragment] = []
    while at < len(candidate):
        runs = [takewhile(bool, map(eq, candidate[at:], source[place:])) for place in range(len(source))]
        lengths = [len(list(run)) for run in runs]
        longest = max(lengths, default=0)
        if longest:
            expected.append(Fragment(at, longest, lengths.index(longest)))
        elif expected and expected[-1].place is None:
            expected[-1] = expected[-1]._replace(length=expected[-1].length + 1)
        else:
            expected.append(Fragment(at, 1, None))
        at += max(longest, 1)
    assert fragments(candidate, SubstringIndex(source)) == expected


def test_what_cannot_be_seen_is_flagged() -> None:
    rows = [
        Example("1", "Москва 1147 год", references=("Moscow 1147", "Москва")),
        Example("2", "🙂", references=("Moscow 1147",)),
        Example("3", "Moscow", references=("Москва",)),
    ]
    first, second, third = build("rouge").score(rows)
    assert [str(flag) for flag in first.flags] == [
        "degenerate (candidate)",
        "unseen_script (candidate, 4 of 13)",
        "no_words (reference 1)",
        "unknown_language (candidate)",
        "unknown_language (reference 1)",
    ]
    assert second.problem == "the tokenizer (rouge_score) finds no word in the candidate"
    assert third.problem == "the tokenizer (rouge_score) finds no word in the reference"
    assert [str(flag) for flag in third.flags] == ["no_words (reference 0)"]


def test_options_decide_the_signature_and_wrong_ones_are_refused() -> None:
    plain, plus = build("chrf").signature, build("chrf", {"word_order": 2}).signature
    assert plain.hash != plus.hash
    assert "library=sacrebleu-" in plain.text
    assert build("length_ratio", {"against": "references"}).needs == ("references",)
    with pytest.raises(UsageError, match="beta=0: give at least 1"):
        build("chrf", {"beta": 0})
    with pytest.raises(UsageError, match="value=rouge3: choose one of rouge1_precision"):
        build("rouge", {"value": "rouge3"})


def test_two_small_words_are_no_abbreviation() -> None:
    source = "The man left his uncle's suitcase in the hall of the United Nations."
    candidates = ("The man of the US left a suitcase.", "The man of the UN left a suitcase.")
    scores = [baselines.Names().score([Example("1", each, source=source)])[0] for each in candidates]
    assert [score.parts["names"] for score in scores] == [0.0, 1.0]


def test_bleu_of_an_equal_text_is_100() -> None:
    texts = [" ".join(["The ferry left the harbour at noon."] * times) for times in range(1, 30)]
    scores = build("bleu").score([Example("1", text, references=[text]) for text in texts])
    assert [score.value for score in scores] == pytest.approx([100.0] * 29)
    assert max(score.value for score in scores) <= 100


@pytest.mark.parametrize("number", [2.9, True, math.inf, math.nan, "2.9"])
def test_an_option_that_counts_is_a_whole_number(number: object) -> None:
    with pytest.raises(UsageError, match=f"passage={number}: give an int"):
        options_from(Counted, {"passage": number})
    assert options_from(Counted, {"passage": 2.0, "share": 1}) == Counted(2, 1.0)
    with pytest.raises(UsageError, match="share=True: give a float"):
        options_from(Counted, {"share": True})
