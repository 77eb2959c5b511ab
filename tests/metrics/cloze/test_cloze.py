"""ClozE with a fake filler and hand-computed values, and compared with simple code on a tiny RoBERTa."""

import json
import math
import pickle
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer, RobertaConfig, RobertaForMaskedLM

from gistmeter import load
from gistmeter.bench.suites.analyses.cloze import Change, Corrections, Run, corrections, timing_against_k
from gistmeter.core.errors import BadModel, ModelNotFound, UsageError
from gistmeter.core.example import Example
from gistmeter.core.options import options_from
from gistmeter.core.score import Flag, Score
from gistmeter.metrics.cloze import Cloze, ClozeOptions, build
from gistmeter.metrics.cloze.cut import longest_first
from gistmeter.metrics.cloze.explain import Answer, note, read_note
from gistmeter.metrics.cloze.judge import Verdict, bag_f1, confidence, likelihood, membership_f1, trusted
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.tokens import Tokens
from gistmeter.text.factors import Level, Pipeline, Selection, find_factors
from tests.tiny_models import SIZE, byte_level
from tests.tiny_spacy import tiny_pipeline

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "cloze.json").read_text(encoding="utf-8"))
SOURCE = "Anna  Berg isn't here: she sold it."
TEXT = (
    "  Anna Berg sold the red boat in Oslo.  On Monday she sold the old school.\n"
    "It didn't rain in the small town."
)
FACTORS = ["Anna Berg", "the red boat", "Oslo", "Monday", "she", "the old school", "It", "the small town"]


