"""Test texts in other languages: flags, unchanged scores, and undefined scores."""

import gzip
import json
import random
from pathlib import Path

import pytest
import spacy.lang.ja.examples as ja
import spacy.lang.ru.examples as ru

from gistmeter import Example, catalog
from gistmeter.core.score import Flag
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.language import SAMPLE, english, language_flags
from tests.laws.variants import build

RUNTIME = Runtime(device="cpu", backend="torch")
GERMAN = "Die Fähre verließ den Hafen am Mittag mit vierzig Fahrgästen an Bord. Niemand wurde dabei verletzt."
NOISE = "asdf qwer zxcv jklö uiop asdf yxcv hjkl"
PLAIN = "The ferry left the harbour at noon with forty passengers on board. Nobody was hurt."
UNKNOWN = Flag("unknown_language", "candidate")


@pytest.mark.parametrize("text", [GERMAN, NOISE, *ru.sentences[:3], *ja.sentences[:3], "x" * 50])
def test_other_languages_and_noise_are_doubtful(text: str) -> None:
    assert english(text).doubtful


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.lower(),
        "Rain",
        "Zlatan Ibrahimović",
        "",
        "12 34",
        "🙂",
        "He can’t. She won't. They're off.",
        "(a)",
    ],
)
def test_english_and_short_texts_are_not(text: str) -> None:
    assert not english(text).doubtful


def test_only_the_beginning_of_a_text_is_read() -> None:
    assert english("word " * 10**5).words == SAMPLE // 5


def test_only_english_is_checked() -> None:
    texts = Example("1", GERMAN, PLAIN, (PLAIN, NOISE)).texts
    assert language_flags(texts()) == (UNKNOWN, Flag("unknown_language", "reference", index=1))
    assert language_flags(texts(), "de") == ()


def test_sumqe_flags_what_it_cannot_rate(tiny_regressor: Path) -> None:
    metric = build("sumqe", tiny_regressor)
    german, noise, russian, plain = metric.score(
        [Example(str(at), text) for at, text in enumerate((GERMAN, NOISE, ru.sentences[0], PLAIN))]
    )
    assert german.flags[-1] == UNKNOWN and german.problem is None, "it has some words that English has, too"
    for score in (noise, russian):
        assert score.flags == (UNKNOWN,) and "almost no English words" in str(score.problem)
    assert UNKNOWN not in plain.flags and plain.problem is None
    other = build("sumqe", tiny_regressor, language="xx").score([Example("1", ru.sentences[0])])[0]
    assert other.problem is None and UNKNOWN not in other.flags, "a rater of one's own may know it"


@pytest.mark.parametrize(
    ("name", "model"),
    [("cloze", "tiny_copy_infiller"), ("maskeval", "tiny_copy_infiller"), ("simplicity", "tiny_tuned")],
)
def test_noise_against_itself_is_flagged(name: str, model: str, request: pytest.FixtureRequest) -> None:
    metric = build(name, request.getfixturevalue(model))
    noise, plain = metric.score([Example("1", NOISE, NOISE, (NOISE,)), Example("2", PLAIN, PLAIN, (PLAIN,))])
    assert {flag.side for flag in noise.flags if flag.name == "unknown_language"} >= {"candidate", "source"}
    assert not any(flag.name == "unknown_language" for flag in plain.flags)


@pytest.mark.slow
def test_what_ships_does_not_praise_noise_in_silence() -> None:
    rng = random.Random(3)
    keys = [
        " ".join("".join(rng.choices("asdfghjkl", k=rng.randint(4, 8))) for _ in range(12)) for _ in range(5)
    ]
    texts = [*keys, " ".join(ru.sentences[:4]), " ".join(ja.sentences[:4]), GERMAN]
    for name in ("sumqe", "cloze", "maskeval"):
        scores = catalog.build(name, runtime=RUNTIME).score([Example(text, text, text) for text in texts])
        assert all(UNKNOWN in score.flags for score in scores), (name, scores)


@pytest.mark.shared
def test_false_alarms_are_rare(shared_data: Path) -> None:
    texts = set()
    for path in (shared_data / "benchmarks").glob("*.jsonl.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            texts |= {json.loads(line).get("candidate") for line in lines}
    looks = [english(text) for text in texts if text]
    assert len(looks) > 20_000
    assert sum(one.doubtful for one in looks) / len(looks) < 0.002
    assert sum(one.unreadable for one in looks) / len(looks) < 0.0001
