"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin, 2004), with the results of the library rouge-score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import fmean
from types import SimpleNamespace
from typing import ClassVar, Literal

from gistmeter.core.example import Example, Need, Side
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import library, no_word

TOKENIZER = "rouge_score"
TYPES = ("rouge1", "rouge2", "rougeL")
MEASURES = ("precision", "recall", "f1")
REMEMBERED_TEXTS = 4096
REMEMBERED_WORDS = 1 << 16

Figures = dict[str, tuple[float, float, float]]
Tokenizer = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class RougeOptions:
    """Options of ROUGE.

    Args:
        value: Component reported as the value.
        references: Combination of several references. `max`, as in the library, selects the reference with
            the highest F1 for each ROUGE type, with its precision and recall; `mean` averages each component.
        stemmer: Whether to replace words of more than three characters by their Porter stems.
    """

    value: Literal[
        "rouge1_precision", "rouge1_recall", "rouge1_f1",
        "rouge2_precision", "rouge2_recall", "rouge2_f1",
        "rougeL_precision", "rougeL_recall", "rougeL_f1",
    ] = "rougeL_f1"  # fmt: skip
    references: Literal["max", "mean"] = "max"
    stemmer: bool = True


@dataclass(frozen=True, slots=True)
class Rouge:
    """ROUGE-N and ROUGE-L against references, from 0 to 1.

    `rougeN` counts the n-grams that candidate and reference share, `rougeL` the words of their longest
    common subsequence. Precision P divides by the count of the candidate, recall R by that of the reference,
    and f1 = 2PR / (P + R).

    Args:
        options: See `RougeOptions`.

    >>> example = Example("1", "The cat sat down.", references=["The cat lay down.", "A dog"])
    >>> score = Rouge().score([example])[0]
    >>> score.value, round(score.parts["rouge2_recall"], 3)
    (0.75, 0.333)
    """

    options: RougeOptions = field(default_factory=RougeOptions)

    name = "rouge"
    needs: ClassVar[tuple[Need, ...]] = ("references",)

    @property
    def signature(self) -> Signature:
        """Options and versions of library and stemmer: everything that determines the score."""
        versions = {"library": library("rouge_score"), "stems": library("nltk")}
        return Signature.of("rouge", version=1, **options_text(self.options), **versions, tokenizer=TOKENIZER)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the n-grams and the longest subsequence shared with its references."""
        return score_sound(examples, self.needs, self._score)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        tokenize = remembering_tokenizer(stemmer=self.options.stemmer)
        compare = comparer(tokenize)
        return [self._score_one(example, tokenize, compare) for example in examples]

    def _score_one(
        self, example: Example, tokenize: Tokenizer, compare: Callable[[str, str], Figures]
    ) -> Score:
        worded = [reference for reference in example.references if tokenize(reference)]
        if not tokenize(example.candidate) or not worded:
            side: Side = "reference" if tokenize(example.candidate) else "candidate"
            return no_word(example, side, TOKENIZER)
        compared = [compare(reference, example.candidate) for reference in worded]
        parts: dict[str, float] = {}
        for kind in TYPES:
            found = [figures[kind] for figures in compared]
            if self.options.references == "max":
                found = [max(found, key=lambda figure: figure[2])]
            for measure, values in zip(MEASURES, zip(*found, strict=True), strict=True):
                parts[f"{kind}_{measure}"] = fmean(values)
        return Score(example.id, parts[self.options.value], parts, flags=_flags(example, tokenize))


def remembering_tokenizer(*, stemmer: bool) -> Tokenizer:
    """Return the tokenizer of the library, with caches of bounded size for texts and stems.

    The caches live as long as the returned function.
    """
    from nltk.stem.porter import PorterStemmer
    from rouge_score import tokenize

    stem = lru_cache(REMEMBERED_WORDS)(PorterStemmer().stem) if stemmer else None
    stems = SimpleNamespace(stem=stem) if stem else None

    @lru_cache(REMEMBERED_TEXTS)
    def remember(text: str) -> list[str]:
        tokens: list[str] = tokenize.tokenize(text, stems)
        return tokens

    return remember


def comparer(tokenize: Tokenizer) -> Callable[[str, str], Figures]:
    """Return a function of (reference, candidate) that computes precision, recall and F1 of each type.

    The library counts n-grams. `common_length` replaces its longest common subsequence, whose table takes a
    gigabyte for two long documents.
    """
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.scoring import fmeasure

    scorer = RougeScorer(["rouge1", "rouge2"], tokenizer=SimpleNamespace(tokenize=tokenize))

    def compare(reference: str, candidate: str) -> Figures:
        figures = {
            kind: (found.precision, found.recall, found.fmeasure)
            for kind, found in scorer.score(reference, candidate).items()
        }
        theirs, ours = tokenize(reference), tokenize(candidate)
        common = common_length(theirs, ours)
        precision, recall = common / len(ours), common / len(theirs)
        figures["rougeL"] = (precision, recall, fmeasure(precision, recall))
        return figures

    return compare


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    Bit-parallel algorithm (Hyyrö, 2004), one word of `second` per step: bit i of `row` is 0 if the
    subsequence grows at first[i].

    >>> common_length("the cat sat on it".split(), "a cat was on it".split())
    3
    """
    places: dict[str, int] = {}
    for at, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << at
    full = (1 << len(first)) - 1
    row = full
    for word in second:
        matches = row & places.get(word, 0)
        row = (row + matches | row - matches) & full
    return len(first) - row.bit_count()


def _flags(example: Example, tokenize: Tokenizer) -> tuple[Flag, ...]:
    """Flag texts without words, texts of a single word, and texts mostly in an unsupported script.

    A text of a single word has no 2-gram; the library scores it 0.
    """
    flags = []
    for side, index, text in example.texts():
        if side == "source":
            continue
        if len(tokenize(text)) < 2:
            flags.append(Flag("degenerate" if tokenize(text) else "no_words", side, index=index))
        seen, total = _seen(text)
        if 0 < seen < total / 2:
            flags.append(Flag("unseen_script", side, seen, total, index))
    return tuple(flags)


def _seen(text: str) -> tuple[int, int]:
    """Return the number of letters and digits that the library's tokenizer keeps, and the total number."""
    if text.isascii():
        return 1, 1  # everything is kept, so the exact numbers do not matter
    total = sum(character.isalnum() for character in text)
    return sum(character.isalnum() for character in text if character.isascii()), total
