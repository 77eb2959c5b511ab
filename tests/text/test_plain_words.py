"""Words of many scripts, and their places in the text."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gistmeter.text.plain_words import words


@settings(deadline=None)
@given(text=st.text())
def test_words_lie_in_the_text_in_order(text: str) -> None:
    found = words(text, punctuation=True)
    assert all(first.end <= second.start for first, second in pairwise(found))
    assert all(text[word.start : word.end].strip() for word in found)
    covered = "".join(text[word.start : word.end] for word in found)
    assert sum(map(str.isalnum, covered)) == sum(map(str.isalnum, text))
    assert set(words(text, punctuation=False)) <= set(found)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Cafe\u0301 CAFÉ", ["café", "café"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("❤\ufe0fabc\u200b \u00add", ["❤\ufe0f", "abc", "d"]),
        ("ビール2本", ["ビ", "ー", "ル", "2", "本"]),
        ("\u0301", []),
    ],
)
def test_words_of_many_scripts(text: str, keys: list[str]) -> None:
    assert [word.key for word in words(text, punctuation=True)] == keys
