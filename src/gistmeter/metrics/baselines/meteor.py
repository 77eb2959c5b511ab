"""METEOR (Banerjee and Lavie, 2005; Lavie and Agarwal, 2007), computed by NLTK (extra `meteor`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar, Literal, Protocol

from gistmeter.core.errors import MissingExtra, ModelNotFound, UsageError
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ENGLISH, Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_from, options_text
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import library, no_word
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.language import language_flags
from gistmeter.text.plain_words import TOKENIZER, words


@dataclass(frozen=True, slots=True)
class MeteorOptions:
    """Options of METEOR.

    Args:
        references: Combination of several references: `max`, as in NLTK, or `mean`.
        synonyms: A WordNet of NLTK, such as `wordnet`, whose synonyms match as in the paper; empty to match
            equal words and equal stems only, which requires no data.
        alpha: Weight of precision in the mean of precision and recall, from 0 to 1.
        beta: Exponent of the fragmentation penalty, at least 0.
        gamma: Largest fragmentation penalty, from 0 to 1.

    Raises:
        UsageError: If a number is out of range.
    """

    references: Literal["max", "mean"] = "max"
    synonyms: str = ""
    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5

    def __post_init__(self) -> None:
        for name, most in (("alpha", 1.0), ("beta", float("inf")), ("gamma", 1.0)):
            if not 0 <= getattr(self, name) <= most:
                raise UsageError(f"{name}={getattr(self, name)}: give a number from 0 to {most}")


class WordNet(Protocol):
    """The part of NLTK's WordNet that METEOR uses."""

    def synsets(self, word: str) -> list[Any]:
        """Return the sets of synonyms that contain a word."""


class NoSynonyms:
    """A WordNet without words."""

    def synsets(self, word: str) -> list[Any]:
        """Return no set of synonyms."""
        return []


@dataclass(frozen=True, slots=True)
class Meteor:
    """METEOR against references, from 0 to 1.

    Args:
        options: See `MeteorOptions`.

    Raises:
        MissingExtra: If NLTK is not installed.
        ModelNotFound: If NLTK has no data of the WordNet.
    """

    options: MeteorOptions = field(default_factory=MeteorOptions)

    name = "meteor"
    needs: ClassVar[tuple[Need, ...]] = ("references",)
    languages: ClassVar[Languages] = ENGLISH

    def __post_init__(self) -> None:
        try:
            import nltk  # noqa: F401
        except ImportError as error:
            raise MissingExtra("nltk", "meteor") from error
        _wordnet(self.options.synonyms)

    @property
    def signature(self) -> Signature:
        """Options, library and tokenizer: everything that determines the score."""
        options = options_text(self.options)
        if self.options.synonyms:
            options["synonyms"] += f"-{_wordnet(self.options.synonyms).get_version()}"
        return Signature.of(
            "meteor", version=1, **options, stems="porter", library=library("nltk"), tokenizer=TOKENIZER
        )

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the words that it shares with its references, and by their order."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        from nltk.stem.porter import PorterStemmer

        wordnet, stemmer = _wordnet(self.options.synonyms), PorterStemmer()
        return [self._score_one(example, wordnet, stemmer) for example in examples]

    def _score_one(self, example: Example, wordnet: Any, stemmer: Any) -> Score:  # noqa: ANN401 - NLTK has no types
        from nltk.translate.meteor_score import single_meteor_score

        ours = _keys(example.candidate)
        theirs = [_keys(text) for text in example.references]
        if not ours or not any(theirs):
            return no_word(example, "reference" if ours else "candidate", TOKENIZER)
        options = self.options
        values = [
            single_meteor_score(
                other, ours, stemmer=stemmer, wordnet=wordnet, alpha=options.alpha, beta=options.beta,
                gamma=options.gamma,
            )
            for other in theirs
            if other
        ]  # fmt: skip
        flags = tuple(Flag("no_words", "reference", index=at) for at, other in enumerate(theirs) if not other)
        flags += language_flags(text for text in example.texts() if text[0] != "source")
        return Score(example.id, max(values) if options.references == "max" else fmean(values), flags=flags)


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Meteor:
    """Build METEOR, which has no model.

    Args:
        preset: Ignored.
        model: Ignored.
        runtime: Ignored.
        options: See `MeteorOptions`.
    """
    return Meteor(options_from(MeteorOptions, options))


def _keys(text: str) -> list[str]:
    return [word.key for word in words(text, punctuation=False)]


def _wordnet(name: str) -> Any:  # noqa: ANN401 - NLTK has no types
    """Return a WordNet of NLTK; without a name, one without words."""
    if not name:
        return NoSynonyms()
    import nltk.corpus

    found: Any = getattr(nltk.corpus, name, None)
    try:  # NLTK loads a corpus when any of its attributes is read
        known = hasattr(found, "synsets") and found.ensure_loaded() is None
    except LookupError as error:
        raise ModelNotFound(
            f"NLTK has no data of {name}; run: python -m nltk.downloader {name}, or omit synonyms={name}"
        ) from error
    if not known:
        raise UsageError(f"synonyms={name}: NLTK has no WordNet of this name; use wordnet")
    return found
