"""What several baselines share: n-grams, texts without a word, sources scored together."""

from collections.abc import Callable, Sequence
from importlib.metadata import version

from gistmeter.core.example import Example, Side
from gistmeter.core.score import Flag, Score


def ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """Return the runs of n neighbouring words, in order; none if there are fewer words.

    >>> ngrams(["a", "cat", "sat"], 2)
    [('a', 'cat'), ('cat', 'sat')]
    """
    return list(zip(*(words[start:] for start in range(n)), strict=False))


def no_word(example: Example, side: Side, tokenizer: str) -> Score:
    """Make the score of an example whose text has characters, but no word the tokenizer can see."""
    problem = f"the tokenizer ({tokenizer}) finds no word in the {side}"
    return Score.undefined(example.id, problem, (Flag("no_words", side),))


def library(package: str) -> str:
    """Name an installed library with its version, for a signature."""
    return f"{package}-{version(package)}"


def score_by_source(
    examples: Sequence[Example], prepare: Callable[[str], Callable[[Example], Score]]
) -> list[Score]:
    """Score examples, preparing each distinct source once and holding one at a time.

    Args:
        examples: Each with a source.
        prepare: Takes a source, returns what scores the examples that have it.

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


def forget_lines(tokenizer: object) -> None:
    """Empty the caches of a sacrebleu tokenizer.

    Each keeps the last 65,536 lines for as long as the process lives: gigabytes, where a line is a
    whole document.
    """
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    for kind in (type(tokenizer), TokenizerRegexp):
        clear = getattr(kind.__call__, "cache_clear", None)
        if clear is not None:
            clear()
