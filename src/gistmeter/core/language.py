"""Languages of rows and metrics: BCP 47 tags, of which only the primary subtag (`pt` of `pt-BR`) counts."""

import re
from dataclasses import dataclass

from gistmeter.core.errors import UsageError

PROBLEM = "language: "
"""The start of the problem of a row whose language a metric does not score."""
NOT_CHECKED = "xx"
"""The value of a metric's option `language` that stands for any language."""
_TAG = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{1,8})*", re.IGNORECASE)
_UNKNOWN = ("und", "mul", "zxx", NOT_CHECKED)


@dataclass(frozen=True, slots=True)
class Languages:
    """The languages that a metric scores.

    Args:
        only: Primary subtags of these languages; empty for any language.
        but: Primary subtags of the languages that it does not score, if it scores any other.

    >>> "fr" in Languages(("en",)), "fr" in Languages(), "th" in Languages(but=("th",))
    (False, True, False)
    >>> str(Languages(("de", "en"))), str(Languages()), str(Languages(but=("th",)))
    ('de, en', 'any language', 'any language but th')
    """

    only: tuple[str, ...] = ()
    but: tuple[str, ...] = ()

    def __contains__(self, language: str) -> bool:
        """Return whether the metric scores a language."""
        return language not in self.but and (not self.only or language in self.only)

    def __str__(self) -> str:
        """Return the languages as text."""
        if self.only:
            return ", ".join(self.only)
        return f"any language but {', '.join(self.but)}" if self.but else "any language"

    def __and__(self, other: "Languages") -> "Languages":
        """Return the languages that both metrics score.

        >>> str(Languages(("en", "th")) & Languages(but=("th",)))
        'en'
        """
        if not self.only and not other.only:
            return Languages(but=tuple(sorted({*self.but, *other.but})))
        wide = self.only or other.only
        return Languages(tuple(each for each in wide if each in self and each in other))

    def problem(self, language: str | None) -> str | None:
        """Return the problem of a row in a language; None if there is none, or the language is not known.

        >>> Languages(("en",)).problem("fr")
        'language: the row is in fr, and the metric scores only en'
        """
        if language is None or language in self:
            return None
        only = "only " if self.only else ""
        return f"{PROBLEM}the row is in {language}, and the metric scores {only}{self}"


ANY = Languages()
ENGLISH = Languages(("en",))
UNSPACED = ("bo", "ja", "km", "lo", "my", "th", "yue", "zh")
"""Languages without spaces between words."""
_KANA, _HAN = "\u3040-\u30ff", "\u3400-\u4dbf\u4e00-\u9fff"
_SCRIPTS = {
    "bo": "\u0f00-\u0fff",
    "km": "\u1780-\u17ff",
    "lo": "\u0e80-\u0eff",
    "my": "\u1000-\u109f",
    "th": "\u0e00-\u0e7f",
    "ja": _KANA + _HAN,
    "zh": _HAN,
}
_LETTERS = {language: re.compile(f"[{letters}]") for language, letters in _SCRIPTS.items()}
_UNSPACED_LETTER = re.compile(f"[{''.join(_SCRIPTS.values())}]")
_SAMPLE = 2000


def primary(tag: str) -> str | None:
    """Return the primary subtag of a BCP 47 tag; None if the tag stands for an unknown language.

    Raises:
        ValueError: If the text is not a tag of two or three letters with optional subtags.

    >>> primary("pt-BR"), primary("zh_Hant"), primary("und")
    ('pt', 'zh', None)
    """
    found = _TAG.fullmatch(tag.strip())
    if found is None:
        raise ValueError(f"language must be a BCP 47 tag such as fr or pt-BR, not {tag[:40]!r}")
    subtag = found[1].lower()
    return None if subtag in _UNKNOWN else subtag


def languages_of(option: str) -> Languages:
    """Return the languages that the option `language` of a metric names.

    Args:
        option: The language of the model, or several as `de+en`; `xx` for any.

    >>> languages_of("en") == ENGLISH, languages_of("xx") == ANY, str(languages_of("fr+de"))
    (True, True, 'fr, de')
    """
    return ANY if option == NOT_CHECKED else Languages(tuple(option.split("+")))


def check_spoken(option: str, spoken: Languages, preset: str) -> None:
    """Check that the model of a preset is for the language that an option names.

    Args:
        option: The option `language` of a metric.
        spoken: The languages of the preset's model.
        preset: The name of the preset, for the message.

    Raises:
        UsageError: If it is not.
    """
    if option != NOT_CHECKED and any(language not in spoken for language in option.split("+")):
        raise UsageError(
            f"language={option}: the model of the preset {preset} is for {spoken}; choose another preset, "
            f"give a model of that language with --model, or omit the check with language={NOT_CHECKED}"
        )


def row_language(language: str | None, option: str) -> str:
    """Return the language of a row: its own, or the one that the option `language` of a metric names.

    >>> row_language(None, "fr"), row_language("de", "xx"), row_language(None, "de+fr")
    ('fr', 'de', 'xx')
    """
    return language or (NOT_CHECKED if "+" in option else option)


def unspaced_language(text: str) -> str | None:
    """Return the language without spaces that a text is in, from its script; None for other texts.

    Args:
        text: Of which the first 2,000 characters are read.

    >>> unspaced_language("เรือออกไป"), unspaced_language("船は着いた。"), unspaced_language("北京 is a city")
    ('th', 'ja', None)
    """
    sample = text[:_SAMPLE]
    if sample.isascii() or not _UNSPACED_LETTER.search(sample):
        return None
    counts = {language: len(letters.findall(sample)) for language, letters in _LETTERS.items()}
    if counts["zh"] * 5 > counts["ja"] * 4:
        counts["ja"] = 0  # almost no kana
    most = max(counts, key=counts.__getitem__)
    return most if counts[most] * 2 > sum(map(str.isalnum, sample)) else None
