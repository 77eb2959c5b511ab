"""Denials: sentences of the candidate that the source denies, or that deny what the source states."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import ClassVar

from gistmeter.core.example import Example, Need
from gistmeter.core.language import ENGLISH, Languages
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_from
from gistmeter.core.score import Score, Span
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import score_by_source
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.copied import copied_from
from gistmeter.text.factors import Pipeline, load_pipeline
from gistmeter.text.language import language_flags
from gistmeter.text.sentences import SPLITTER, split_sentences
from gistmeter.text.statements import Statement, content_stems, denial_key, read_statements

DENIED = "is denied in the source"
NOT_DENIED = "is not denied in the source"
CLOSE = 0.65
"""Share of the content words of a statement that the same statement of the source has at least."""
SHARED = 2
"""Content words that two sentences share at least, to be compared."""
COMPARED = 4
"""Sentences of the source that a sentence is compared with at most: those that share most words."""


@dataclass(frozen=True, slots=True)
class DenialsOptions:
    """Options of denials.

    Args:
        pipeline: Parses sentences: `en`, which ships with gistmeter, the name of an installed spaCy pipeline
            for English, or the folder of one.
    """

    pipeline: str = "en"


@dataclass(frozen=True, slots=True)
class Denials:
    """Share of the candidate's sentences about which the source does not say the opposite, for English.

    A statement is a verb with the other words of its clause. Where the source has the same verb with at
    least about two thirds of these words, and one of the two texts denies the statement ("did not", "denied
    that", "no evidence that", "rumours that … are false") and the other does not, the sentence has the value
    0, otherwise 1. A statement that the source both makes and denies counts as made. Copied sentences have 1.
    Other contradictions, and denials in other words, go unnoticed.

    Args:
        pipeline: Parses sentences.
        options: See `DenialsOptions`.

    >>> source = "Officials denied on Monday that the steel plant will close."
    >>> metric = Denials(load_pipeline("en", selection="noun"))
    >>> [metric.score([Example("1", text, source=source)])[0].value for text in
    ...     ("The steel plant will close.", "The steel plant will not close.")]
    [0.0, 1.0]
    """

    pipeline: Pipeline
    options: DenialsOptions = field(default_factory=DenialsOptions)

    name = "denials"
    needs: ClassVar[tuple[Need, ...]] = ("source",)
    languages: ClassVar[Languages] = ENGLISH

    @property
    def signature(self) -> Signature:
        """The pipeline and the sentence splitter: everything that determines the score."""
        return Signature.of("denials", version=1, pipeline=self.pipeline.identity, splitter=SPLITTER)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the share of its sentences that the source does not deny."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        return score_by_source(examples, self._against)

    def _against(self, source: str) -> Callable[[Example], Score]:
        document = Document.of(source, self.pipeline)

        def score_one(example: Example) -> Score:
            places = split_sentences(example.candidate)
            found = document.denials([example.candidate[start:end] for start, end in places])
            spans = [
                Span("candidate", start, end, float(not note), note=note)
                for (start, end), note in zip(places, found, strict=True)
            ]
            parts = {"sentences": float(len(spans)), "denied": float(sum(map(bool, found)))}
            value = fmean(span.value for span in spans)
            return Score(example.id, value, parts, tuple(spans), language_flags(example.compared("source")))

        return score_one


@dataclass(frozen=True, slots=True)
class Document:
    """The sentences of a source; each is parsed when it is first needed.

    Args:
        sentences: The sentences.
        pipeline: Parses them.
        parsed: Their statements, by sentence.
    """

    sentences: tuple[str, ...]
    pipeline: Pipeline
    parsed: dict[str, tuple[Statement, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, pipeline: Pipeline) -> "Document":
        """Split a text into sentences."""
        return cls(tuple(text[start:end] for start, end in split_sentences(text)), pipeline)

    def denials(self, sentences: Sequence[str]) -> list[str]:
        """Return for each sentence what the source says against it; empty if nothing."""
        copied = copied_from(sentences, self.sentences)
        near = [[] if at is not None else self._near(own) for own, at in zip(sentences, copied, strict=True)]
        wanted = {own: None for own, others in zip(sentences, near, strict=True) if others}
        self._parse([*wanted, *(other for others in near for other in others)])
        return [self._against(own, others) for own, others in zip(sentences, near, strict=True)]

    def _near(self, sentence: str) -> list[str]:
        """Return the sentences of the source that may deny a sentence, those with most of its words first."""
        own = content_stems(sentence)
        shared = {other: len(own & content_stems(other)) for other in self.sentences}
        best = sorted(shared, key=lambda other: -shared[other])[:COMPARED]
        return [other for other in best if shared[other] >= SHARED]

    def _parse(self, sentences: Sequence[str]) -> None:
        new = [each for each in dict.fromkeys(sentences) if each not in self.parsed]
        self.parsed.update(zip(new, read_statements(new, self.pipeline), strict=True))

    def _against(self, sentence: str, others: Sequence[str]) -> str:
        for statement in self.parsed[sentence] if others else ():
            same = [
                (len(statement.about & other.about) / len(statement.about), other, text)
                for text in others
                for other in self.parsed[text]
                if other.verb == statement.verb
            ]
            best = max((share for share, *_ in same), default=0.0)
            closest = [(other, text) for share, other, text in same if share == best]
            if best >= CLOSE and all(_differ(statement, sentence, *each) for each in closest):
                word = sentence[statement.start : statement.end]
                other, text = closest[0]
                denied = f"{DENIED} (“{other.denials[0]}”)" if other.denied else NOT_DENIED
                return f"“{word}” {denied}: {text}"
        return ""


def _differ(one: Statement, sentence: str, other: Statement, text: str) -> bool:
    """Return whether one of two statements is denied by a word that the other's sentence lacks."""
    if one.denied == other.denied:
        return False
    denied, without = (one, text) if one.denied else (other, sentence)
    return {denial_key(word) for word in denied.denials}.isdisjoint(
        denial_key(word) for word in without.split()
    )


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> Denials:
    """Build denials.

    Args:
        preset: Has no effect: there is one.
        model: Has no effect; see the option `pipeline`.
        runtime: Has no effect.
        options: See `DenialsOptions`.

    Raises:
        ModelError: If the pipeline cannot be found or loaded.
    """
    chosen = options_from(DenialsOptions, options)
    return Denials(load_pipeline(chosen.pipeline, selection="noun"), chosen)