@dataclass
class Listed:
    """Fake filler with words as tokens and given answers; other blanks are filled correctly."""

    answers: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    gold: dict[str, list[float]] = field(default_factory=dict)
    window: int | None = None
    pattern: str = r"\S+"
    complete: bool = True
    separate_windows: bool = False
    identity: str = "listed"
    words: list[str] = field(default_factory=list)
    calls: list[list[Query]] = field(default_factory=list)
    tokenized: list[str] = field(default_factory=list)

    def overhead(self, query_blanks: int) -> int:
        return 3 + query_blanks

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        self.tokenized += texts
        return [self._tokens(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return " ".join(["", *(self.words[number] for number in ids)])

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        self.calls.append(list(queries))
        return [[self._fill(query.text[slice(*blank)]) for blank in query.blanks] for query in queries]

    def asked(self) -> list[list[str]]:
        """Return the blanked texts of each query of the last call."""
        return [[self.decode(q.text[slice(*b)]).strip() for b in q.blanks] for q in self.calls[-1]]

    def _fill(self, gold: tuple[int, ...]) -> Fill:
        text = self.decode(gold).strip()
        listed = self.answers.get(text) or [(self.words[number], 1.0) for number in gold]
        words, sure = zip(*listed, strict=True)
        matches = " ".join(words).lower() == text.lower()
        chances = tuple(self.gold.get(text) or [0.0] * len(gold))
        ids = tuple(self._number(word) for word in words)
        return Fill(ids, matches, tuple(sure), chances, (1,) * len(gold), self.complete)

    def _tokens(self, text: str) -> Tokens:
        found = list(re.finditer(self.pattern, text))
        offsets = np.array([match.span() for match in found], dtype=np.int64).reshape(-1, 2)
        ids = tuple(self._number(match[0]) for match in found)
        return Tokens(ids, offsets, np.zeros(len(ids), dtype=bool), len(ids))

    def _number(self, word: str) -> int:
        if word not in self.words:
            self.words.append(word)
        return self.words.index(word)


@cache
def ruler(*entities: str) -> Pipeline:
    """Return a pipeline with the given words as entities."""
    nlp = spacy.blank("en")
    rules: Any = nlp.add_pipe("entity_ruler")
    rules.add_patterns([{"label": "THING", "pattern": entity} for entity in entities])
    return Pipeline(nlp, "ruler")


@cache
def tiny() -> Pipeline:
    return Pipeline(tiny_pipeline(), "tiny")


def score_one(metric: Cloze, candidate: str, source: str = SOURCE) -> Score:
    return metric.score([Example("1", candidate, source)])[0]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["provenance"])
def test_golden(case: dict[str, Any]) -> None:
    given_, expected = case["input"], case["value"]
    filler = Listed(given_["answers"], given_.get("gold", {}))
    options = ClozeOptions(selection="entity", **given_["options"])
    score = score_one(Cloze(filler, ruler(*given_["entities"]), options), given_["candidate"])
    for part, value in expected.items():
        assert score.parts[part] == pytest.approx(value, abs=case["tolerance"]), part
    assert score.value == score.parts["average"]


@pytest.mark.parametrize(
    ("k", "level", "groups"),
    [
        (1, "sentence", [[factor] for factor in FACTORS]),
        (2, "sentence", [FACTORS[:2], FACTORS[2:3], FACTORS[3:5], FACTORS[5:6], FACTORS[6:]]),
        (2, "summary", [FACTORS[:2], FACTORS[2:4], FACTORS[4:6], FACTORS[6:]]),
        (3, "summary", [FACTORS[:3], FACTORS[3:6], FACTORS[6:]]),
        (99, "summary", [FACTORS]),
    ],
)
def test_groups_of_k_factors_are_asked_for_together(k: int, level: Level, groups: list[list[str]]) -> None:
    filler = Listed()
    score = score_one(Cloze(filler, tiny(), ClozeOptions(k=k, level=level)), TEXT)
    assert filler.asked() == groups
    assert (score.value, score.parts["factors"]) == (1.0, 8.0)


def test_a_query_holds_the_rejoined_document_and_sentence() -> None:
    filler = Listed()
    score_one(Cloze(filler, tiny()), TEXT)
    texts = [(filler.decode(q.context)[1:], filler.decode(q.text)[1:]) for q in filler.calls[-1]]
    document = "Anna Berg is n't here : she sold it ."
    assert texts[0] == (document, "Anna Berg sold the red boat in Oslo .")
    assert texts[-1] == (document, "It did n't rain in the small town .")
    assert all(query.context_first for query in filler.calls[-1])


@given(st.text("ab. \n\t\xa0\u2009", min_size=1, max_size=24).filter(str.strip))
def test_white_space_of_the_document_is_kept_as_in_the_authors_code(source: str) -> None:
    filler = Listed(pattern=r"[^ ]+| +")
    metric = Cloze(filler, ruler("Oslo"), ClozeOptions(selection="entity"))
    metric.score([Example("1", "Oslo", source)])
    assert filler.tokenized[0] == authors_document(source, metric.pipeline)


def test_a_no_break_space_of_the_document_reaches_the_model() -> None:
    filler = Listed(pattern=r"[^ ]+")
    metric = Cloze(filler, ruler("Oslo"), ClozeOptions(selection="entity"))
    metric.score([Example("1", "Oslo", "Anna\xa0left  Oslo.\nIt rained.")])
    words = [filler.words[number] for number in filler.calls[-1][0].context]
    assert words == ["Anna", "\xa0", "left", "Oslo", ".", "\n", "It", "rained", "."]


def test_factors_that_touch_share_a_query() -> None:
    filler = Listed()
    score_one(Cloze(filler, tiny(), ClozeOptions(k=2)), "On Monday she sold the old school.")
    assert filler.calls[-1][0].blanks == ((1, 2), (2, 3))


@pytest.mark.parametrize(
    ("selection", "factors"),
    [
        ("entity", ["Karl Lund", "Bergen"]),
        ("noun", ["Karl Lund 's sister", "Bergen"]),
        ("entity_first", ["Karl Lund", "Bergen"]),
        ("noun_first", ["Karl Lund 's sister", "Bergen"]),
    ],
)
def test_selections(selection: Selection, factors: list[str]) -> None:
    filler = Listed({"Bergen": [("Oslo", 0.9)]})
    options = ClozeOptions(selection=selection)
    score = score_one(Cloze(filler, tiny(), options), "Karl Lund's sister lives near Bergen.")
    assert filler.asked() == [[factor] for factor in factors]
    kind, other = ("noun", "entity") if selection.startswith("noun") else ("entity", "noun")
    assert score.parts[kind] == 0.5
    assert math.isnan(score.parts[other])


def test_spans_lie_in_the_users_own_text() -> None:
    filler = Listed({"Oslo": [("Bergen", 0.834)], "Monday": [("Friday", 0.3)], "It": [("it", 1.0)]})
    score = score_one(Cloze(filler, tiny()), TEXT)
    shown = {TEXT[span.start : span.end]: (span.value, span.weight, span.note) for span in score.spans}
    assert list(shown) == FACTORS
    assert shown["Oslo"] == (0.0, 1.0, "→ Bergen (confidence .83)")
    assert shown["Monday"] == (0.0, 1.0, "Friday (confidence .30)")
    assert shown["It"] == (1.0, 1.0, "it (confidence 1.00)")
    assert score.value == pytest.approx(6 / 8)


def test_a_factor_across_odd_spacing() -> None:
    text = "\t He  saw Karl \u00a0 Lund's  boat (🙂Oslo)."
    metric = Cloze(Listed(), ruler("Karl Lund's", "🙂Oslo"), ClozeOptions(selection="entity"))
    assert [text[s.start : s.end] for s in score_one(metric, text).spans] == ["Karl \u00a0 Lund's", "🙂Oslo"]


def test_the_worst_factor_can_be_the_value() -> None:
    filler = Listed({"the red boat": [("the", 0.9), ("old", 0.9), ("boat", 0.9)]})
    score = score_one(Cloze(filler, tiny(), ClozeOptions(aggregate="min")), TEXT)
    assert score.value == score.parts["min"] == pytest.approx(2 / 3)
    assert score.parts["average"] == pytest.approx((7 + 2 / 3) / 8)
    assert np.mean([span.value for span in score.spans]) == pytest.approx(score.parts["average"])


def test_a_candidate_without_factors_scores_one_and_is_flagged() -> None:
    filler = Listed()
    for text in ("?!", "🙂🙂", "So be it"):
        score = score_one(Cloze(filler, ruler("Oslo"), ClozeOptions(selection="entity")), text)
        assert (score.value, score.problem) == (1.0, None)
        assert score.flags == (Flag("no_factors", "candidate"),)
        assert (score.parts["factors"], score.parts["min"]) == (0.0, 1.0)
        assert [(s.start, s.end, s.value, s.weight) for s in score.spans] == [(0, len(text), 1.0, 0.0)]
    assert filler.calls[-1] == []


def test_a_sentence_without_factors_is_shown_as_one_and_left_out_of_the_mean() -> None:
    filler = Listed({"Oslo": [("Bergen", 0.9)]})
    text = "Nobody came. She left Oslo."
    score = score_one(Cloze(filler, ruler("Oslo"), ClozeOptions(selection="entity")), text)
    assert [score.value, score.parts["sentences"]] == pytest.approx([0.0, 1e-6], abs=1e-12)
    assert [(text[s.start : s.end], s.value, s.weight) for s in score.spans] == [
        ("Nobody came.", 1.0, 0.0),
        ("Oslo", 0.0, 1.0),
    ]
    assert score.flags == ()


def test_a_factor_that_is_cut_off_is_undefined() -> None:
    source = "one two three four five six"
    filler = Listed({"Oslo": [("Bergen", 0.9)]}, window=14)  # room for 10, 5 of them the summary's
    metric = Cloze(filler, ruler("Oslo", "Walla Walla"), ClozeOptions(selection="entity"))
    text = "He left Oslo for Walla Walla at noon."
    score = score_one(metric, text, source)
    assert [(text[s.start : s.end], s.weight, s.note) for s in score.spans] == [
        ("Oslo", 1.0, "→ Bergen (confidence .90)"),
        ("Walla Walla", 0.0, "not scored: cut off by the model's window"),
    ]
    assert math.isnan(score.spans[1].value)
    assert (score.value, score.parts["factors"]) == (0.0, 1.0)
    assert score.flags == (Flag("truncated", "candidate", 5, 9), Flag("truncated", "source", 5, 6))
    assert [(len(q.context), len(q.text), q.blanks) for q in filler.calls[-1]] == [(5, 5, ((2, 3),))]


def test_a_group_keeps_the_factors_that_fit() -> None:
    filler = Listed(window=15)
    options = ClozeOptions(selection="entity", k=2)
    metric = Cloze(filler, ruler("Oslo", "Walla Walla"), options)
    score = score_one(metric, "He left Oslo for Walla Walla at noon.", "one two three four five six")
    assert filler.asked() == [["Oslo"]]
    assert score.parts["factors"] == 1


@pytest.mark.parametrize("window", [0, 4, 6])
def test_no_room_for_any_factor_is_a_problem_and_no_zero(window: int) -> None:
    metric = Cloze(Listed(window=window), ruler("Oslo"), ClozeOptions(selection="entity"))
    score = score_one(metric, "It left for Oslo.", "one two three four")
    assert math.isnan(score.value)
    assert (
        score.problem == "no factor of the candidate can be scored; the notes of the spans give the reasons"
    )
    assert [flag.name for flag in score.flags] == ["truncated", "truncated"]


def test_a_tokenizer_that_drops_characters() -> None:
    filler = Listed(pattern=r"\w+")
    metric = Cloze(filler, ruler("🙂", "Oslo"), ClozeOptions(selection="entity"))
    dropped, nothing = metric.score(
        [Example("1", "Oslo is 🙂 today.", SOURCE), Example("2", "In Oslo.", "🙂!")]
    )
    assert [(s.weight, s.note) for s in dropped.spans][1] == (
        0.0,
        "not scored: the model's tokenizer finds no token in it",
    )
    assert dropped.value == 1.0
    assert nothing.problem == "the model's tokenizer finds no token in the source"
    assert nothing.flags == (Flag("empty_side", "source"),)


def test_a_token_of_two_factors_belongs_to_the_first() -> None:
    filler = Listed(pattern=r"red \S+|\S+")
    metric = Cloze(filler, ruler("the red", "boat"), ClozeOptions(selection="entity", k=2))
    score = score_one(metric, "See the red boat here.")
    assert filler.asked() == [["the red boat"]]
    assert score.spans[1].note == "not scored: its tokens belong to the factor before it"
    alone = Cloze(filler, ruler("the red", "boat"), ClozeOptions(selection="entity"))
    score_one(alone, "See the red boat here.")
    assert filler.asked() == [["the red boat"], ["red boat"]]


COPIES = "Anna Berg left Oslo on Monday. It is not true that she sold the red boat."


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, ["Anna Berg", "Oslo", "Monday", "She", "the red boat", "Monday"]),
        ({"copied": True}, ["She", "the red boat", "Monday"]),
        (
            {"copied": True, "level": "summary"},
            ["Anna Berg", "Oslo", "Monday", "She", "the red boat", "Monday"],
        ),
    ],
)
def test_a_copied_text_is_trusted_and_not_asked_for(options: dict[str, Any], asked: list[str]) -> None:
    filler = Listed({"Oslo": [("Bergen", 0.9)], "the red boat": [("snow", 0.9)]})
    text = "Anna Berg left Oslo on Monday! She sold the red boat on Monday."
    score = score_one(Cloze(filler, tiny(), ClozeOptions(**options)), text, COPIES)
    assert [word for words in filler.asked() for word in words] == asked
    shown = {text[span.start : span.end]: (span.value, span.note) for span in score.spans}
    assert shown["the red boat"] == (0.0, "→ snow (confidence .90)")
    trusted_ = (1.0, "copied: the text around it stands in the source word for word")
    assert shown["Oslo"] == (trusted_ if len(asked) == 3 else (0.0, "→ Bergen (confidence .90)"))
    assert score.parts["factors"] == 6
    assert score.flags == ()


