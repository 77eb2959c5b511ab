"""Copied sentences, compared with a search that looks at every place, and the parts that do not count."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gistmeter.text.copied import LEAST, REPORTED, copied_from

SOURCE = [
    "The mayor of Harwick resigned on Monday.",
    "Officials denied that the bridge will be closed in May.",
    "It isn't true that the school burned down.",
    "Her successor, Ida Lund, 41, takes over at −5 degrees.",
    "A fine of £1,500 is 3.5 % of the city's budget for 2014–15.",
]


@pytest.mark.parametrize(
    ("sentence", "row"),
    [
        ("The mayor of Harwick resigned on Monday.", 0),
        ("the MAYOR of harwick resigned , on monday", 0),
        ("mayor of Harwick resigned", 0),
        ("takes over at −5 degrees", 3),
        ("Ida Lund, 41, takes over", 3),
        ("resigned on Monday. Officials denied that", 0),
        ("the mayor of Harwick resigned in May", None),
        ("The mayor of Harwick re", None),
        ("ayor of Harwick resigned", None),
        ("the bridge will be closed in May", None),
        ("the school burned down", None),
        ("takes over at 5 degrees", None),
        ("on Monday", None),
        ("a fine of £ 1,500 is 3.5% of the city's budget", 4),
        ("the city's budget for 2014-15", 4),
        ("a fine of # 1,500 is 3.5 % of the city's budget for 2014 - 15 .", 4),
        ("a fine of $1,500 is 3.5 %", None),
        ("a fine of 1,500 is 3.5 %", None),
        ("a fine of £1,500 is 3-5 %", None),
        ("a fine of £1,500 is 3.5", None),
        ("1,500 is 3.5 % of the city's budget", None),
        ("a fine of £1,500 is 3.5 of the", None),
        ("...", None),
    ],
)
def test_copies(sentence: str, row: int | None) -> None:
    assert copied_from([sentence], SOURCE) == [row]


def test_a_denied_part_counts_where_the_source_also_states_it() -> None:
    stated = [*SOURCE, "The bridge will be closed in May!"]
    assert copied_from(["the bridge will be closed in May"], stated) == [len(SOURCE)]


def test_in_other_languages_only_whole_sentences_count() -> None:
    whole = ["The mayor of Harwick resigned on Monday", "mayor of Harwick resigned on Monday"]
    assert copied_from(whole, SOURCE, parts=False) == [0, None]
    two = " ".join(SOURCE[:2])
    assert copied_from([two, "The mayor of Harwick resigned"], SOURCE, parts=False) == [0, None]


@pytest.mark.parametrize(
    ("sentence", "source", "row"),
    [
        ("एक दो का तीन", "एक दो की तीन।", None),
        ("एक दो की तीन", "एक दो की तीन।", 0),
        ("Cafe\u0301 noir est ouvert", "Café noir est ouvert.", 0),
        ("Le cafe noir est ouvert", "Le café noir est ouvert.", None),
        ("他昨天辞职。", "他昨天辞职", 0),
        ("他昨天辞职。", "她昨天辞职", None),
    ],
)
def test_marks_and_characters_count(sentence: str, source: str, row: int | None) -> None:
    assert copied_from([sentence], [source], parts=False) == [row]


def test_nothing_is_copied_from_nothing() -> None:
    assert copied_from(["One two three."], []) == [None]
    assert copied_from([], SOURCE) == []


WORD = st.sampled_from(["a", "ab", "b", "not", "c"])


@given(st.lists(st.lists(WORD, max_size=6), max_size=4), st.lists(WORD, max_size=5))
def test_equals_a_search_of_every_place(source: list[list[str]], wanted: list[str]) -> None:
    words = [(row, at, word) for row, own in enumerate(source) for at, word in enumerate(own)]
    places = [
        words[at][0]
        for at in range(len(words) - len(wanted) + 1)
        if len(wanted) >= LEAST
        and [word for _, _, word in words[at : at + len(wanted)]] == wanted
        and REPORTED.isdisjoint(source[words[at][0]][: words[at][1]])
    ]
    found = copied_from([" ".join(wanted)], [" ".join(own) for own in source])
    assert found == [places[0] if places else None]


def test_words_that_report_are_single_words() -> None:
    assert all(re.fullmatch(r"[a-z]+", word) for word in REPORTED)
