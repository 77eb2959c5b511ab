"""Test the time limit per row: rows above it get a problem, and long rows are announced."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from gistmeter import Example
from gistmeter.app.cli import main
from gistmeter.core.deadline import OverTime, check_deadline, deadline
from gistmeter.core.example import Need
from gistmeter.core.language import ANY, Languages
from gistmeter.core.metric import Asking
from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature
from gistmeter.engine.local import SHARE, score_rows
from tests.laws.variants import build

WORD = "ferry "


class Slow:
    """Takes .2 s for a text that says `slow`, in steps, as a model's batches do."""

    name = "slow"
    needs: tuple[Need, ...] = ()
    languages: Languages = ANY
    signature = Signature.of("slow", version=1)

    def __init__(self) -> None:
        self.calls: list[int] = []

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        self.calls.append(len(examples))
        for example in examples:
            for _ in range(20 if "slow" in example.candidate else 0):
                check_deadline()
                time.sleep(0.01)
        return [Score(example.id, float(len(example.candidate))) for example in examples]


def test_only_the_row_that_is_slow_has_a_problem() -> None:
    rows = [Row(Example(str(at), "slow" if at == 2 else "quick")) for at in range(5)]
    metric = Slow()
    (chunk,) = score_rows([metric], rows, max_seconds_per_row=0.1)
    problems = [scored.scores[0].problem for scored in chunk]
    assert problems == [None, None, "took over 0.1 s, the limit of --max-seconds-per-row", None, None]
    assert [scored.scores[0].id for scored in chunk] == list("01234")
    (unlimited,) = score_rows([metric], rows)
    assert all(scored.scores[0].problem is None for scored in unlimited)


def test_long_rows_are_scored_alone() -> None:
    texts = ["a", "b" * (SHARE + 1), "c", "d"]
    metric = Slow()
    (chunk,) = score_rows([metric], [Row(Example(text[0], text)) for text in texts], max_seconds_per_row=9)
    assert metric.calls == [1, 1, 2]
    assert [scored.scores[0].value for scored in chunk] == [1.0, SHARE + 1.0, 1.0, 1.0]


def test_a_deadline_ends_with_its_block() -> None:
    with pytest.raises(OverTime), deadline(0):
        time.sleep(0.001)
        check_deadline()
    with deadline(9), deadline(None):
        check_deadline()
    check_deadline()


@pytest.mark.parametrize("model", ["tiny_copy_infiller", "tiny_bart", "tiny_t5", "tiny_roberta_lm"])
def test_every_model_stops_between_batches(model: str, request: pytest.FixtureRequest) -> None:
    metric = build("maskeval", request.getfixturevalue(model))
    with pytest.raises(OverTime), deadline(0):
        metric.score([Example("1", "Rain fell.", "Rain fell on the hills.")])


def test_the_cost_is_estimated(tiny_copy_infiller: Path) -> None:
    example = Example("1", WORD * 100, WORD * 900, (WORD * 5,))
    whole, part = (
        build("maskeval", tiny_copy_infiller),
        build("maskeval", tiny_copy_infiller, keep=0.5, masks_per_pass=2),
    )
    assert isinstance(whole, Asking) and isinstance(part, Asking)
    assert (whole.words_asked(example), part.words_asked(example)) == (1000, 500)
    prior = build("maskeval", tiny_copy_infiller, prior="subtract")
    assert isinstance(prior, Asking) and prior.words_asked(example) == 1900
    assert not isinstance(Slow(), Asking)


def test_the_command_says_the_cost_and_gives_up(
    tiny_copy_infiller: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"id": "short", "candidate": "Rain fell.", "source": "Rain fell on the hills."},
        {"id": "long", "candidate": "Rain fell.", "source": WORD * 50_000},
    ]
    data, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    common = ["score", "maskeval", "-i", str(data), "-o", str(out), "--model", str(tiny_copy_infiller)]
    assert main([*common, "--max-seconds-per-row", "1"]) == 0
    said = capsys.readouterr().err
    assert "row long is long: maskeval predicts about 50,002 words, which takes about 50 s" in said
    short, long = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert short["problem"] is None and "took over 1 s" in long["problem"]


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "x"])
def test_a_limit_that_is_none(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["score", "chrf", "--max-seconds-per-row", limit])
    assert "--max-seconds-per-row" in capsys.readouterr().err
