"""The stemmer: equal to NLTK's, on words of texts and on made-up words with every suffix."""

import json
import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gistmeter.text import stems
from gistmeter.text.stems import stem

pytest.importorskip("nltk", reason="the extra dev installs nltk, the reference for stems")
STARTS = (
    "", "a", "b", "s", "y", "at", "by", "yy", "tr", "hop", "hopp", "fall", "agre", "toy", "syz", "sky", "oat",
    "rate", "relat", "conflat", "troubl", "siz", "enjoy", "inspir", "ration", "log", "apolog", "electr",
    "will",    "controll", "adopt", "vietnam", "x1", "2000", "queu",
)  # fmt: skip
ENDS = sorted(
    {suffix for step in (stems.STEP_1A, stems.STEP_2, stems.STEP_3, stems.STEP_4) for suffix, _ in step}
    | {
        "",
        "y",
        "e",
        "ll",
        "ed",
        "ing",
        "ied",
        "ies",
        "eed",
        "ion",
        "logi",
        "logy",
        "alli",
        "ally",
        "bly",
        "fully",
    }
)


@pytest.fixture(scope="module")
def porter() -> object:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


def differing(words: set[str], porter: object) -> list[tuple[str, str, str]]:
    pairs = ((word, stem(word), porter.stem(word)) for word in sorted(words))  # type: ignore[attr-defined]
    return [(word, ours, theirs) for word, ours, theirs in pairs if ours != theirs]


def test_stems_of_all_combinations_of_suffixes_are_nltks(porter: object) -> None:
    words = {"".join(parts) for parts in product(STARTS, ENDS)}
    words |= {"".join(parts) for parts in product(("relat", "hope", "sens"), ENDS, ENDS)}
    assert len(words) > 7_000
    assert differing(words, porter) == []


def test_stems_of_texts_are_nltks(porter: object) -> None:
    words = set(stems.IRREGULAR) | vocabulary()
    assert len(words) > 20_000
    assert differing(words, porter) == []


@settings(deadline=None, max_examples=300)
@given(word=st.text("aeiouybcdlstz1", min_size=1, max_size=12))
def test_stems_of_random_words_are_nltks(word: str) -> None:
    from nltk.stem.porter import PorterStemmer

    assert stem(word) == PorterStemmer().stem(word)


def vocabulary() -> set[str]:
    """Return the words of the tokenizer that ships with the MiniLM encoder."""
    from gistmeter.models.files.find import find_model

    found = json.loads((find_model("minilm").folder / "tokenizer.json").read_text())["model"]["vocab"]
    return {word for word in found if re.fullmatch("[a-z0-9]+", word)}
