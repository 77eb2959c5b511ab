"""Words that keep their full stop inside a sentence, by language: spaCy's, and titles that it lacks."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from gistmeter.text.wrapping import TITLE

# Abbreviations, in lower case, whose full stop never ends a sentence.
_TITLES = {
    "de": "hrn?|fr|dr|prof|st|hl|bzw|ca|vgl|bzgl|bspw|abs|nr|d\\.h|z\\.b|u\\.a|ggf|inkl|sog",
    "es": "sra?s?|srta|dra?|prof|profa|lic|ing|gral|cap|p\\.ej|uds?|vds?|dña|st[oa]|núm|pág",
    "fr": "mm?|mr|mmes?|mlles?|dr|pr|me|ste?|cf|p\\.ex|c\\.-à-d|vs|éd",
    "id": "dr|prof|ir|drs|hj|kh|jl|tn|ny|sdr|st|yth",
    "it": "sigg?|sig\\.ra|dott|dott\\.ssa|dr|prof|avv|ing|on|sen|ecc\\.mo|art|pag|cfr|es",
    "nl": "dhr|mevr|mw|mr|drs?|prof|ing|ir|bijv|bv|st|ca|nr|o\\.a|d\\.w\\.z|resp",
    "pt": "sra?s?|dra?s?|profa?|exm[oa]|eng|st[oa]|núm|pág|p\\.ex|av",
    "ru": "г-н|г-жа|д-р|проф|акад|ул|им|т\\.е|т\\.к|см|стр|гр|тов|пл|просп",
    "tr": "dr|prof|doç|yrd|av|sn|bkz|alb|org|müh|öğr|yb|mah|cad|sok|no",
}
_ORDINAL = ("cs", "da", "de", "et", "fi", "hr", "hu", "is", "lv", "nb", "nn", "no", "sk", "sl", "tr")
"""Languages that write an ordinal number with a full stop: `am 3. Oktober`."""
RECOGNIZED = ("en", *sorted(_TITLES))
"""The languages that `likely_language` tells apart."""
_SAMPLE = 2000
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Abbreviations:
    """What the splitter knows of the words of a language.

    Args:
        titles: Matches abbreviations, in lower case, whose full stop never ends a sentence.
        forms: Words that keep their full stop; here without it.
        starters: Words that, with a capital, are more likely to begin a sentence than a name.
        ordinals: Whether a number with a full stop can be an ordinal number.
    """

    titles: re.Pattern[str]
    forms: frozenset[str]
    starters: frozenset[str]
    ordinals: bool = False


@cache
def abbreviations(language: str) -> Abbreviations:
    """Return the abbreviations of a language; empty lists if spaCy does not know it.

    >>> "bzw" in abbreviations("de").forms, "bzw" in abbreviations("fr").forms, abbreviations("qq").forms
    (True, False, frozenset())
    """
    defaults = _defaults(language)
    exceptions: Collection[str] = getattr(defaults, "tokenizer_exceptions", ())
    stop_words: Collection[str] = getattr(defaults, "stop_words", ())
    titles = TITLE if language == "en" else re.compile(_TITLES.get(language, r"(?!)"))
    forms = frozenset(form[:-1] for form in exceptions if len(form) > 2 and form.endswith("."))
    return Abbreviations(
        titles, forms, frozenset(word.capitalize() for word in stop_words), language in _ORDINAL
    )


def likely_language(text: str) -> str:
    """Return the language with the most stop words in a text, of ten languages; English if there are none.

    Args:
        text: Of which the first 2,000 characters are read.

    >>> likely_language("Am 3. Oktober kam sie nach Hause."), likely_language("天气很好。")
    ('de', 'en')
    """
    words = [word.capitalize() for word in _WORD.findall(text[:_SAMPLE])]
    counts = {
        language: sum(word in abbreviations(language).starters for word in words) for language in RECOGNIZED
    }
    return max(RECOGNIZED, key=counts.__getitem__)


def _defaults(language: str) -> Any:  # noqa: ANN401 - spaCy's classes have no common type
    """Return spaCy's defaults of a language; None if it has none."""
    try:
        module = import_module(f"spacy.lang.{language}")
    except ModuleNotFoundError:
        return None
    owned = (each for each in vars(module).values() if getattr(each, "lang", None) == language)
    return next((each.Defaults for each in owned if hasattr(each, "Defaults")), None)
