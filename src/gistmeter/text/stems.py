"""Porter's stemmer (1980) with the extensions of NLTK, which the library rouge-score uses.

NLTK takes a second to import; this module has the same stems.
"""

from collections.abc import Sequence

VOWELS = frozenset("aeiou")
IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "inning": "inning", "innings": "inning", "outing": "outing", "outings": "outing",
    "canning": "canning", "cannings": "canning", "howe": "howe",
    "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
Rules = Sequence[tuple[str, str]]
"""(suffix, replacement); only the first suffix that matches is considered."""
STEP_1A: Rules = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
STEP_2: Rules = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
    ("fulli", "ful"),
)  # fmt: skip
STEP_3: Rules = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
STEP_4: Rules = tuple(
    (suffix, "")
    for suffix in (
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate",
        "iti", "ous", "ive", "ize",
    )
)  # fmt: skip


def stem(word: str) -> str:
    """Return the stem of a lower-cased word.

    >>> [stem(word) for word in ("relational", "hopping", "happy", "skies", "news")]
    ['relat', 'hop', 'happi', 'sky', 'news']
    """
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _past(_plural(word))
    if word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c":
        word = word[:-1] + "i"
    word = _replace(_second(word), STEP_3, above=0)
    return _last_letter(_fourth(word))


def _shape(word: str) -> str:
    """Return c for each consonant and v for each vowel; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in VOWELS or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Return the number of vowel-consonant sequences: m in the paper."""
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """Return condition *o: consonant, vowel, consonant other than w, x and y; or a vowel and a consonant."""
    shape = _shape(word)
    return (shape.endswith("cvc") and word[-1] not in "wxy") or shape == "vc"


def _replace(word: str, rules: Rules, *, above: int) -> str:
    """Replace the first suffix that matches, if the measure of the rest is above a number."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            return rest + replacement if above < 0 or _measure(rest) > above else word
    return word


def _plural(word: str) -> str:
    """Step 1a."""
    if len(word) == 4 and word.endswith("ies"):
        return word[:-1]
    return _replace(word, STEP_1A, above=-1)


def _past(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and "v" in _shape(rest):
            return _restored(rest)
    return word


def _restored(rest: str) -> str:
    """Undo the spelling changes before -ed and -ing."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) > 1 and rest[-1] == rest[-2] and _shape(rest)[-1] == "c":
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _ends_short(rest) else rest


def _second(word: str) -> str:
    """Step 2."""
    while word.endswith("alli") and _measure(word[:-4]):
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _replace(word, STEP_2, above=0)


def _fourth(word: str) -> str:
    """Step 4."""
    if word.endswith("ion"):
        rest = word[:-3]
        return rest if _measure(rest) > 1 and rest[-1] in "st" else word
    return _replace(word, STEP_4, above=1)


def _last_letter(word: str) -> str:
    """Step 5: remove a final e, and one of a double l."""
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
