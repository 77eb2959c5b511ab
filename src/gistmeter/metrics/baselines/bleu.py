"""Sentence BLEU (Papineni et al., 2002), computed by the library sacrebleu."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from gistmeter.core.example import Example, Need
from gistmeter.core.language import Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import forget_lines, library, no_word, tokenizer_languages

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU


@dataclass(frozen=True, slots=True)
class BleuOptions:
    """Options of BLEU.

    Args:
        lowercase: Whether to ignore case.
        tokenizer: Tokenizer of sacrebleu: `13a` for text with spaces, `intl` for Unicode punctuation, `zh`
            for Chinese, `char` for characters, `none` for tokenized text.
        smoothing: Smoothing method of sacrebleu for n-gram orders without a match; `exp` halves the value
            for each such order.
    """

    lowercase: bool = False
    tokenizer: Literal["13a", "intl", "zh", "char", "none"] = "13a"
    smoothing: Literal["exp", "floor", "add-k", "none"] = "exp"


@dataclass(frozen=True, slots=True)
class Bleu:
    """Sentence BLEU with effective order, from 0 to 100.

    The whole candidate is one segment: `BLEU` = brevity · exp(1/N Σ log precision_n), where N ≤ 4 is the
    highest n-gram order of the candidate. An n-gram can match in any of several references. The components
    are the smoothed `precision_1` to `precision_4`, from 0 to 100 (NaN above N), and `brevity`, from 0 to 1.

    Args:
        options: See `BleuOptions`.

    >>> example = Example("1", "The cat sat down.", references=["The cat lay down.", "The cat sat."])
    >>> round(Bleu().score([example])[0].value, 2)
    50.0
    """

    options: BleuOptions = field(default_factory=BleuOptions)

    name = "bleu"
    needs: ClassVar[tuple[Need, ...]] = ("references",)

    @property
    def languages(self) -> Languages:
        """The languages that the tokenizer splits into words."""
        return tokenizer_languages(self.options.tokenizer)

    @property
    def signature(self) -> Signature:
        """Options and library version: everything that determines the score."""
        versions = {"library": library("sacrebleu"), "effective_order": True, "scale": 100}
        return Signature.of("bleu", version=1, **options_text(self.options), **versions)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the n-grams it shares with any of its references."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        from sacrebleu.metrics.bleu import BLEU

        bleu = BLEU(
            lowercase=self.options.lowercase,
            tokenize=self.options.tokenizer,
            smooth_method=self.options.smoothing,
            effective_order=True,
        )
        try:
            return [self._score_one(example, bleu) for example in examples]
        finally:
            forget_lines(bleu.tokenizer)

    def _score_one(self, example: Example, bleu: "BLEU") -> Score:
        found = bleu.sentence_score(example.candidate, example.references)
        if not found.sys_len or not found.ref_len:
            return no_word(example, "reference" if found.sys_len else "candidate", self.options.tokenizer)
        precisions = zip(found.precisions, found.totals, strict=True)
        parts = {
            f"precision_{n}": precision if total else math.nan
            for n, (precision, total) in enumerate(precisions, start=1)
        }
        value = min(found.score, 100.0)  # rounding exceeds it
        return Score(example.id, value, {**parts, "brevity": found.bp})
