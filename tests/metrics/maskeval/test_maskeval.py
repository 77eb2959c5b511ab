"""MaskEval with a fake filler, compared with values computed by hand."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gistmeter.bench.suites.analyses.maskeval import (
    UNTAGGED,
    keep_curve,
    mean_weight_by_tag,
    sparse_value,
    weight_by_tag,
)
from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score
from gistmeter.metrics.maskeval import Learned, MaskEval, MaskEvalOptions, Uniform
from gistmeter.metrics.maskeval.masks import WINDOW, Sharing, stretches
from gistmeter.metrics.maskeval.tokenized import TokenizedText, cut_texts
from gistmeter.metrics.maskeval.weights import keep_heaviest, word_weights
from gistmeter.models.fill.protocol import Query
from gistmeter.text.words import Segment
from tests.listed_filler import Listed

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "maskeval.json").read_text(encoding="utf-8"))
CANDIDATE, SOURCE = "Rain fell.", "Heavy rain fell."
SAID = {"candidate": {"Rain": "Snow"}, "source": {"Heavy": "Light"}}
Ids = tuple[int, ...]
Numbers = NDArray[np.float32]


@dataclass(frozen=True)
class ListedWeighter:
    """Fake weigher: given exponentiated logits of one pair, or a number computed from each ID."""

    exp_logits: dict[str, list[float]] | None = None
    identity: str = "listed"

    def logits(self, pairs: Sequence[tuple[Ids, Ids]]) -> list[tuple[Numbers, Numbers]]:
        if self.exp_logits is not None:
            given = [np.log(np.array(self.exp_logits[side], np.float64)) for side in ("candidate", "source")]
            return [(given[0], given[1]) for _ in pairs]
        return [(_spread(ours), _spread(theirs)) for ours, theirs in pairs]


def _spread(ids: Ids) -> Numbers:
    return np.array([(at * 37 % 11) / 3 for at in ids], np.float32)


def words(count: int, *, stem: str = "w") -> str:
    """Return a text of `count` single-sub-word words, distinct up to 1,000."""
    return " ".join(f"{stem}{at % 1000:03}" for at in range(count))


def score_one(metric: MaskEval, candidate: str = CANDIDATE, source: str = SOURCE) -> Score:
    return metric.score([Example("1", candidate, source)])[0]


def sides(queries: Sequence[Query]) -> tuple[list[Query], list[Query]]:
    """Return the queries that blank words of the candidate, and those that blank words of the source."""
    return [q for q in queries if not q.context_first], [q for q in queries if q.context_first]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["provenance"])
def test_golden(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["value"]
    filler = Listed(given.get("said", {}), given.get("probabilities", {}), given.get("ranks", {}))
    weights = Learned(ListedWeighter(given["exp_logits"])) if "exp_logits" in given else Uniform()
    metric = MaskEval(filler, weights, MaskEvalOptions(**given["options"]))
    score = score_one(metric, given["candidate"], given["source"])
    assert {**score.parts, "value": score.value} == pytest.approx(expected, abs=case["tolerance"])
    for side in ("candidate", "source"):
        spans = [span for span in score.spans if span.side == side]
        assert sum(span.weight for span in spans) == pytest.approx(1, abs=1e-12)
        assert sum(span.weight * span.value for span in spans) == pytest.approx(expected[side], abs=1e-9)


def test_every_word_is_a_span_with_what_the_model_said() -> None:
    score = score_one(MaskEval(Listed(SAID)))
    assert [(s.side, s.start, s.end, s.value, s.note) for s in score.spans] == [
        ("candidate", 0, 4, 0.0, "Snow"),
        ("candidate", 5, 9, 1.0, ""),
        ("candidate", 9, 10, 1.0, ""),
        ("source", 0, 5, 0.0, "Light"),
        ("source", 6, 10, 1.0, ""),
        ("source", 11, 15, 1.0, ""),
        ("source", 15, 16, 1.0, ""),
    ]
    assert [span.weight for span in score.spans] == pytest.approx([1 / 3] * 3 + [1 / 4] * 4)


def test_notes_of_answers_that_broke_off_or_say_nothing() -> None:
    said = {"candidate": {"Rain": "Sn", "fell": ""}}
    assert [s.note for s in score_one(MaskEval(Listed(said))).spans[:3]] == ["Sn", "(nothing)", ""]
    broken = score_one(MaskEval(Listed(said, complete=False)))
    assert [span.note for span in broken.spans[:3]] == ["Sn…", "…", ""]


def test_a_query_holds_both_texts_and_the_candidate_always_stands_first() -> None:
    filler = Listed()
    score_one(MaskEval(filler))
    ours, theirs = sides(filler.asked)
    assert [filler.decode(q.text[slice(*q.blanks[0])]) for q in ours] == ["Rain", "fell", "."]
    assert [filler.decode(q.text[slice(*q.blanks[0])]) for q in theirs] == ["Heavy", "rain", "fell", "."]
    assert {(filler.decode(q.text), filler.decode(q.context)) for q in ours} == {
        ("Rainfell.", "Heavyrainfell.")
    }
    assert {(filler.decode(q.text), filler.decode(q.context)) for q in theirs} == {
        ("Heavyrainfell.", "Rainfell.")
    }


def test_a_prior_asks_for_the_words_of_the_source_again_without_the_candidate() -> None:
    filler = Listed()
    metric = MaskEval(filler, options=MaskEvalOptions(prior="subtract"))
    assert ("prior", "subtract") in metric.signature.settings
    assert "prior" not in dict(MaskEval(filler).signature.settings), "older signatures stay valid"
    score = score_one(metric)
    with_context = [query for query in filler.asked if query.context]
    alone = [query for query in filler.asked if not query.context]
    assert [(q.text, q.blanks) for q in alone] == [(q.text, q.blanks) for q in sides(with_context)[1]]
    assert score.parts == {"candidate": 1.0, "source": 0.0}, "each word is as easy without the candidate"


def test_a_blank_sees_24_sub_words_on_either_side() -> None:
    filler = Listed()
    score_one(MaskEval(filler), source=words(200))
    theirs = sides(filler.asked)[1]
    assert len(theirs) == 200
    whole = filler.tokenize([words(200)])[0].ids
    for at, query in enumerate(theirs):
        low, high = max(0, at - 24), min(200, at + 25)
        assert query.text == whole[low:high]
        assert query.blanks == ((at - low, at - low + 1),)
        assert len(query.context) == 3, "the candidate is short"


def test_the_other_text_is_cut_for_each_mask() -> None:
    candidate, source = words(100), words(900, stem="s")
    filler = Listed()
    score = score_one(MaskEval(filler), candidate, source)
    ours, theirs = sides(filler.asked)
    whole = filler.tokenize([source])[0].ids
    for query in ours:
        assert len(query) + filler.added == 512
        assert query.context == whole[: len(query.context)]
    rooms = [len(query.context) for query in ours]
    assert rooms[:3] == [484, 483, 482], "the first words have a narrower window, so more room is left"
    assert rooms[24:76] == [460] * 52
    assert rooms[::-1] == rooms, "the cut of one mask does not narrow the next"
    assert all(len(query.context) == 100 for query in theirs)
    assert score.flags == (Flag("truncated_context", "source", 460, 900),)


def test_a_long_candidate_is_cut_beside_the_source() -> None:
    filler = Listed()
    score = score_one(MaskEval(filler), words(700), words(30, stem="s"))
    assert score.flags == (Flag("truncated_context", "candidate", 512 - 3 - 30, 700),)
    assert sum(len(query.blanks) for query in sides(filler.asked)[0]) == 700, "every word is asked for"


@pytest.mark.parametrize("window", [10, 30, 52, 53, 66])
def test_a_model_with_a_small_window_sees_less(window: int) -> None:
    filler = Listed(window=window)
    score = score_one(MaskEval(filler), words(80), words(90, stem="s"))
    assert len(filler.asked) == 170
    for query in filler.asked:
        assert len(query) + filler.added <= window
        assert len(query.text) <= min(49, window - filler.added)
    for side, length in zip(sides(filler.asked), (80, 90), strict=True):
        for at, query in enumerate(side):
            [(start, end)] = query.blanks
            before, after = min(at, 24), min(length - at - 1, 24)
            assert (start, len(query.text) - end) <= (before, after)
            assert len(query.text) == min(before + 1 + after, window - filler.added), "what fits is used"
            assert (
                abs(start - len(query.text) + end) <= 1
                or start == at
                or end + length - at == 1 + len(query.text)
            )
    assert {flag.name for flag in score.flags} == {"truncated_context"}


def test_a_word_longer_than_the_window_is_left_out_and_flagged() -> None:
    score = score_one(MaskEval(Listed(SAID, window=12)), "Rain " + "x" * 60, SOURCE)
    assert score.parts["candidate"] == 0.0
    assert [s.note for s in score.spans if math.isnan(s.value)] == ["too long for the model's window"]
    assert Flag("too_long", "candidate", 1, 16) in score.flags
    sparse = MaskEval(Listed(window=12), options=MaskEvalOptions(keep=0.5))
    assert (
        Flag("too_long", "source", 1, 16)
        in score_one(sparse, CANDIDATE, "Rain " + "x" * 60 + " fell .").flags
    )
    nothing = score_one(MaskEval(Listed(window=12)), "x" * 60, SOURCE)
    assert (
        nothing.problem == "no weighted word of the candidate fits into the model's window; use another model"
    )
    assert math.isnan(nothing.parts["candidate"])


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.8])
def test_dropped_words_cost_no_query(keep: float) -> None:
    filler = Listed()
    candidate, source = words(50), words(400, stem="s")
    score = score_one(MaskEval(filler, options=MaskEvalOptions(keep=keep)), candidate, source)
    ours, theirs = sides(filler.asked)
    assert (len(ours), len(theirs)) == (round(50 * keep), round(400 * keep))
    starts = [span.start for span in score.spans if span.side == "source"]
    assert starts == [5 * at for at in range(len(theirs))], "of equal weights, the first are kept"


def test_the_crossing_word_is_kept() -> None:
    weights = np.array([0.1, 0.5, 0.1, 0.3])
    assert keep_heaviest(weights, 0.5) == [1]
    assert keep_heaviest(weights, 0.51) == [1, 3]
    assert keep_heaviest(weights, 1.0) == [0, 1, 2, 3]
    assert keep_heaviest(np.array([1.0, 0.0]), 1.0) == [0, 1]
    assert keep_heaviest(weights, 1e-6) == [1]
    tied = np.array([1.0, 2.0, 1.0, 3.0] * 100) / 700
    assert keep_heaviest(tied, 4 / 7) == sorted([*range(3, 400, 4), *range(1, 200, 4)])


def test_the_cost_is_linear_in_words() -> None:
    counts = []
    for length in (300, 600, 1200):
        filler = Listed()
        score_one(MaskEval(filler), source=words(length))
        counts.append(len(filler.asked) - 3)
    assert counts == [300, 600, 1200]


def test_each_text_is_tokenized_once() -> None:
    filler = Listed()
    rows = [(CANDIDATE, SOURCE), (SOURCE, CANDIDATE), (CANDIDATE, SOURCE), (SOURCE, SOURCE)]
    MaskEval(filler).score([Example(str(at), *texts) for at, texts in enumerate(rows)])
    assert sorted(filler.tokenized) == sorted([CANDIDATE, SOURCE])


@pytest.mark.parametrize("masks_per_pass", [2, 4, 7])
def test_words_of_one_pass_lie_outside_each_others_windows(masks_per_pass: int) -> None:
    filler, alone = Listed(SAID), Listed(SAID)
    candidate, source = words(60) + " " + CANDIDATE, words(1000, stem="s")
    options = MaskEvalOptions(masks_per_pass=masks_per_pass)
    score = score_one(MaskEval(filler, options=options), candidate, source)
    assert score.value == score_one(MaskEval(alone), candidate, source).value
    theirs = sides(filler.asked)[1]
    blanks = [query.blanks for query in theirs]
    assert sum(map(len, blanks)) == 1000
    assert 1000 / masks_per_pass <= len(theirs) <= 1000 / masks_per_pass + 25
    for query in filler.asked:
        assert len(query) + filler.added <= 512
        assert all(later[0] - earlier[1] >= WINDOW for earlier, later in pairwise(query.blanks))
        assert query.blanks[0][0] <= WINDOW
        assert len(query.text) - query.blanks[-1][1] <= WINDOW


@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=60),
    room=st.integers(30, 509),
    masks_per_pass=st.integers(1, 9),
    spacing=st.integers(1, 40),
    data=st.data(),
)
def test_stretches_hold_every_word_once(
    lengths: list[int], room: int, masks_per_pass: int, spacing: int, data: st.DataObject
) -> None:
    ends = np.cumsum(lengths).tolist()
    found = tuple(
        Segment(end - length, end - 1, end - length, end) for end, length in zip(ends, lengths, strict=True)
    )
    tokenized = TokenizedText(tuple(range(ends[-1])), found)
    numbers = range(len(lengths))
    chosen = sorted(data.draw(st.sets(st.sampled_from(numbers)), label="chosen"))
    runs = stretches(tokenized, chosen, room=room, sharing=Sharing(masks_per_pass, spacing))
    assert sorted(word for run in runs for word in run.words) == chosen
    for run in runs:
        assert 0 <= run.low <= found[run.words[0]].first
        assert found[run.words[-1]].last < run.high <= len(tokenized.ids)
        assert run.high - run.low <= (room if len(run.words) == 1 else room // 2)
        assert len(run.words) <= masks_per_pass
        gaps = [found[later].first - found[earlier].last - 1 for earlier, later in pairwise(run.words)]
        assert all(gap >= spacing for gap in gaps)


def test_a_side_without_words_has_no_score() -> None:
    filler = Listed(dropped="🙂\u200b")
    metric = MaskEval(filler)
    score = score_one(metric, candidate="🙂\u200b🙂")
    assert score.problem == "the model's tokenizer finds no word in the candidate"
    assert score.flags == (Flag("empty_side", "candidate"),)
    both = score_one(metric, "🙂", "\u200b")
    assert [flag.side for flag in both.flags] == ["candidate", "source"]
    assert score_one(metric, source="🙂").flags == (Flag("empty_side", "source"),)
    assert filler.asked == [], "what has no score costs nothing"
    mixed = metric.score(
        [Example("a", "🙂", SOURCE), Example("b", CANDIDATE, SOURCE), Example("c", CANDIDATE)]
    )
    assert [score.problem is None for score in mixed] == [False, True, False]


def test_only_punctuation_is_scored() -> None:
    score = score_one(MaskEval(Listed({"candidate": {"!": "?"}})), "?! ...")
    assert score.problem is None
    assert score.parts["candidate"] < 1


def test_a_source_shorter_than_its_candidate() -> None:
    filler = Listed({"candidate": {"Heavy": "Light"}, "source": {"Rain": "Snow", ".": "!"}})
    score = score_one(MaskEval(filler), candidate=SOURCE, source=CANDIDATE)
    assert score.parts == pytest.approx({"candidate": 3 / 4, "source": 1 / 3})


def test_a_tokenizer_that_drops_characters() -> None:
    text = "Rain 🙂 fell 天气 عربي."
    score = score_one(MaskEval(Listed(dropped="🙂")), text, text)
    marked = [text[span.start : span.end] for span in score.spans if span.side == "candidate"]
    assert [word for word in marked if "🙂" in word] == []
    assert marked[0] == "Rain"
    assert "".join(marked).replace(" ", "") == text.replace("🙂", "").replace(" ", "")


@pytest.mark.parametrize(
    "source",
    ["The ferry left. " * 3750, "x" * 60_000, "." * 60_000, "天气很好。" * 12_000, "🙂 " * 30_000],
    ids=["sentences", "one word", "dots", "chinese", "emoji"],
)
def test_a_source_of_60_000_characters(source: str) -> None:
    filler = Listed()
    score = score_one(MaskEval(filler, options=MaskEvalOptions(keep=0.2)), source=source)
    assert score.problem is None
    assert all(len(query) + filler.added <= 512 for query in filler.asked)
    assert {flag.name for flag in score.flags} <= {"truncated_context", "unknown_language"}
    assert max(span.end for span in score.spans) <= len(source)


def test_everything_that_decides_a_number_is_in_the_signature() -> None:
    metric = MaskEval(Listed())
    text = metric.signature.text
    for part in ("model=listed", "weights=uniform", "window=24", "cut=512", "score=exact", "words=spacy-"):
        assert part in text
    others = [
        MaskEval(Listed(window=300)),
        MaskEval(Listed(identity="other")),
        MaskEval(Listed(), Learned(ListedWeighter())),
        *(
            MaskEval(Listed(), options=options)
            for options in (
                MaskEvalOptions(score="probability"),
                MaskEvalOptions(keep=0.5),
                MaskEvalOptions(masks_per_pass=2),
                MaskEvalOptions(language="fr"),
                MaskEvalOptions(language="xx"),
                MaskEvalOptions(language="de+en"),
                MaskEvalOptions(language="de+fr"),
            )
        ),
    ]
    assert len({metric.signature.hash, *(other.signature.hash for other in others)}) == 11


@pytest.mark.parametrize(
    "wrong", [{"keep": 0.0}, {"keep": 1.1}, {"keep": math.nan}, {"masks_per_pass": 0}, {"spacing": 0}]
)
def test_options_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        MaskEvalOptions(**wrong)


def test_a_probability_that_rounds_to_nothing_stays_finite() -> None:
    filler = Listed(probabilities={"candidate": {"Rain": [0.0]}})
    score = score_one(MaskEval(filler, options=MaskEvalOptions(score="log_probability")))
    assert score.parts["candidate"] == pytest.approx(-126 * math.log(2) / 3)


def test_white_space_between_words_is_not_read() -> None:
    tokenized = TokenizedText((5, 6, 7), (Segment(0, 0, 0, 1), Segment(2, 2, 3, 4)))
    assert tokenized.inside_ids == (5, 7)
    assert word_weights(tokenized, np.array([0.0, math.log(3)])) == pytest.approx([0.25, 0.75])
    assert word_weights(tokenized, np.array([900.0, 900.0 + math.log(3)])) == pytest.approx([0.25, 0.75])


def test_words_of_another_language() -> None:
    cut = cut_texts(Listed(), ["L'eau tombe."], "fr")["L'eau tombe."]
    assert [word.end - word.start for word in cut.words] == [2, 3, 5, 1]


def learned_score() -> Score:
    said = {"candidate": {"w003": "x"}, "source": {f"s{at:03}": "x" for at in range(0, 80, 3)}}
    return score_one(MaskEval(Listed(said), Learned(ListedWeighter())), words(20), words(80, stem="s"))


@pytest.mark.parametrize("keep", [0.1, 0.2, 0.55, 0.8, 1.0])
def test_sparse_values_equal_those_of_the_option(keep: float) -> None:
    said = {"candidate": {"w003": "x"}, "source": {f"s{at:03}": "x" for at in range(0, 80, 3)}}
    metric = MaskEval(Listed(said), Learned(ListedWeighter()), MaskEvalOptions(keep=keep))
    sparse = score_one(metric, words(20), words(80, stem="s"))
    assert sparse_value(learned_score(), keep) == pytest.approx(sparse.value, abs=1e-12)


def test_correlation_against_the_share_of_masks_kept() -> None:
    texts = [words(20), words(20, stem="t"), words(20, stem="u")]
    said = {"candidate": {"w000": "x", "w001": "x", "t009": "x", "t010": "x", "t011": "x"}}
    metric = MaskEval(Listed(said))
    scores = metric.score([*(Example(text[0], text, SOURCE) for text in texts), Example("none", "a")])
    half, whole = keep_curve(scores, [0.1, 0.9, 1.0, 0.5], [0.5, 1.0])
    assert (half.keep, half.masks, half.share) == (0.5, 12.0, 0.5)
    assert (whole.masks, whole.share) == (24.0, 1.0)
    by_hand = [1 - at / 20 for at in (2, 3, 0)]
    assert whole.pearson == pytest.approx(np.corrcoef(by_hand, [0.1, 0.9, 1.0])[0, 1])
    by_half = [1 - at / 10 for at in (2, 1, 0)]
    assert half.pearson == pytest.approx(np.corrcoef(by_half, [0.1, 0.9, 1.0])[0, 1])
    assert math.isnan(keep_curve(scores[:1], [1.0], [1.0])[0].pearson)
    assert math.isnan(keep_curve([], [], [1.0])[0].masks)


def test_weight_by_part_of_speech() -> None:
    exp_logits = {"candidate": [2.0, 1.0, 1.0], "source": [1.0, 2.0, 3.0, 1.0, 1.0]}
    score = score_one(MaskEval(Listed(), Learned(ListedWeighter(exp_logits))))
    tagged = [(0, 5, "ADJ"), (6, 10, "NOUN"), (11, 15, "VERB")]
    assert weight_by_tag(score, tagged) == pytest.approx(
        {"ADJ": 0.375, "NOUN": 0.375, "VERB": 0.125, UNTAGGED: 0.125}
    )
    halves = [(0, 2, "NOUN"), (2, 4, "PART"), (5, 9, "VERB"), (9, 10, "PUNCT")]
    assert weight_by_tag(score, halves, side="candidate") == pytest.approx(
        {"NOUN": 0.25, "PART": 0.25, "VERB": 0.25, "PUNCT": 0.25}
    )
    undefined = Score.undefined("2", "nothing")
    mean = mean_weight_by_tag([score, undefined, score], [tagged, [], [(0, 16, "X")]])
    assert mean == pytest.approx({"ADJ": 0.1875, "NOUN": 0.1875, "VERB": 0.0625, UNTAGGED: 0.0625, "X": 0.5})
