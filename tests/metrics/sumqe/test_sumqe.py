"""SUM-QE with a fake regressor: values, windows, spans, and unusual texts."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gistmeter import catalog
from gistmeter.core.errors import BadModel, ModelNotFound, UsageError
from gistmeter.core.example import Example
from gistmeter.core.score import Score
from gistmeter.metrics.sumqe import QUALITIES, SumQE, SumQEOptions, build
from gistmeter.metrics.sumqe.windows import pieces_of, windows
from gistmeter.models.rate.text_regressor import TextRegressor
from gistmeter.models.run.runtime import Runtime
from tests.tiny_regressor import save_regressor

RUNTIME = Runtime(device="cpu")
GOLDEN = Path(__file__).parents[2] / "golden" / "sumqe.json"
TEXT = "The ferry left at noon. Rain fell over the hills. Nobody was hurt."


@dataclass
class ListedRegressor:
    """Fake regressor with words as tokens and given predictions; 0.5 for other texts."""

    rated: Mapping[str, Sequence[float]] = field(default_factory=dict)
    window: int = 50
    qualities: Sequence[str] = QUALITIES
    identity: str = "listed"
    words: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def tokenize(self, sentences: Sequence[str]) -> list[tuple[int, ...]]:
        found = []
        for sentence in sentences:
            start = len(self.words)
            self.words += sentence.split()
            found.append(tuple(range(start, len(self.words))))
        return found

    def row(self, sentences: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        return (-1, *(token for sentence in sentences for token in (*sentence, -2)))

    def rate(self, rows: Sequence[tuple[int, ...]]) -> np.ndarray[Any, np.dtype[np.float32]]:
        texts = [" ".join(self.words[at] for at in row if at >= 0) for row in rows]
        self.seen += texts
        assert all(len(row) <= self.window for row in rows)
        return np.array([self.rated.get(text, (0.5,) * 5) for text in texts], dtype=np.float32)


def score(regressor: ListedRegressor, text: str, **options: object) -> Score:
    metric = SumQE(cast(TextRegressor, regressor), SumQEOptions(**options))  # type: ignore[arg-type]
    return metric.score([Example("1", text)])[0]


@pytest.mark.parametrize("row", json.loads(GOLDEN.read_text(encoding="utf-8")))
def test_golden(row: dict[str, Any]) -> None:
    given = row["input"]
    regressor = ListedRegressor(given["rated"], given["window"])
    found = score(regressor, given["candidate"], **given["options"])
    for name, value in row["value"].items():
        got = found.value if name == "value" else found.parts[name]
        assert got == pytest.approx(value, abs=row["tolerance"]), row["provenance"]


def test_a_sentence_that_hurts_is_seen() -> None:
    first, second, third = "The ferry left at noon.", "Rain fell over the hills.", "Nobody was hurt."
    rated = {TEXT: [0.5] * 5, f"{second} {third}": [0.25] * 5, f"{first} {third}": [1.0] * 5}
    found = score(ListedRegressor(rated), TEXT, spans=True)
    window, *drops = found.spans
    assert (window.start, window.end, window.value) == (0, len(TEXT), found.value), "all in one window"
    assert window.weight == sum(map(len, ListedRegressor().tokenize([first, second, third]))) + 3
    assert [TEXT[span.start : span.end] for span in drops] == [first, second, third]
    assert [span.value for span in drops] == pytest.approx([1.0, -2.0, 0.0]), "3 without each"
    assert [span.weight for span in drops] == [0.0, 0.0, 0.0]
    assert [span.note for span in drops] == ["2.00 without it", "5.00 without it", "3.00 without it"]
    assert score(ListedRegressor(rated), TEXT).spans == ()
    (alone,) = score(ListedRegressor(), first, spans=True).spans
    assert alone.weight > 0, "nothing is left without the only sentence"
    focus = score(
        ListedRegressor({f"{second} {third}": [0, 0, 0, 1, 0]}), TEXT, spans=True, dimension="focus"
    )
    assert focus.spans[1].value == pytest.approx(-2), "of the quality that was asked for"


@given(st.lists(st.integers(1, 12), max_size=30), st.integers(12, 40))
def test_windows_hold_everything_and_move_on(lengths: list[int], room: int) -> None:
    cuts = windows(lengths, room)
    assert {at for first, last in cuts for at in range(first, last)} == set(range(len(lengths)))
    for first, last in cuts:
        assert sum(lengths[first:last]) <= room
    for (first, last), (next_first, next_last) in pairwise(cuts):
        assert first < next_first <= last < next_last, "each reads something new, and skips nothing"
        shared = sum(lengths[next_first:last])
        assert shared <= room // 4
        fits = sum(lengths[next_first - 1 : last + 1]) <= room
        more = shared + lengths[next_first - 1] <= room // 4
        assert not (fits and more), "overlaps as much as it may"


def test_a_sentence_longer_than_a_window_is_cut() -> None:
    assert pieces_of([(1, 2, 3, 4, 5), (), (6,)], 2) == [(0, (1, 2)), (0, (3, 4)), (0, (5,)), (2, (6,))]
    regressor = ListedRegressor({}, window=10)
    found = score(regressor, "word " * 60)
    assert "".join(regressor.seen).count("word") >= 60, "all of it is read"
    assert [str(flag) for flag in found.flags] == ["windowed (candidate)"]


@pytest.fixture(scope="module")
def metric(tmp_path_factory: pytest.TempPathFactory) -> SumQE:
    return build("mini", str(save_regressor(tmp_path_factory.mktemp("rater"))), RUNTIME, {})


@pytest.mark.parametrize(
    ("text", "windowed"),
    [
        ("The ferry left.", False),  # one sentence
        ("Rain", False),  # one word
        ("the ferry left at noon with forty passengers", False),  # no sentence mark
        ("The ferry left at noon with forty passengers on board. " * 500, True),  # 5,000 words
    ],
)
def test_odd_texts_have_a_number(metric: SumQE, text: str, windowed: bool) -> None:
    found = metric.score([Example("1", text)])[0]
    assert found.problem is None
    assert list(found.parts) == list(QUALITIES)
    assert found.value == pytest.approx(sum(found.parts.values()) / 5)
    assert [flag.name for flag in found.flags] == ["windowed"] * windowed


@pytest.mark.parametrize("text", ["- - - -", "—————", "...", "?!", "🙂 🎉"])
def test_texts_without_a_letter_have_none(metric: SumQE, text: str) -> None:
    found = metric.score([Example("1", text)])[0]
    assert found.problem == "the candidate has no letter or digit, so it cannot be rated"
    assert math.isnan(found.value) and found.flags[0].name == "degenerate"


def test_the_value_is_the_quality_asked_for(tmp_path: Path) -> None:
    folder = str(save_regressor(tmp_path, "m1"))
    whole = build("mini", folder, RUNTIME, {}).score([Example("1", TEXT)])[0]
    for quality in QUALITIES:
        one = catalog.build("sumqe", model=folder, runtime=RUNTIME, options={"dimension": quality})
        found = one.score([Example("1", TEXT)])[0]
        assert found.value == found.parts[quality] and found.parts == whole.parts
    assert "sumqe" in catalog.WITH_DIMENSION


def test_what_cannot_be_built(tmp_path: Path, tiny_bert: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"recipes/sumqe-duc\.toml"):
        build("paper", None, RUNTIME, {})
    with pytest.raises(UsageError, match="no preset 'large'; there are: mini, base, paper"):
        build("large", None, RUNTIME, {})
    with pytest.raises(UsageError, match="choose one of mean, grammaticality"):
        build("mini", None, RUNTIME, {"dimension": "fluency"})
    with pytest.raises(BadModel, match="not a gistmeter-rater"):
        build("mini", str(tiny_bert), RUNTIME, {})
    two = save_regressor(tmp_path, qualities=QUALITIES[:2])
    with pytest.raises(BadModel, match="rates grammaticality, non_redundancy, not"):
        build("mini", str(two), RUNTIME, {})