def test_what_the_source_denies_is_asked_for() -> None:
    filler = Listed()
    score_one(Cloze(filler, tiny(), ClozeOptions(copied=True)), "She sold the red boat.", COPIES)
    assert filler.asked() == [["She"], ["the red boat"]]


def test_the_contribution_of_the_document_to_a_copied_factor_is_all() -> None:
    options = ClozeOptions(copied=True, criterion="soft", prior="subtract")
    assert score_one(Cloze(Listed(), tiny(), options), "Anna Berg left Oslo", COPIES).value == 1.0


def test_an_empty_candidate_never_reaches_the_model() -> None:
    filler = Listed()
    empty, missing = Cloze(filler, tiny()).score([Example("1", " \n", SOURCE), Example("2", TEXT)])
    assert empty.problem == "the candidate is empty"
    assert missing.problem == "the row has no source"
    assert filler.calls == [[]]


def test_an_answer_of_which_only_the_beginning_is_known_is_no_correction() -> None:
    filler = Listed({"Oslo": [("Bergen", 0.9)]}, complete=False)
    score = score_one(Cloze(filler, ruler("Oslo"), ClozeOptions(selection="entity")), "She left Oslo.")
    assert score.spans[0].note == "Bergen… (confidence .90)"
    assert score.flags == (Flag("partial_answers", "candidate", 0, 1),)
    for criterion, rule, flagged in (
        ("exact", True, 0),
        ("soft", False, 0),
        ("soft", True, 1),
        ("bag", True, 1),
    ):
        options = {"selection": "entity", "criterion": criterion, "confidence": rule}
        metric = Cloze(filler, ruler("Oslo"), options_from(ClozeOptions, options))
        assert len(score_one(metric, "She left Oslo.").flags) == flagged


