"""Coverage, density and compression of extractive fragments (Grusky et al., 2018)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

from gistmeter.core.example import Example, Need
from gistmeter.core.language import Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Score, Span
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import no_word, score_by_source
from gistmeter.metrics.baselines.substrings import SubstringIndex
from gistmeter.text.plain_words import LANGUAGES, TOKENIZER, Word, words


@dataclass(frozen=True, slots=True)
class ExtractiveOptions:
    """Options of extractiveness.

    Args:
        value: Component reported as the value.
        punctuation: Whether punctuation marks count as words, as in the authors' tool.
    """

    value: Literal["coverage", "density", "compression"] = "coverage"
    punctuation: bool = True


class Fragment(NamedTuple):
    """Sequence of words of the candidate, copied or not.

    Args:
        first: Index of the first word in the candidate.
        length: Number of words.
        place: Index of the first copied word in the source; None if the words are not in the source.
    """

    first: int
    length: int
    place: int | None


@dataclass(frozen=True, slots=True)
class Extractive:
    """Coverage, density and compression (Grusky, Naaman and Artzi, 2018, "Newsroom").

    With the candidate S, the source A and the copied fragments F(A, S), all counted in words:
    `coverage` = 1/|S| Σ |f|, from 0 to 1; `density` = 1/|S| Σ |f|², from 0 to |S|;
    `compression` = |A| / |S|. The spans have the value 1 for copied fragments, with the character range in
    the source as their note, and 0 for other words; their mean, weighted by words, is `coverage`.

    Args:
        options: See `ExtractiveOptions`.

    >>> example = Example("1", "The cat slept .", source="The cat sat . It slept .")
    >>> score = Extractive().score([example])[0]
    >>> score.parts
    {'coverage': 1.0, 'density': 2.0, 'compression': 1.75}
    >>> [(span.start, span.end, span.note) for span in score.spans]
    [(0, 7, 'source 0:7'), (8, 15, 'source 17:24')]
    """

    options: ExtractiveOptions = field(default_factory=ExtractiveOptions)

    name = "extractive"
    needs: ClassVar[tuple[Need, ...]] = ("source",)
    languages: ClassVar[Languages] = LANGUAGES

    @property
    def signature(self) -> Signature:
        """Options and tokenizer: everything that determines the score."""
        return Signature.of("extractive", version=1, **options_text(self.options), tokenizer=TOKENIZER)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the words that it copies from the source."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        return score_by_source(examples, self._against)

    def _against(self, source: str) -> Callable[[Example], Score]:
        theirs = words(source, punctuation=self.options.punctuation)
        index = SubstringIndex([word.key for word in theirs])

        def score_one(example: Example) -> Score:
            ours = words(example.candidate, punctuation=self.options.punctuation)
            if not ours or not theirs:
                return no_word(example, "source" if ours else "candidate", TOKENIZER)
            runs = fragments([word.key for word in ours], index)
            copied = [run.length for run in runs if run.place is not None]
            parts = {
                "coverage": sum(copied) / len(ours),
                "density": sum(length**2 for length in copied) / len(ours),
                "compression": len(theirs) / len(ours),
            }
            return Score(example.id, parts[self.options.value], parts, _spans(runs, ours, theirs))

        return score_one


def fragments(candidate: Sequence[str], source: SubstringIndex) -> list[Fragment]:
    """Split a candidate into copied fragments F(A, S) and other words (Grusky et al.).

    From left to right, each step takes the longest prefix of the remaining words that occurs in the source,
    at its first occurrence. Words that are not in the source are skipped.

    Args:
        candidate: Words S of the candidate.
        source: Index of the source A.

    Returns:
        Fragments in order, which together cover the candidate.

    >>> fragments(["a", "dog", "sat", "down"], SubstringIndex(["sat", "down", "a"]))
    [Fragment(first=0, length=1, place=2), Fragment(first=1, length=1, place=None), \
Fragment(first=2, length=2, place=0)]
    """
    runs: list[Fragment] = []
    at = 0
    while at < len(candidate):
        length, place = source.longest_prefix(candidate, at)
        if length:
            runs.append(Fragment(at, length, place))
        elif runs and runs[-1].place is None:
            runs[-1] = runs[-1]._replace(length=runs[-1].length + 1)
        else:
            runs.append(Fragment(at, 1, None))
        at += max(length, 1)
    return runs


def _spans(runs: Sequence[Fragment], ours: Sequence[Word], theirs: Sequence[Word]) -> tuple[Span, ...]:
    spans = []
    for first, length, place in runs:
        start, end = ours[first].start, ours[first + length - 1].end
        copied = place is not None
        note = f"source {theirs[place].start}:{theirs[place + length - 1].end}" if place is not None else ""
        spans.append(Span("candidate", start, end, float(copied), float(length), note))
    return tuple(spans)
