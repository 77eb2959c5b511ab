"""ROUGE-1, ROUGE-2, ROUGE-3 and ROUGE-L (Lin, 2004), with the results of the library rouge-score."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import fmean
from typing import ClassVar, Literal

from gistmeter.core.example import Example, Need, Side
from gistmeter.core.language import ENGLISH, Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature
from gistmeter.matching.overlap import rouge_l, rouge_n
from gistmeter.metrics.baselines.common import no_word
from gistmeter.text.language import language_flags
from gistmeter.text.plain_words import LANGUAGES, words
from gistmeter.text.plain_words import TOKENIZER as WORDS
from gistmeter.text.rouge_words import SHORT, Tokenizer, rouge_tokenizer
from gistmeter.text.stems import stem

TOKENIZER = "rouge_score"
"""The tokenizer and the stemmer have the results of this library."""
TYPES = ("rouge1", "rouge2", "rouge3", "rougeL")
PLAIN = Languages(("en", "id", "ms", "sw"))
"""Languages that are written with the letters a to z."""
MEASURES = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class RougeOptions:
    """Options of ROUGE.

    Args:
        value: Component reported as the value.
        references: Combination of several references. `max`, as in the library, selects the reference with
            the highest F1 for each ROUGE type, with its precision and recall; `mean` averages each component.
        stemmer: Whether to replace words of more than three characters by their Porter stems, which are for
            English.
        tokenizer: `rouge_score`, as in the library, keeps only the letters a to z and digits. `words` keeps
            the letters of all scripts; with `stemmer=false`, it is for languages other than English.
    """

    value: Literal[
        "rouge1_precision", "rouge1_recall", "rouge1_f1",
        "rouge2_precision", "rouge2_recall", "rouge2_f1",
        "rouge3_precision", "rouge3_recall", "rouge3_f1",
        "rougeL_precision", "rougeL_recall", "rougeL_f1",
    ] = "rougeL_f1"  # fmt: skip
    references: Literal["max", "mean"] = "max"
    stemmer: bool = True
    tokenizer: Literal["rouge_score", "words"] = "rouge_score"


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
    def languages(self) -> Languages:
        """The languages of the stemmer, or of the tokenizer."""
        if self.options.stemmer:
            return ENGLISH
        return LANGUAGES if self.options.tokenizer == "words" else PLAIN

    @property
    def _tokenizer(self) -> str:
        return WORDS if self.options.tokenizer == "words" else TOKENIZER

    @property
    def signature(self) -> Signature:
        """Options and tokenizer: everything that determines the score."""
        return Signature.of(
            "rouge", version=2, **{**options_text(self.options), "tokenizer": self._tokenizer}
        )

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the n-grams and the longest subsequence shared with its references."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        tokenize = self._tokenize()
        return [self._score_one(example, tokenize) for example in examples]

    def _tokenize(self) -> Tokenizer:
        if self.options.tokenizer == "rouge_score":
            return rouge_tokenizer(stemmer=self.options.stemmer)
        stemmed = stem if self.options.stemmer else str

        @cache
        def tokenize(text: str) -> list[str]:
            keys = (word.key for word in words(text, punctuation=False))
            return [stemmed(key) if len(key) > SHORT else key for key in keys]

        return tokenize

    def _score_one(self, example: Example, tokenize: Tokenizer) -> Score:
        ours = tokenize(example.candidate)
        worded = [theirs for theirs in map(tokenize, example.references) if theirs]
        if not ours or not worded:
            side: Side = "reference" if ours else "candidate"
            return no_word(example, side, self._tokenizer)
        parts: dict[str, float] = {}
        for kind in TYPES:
            found = [
                rouge_l(theirs, ours) if kind == "rougeL" else rouge_n(theirs, ours, int(kind[-1]))
                for theirs in worded
            ]
            if self.options.references == "max":
                found = [max(found, key=lambda figures: figures[2])]
            for measure, values in zip(MEASURES, zip(*found, strict=True), strict=True):
                parts[f"{kind}_{measure}"] = fmean(values)
        return Score(example.id, parts[self.options.value], parts, flags=self._flags(example, tokenize))

    def _flags(self, example: Example, tokenize: Tokenizer) -> tuple[Flag, ...]:
        """Flag texts without words, of a single word, mostly in an unsupported script, or not in English.

        A text of a single word has no 2-gram; the library scores it 0.
        """
        flags = []
        for side, index, text in example.texts():
            if side == "source":
                continue
            if len(tokenize(text)) < 2:
                flags.append(Flag("degenerate" if tokenize(text) else "no_words", side, index=index))
            seen, total = (1, 1) if self.options.tokenizer == "words" else _seen(text)
            if 0 < seen < total / 2:
                flags.append(Flag("unseen_script", side, seen, total, index))
        checked = example.compared("references") if self.options.stemmer else []
        return (*flags, *language_flags(checked))


def _seen(text: str) -> tuple[int, int]:
    """Return the number of letters and digits that the library's tokenizer keeps, and the total number."""
    if text.isascii():
        return 1, 1  # everything is kept, so the exact numbers do not matter
    total = sum(character.isalnum() for character in text)
    return sum(character.isalnum() for character in text if character.isascii()), total
