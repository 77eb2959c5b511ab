"""The metric protocol, and input checks that all metrics share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from gistmeter.core.errors import NotFinite
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ANY, Languages, unspaced_language
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature


@runtime_checkable
class Metric(Protocol):
    """Scores each example independently.

    Contract: `score` returns one score per example, in the same order, and
    `score(a + b) == score(a) + score(b)` to float tolerance. A call computes no corpus statistics, so
    caching, chunking and distribution cannot change a score.
    """

    @property
    def name(self) -> str:
        """The name in the catalog."""

    @property
    def needs(self) -> tuple[Need, ...]:
        """The fields that an example requires besides its candidate."""

    @property
    def languages(self) -> Languages:
        """The languages that it scores; an example in another language gets a problem."""

    @property
    def signature(self) -> Signature:
        """Everything that determines the scores."""

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score every example; an example that cannot be scored gets a problem instead of a value."""


@dataclass(frozen=True, slots=True)
class MetricWrapper:
    """The base of metrics that change how another metric's scores are obtained, but not the scores.

    Args:
        metric: The wrapped metric.
    """

    metric: Metric

    @property
    def name(self) -> str:
        """The name of the wrapped metric."""
        return self.metric.name

    @property
    def needs(self) -> tuple[Need, ...]:
        """The required fields of the wrapped metric."""
        return self.metric.needs

    @property
    def languages(self) -> Languages:
        """The languages that the wrapped metric scores."""
        return self.metric.languages

    @property
    def signature(self) -> Signature:
        """The signature of the wrapped metric."""
        return self.metric.signature


@runtime_checkable
class Asking(Protocol):
    """A metric that can estimate its cost: the number of words that its model predicts."""

    def words_asked(self, example: Example, /) -> int:
        """Estimate the number of predicted words, cheaply and within a factor of two."""


def score_sound(
    examples: Sequence[Example],
    needs: tuple[Need, ...],
    score: Callable[[Sequence[Example]], list[Score]],
    languages: Languages = ANY,
) -> list[Score]:
    """Score the valid examples; return an undefined score with a problem for each of the others.

    Every metric calls this function, so that missing fields, empty texts, invalid Unicode and languages that
    it does not score have the same result everywhere. Empty references next to non-empty ones are removed and
    flagged.

    Args:
        examples: The examples as the user gave them.
        needs: The required fields, which must be present and not empty.
        score: Scores valid examples, in which every required field is present and not empty.
        languages: The languages that the metric scores.

    Returns:
        One score per example, in the order given.
    """
    problems = [_problem(example, needs) or _foreign(example, languages) for example in examples]
    sound = [e for e, problem in zip(examples, problems, strict=True) if problem is None]
    trimmed = [_without_empty_references(example) for example in sound]
    scores = (_restore(*pair) for pair in zip(sound, _score_each(trimmed, score), strict=True))
    return [next(scores) if problem is None else problem for problem in problems]


def _score_each(
    examples: Sequence[Example], score: Callable[[Sequence[Example]], list[Score]]
) -> list[Score]:
    """Score examples; if the model returns non-finite numbers, bisect to find the affected examples.

    A model stops at its first non-finite batch, so bisecting is cheap even if all examples are affected.
    """
    try:
        return score(examples)
    except NotFinite as error:
        if len(examples) == 1:
            return [Score.undefined(examples[0].id, str(error))]
    middle = len(examples) // 2
    return _score_each(examples[:middle], score) + _score_each(examples[middle:], score)


def _problem(example: Example, needs: tuple[Need, ...]) -> Score | None:
    """Return the undefined score of an invalid example; None for a valid one."""
    for side, _, text in example.texts():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            problem = f"the {side} is not valid Unicode: lone surrogate at character {error.start}"
            return Score.undefined(example.id, problem)
    if not example.candidate.strip():
        return Score.undefined(example.id, "the candidate is empty", (Flag("empty_side", "candidate"),))
    for need in needs:
        texts = example.references if need == "references" else (example.source,)
        given = [text for text in texts if text is not None]
        if not given:
            return Score.undefined(example.id, f"the row has no {need}")
        if not any(text.strip() for text in given):
            flag = Flag("empty_side", "reference" if need == "references" else "source")
            return Score.undefined(example.id, f"{need} has only white space", (flag,))
    return None


def _foreign(example: Example, languages: Languages) -> Score | None:
    """Return the undefined score of an example in a language that the metric does not score."""
    language = example.language
    if language is None and languages.but:  # the words of a script without spaces cannot be found
        language = unspaced_language(example.candidate)
    problem = languages.problem(language)
    return None if problem is None else Score.undefined(example.id, problem, (Flag("other_language"),))


def _kept(example: Example) -> list[int]:
    return [index for index, reference in enumerate(example.references) if reference.strip()]


def _without_empty_references(example: Example) -> Example:
    kept = _kept(example)
    if len(kept) == len(example.references):
        return example
    return replace(example, references=tuple(example.references[index] for index in kept))


def _restore(example: Example, score: Score) -> Score:
    """Flag the removed references, and map reference indices back to the user's numbering."""
    kept = _kept(example)
    if len(kept) == len(example.references):
        return score
    empty = sorted(set(range(len(example.references))) - set(kept))
    spans = (replace(s, index=kept[s.index]) if s.side == "reference" else s for s in score.spans)
    flags = (replace(f, index=kept[f.index]) if f.side == "reference" else f for f in score.flags)
    left_out = (Flag("empty_side", "reference", index=index) for index in empty)
    return replace(score, spans=tuple(spans), flags=(*flags, *left_out))
