"""English numbers in digits and in words."""

import re
from decimal import Decimal

_TEENS = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = {word: number for number, word in enumerate(_TEENS)}
_SMALL |= {word: 10 * number for number, word in enumerate(_TENS, start=2)}
_LARGE = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SUFFIXES = {"k": 10**3, "m": 10**6, "bn": 10**9, "b": 10**9}
_POWERS = _LARGE | _SUFFIXES
DIGITS = r"\d+(?:[.,]\d+)*"
"""Regular expression of the digits of a number, with separators."""
_BELOW_100 = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_TEENS[1:10])}))?|{'|'.join(reversed(_TEENS))})\b"
)
_POWER = rf"[\s-](?:{'|'.join(_LARGE)})\b"
NUMBER = (
    rf"{DIGITS}(?:(?i:{_POWER}|{'|'.join(_POWERS)})\b)?"
    rf"|\b(?i:{_BELOW_100}(?:{_POWER}(?:(?:\sand)?[\s-]{_BELOW_100})?)*)"
)
"""Regular expression of a number: `1,500`, `2.5m`, `3 million`, `two hundred and six`."""
_PARTS = re.compile(rf"(?P<digits>{DIGITS})|(?P<word>[a-z]+)", re.IGNORECASE)


def number_of(text: str) -> str:
    """Return the value of a number in digits, without separators and trailing zeros.

    Args:
        text: What `NUMBER` matches.

    >>> [number_of(text) for text in ("1,500.0", "twenty-five", "two hundred and six", "2.5 million", "3bn")]
    ['1500', '25', '206', '2500000', '3000000000']
    """
    total = part = Decimal(0)
    for match in _PARTS.finditer(text):
        word = match.group().lower()
        if match["digits"]:
            part += _decimal(word)
        elif word in _SMALL:
            part += _SMALL[word]
        elif word == "hundred":
            part *= 100
        elif word in _POWERS:
            total, part = total + part * _POWERS[word], Decimal(0)
    return f"{(total + part).normalize():f}"


def _decimal(digits: str) -> Decimal:
    """Return the value of digits; what has several points, such as a date, loses them."""
    plain = digits.replace(",", "")
    return Decimal(plain if plain.count(".") < 2 else plain.replace(".", ""))
