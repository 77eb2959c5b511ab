"""Test that hard-wrapped text is split into the same sentences as the text on one line."""

import textwrap

import pytest

from gistmeter.text.sentences import split_sentences
from gistmeter.text.wrapping import unwrap

NEWS = (
    "The council of Aldermoor voted on Tuesday evening to close the town's swimming pool for two years."
    " Engineers found in March that its roof is held up by beams that have begun to rot. About sixty "
    "swimmers protested outside the town hall, where Mayor Ines Hallworth said that Dr. J. K. Berg of "
    "the U.S. Navy, who is 52, had warned them."
)
TEXTS = {
    "news": NEWS,
    "one sentence": (
        "Dr. Berg told the mayor of New Aldermoor on Tuesday that Hallworth Engineering will pay in May."
    ),
    "quotes": (
        "“Stop!” he said. ‘Why?’ (It was late.) Nobody knew. “It is in St. Louis,” Prof. Lund said. “Go "
        "home.”"
    ),
    "lower case": (
        "aldermoor closes its pool for two years . the roof beams are rotting . the mayor resigned , mr. "
        "lee said : `` it is late . '' nobody was on board , and the boat has not come back ."
    ),
    "German": (
        "Der Rat von Aldermoor schließt am Dienstag das Bad. Das Dach ist morsch. „Das dauert zwei Jahre“, "
        "sagte Bürgermeisterin Ines Hallworth. Etwa sechzig Schwimmer demonstrierten vor dem Rathaus."
    ),
    "Russian": (
        "Совет Олдермура решил во вторник закрыть бассейн на два года. Крыша держится на гнилых балках. "
        "Около шестидесяти пловцов вышли на площадь, где их встретила мэр Инес Холлуорт."
    ),
}


def sentences(text: str) -> list[str]:
    """Return a text's sentences with a space for any white space."""
    return [" ".join(text[start:end].split()) for start, end in split_sentences(text)]


@pytest.mark.parametrize("newline", ["\n", "\r\n", " \n", "\n  "])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_width(text: str, newline: str) -> None:
    expected = sentences(text)
    assert len(expected) > 1 or text == TEXTS["one sentence"]
    for width in range(20, 101):
        lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
        assert sentences(newline.join(lines)) == expected, width


def test_paragraphs_stay_apart() -> None:
    wrapped = "\n\n".join(textwrap.fill(text, 40) for text in (NEWS, TEXTS["German"]))
    assert sentences(wrapped) == sentences(NEWS) + sentences(TEXTS["German"])


@pytest.mark.parametrize(
    "text",
    [
        "the boat left at noon\nnobody was on board\nit came back",
        "Pool closes for two years\nMayor resigns",
        "Council votes\nThe council voted on Tuesday to close the pool.",
        "- He left. Nobody saw it\n- She stayed on\n- It rained",
        "#A#: Is it late already? Go\n#B#: Yes.",
        "1. Is it late already? Go\n2. Stay.",
    ],
)
def test_lines_that_are_sentences(text: str) -> None:
    cut = {end for _, end in split_sentences(text)}
    assert {place for place, character in enumerate(text) if character == "\n"} <= cut


@pytest.mark.parametrize("text", ["", "\n", " \n a", "a\n", "one line", "A\nb\n\nC\r\nd\n", "\n\n\u2028x\n"])
def test_characters_keep_their_places(text: str) -> None:
    unwrapped = unwrap(text)
    assert len(unwrapped) == len(text)
    assert all(a == b or (a.isspace() and b == " ") for a, b in zip(text, unwrapped, strict=True))