def test_an_empty_answer() -> None:
    assert note(Verdict(0.0, 0.9, "", same=False), 0.5) == "(nothing) (confidence .90)"
    assert confidence(()) == 0.0
    assert membership_f1([], []) == bag_f1([], []) == 1.0
    assert membership_f1([1], []) == bag_f1([], [1]) == 0.0


def test_a_long_source_is_cut_and_each_text_is_tokenized_once() -> None:
    long = "Anna Berg sold the red boat. " * 2_100
    assert len(long) > 60_000
    filler = Listed(window=512)
    metric = Cloze(filler, tiny())
    scores = metric.score([Example(str(at), TEXT, long) for at in range(3)])
    assert len(filler.calls) == 1
    assert len(filler.tokenized) == len(set(filler.tokenized))
    sentences = [9, 8, 9]  # the source gives way to each of them, and most to the longest
    kept = 512 - 4 - max(sentences)
    assert scores[0].flags == (Flag("truncated", "source", kept, 2_100 * 7),)
    assert len({score.value for score in scores}) == 1
    assert all(len(q) == 508 for q in filler.calls[0])


def test_halves_with_a_window_each_are_cut_apart() -> None:
    filler = Listed(window=8)  # six tokens each
    filler.separate_windows = True
    metric = Cloze(filler, ruler("Oslo", "Walla Walla"), ClozeOptions(selection="entity"))
    texts = ("He left Oslo for Walla Walla at noon.", "Oslo is nice.")
    scores = metric.score([Example(text, text, "one two three four five six seven") for text in texts])
    assert [(len(q.context), len(q.text)) for q in filler.calls[-1]] == [(6, 6), (6, 6), (6, 4)]
    assert scores[0].flags == (Flag("truncated", "candidate", 6, 9), Flag("truncated", "source", 6, 7))
    assert dict(metric.signature.settings)["cut"] == "each"


