"""Test that no script makes a metric crash, cut at a wrong place, or return a silent zero."""

import math
from typing import Any

import pytest

import gistmeter as gm
from gistmeter import catalog
from tests.laws.variants import FIXTURES, build

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
MODELS = dict.fromkeys(("speed", "bertscore", "maskeval", "likelihood"), "language=xx")
OTHERS = {
    "rouge": "stemmer=false,tokenizer=words",
    "bleu": "tokenizer=char",
    "sari": "tokenizer=char",
}
ZERO = ("novelty", "maskeval")
"""Metrics for which 0 is an ordinary value: no novel n-gram; no word that a random model predicts."""


@pytest.mark.parametrize("name", catalog.METRICS)
def test_a_text_in_any_script_has_a_value_or_a_problem(name: str, request: pytest.FixtureRequest) -> None:
    spec = {**MODELS, **OTHERS}.get(name, "")
    options: dict[str, Any] = dict(pair.split("=") for pair in spec.split(",") if pair)
    metric = build(name, request.getfixturevalue(FIXTURES.get(name, ["tiny_bert"])[0]), **options)
    examples = [
        gm.Example(language, short, source=whole, references=[whole], language=language)
        for language, (whole, short) in TEXTS.items()
    ]
    scores = metric.score(examples)
    assert [score.id for score in scores] == list(TEXTS)
    for example, score in zip(examples, scores, strict=True):
        if str(example.language) not in metric.languages:
            assert score.problem is not None and score.problem.startswith("language: ")
            continue
        assert score.problem is not None or name in ZERO or score.value != 0
        assert math.isnan(score.value) == (score.problem is not None)
        texts = {(side, index): text for side, index, text in example.texts()}
        for span in score.spans:
            text = texts[span.side, span.index]
            assert 0 <= span.start < span.end <= len(text)
            assert text[span.start : span.end].strip()


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
