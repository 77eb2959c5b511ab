"""Helpers of several baselines: n-grams, undefined scores, and grouping by source."""

import math
from collections.abc import Callable, Sequence
from importlib.metadata import version

from gistmeter.core.example import Example, Side
from gistmeter.core.language import ANY, UNSPACED, Languages
from gistmeter.core.score import Flag, Score
from gistmeter.text.language import language_flags


def ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """Return the n-grams of a sequence in order; empty if it has fewer than n words.

    >>> ngrams(["a", "cat", "sat"], 2)
    [('a', 'cat'), ('cat', 'sat')]
    """
    return list(zip(*(words[start:] for start in range(n)), strict=False))


def no_word(example: Example, side: Side, tokenizer: str) -> Score:
    """Return the undefined score of an example with a text in which the tokenizer finds no word."""
    problem = f"the tokenizer ({tokenizer}) finds no word in the {side}"
    return Score.undefined(example.id, problem, (Flag("no_words", side),))


def truncation(side: Side, index: int, kept: int, total: int) -> list[Flag]:
    """Return the flag of a text of which a model read fewer tokens than given; none if it read all."""
    return [Flag("truncated", side, kept, total, index)] if kept < total else []


def reading(
    texts: Sequence[tuple[Side, int, str]], counts: Sequence[tuple[int, int]], language: str
) -> tuple[tuple[Flag, ...], str | None]:
    """Return the flags of the texts that a model read, and the problem if a side has no token.

    A reference without tokens is flagged as empty; it is a problem only if no reference has one.

    Args:
        texts: Texts as (side, index, text).
        counts: Of each text, the number of tokens that the model read, and of all tokens.
        language: Language of the model, as in `language_flags`.
    """
    flags: list[Flag] = []
    for (side, index, _), (kept, total) in zip(texts, counts, strict=True):
        flags += truncation(side, index, kept, total)
        if not total:
            flags.append(Flag("empty_side", side, index=index))
    read = {side for (side, *_), (kept, _) in zip(texts, counts, strict=True) if kept}
    unread = [side for side, *_ in texts if side not in read]
    problem = f"the model's tokenizer finds no token in the {unread[0]}" if unread else None
    return (*flags, *language_flags(texts, language)), problem


def early_weights(count: int) -> list[float]:
    """Return the weights of a document's sentences, 1/√n for the n-th: a report tells first what matters.

    >>> early_weights(4)[0], early_weights(4)[3]
    (1.0, 0.5)
    """
    return [1 / math.sqrt(place) for place in range(1, count + 1)]


def library(package: str) -> str:
    """Return the name and version of an installed library, for signatures."""
    return f"{package}-{version(package)}"


def score_by_source(
    examples: Sequence[Example], prepare: Callable[[str], Callable[[Example], Score]]
) -> list[Score]:
    """Score examples grouped by source; only one prepared source is in memory at a time.

    Args:
        examples: Examples with a source.
        prepare: Function that takes a source and returns the scoring function for its examples.

    Returns:
        One score an example, in the order given.
    """
    groups: dict[str, list[int]] = {}
    for at, example in enumerate(examples):
        groups.setdefault(example.source or "", []).append(at)
    scores: dict[int, Score] = {}
    for source, members in groups.items():
        score_one = prepare(source)
        scores.update((at, score_one(examples[at])) for at in members)
    return [scores[at] for at in range(len(examples))]


def tokenizer_languages(tokenizer: str) -> Languages:
    """Return the languages that a tokenizer of sacrebleu splits into words.

    >>> str(tokenizer_languages("13a")), str(tokenizer_languages("char"))
    ('any language but bo, ja, km, lo, my, th, yue, zh', 'any language')
    """
    if tokenizer in ("char", "none"):
        return ANY
    chinese = ("yue", "zh") if tokenizer == "zh" else ()
    return Languages(but=tuple(language for language in UNSPACED if language not in chinese))


def forget_lines(tokenizer: object) -> None:
    """Empty the caches of a sacrebleu tokenizer.

    A cache keeps 65,536 lines until the process ends, which takes gigabytes if each line is a document.
    """
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    for kind in (type(tokenizer), TokenizerRegexp):
        clear = getattr(kind.__call__, "cache_clear", None)
        if clear is not None:
            clear()