@given(st.integers(0, 40), st.integers(0, 40), st.integers(-3, 60))
def test_the_cut_takes_one_token_after_another_off_the_longer_text(
    context: int, text: int, room: int
) -> None:
    ours, theirs = context, text
    while ours + theirs > max(0, room):
        ours, theirs = (ours - 1, theirs) if ours >= theirs else (ours, theirs - 1)
    assert longest_first(context, text, room) == (ours, theirs)
    assert longest_first(context, text, None) == (context, text)


def test_an_unsure_f1_of_one_half_is_zero_for_the_authors_and_one_half_in_the_paper() -> None:
    """The authors add 1e-12 to the denominator of F1, so that one half is below beta = .5."""
    unsure = {"the game": [("the", 0.9), ("season", 0.05)]}

    def value(**options: object) -> float:
        chosen = options_from(ClozeOptions, {"selection": "entity", **options})
        return score_one(Cloze(Listed(dict(unsure)), ruler("the game"), chosen), "It won the game.").value

    assert value() == 0.0
    assert value(definition="paper") == 0.5
    assert value(confidence=False) == value(alpha=0.4) == value(beta=0.4) == 0.5
    assert value(criterion="bag") == 0.5, "the authors have no such criterion"


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=6), st.lists(st.integers(0, 3), min_size=1, max_size=6)
)
def test_the_rule_of_confidence_equals_the_authors_formula(gold: list[int], answer: list[int]) -> None:
    precision = sum(token in answer for token in gold) / len(gold)
    recall = sum(token in gold for token in answer) / len(answer)
    theirs = 2 * recall * precision / (recall + precision + 1e-12)
    ours = membership_f1(gold, answer)
    assert ours == pytest.approx(theirs, abs=1e-11)
    assert (trusted(ours, 0.1, ClozeOptions()) == 0) == (theirs < 0.5)


