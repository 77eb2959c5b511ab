"""Test that no script makes a metric crash, cut at a wrong place, or return a silent zero."""

import pytest

import gistmeter as gm
from gistmeter.core.language import PROBLEM
from gistmeter.core.metric import Metric
from tests.laws.test_laws import OF_ITSELF, assert_sound
from tests.laws.variants import CASES, build

TEXTS = {
    "ar": ("وصل القارب إلى الميناء ظهراً. لا أحد يعرف السبب.", "وصل القارب ظهراً."),
    "he": ("הסירה הגיעה לנמל בצהריים. איש לא יודע למה.", "הסירה הגיעה בצהריים."),
    "hi": ("नाव दोपहर को बंदरगाह पहुँची। कोई नहीं जानता क्यों।", "नाव दोपहर को पहुँची।"),
    "ja": ("船は正午に港に着いた。誰も理由を知らない。", "船は正午に着いた。"),
    "ko": ("배가 정오에 항구에 도착했다. 아무도 이유를 모른다.", "배가 정오에 도착했다."),
    "ru": ("Паром прибыл в порт в полдень. Никто не знает почему.", "Паром прибыл в полдень."),
    "th": ("เรือมาถึงท่าเรือตอนเที่ยง ไม่มีใครรู้ว่าทำไม", "เรือมาถึงตอนเที่ยง"),
    "zh": ("船中午到达港口。没有人知道为什么。", "船中午到达。"),
}
XX: dict[str, object] = {"language": "xx"}
OTHERS: dict[str, list[dict[str, object]]] = {
    "rouge": [{"stemmer": False, "tokenizer": "words"}],
    "bleu": [{"tokenizer": "zh"}, {"tokenizer": "char"}],
    "sari": [{"tokenizer": "zh"}, {"tokenizer": "char"}],
    **{name: [XX] for name in ("speed", "bertscore", "maskeval", "likelihood", "simplicity", "sumqe")},
}
"""The settings with which a metric scores other languages."""
ZERO = ("novelty", "maskeval", "cloze")
"""Metrics for which 0 is an ordinary value: nothing is novel, or predicted by a random model."""
UNKNOWN = "the model's tokenizer finds no "
"""The start of a problem: the vocabulary of the model has nothing of the text."""


def rows(language: str, named: str | None) -> list[gm.Example]:
    whole, short = TEXTS[language]
    return [
        gm.Example(f"{language}-short", short, whole, [whole, short[::-1]], language=named),
        gm.Example(f"{language}-copy", whole, whole, [whole], language=named),
    ]


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_text_in_any_script_has_a_value_or_a_problem(
    case: tuple[str, str], request: pytest.FixtureRequest
) -> None:
    name, fixture = case
    examples = [row for language in TEXTS for named in (language, None) for row in rows(language, named)]
    for options in ({}, *OTHERS.get(name, [])):
        metric = build(name, request.getfixturevalue(fixture), **options)
        assert_sound(metric, examples, f"{name} {options}")
        for example, score in zip(examples, metric.score(examples), strict=True):
            assert_scored_or_said(metric, example, score)


def assert_scored_or_said(metric: Metric, example: gm.Example, score: gm.Score) -> None:
    if example.language is not None and example.language not in metric.languages:
        assert score.problem is not None and score.problem.startswith(PROBLEM), score
        return
    if example.language is not None:
        assert score.problem is None or score.problem.startswith(UNKNOWN), score
    doubted = "unknown_language" in [flag.name for flag in score.flags]
    assert score.value != 0 or doubted or metric.name in ZERO, score
    expected = OF_ITSELF[metric.name]
    if score.problem is None and expected is not None and example.id.endswith("copy"):
        assert score.value == pytest.approx(expected, abs=1e-5), score


def test_a_row_is_cut_into_the_words_of_its_language(tiny_roberta_lm: object) -> None:
    metric = build("maskeval", tiny_roberta_lm, language="xx")  # type: ignore[arg-type]
    text = "C'est aujourd'hui l'été."
    rows = [gm.Example(tag or "none", text, source=text, language=tag) for tag in ("fr", "en", None)]
    french, english, unknown = ([span.start for span in score.spans if span.side == "candidate"]
                                for score in metric.score(rows))  # fmt: skip
    assert french != english
    assert text.index("été") in french
    assert unknown != french
    assert "words=spacy-" in metric.signature.text and "-by-row&sub-words" in metric.signature.text
    alone = metric.score(rows[:1])[0]
    assert alone.value == pytest.approx(metric.score(rows)[0].value)
