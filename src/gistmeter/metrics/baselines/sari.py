"""SARI (Xu et al., 2016): quality of added, kept and deleted words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import ClassVar, Literal

from gistmeter.core.example import Example, Need, Side
from gistmeter.core.language import Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import forget_lines, library, no_word, tokenizer_languages
from gistmeter.metrics.baselines.sari_operations import Definition, sari


@dataclass(frozen=True, slots=True)
class SariOptions:
    """Options of SARI.

    Args:
        definition: `authors` computes the results of the authors' program, which the paper reports;
            `equations` implements equations 4 to 7 exactly; `evaluate` computes the results of the library
            evaluate.
        lowercase: Whether to ignore case.
        tokenizer: Tokenizer of sacrebleu: `13a` for text with spaces, `intl`, `zh`, `char`, or `none`.
    """

    definition: Definition = "authors"
    lowercase: bool = True
    tokenizer: Literal["13a", "intl", "zh", "char", "none"] = "13a"


@dataclass(frozen=True, slots=True)
class Sari:
    """SARI with source and references, from 0 to 100.

    `SARI` = (add + keep + delete) / 3, where add and keep are F1 scores and delete is a precision, each over
    n-grams with n = 1 to 4; see `sari_operations.py`. The three are the components.

    Args:
        options: See `SariOptions`.

    >>> example = Example("1", "The cat sat.", "The feline sat.", ["The cat sat.", "A cat sat."])
    >>> round(Sari().score([example])[0].value, 2)
    73.69
    """

    options: SariOptions = field(default_factory=SariOptions)

    name = "sari"
    needs: ClassVar[tuple[Need, ...]] = ("source", "references")

    @property
    def languages(self) -> Languages:
        """The languages that the tokenizer splits into words."""
        return tokenizer_languages(self.options.tokenizer)

    @property
    def signature(self) -> Signature:
        """Options and version of the tokenizer library: everything that determines the score."""
        versions = {"library": library("sacrebleu"), "scale": 100}
        return Signature.of("sari", version=1, **options_text(self.options), **versions)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by its agreement with the references on added, kept and deleted n-grams."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        from sacrebleu.metrics.bleu import BLEU

        tokenizer = BLEU(tokenize=self.options.tokenizer).tokenizer

        def tokenize(text: str) -> list[str]:
            return str(tokenizer(text.lower() if self.options.lowercase else text)).split()

        try:
            return [self._score_one(example, tokenize) for example in examples]
        finally:
            forget_lines(tokenizer)

    def _score_one(self, example: Example, tokenize: Callable[[str], list[str]]) -> Score:
        source, candidate = tokenize(example.source or ""), tokenize(example.candidate)
        references = [tokenize(reference) for reference in example.references]
        worded = [reference for reference in references if reference]
        sides: list[Side] = ["source", "candidate", "reference"]
        for side, there in zip(sides, (source, candidate, worded), strict=True):
            if not there:
                return no_word(example, side, self.options.tokenizer)
        parts = sari(source, candidate, worded, self.options.definition)
        flags = (Flag("no_words", "reference", index=at) for at, words in enumerate(references) if not words)
        return Score(example.id, fmean(parts.values()), parts, flags=tuple(flags))