@pytest.mark.parametrize(("separate", "kept"), [(False, (12 - 4 - 4, 4)), (True, (10, 4))])
def test_a_window_shorter_than_the_models(separate: bool, kept: tuple[int, int]) -> None:
    """BART reads 1,024 tokens, the paper's models 512 (section 4.3.4)."""
    filler = Listed(window=20, separate_windows=separate)
    source = "one two three four five six seven eight nine ten eleven"
    metric = Cloze(filler, ruler("Oslo"), ClozeOptions(selection="entity", window=12))
    score = score_one(metric, "He left Oslo .", source)
    assert [(len(q.context), len(q.text)) for q in filler.calls[-1]] == [kept]
    assert score.flags == (Flag("truncated", "source", kept[0], 11),)
    wide = Cloze(filler, ruler("Oslo"), ClozeOptions(selection="entity", window=999))
    assert wide.score([Example("1", "He left Oslo .", source)])[0].flags == ()
    assert dict(metric.signature.settings)["window"] == "12"
    unlimited = Listed(separate_windows=separate)
    Cloze(unlimited, ruler("Oslo"), metric.options).score([Example("1", "He left Oslo .", source)])
    assert [(len(q.context), len(q.text)) for q in unlimited.calls[-1]] == [kept]


def test_the_preset_paper_reads_at_most_512_tokens(tiny_bart: Path, pipeline_folder: Path) -> None:
    options = {"pipeline": pipeline_folder}
    assert build("paper", str(tiny_bart), Runtime(device="cpu"), options).options.window == 512
    assert build("mini", str(tiny_bart), Runtime(device="cpu"), options).options.window == 0


@given(st.text(max_size=20), st.floats(0, 1), st.booleans())
def test_notes_can_be_read_back(answer: str, sure: float, same: bool) -> None:
    found = read_note(note(Verdict(0.0, sure, answer, same), 0.5))
    assert found == Answer(answer, float(f"{sure:.2f}"), bool(answer) and not same and sure >= 0.5)


def test_notes_without_an_answer() -> None:
    assert read_note("no factors") is None


def test_corrections_are_counted() -> None:
    bad = "Anna Lund sold the red school in Bergen."
    filler = Listed(
        {
            "Anna Lund": [("anna", 0.9), ("berg", 0.8)],
            "the red school": [("the", 0.9), ("red", 0.1), ("boat", 0.2)],
            "Bergen": [("Paris", 0.9)],
        }
    )
    metric = Cloze(filler, ruler("Anna Lund", "the red school", "Bergen"), ClozeOptions(selection="entity"))
    example = Example("1", bad, SOURCE)
    errors = {"Lund": "Berg", "school": "boat", "Bergen": "Oslo", "sold": "bought"}
    places = {wrong: (bad.index(wrong), bad.index(wrong) + len(wrong)) for wrong in errors}
    changes = [Change(*places[wrong], right) for wrong, right in errors.items()]
    found = corrections([example], metric.score([example]), [changes])
    assert found == Corrections(changes=4, factors=3, lowered=3, corrected=2, suggested=1)
    assert found.rate == pytest.approx(2 / 3)
    assert math.isnan(corrections([], [], []).rate)


def test_speed_against_k() -> None:
    scores = [Score(str(at), value) for at, value in enumerate((0.1, 0.4, 0.3))]
    constant = [Score("1", 0.5), Score("2", 0.5), Score.undefined("3", "none")]
    points = timing_against_k({2: Run(constant, 3.0), 1: Run(scores, 6.0)}, [1.0, 3.0, 2.0])
    assert [(point.k, point.seconds, point.n) for point in points] == [(1, 2.0, 3), (2, 1.0, 2)]
    assert points[0].pearson == pytest.approx(0.9819805060619657)
    assert math.isnan(points[1].pearson)


def authors_document(text: str, pipeline: Pipeline) -> str:
    """Join the tokens of a text as the authors' extractor does."""
    single = " ".join(filter(None, text.split(" ")))
    return " ".join(word.text for word in pipeline.nlp.make_doc(single))


