"""Test sentence boundaries. In the cases, a bar marks each boundary; it is not part of the text."""

import gzip
import json
import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gistmeter.text.sentences import SPLITTER, split_sentences

LONG = 60_000

RE_SPACED = [
    "the boat left at noon . | nobody was on board . | it came back",
    "who took it ? | the mayor ! | nobody knows ... | the boat is gone",
    "`` it is late , '' she said . | `` go home . '' | he stayed .",
    "he said ` that is enough . ' | the boat left .",
    "the four sailors ' boat left . | ' it was ours . ' | they wept .",
    'he said " that is enough . " | the boat left . | " it was ours , " he said .',
    "the boat -lrb- it was red . -rrb- | nobody saw it .",
    "The boat left ( at noon . ) | Nobody saw it .",
    "mr . smith met dr . lee . | prof . vogel came too .",
    "j . k . berg of the u . s . navy spoke . | he left .",
    "the boat was no . 5 in the race . | no . | it lost .",
    "it sank off st. louis , the u.s. navy and gen. lund said . | it cost $ 3.5 m. to raise .",
    "the bridge was built in 1920 .|the old one fell . | it was wood.|nobody wept .",
    "she wrote to change.org , then to news.example.com . | they answered .",
    "The Boat Left . | Mr . Lee said so .",
    "it won ? ! | yes . . . | it did",
]
CASED = [
    "He went his own way.| He came back.",
    "He went his own way.|He came back in 2015.|She left.|“Why?”| A boat.",
    "The U.S.A. and the U.S. Navy paid 3.5 million, e.g. for example.com, i.e. a site.",
    "He moved to the U.S. | She stayed at 5 p.m. | They met on Jan. 5 at No. 10.",
    "Dr. J. K. Berg, Ph.D., met J. A. Lund, Jr. of Berg Inc. in St. Louis. | Mr.Lee came.",
    "See fig. 3 and pp. 4. | The answer is no. | It won't. | Nobody knows, etc. | Some do.",
    "The firm Wham! sold well. | why? | he asked. | and then it ended.",
    "Well... maybe not... | Then again, yes… | No.",
    "1. Wash it. | 2. Dry it. | 3. Go home.",
    "It is big.| The end",
    "Nobody (b. 1920, d. 1999), nor J. Lund, chose plan B. | They had none.",
]
QUOTED = [
    '"Stop. | It is late." | He stopped.',
    "'Stop.' | He stopped. | 'Why?' he asked. | 'Because.'",
    "“Stop!” | ‘Why?’ he asked. | (It was late.) | [He left.] | So did she.",
    'He said: "Stop."|Nobody did.|"It was late," she said.',
    "She said ``stop.'' | He did.",
    "»Halt.« | Er ging. | „Nein.“ | « Oui. » | Non.",
    "He stopped.' | Then he left.",
    "It is '80s music, the band's fans' choice. | 'It is loud.' | They like it.",
]
NEWLINES = [
    "A headline without a stop \n\n|and its text",
    "A headline \n|The text\n\n \n| The end.\r\n|Really. \r\n\r\n|Yes",
    "The boat left the harbour\nat noon and came\r\nback. | It was red.\n| the end.",
    "the boat left at noon\n|nobody was on board\n|it came back",
    "He said: “Stop.”\n|and left\u2028|The end",
    "- a boat\n|- a house",
]
SCRIPTS = [
    "船は出た。|誰もいない！|「本当？」|彼は言った。",
    "价格是３．５元。|他说：“是。”|然后走了。",
    "هل غرق القارب؟ | نعم. | لا",
    "नाव चली गई। | कोई नहीं था।|वह लाल थी।",
    "Он уехал. | Она осталась! | Почему?",
    "¡Se fue! | ¿Quién? | Nadie.",
    "What a boat! 🎉 | It was red.👍🏽 | 😀 Nobody knew.",
    "🎉🎉",
    "... !",
    '"',
]


@pytest.mark.parametrize("case", RE_SPACED + CASED + QUOTED + NEWLINES + SCRIPTS)
def test_cuts(case: str) -> None:
    text = case.replace("|", "")
    assert [text[start:end] for start, end in split_sentences(text)] == [s.strip() for s in case.split("|")]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\u2028 \u3000"])
def test_nothing_but_white_space(text: str) -> None:
    assert split_sentences(text) == []


PARTS = [*"aA1 \t\n\r.!?…。؟'\"`’”“()[],:-é한😀\u200d\u2028\ud800", " . ", "``", "''", "Mr.", "u.s.", "-rrb-"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=40).map("".join) | st.text(max_size=60)


def check(text: str) -> list[tuple[int, int]]:
    """Every character that is not white space lies in exactly one trimmed sentence."""
    places = split_sentences(text)
    seen = 0
    for start, end in places:
        assert seen <= start < end <= len(text)
        assert not text[seen:start].strip()
        assert text[start:end] == text[start:end].strip()
        seen = end
    assert not text[seen:].strip()
    return places


@given(TEXTS)
def test_partition(text: str) -> None:
    check(text)


@given(TEXTS.map(str.strip), TEXTS.map(str.strip))
def test_paragraphs_are_cut_on_their_own(first: str, second: str) -> None:
    shift = len(first) + 2
    expected = split_sentences(first) + [(a + shift, b + shift) for a, b in split_sentences(second)]
    assert split_sentences(f"{first}\n\n{second}") == expected


@pytest.mark.parametrize(
    "unit",
    [
        *(".", ". ", "'", '"', "`", "a", "word ", " ", "\n", "a\n", "A\nb\n", '. " ', ".' ", '."A', 'a."Aa '),
        *("(", "!😀", "1. ", "1.1 ", "u . s . ", "?  ", "e.", "ba.", "。", "it is . ", "It is. ", ". -rrb- "),
    ],
)
def test_long_texts_take_linear_time(unit: str) -> None:
    split_sentences("Loads spaCy. If need be.")
    text = unit * (LONG // len(unit))
    began = time.process_time()
    check(text)
    assert time.process_time() - began < 2  # a tenth of that here; minutes where time is quadratic


def test_many_sentences_in_a_long_text() -> None:
    assert len(split_sentences("It is so. " * 6000)) == 6000


def test_name_states_the_library_and_the_rules() -> None:
    assert re.fullmatch(rf"spacy-{re.escape(version('spacy'))}-en\+rules-\d+", SPLITTER)


def test_spacy_is_loaded_only_when_needed() -> None:
    code = "import sys, gistmeter.text.sentences; print('spacy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


@pytest.mark.shared
def test_agrees_with_the_sentences_annotators_were_shown(shared_data: Path) -> None:
    hits = cuts = known = 0
    with gzip.open(shared_data / "benchmarks" / "frank_cnndm.valid.jsonl.gz", "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            text = row["candidate"]
            found = ends([text[start:end] for start, end in split_sentences(text)])
            shown = ends(row["candidate_sentences"])
            hits, cuts, known = hits + len(found & shown), cuts + len(found), known + len(shown)
    assert hits / cuts > 0.99
    assert hits / known > 0.92  # the others end without a mark: their newlines are lost


def ends(sentences: list[str]) -> set[int]:
    """Where all sentences but the last end, in characters that are not white space."""
    lengths = [len("".join(sentence.split())) for sentence in sentences]
    return {sum(lengths[:at]) for at in range(1, len(lengths))}
