"""Test sentence boundaries in many languages. A bar marks each boundary; it is not part of the text."""

import json
from pathlib import Path

import pytest

from gistmeter.text.abbreviations import RECOGNIZED, likely_language
from gistmeter.text.sentences import split_sentences

SAMPLES = Path(__file__).parents[2] / "packages" / "multilingual" / "samples.json"
CASES = [
    ("de", "Am 3. Oktober kam Dr. Berg mit Hrn. Lund.| Er blieb bis 5. Mai.| Danach, bzw. davor, ging er."),
    ("de", "Das kostet ca. 5 Mio. Euro.| Die Firma Berg e.V. zahlt."),
    ("es", "El Sr. Gómez y la Sra. Ruiz llegaron.| ¿Por qué?| ¡No lo sé!"),
    ("es", "Vive en EE.UU. desde 1990.| Nadie lo vio."),
    ("fr", "M. Berg a vu Mme. Lund à 20 h.| Le Dr. Morel, cf. Annexe, a signé.| Pourquoi ?"),
    ("id", "Dr. Budi tinggal di Jl. Merdeka.| Prof. Sari tidak datang.| Mengapa?"),
    ("it", "Il sig. Rossi e la dott.ssa Bianchi sono qui.| Il prof. Verdi no.| Perché?"),
    ("nl", "Dhr. Jansen en mevr. De Vries kwamen om 5 uur.| Zij bleven, bijv. in Delft.| Waarom?"),
    ("pt", "O Sr. Silva e a Dra. Costa chegaram.| Não foi fácil.| E agora?"),
    ("ru", "Г-н Петров живёт на ул. Ленина.| Он родился в 1920 г. в Москве.| Т.е. никто не знает."),
    ("tr", "Prof. Dr. Yılmaz 3. katta oturuyor.| Doç. Kaya gelmedi.| Neden?"),
    ("ar", "وصل القارب ظهراً.| لماذا؟| لا أحد يعرف."),
    ("he", "הסירה יצאה.| למה?| איש לא יודע."),
    ("hi", "नाव चली गई।| क्यों?| कोई नहीं जानता।"),
    ("ja", "彼は行った。|彼女は「はい。」|と言った。"),
    ("ko", "배가 떠났다.| 왜?| 아무도 모른다."),
    ("zh", "他走了。|她留下了！|为什么？"),
    ("th", "เรือออกไปแล้ว ไม่มีใครรู้"),
    ("qq", "One sentence.| Another one."),
]  # fmt: skip


@pytest.mark.parametrize(("language", "marked"), CASES)
def test_sentences_end_where_a_reader_ends_them(language: str, marked: str) -> None:
    text = marked.replace("|", "")
    found = [text[start:end] for start, end in split_sentences(text, language)]
    assert found == [sentence.strip() for sentence in marked.split("|")]


def test_the_language_decides() -> None:
    text = "Am 3. Oktober kam Hrn. Lund."
    assert len(split_sentences(text, "de")) == 1
    assert len(split_sentences(text)) == len(split_sentences(text, "en")) > 1


def test_every_visible_character_lies_in_one_sentence() -> None:
    for language, marked in CASES:
        text = marked.replace("|", "")
        covered = "".join(text[start:end] for start, end in split_sentences(text, language))
        assert covered.replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(("language", "marked"), [each for each in CASES if each[0] in RECOGNIZED[:-1]])
def test_a_text_of_an_unknown_language_is_cut_by_the_rules_of_its_own(language: str, marked: str) -> None:
    text = marked.replace("|", "")
    assert likely_language(text) == language
    assert split_sentences(text, "xx") == split_sentences(text, language)


def test_an_english_text_of_an_unknown_language_keeps_its_titles_whole() -> None:
    text = "Dr. Berg met Mr. Lee. He left at noon."
    assert split_sentences(text, "xx") == split_sentences(text, "en") == [(0, 21), (22, 38)]


def test_the_language_of_most_samples_is_recognized() -> None:
    samples = json.loads(SAMPLES.read_text(encoding="utf-8"))
    found = [likely_language(text) == language for language, texts in samples.items() for text in texts]
    assert len(found) == 230
    assert sum(found) / len(found) > 0.85  # the others, of one sentence, have no stop word
