"""Shipped models with default options and without network access."""

import pytest

from gistmeter import Example, Score, load

SOURCE = (
    "The council of Aldermoor voted on Tuesday evening to close the town's swimming pool for two years. "
    "Engineers found in March that its roof is held up by beams that have begun to rot. "
    "About sixty swimmers protested outside the town hall."
)
GOOD = "aldermoor closes its swimming pool for two years . engineers found that its beams have begun to rot ."
WRONG = (
    "aldermoor closes its swimming pool for three years . engineers found that its walls have begun to rot ."
)
OTHER = "the president of france met farmers in lyon . they asked for lower taxes on fuel and for more rain ."

pytestmark = pytest.mark.slow


def scores(name: str, **options: object) -> tuple[Score, Score, Score]:
    examples = [Example(str(at), text, SOURCE) for at, text in enumerate((GOOD, WRONG, OTHER))]
    metric = load(name, **options)  # type: ignore[arg-type]
    assert "gistmeter/fill@" in metric.signature.text
    good, wrong, other = metric.score(examples)
    return good, wrong, other


@pytest.mark.parametrize("name", ["maskeval", "cloze"])
def test_a_faithful_summary_scores_higher_than_one_with_errors_or_one_of_another_text(name: str) -> None:
    good, wrong, other = scores(name)
    assert 1 >= good.value > wrong.value > other.value >= 0


def test_cloze_says_what_the_document_would_fill_in() -> None:
    good, wrong, _ = scores("cloze")
    right = {GOOD[span.start : span.end]: span.value for span in good.spans}
    said = {WRONG[span.start : span.end]: span for span in wrong.spans}
    assert "two" in said["three years"].note
    assert said["three years"].value < right["two years"]


@pytest.mark.parametrize("dimension", ["consistency", "coherence", "fluency", "relevance"])
def test_maskeval_has_weights_for_every_quality(dimension: str) -> None:
    good, _, other = scores("maskeval", dimension=dimension)
    assert good.value > other.value
    assert sum(span.weight for span in good.spans if span.side == "candidate") == pytest.approx(1)
