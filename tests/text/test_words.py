"""Test the words of each language, and their alignment with sub-words."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from gistmeter.core.errors import UsageError
from gistmeter.text.words import (
    LONGEST,
    Segment,
    _blank,
    linguistic_ends,
    segments,
    token_spans,
    tokenizer_name,
    word_spans,
)

SENTENCES = [
    "Copper-coated wires don't bend.",
    "She won the last set 7-6(3) in 2013.",
    "The old wires were coated with copper in 2013.",
    "铜线不会弯曲。她赢了最后一盘。",
]
ODD = st.text(st.sampled_from("ab.'(7-　 \t\n\u00a0\u200b\u00ad\u0301é½ﬁ…你好。😀👩\u200dאبﷺ"), max_size=40)
TEXTS = st.one_of(st.text(max_size=60), ODD)


def words_of(tokenizer: Tokenizer, text: str, language: str = "en") -> list[str]:
    return [text[s.start : s.end] for s in cut(tokenizer, text, language)]


def cut(tokenizer: Tokenizer, text: str, language: str = "en") -> list[Segment]:
    encoded = tokenizer.encode(text, add_special_tokens=False)
    return segments(text, encoded.offsets, linguistic_ends(text, language))


def check_sound(text: str, pieces: Sequence[tuple[int, int]], found: Sequence[Segment]) -> None:
    """Check that segments are in order, disjoint, inside the text and without white space at their ends."""
    token = place = -1
    for segment in found:
        assert token < segment.first <= segment.last < len(pieces)
        assert place <= segment.start < segment.end <= len(text)
        word = text[segment.start : segment.end]
        assert word == word.strip()
        covered = {at for index in segment.tokens for at in range(*pieces[index])}
        assert set(range(segment.start, segment.end)) >= {at for at in covered if not text[at].isspace()}
        token, place = segment.last, segment.end


@pytest.fixture(scope="module")
def unigram() -> Tokenizer:
    """Return a trained SentencePiece-like tokenizer that normalises, and keeps runs of spaces."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("\u200b", "")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=150, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


