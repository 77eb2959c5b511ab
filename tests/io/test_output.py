"""Test output rows: strict JSON for any text."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.score_row import score_row
from gistmeter.core.signature import Signature
from gistmeter.io.output import json_lines, parse_spans, score_of, worst_spans

SIGNATURE = Signature.of("speed", version=1, match="greedy")
EXAMPLE = Example("7", "A cat sat.", system="lead", doc_id="d1")


def strict(line: str | bytes) -> object:
    """Parse JSON as the standard has it: no NaN, no Infinity."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(line, parse_constant=refuse)


def test_a_row_has_exactly_the_documented_keys() -> None:
    score = Score(
        "7",
        0.5,
        {"recall": 0.25, "precision": math.nan},
        (Span("candidate", 0, 5, 0.5, note="x"), Span("reference", 2, 4, math.nan, 2.0, index=3)),
        (
            Flag("truncated", "source", kept=510, total=1322),
            Flag("degenerate"),
            Flag("empty_side", "reference", index=0),
        ),
    )
    row = score_row("speed:match=greedy", score, SIGNATURE, EXAMPLE)
    assert list(row.items()) == [
        ("id", "7"),
        ("metric", "speed:match=greedy"),
        ("value", 0.5),
        ("parts", {"recall": 0.25, "precision": None}),
        (
            "spans",
            [
                {"side": "candidate", "start": 0, "end": 5, "value": 0.5, "weight": 1.0, "note": "x"},
                {
                    "side": "reference",
                    "start": 2,
                    "end": 4,
                    "value": None,
                    "weight": 2.0,
                    "note": "",
                    "index": 3,
                },
            ],
        ),
        (
            "flags",
            [
                {"name": "truncated", "side": "source", "kept": 510, "total": 1322},
                {"name": "degenerate"},
                {"name": "empty_side", "side": "reference", "index": 0},
            ],
        ),
        ("problem", None),
        ("signature", "speed|version=1|match=greedy"),
        ("system", "lead"),
        ("doc_id", "d1"),
    ]


def test_an_undefined_score_keeps_its_reason() -> None:
    row = score_row("speed", Score.undefined("7", "the row has no source"), SIGNATURE, EXAMPLE)
    assert (row["value"], row["problem"]) == (None, "the row has no source")


def test_numbers_of_numpy_and_infinities_become_json() -> None:
    score = Score(
        "7",
        np.float32(0.5),  # type: ignore[arg-type]
        {"perplexity": math.inf, "mean": np.float64(0.25)},
        (Span("candidate", np.int64(0), np.int64(5), -math.inf, np.float32(1)),),  # type: ignore[arg-type]
        (Flag("truncated", "source", kept=np.int64(3), total=np.int64(4)),),  # type: ignore[arg-type]
    )
    row = score_row("speed", score, SIGNATURE, EXAMPLE)
    assert strict(json.dumps(row, allow_nan=False)) == row
    assert row["parts"] == {"perplexity": None, "mean": 0.25}


any_row = st.dictionaries(
    st.text(max_size=5),
    st.text(max_size=20) | st.floats(allow_nan=False, allow_infinity=False) | st.none() | st.integers(),
    max_size=4,
)


@given(rows=st.lists(any_row, max_size=5))
def test_rows_come_back_with_any_text(rows: list[dict[str, object]]) -> None:
    assert [strict(line) for line in json_lines(rows).split(b"\n")[:-1]] == rows


def test_a_lone_surrogate_is_escaped_and_other_text_is_not() -> None:
    lines = json_lines([{"id": "Café"}, {"id": "é\ud800"}])
    assert lines == '{"id": "Café"}\n{"id": "\\u00e9\\ud800"}\n'.encode()


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_lines([{"value": math.nan}])


@given(values=st.lists(st.floats(width=16), max_size=6), limit=st.none() | st.integers(0, 8))
def test_the_worst_spans_are_kept_in_the_order_of_the_text(values: list[float], limit: int | None) -> None:
    spans = tuple(Span("candidate", at, at + 1, value) for at, value in enumerate(values))
    kept = worst_spans(spans, limit)
    assert len(kept) == (len(spans) if limit is None else min(limit, len(spans)))
    assert [span.start for span in kept] == sorted(span.start for span in kept)
    for span in (span for span in spans if span not in kept and not math.isnan(span.value)):
        assert all(one.value <= span.value for one in kept)


@pytest.mark.parametrize(
    "text", ["", "worst", "worst=", "worst=-1", "worst=x", "best=5", "worst=99999999999"]
)
def test_spans_that_make_no_sense(text: str) -> None:
    with pytest.raises(UsageError, match="write all, none or worst=N"):
        parse_spans(text)


def test_a_score_is_made_of_its_row_again() -> None:
    for score in (
        Score("7", 0.5, {"a": 1.0}, (Span("candidate", 0, 1, 0.5),), (Flag("truncated", "source", 1, 2),)),
        Score.undefined("7", "the row has no source", (Flag("empty_side", "reference", index=2),)),
        Score("7", math.inf),
    ):
        row = json.loads(json_lines([score_row("speed", score, SIGNATURE, EXAMPLE)]))
        assert repr(score_of(row)) == repr(replace(score, parts={}, spans=()))