def straight_line(
    folder: Path, candidate: str, source: str, pipeline: Pipeline
) -> tuple[list[tuple[float, str, float]], list[float]]:
    """Score each factor as in the paper, with one forward pass each; return spans and soft scores."""
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = RobertaForMaskedLM.from_pretrained(folder)
    model.eval()
    document = tokenizer(authors_document(source, pipeline), add_special_tokens=False)["input_ids"]
    [marked] = find_factors([candidate], pipeline, "entity_first")
    shown, soft = [], []
    for factor in marked.factors:
        start, end = marked.sentences[factor.sentence]
        sentence = tokenizer(
            marked.joined.text[start:end], add_special_tokens=False, return_offsets_mapping=True
        )
        left, right = list(document), list(sentence["input_ids"])
        while len(left) + len(right) > 64 - 4:
            (left if len(left) >= len(right) else right).pop()
        ids = [0, *left, 2, 2, *right, 2]
        masked = list(ids)
        places = []
        for at, (first, last) in enumerate(sentence["offset_mapping"][: len(right)]):
            if first < factor.joined_end - start and last > factor.joined_start - start:
                places.append(len(left) + 3 + at)
                masked[places[-1]] = tokenizer.mask_token_id
        with torch.no_grad():
            chances = model(torch.tensor([masked])).logits[0, places].softmax(-1)
        best = chances.max(-1)
        gold, answer = (tokenizer.decode(row).strip() for row in ([ids[at] for at in places], best.indices))
        theirs, ours = (
            tokenizer(" " + text.lower(), add_special_tokens=False)["input_ids"] for text in (gold, answer)
        )
        precision = np.mean([token in ours for token in theirs])
        recall = np.mean([token in theirs for token in ours])
        f1 = 2 * precision * recall / (precision + recall + 1e-12)  # as in the authors' code
        shown.append((float(f1), answer, float(best.values.mean())))
        soft.append(np.mean([chances[row, ids[at]].item() for row, at in enumerate(places)]).item())
    return shown, soft


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny random RoBERTa with varied, sometimes correct, predictions."""
    folder = tmp_path_factory.mktemp("cloze-roberta")
    tokenizer = byte_level()
    torch.manual_seed(3)
    config = RobertaConfig(
        vocab_size=len(tokenizer), pad_token_id=1, type_vocab_size=1, initializer_range=0.5, **SIZE
    )
    model = RobertaForMaskedLM(config)
    likely = tokenizer(TEXT, add_special_tokens=False)["input_ids"]
    model.lm_head.bias.data[likely] += 12.0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def pipeline_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cloze-pipeline")
    tiny_pipeline().to_disk(folder)
    return folder


@pytest.mark.parametrize("source", [SOURCE, "The mayor of Oslo opened two new schools on Monday. " * 9])
def test_scores_equal_a_straight_line_implementation(
    roberta: Path, pipeline_folder: Path, source: str
) -> None:
    example = Example("1", TEXT, source)
    runtime = Runtime(device="cpu", batch_tokens=100)
    plain = build("paper", str(roberta), runtime, {"pipeline": pipeline_folder, "confidence": False})
    [score] = plain.score([example])
    expected, soft = straight_line(roberta, TEXT, source, plain.pipeline)
    assert len(score.spans) == len(expected) == 8
    for span, (value, answer, sure) in zip(score.spans, expected, strict=True):
        assert span.value == pytest.approx(value, abs=1e-9)
        said = read_note(span.note)
        assert said is not None
        assert said.text == answer
        assert said.confidence == pytest.approx(sure, abs=0.0051)
    assert len({value for value, _, _ in expected}) > 2, "the test would see little"
    assert score.parts["confidence"] == pytest.approx(np.mean([sure for _, _, sure in expected]), abs=1e-5)
    options = {"pipeline": pipeline_folder, "confidence": "false", "criterion": "soft"}
    [softly] = build("paper", str(roberta), runtime, options).score([example])
    assert [span.value for span in softly.spans] == pytest.approx(soft, abs=1e-5)
    doubting = build("paper", str(roberta), runtime, {"pipeline": pipeline_folder})
    kept = [0.0 if value < 0.5 and sure < 0.5 else value for value, _, sure in expected]
    assert doubting.score([example])[0].value == pytest.approx(np.mean(kept), abs=1e-9)
    assert any(flag.name == "truncated" for flag in score.flags) == (source != SOURCE)


def test_a_copy_sent_to_another_process_scores_the_same(roberta: Path, pipeline_folder: Path) -> None:
    metric = build("paper", str(roberta), Runtime(device="cpu"), {"pipeline": pipeline_folder})
    copy = pickle.loads(pickle.dumps(metric))
    example = Example("1", TEXT, SOURCE)
    assert copy.score([example]) == metric.score([example])
    assert copy.signature == metric.signature
    assert str(pipeline_folder) not in metric.signature.text


def test_everything_that_decides_a_number_is_in_the_signature() -> None:
    metric = Cloze(Listed(), tiny(), ClozeOptions(k=2))
    assert re.fullmatch(
        r"cloze\|version=3\|model=listed\|pipeline=tiny\|k=2\|level=sentence\|selection=entity_first"
        r"\|criterion=f1\|definition=authors\|prior=none\|confidence=True\|alpha=0.5\|beta=0.5\|aggregate=average"
        r"\|window=0\|passage=0\|copied=False\|splitter=[^|]+\|cut=longest-first",
        metric.signature.text,
    )


@pytest.mark.parametrize(
    "wrong", [{"k": 0}, {"window": -1}, {"alpha": 1.5}, {"beta": -0.1}, {"alpha": math.nan}]
)
def test_options_out_of_range(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        ClozeOptions(**wrong)  # type: ignore[arg-type]


def test_a_pipeline_without_noun_chunks_is_refused_at_once() -> None:
    with pytest.raises(BadModel, match="another selection than entity_first"):
        Cloze(Listed(), ruler("Oslo"))


def test_presets_say_what_is_missing() -> None:
    with pytest.raises(ModelNotFound, match="no_such_pipeline"):
        build("paper", None, Runtime(), {"pipeline": "no_such_pipeline"})
    with pytest.raises(UsageError, match="mini, base, paper"):
        build("best", None, Runtime(), {})
    with pytest.raises(UsageError, match="pipeline"):
        build("paper", None, Runtime(), {"selections": "noun"})


def test_geometric_is_the_geometric_mean_and_is_not_set_to_zero() -> None:
    fill = Fill((1, 2), False, (0.9, 0.9), (0.5, 0.0), (1, 9))
    assert likelihood(fill, "geometric") == pytest.approx(math.sqrt(0.5 * 1e-6))
    assert likelihood(fill, "soft") == pytest.approx(0.25)
    assert trusted(0.2, 0.1, ClozeOptions(criterion="geometric")) == 0.2
    assert trusted(0.2, 0.1, ClozeOptions(criterion="soft")) == 0.0


def test_the_geometric_value_is_the_geometric_mean_of_the_spans(tiny_roberta_lm: Path) -> None:
    options = {"criterion": "geometric", "aggregate": "geometric"}
    metric = load("cloze", model=str(tiny_roberta_lm), options=options)
    [score] = metric.score(
        [Example("1", "The mayor bought the bridge in March.", "The mayor bought a bridge.")]
    )
    spans = [span.value for span in score.spans if span.weight]
    assert len(spans) > 1
    assert score.value == pytest.approx(math.prod(spans) ** (1 / len(spans)))
    assert score.value == score.parts["geometric"] <= score.parts["average"]


def test_the_value_can_be_the_mean_over_sentences_of_their_geometric_means() -> None:
    text = "She left Oslo for Bergen. Nobody came. Then Lund."
    gold = {"Oslo": [0.9], "Bergen": [0.1], "Lund": [0.5]}
    filler = Listed({name: [(name, found[0])] for name, found in gold.items()}, gold)
    options = ClozeOptions(selection="entity", criterion="geometric", aggregate="sentences")
    score = score_one(Cloze(filler, ruler(*gold), options), text)
    assert score.value == score.parts["sentences"] == pytest.approx((0.3 + 0.5) / 2)
    assert score.parts["geometric"] == pytest.approx(0.045 ** (1 / 3))


def test_a_prior_needs_a_criterion_of_probabilities() -> None:
    with pytest.raises(UsageError, match="prior=subtract needs criterion=soft or geometric"):
        ClozeOptions(prior="subtract")
    with pytest.raises(UsageError, match="use aggregate=average or min"):
        ClozeOptions(prior="subtract", criterion="soft", aggregate="geometric")
    with pytest.raises(UsageError, match="use aggregate=average or min"):
        ClozeOptions(prior="subtract", criterion="soft", aggregate="sentences")


@pytest.mark.parametrize("criterion", ["soft", "geometric"])
def test_a_prior_is_what_the_model_says_without_the_document(tiny_roberta_lm: Path, criterion: str) -> None:
    def score(source: str, **options: object) -> Score:
        options = {"criterion": criterion, "aggregate": "average", **options}
        metric = load("cloze", model=str(tiny_roberta_lm), options=options)
        return metric.score([Example("1", "The mayor bought the bridge in March.", source)])[0]

    with_document = score("The mayor bought the old bridge.", confidence=False)
    difference = score("The mayor bought the old bridge.", prior="subtract")
    alone = [a.value - b.value for a, b in zip(with_document.spans, difference.spans, strict=True)]
    other = score("Rain is expected.", confidence=False)
    again = score("Rain is expected.", prior="subtract")
    assert alone == pytest.approx([a.value - b.value for a, b in zip(other.spans, again.spans, strict=True)])
    assert difference.value == pytest.approx(with_document.value - sum(alone) / len(alone))