@pytest.fixture(scope="module")
def bpe() -> Tokenizer:
    """Return a trained byte-level tokenizer, large enough to know every word of the sentences."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=1000, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


@pytest.fixture(scope="module")
def listed() -> Tokenizer:
    """Return a tokenizer of listed pieces, as T5 cuts them."""
    pieces = [
        "▁",
        "▁in",
        "▁2013.",
        "▁Copper",
        "-",
        "co",
        "ated",
        "▁wire",
        "s",
        "▁don",
        "'",
        "t",
        "▁bend",
        ".",
    ]
    pieces += ["▁7", "-6", "(3)", "a", "b"]
    scores = [("<unk>", -20.0), *((piece, -1.0) for piece in pieces)]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=0, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    return tokenizer


@pytest.fixture(scope="module")
def t5(shared_data: Path) -> Tokenizer:
    """Return the real tokenizer of T5."""
    return Tokenizer.from_file(str(shared_data / "tokenizers" / "t5-base" / "tokenizer.json"))


HAND_MARKED = [
    ("Copper-coated wires don't bend.", ["Copper", "-", "coated", "wires", "don't", "bend", "."]),
    ("7-6(3) in 2013.", ["7", "-6(3)", "in", "2013."]),
    ("in  2013. \n", ["in", "2013."]),
    ("a b", ["a", "b"]),
    ("a 😀😀 b", ["a", "😀😀", "b"]),
    ("你好世界。", ["你好世界。"]),
    ("", []),
    (" \n ", []),
]


@pytest.mark.parametrize(("text", "words"), HAND_MARKED)
def test_words_by_hand(listed: Tokenizer, text: str, words: list[str]) -> None:
    assert words_of(listed, text) == words


@pytest.mark.shared
@pytest.mark.parametrize(
    ("text", "words"),
    [
        *HAND_MARKED,
        ("She won 7-6(3).", ["She", "won", "7", "-6(3)", "."]),
        ("Don’t stop in the U.S. ", ["Don’t", "stop", "in", "the", "U.S."]),
        ("Half: ½ ﬁne…", ["Half", ":", "½", "ﬁne", "…"]),
        ("hello\u200bthere you", ["hello\u200bthere", "you"]),
        ("the end\u200b of it", ["the", "end", "of", "it"]),
        ("كتب كثيرة", ["كتب", "كثيرة"]),
    ],
)
def test_words_by_hand_with_the_tokenizer_of_t5(t5: Tokenizer, text: str, words: list[str]) -> None:
    assert words_of(t5, text) == words


@pytest.mark.shared
@settings(max_examples=200, deadline=None)
@given(text=TEXTS)
def test_t5_segments_are_sound(t5: Tokenizer, text: str) -> None:
    check_sound(text, t5.encode(text, add_special_tokens=False).offsets, cut(t5, text))


def test_bytes_of_one_character_stay_together(bpe: Tokenizer) -> None:
    text = "wires 😀😀 👩\u200d👩 bend"
    assert words_of(bpe, text) == ["wires", "😀", "😀", "👩", "\u200d", "👩", "bend"]
    assert len(cut(bpe, text)[1].tokens) > 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Copper-coated wires don't bend.", ["Copper", "-", "coated", "wires", "don't", "bend", "."]),
        ("set 7-6(3) in 2013.", ["set", "7", "-", "6(3", ")", "in", "2013", "."]),
        ("wires\n\n bend ", ["wires", "bend"]),
    ],
)
def test_words_by_hand_in_bytes(bpe: Tokenizer, text: str, words: list[str]) -> None:
    assert words_of(bpe, text) == words


def test_chinese_is_cut_where_characters_and_pieces_agree(unigram: Tokenizer) -> None:
    text = "铜线不会弯曲。她赢了。"
    pieces = unigram.encode(text).offsets
    found = cut(unigram, text, "zh")
    assert [(s.start, s.end) for s in found] == sorted({place for place in pieces if place[0] < place[1]})
    assert words_of(unigram, text, "en") == ["铜线不会弯曲。她赢了", "。"]


def test_a_lone_prefix_joins_its_letter() -> None:
    at_letter = segments("a b", [(0, 1), (0, 1), (2, 3), (2, 3)], [1, 3])  # ▁ a ▁ b, as T5 places them
    at_space = segments("a b", [(0, 0), (0, 1), (1, 2), (2, 3)], [1, 3])
    assert at_letter == at_space == [Segment(0, 1, 0, 1), Segment(2, 3, 2, 3)]


def test_spaces_inside_a_token_are_left_out() -> None:
    before = segments("It rains .", [(0, 2), (2, 8), (8, 10)], [2, 8, 10])
    after = segments("It rains .", [(0, 3), (3, 9), (9, 10)], [2, 8, 10])
    assert before == after == [Segment(0, 0, 0, 2), Segment(1, 1, 3, 8), Segment(2, 2, 9, 10)]


def test_tokens_of_nothing_but_white_space_are_no_words() -> None:
    text = "It\n\nrains  "
    pieces = [(0, 2), (2, 3), (3, 4), (4, 9), (9, 10), (10, 11)]
    assert segments(text, pieces, linguistic_ends(text)) == [Segment(0, 0, 0, 2), Segment(3, 3, 4, 9)]


def test_sub_words_after_the_last_common_end_are_kept() -> None:
    assert segments("wires", [(0, 2), (2, 4)], [5]) == [Segment(0, 1, 0, 4)]
    assert segments("wires", [(0, 2), (2, 5)], []) == [Segment(0, 1, 0, 5)]


def test_a_token_inside_another_ends_nothing() -> None:
    assert segments("abc d", [(0, 3), (1, 2), (4, 5)], [2, 5]) == [Segment(0, 2, 0, 5)]


def test_a_word_may_end_among_dropped_characters() -> None:
    text = "ab\u200b cd"
    assert segments(text, [(0, 2), (4, 6)], linguistic_ends(text)) == [
        Segment(0, 0, 0, 2),
        Segment(1, 1, 4, 6),
    ]


def test_zero_width_tokens_at_the_end_belong_to_no_word() -> None:
    assert segments("ab", [(0, 2), (0, 0)], [2]) == [Segment(0, 0, 0, 2)]
    assert segments("ab", [(0, 1), (1, 2), (2, 2)], []) == [Segment(0, 1, 0, 2)]


def test_offsets_of_another_text_are_refused() -> None:
    with pytest.raises(ValueError, match="outside the text"):
        segments("ab", [(0, 3)], [2])


@settings(max_examples=200, deadline=None)
@given(text=TEXTS)
def test_segments_are_sound(unigram: Tokenizer, text: str) -> None:
    check_sound(text, unigram.encode(text).offsets, cut(unigram, text))


@settings(max_examples=200, deadline=None)
@given(text=TEXTS)
def test_segments_are_the_intersection(bpe: Tokenizer, text: str) -> None:
    """Byte-level pieces cover every character, so the rule can be stated character by character."""
    pieces = bpe.encode(text).offsets
    found = cut(bpe, text)
    check_sound(text, pieces, found)
    covered = [at for s in found for at in range(s.start, s.end)]
    assert [at for at in covered if not text[at].isspace()] == [
        at for at, c in enumerate(text) if not c.isspace()
    ]
    ends = set(linguistic_ends(text))
    assert all(segment.end in ends for segment in found)
    whole = {end for _, end in pieces} - {at for start, end in pieces for at in range(start + 1, end)}
    inside = {at for s in found for at in range(s.start + 1, s.end)}
    assert not (ends & whole & inside)


def test_long_texts(unigram: Tokenizer) -> None:
    text = "Copper-coated wires don't bend. " * 2000
    found = cut(unigram, text)
    assert len(found) == len(cut(unigram, text[:32])) * 2000
    assert [(s.start + 32, s.end + 32) for s in found[:7]] == [(s.start, s.end) for s in found[7:14]]


def test_overlong_runs_are_cut() -> None:
    assert word_spans("a" * 1200) == [(0, LONGEST), (LONGEST, 2 * LONGEST), (2 * LONGEST, 1200)]
    assert word_spans("a" * LONGEST + " b") == [(0, LONGEST), (LONGEST + 1, LONGEST + 2)]
    assert len(word_spans("!" * 60_000)) == 60_000


def test_words_end_at_cuts() -> None:
    assert token_spans(_blank("en")[0], "rained.the") == [(0, 10)]
    assert token_spans(_blank("en")[0], "rained.the", [7]) == [(0, 6), (6, 7), (7, 10)]


@settings(max_examples=200, deadline=None)
@given(text=TEXTS, language=st.sampled_from(["en", "zh", "fr", "xx", "ar"]))
def test_words_cover_the_text(text: str, language: str) -> None:
    spans = word_spans(text, language)
    at = 0
    for start, end in spans:
        assert at <= start < end
        assert text[at:start] in ("", " ")
        at = end
    assert text[at:] in ("", " ")
    assert linguistic_ends(text, language) == [end for _, end in spans]


def test_words_are_forgotten() -> None:
    word_spans("Unheardofword")
    assert "Unheardofword" not in _blank("en")[0].vocab.strings


def test_threads_wait_for_each_other() -> None:
    with ThreadPoolExecutor(1) as pool:
        with _blank("en")[1]:
            words = pool.submit(word_spans, "U.S.")
            with pytest.raises(TimeoutError):
                words.result(timeout=0.1)
        assert words.result() == [(0, 4)]


def test_unknown_languages_say_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"no language 'qq'; use xx \(any .*\), or one of: af, .*, zh$"):
        word_spans("", "qq")
    with pytest.raises(UsageError, match=r"'vi' is not available: .*[Pp]yvi.*; or use language=xx$"):
        linguistic_ends("", "vi")


def test_the_name_of_a_tokenizer_holds_its_version() -> None:
    import spacy

    assert tokenizer_name("zh") == f"spacy-{spacy.about.__version__}-zh"
