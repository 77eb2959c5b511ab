"""ClozE: check whether a model that reads the source predicts the facts of the summary."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from statistics import fmean
from typing import get_args

from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example, Need
from gistmeter.core.language import NOT_CHECKED, Languages, languages_of
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Flag, Score
from gistmeter.core.signature import Signature
from gistmeter.metrics.cloze.explain import bare_sentences, factor_span
from gistmeter.metrics.cloze.judge import COPIED, Verdict, geometric, judge
from gistmeter.metrics.cloze.options import Aggregate, ClozeOptions
from gistmeter.metrics.cloze.passages import Passages
from gistmeter.metrics.cloze.prepared import PreparedExample, read
from gistmeter.metrics.cloze.questions import Blank
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.fill.protocol import Fill, Filler
from gistmeter.text.factors import Factor, Pipeline
from gistmeter.text.language import language_flags
from gistmeter.text.sentences import SPLITTER

Judged = Sequence[tuple[Factor, Verdict]]
UNSCORED = "no factor of the candidate can be scored; the notes of the spans give the reasons"


@dataclass(frozen=True, slots=True)
class Cloze:
    """Cloze-based evaluation of factual consistency (Li et al., 2022).

    Args:
        filler: Language model that fills the blanks.
        pipeline: spaCy pipeline that finds the factors.
        options: See `ClozeOptions`.
        retriever: Encoder that selects passages of the document; used if `options.passage` is not 0.

    Raises:
        BadModel: If the pipeline lacks the components that `options.selection` requires.
        UsageError: If `options.passage` is not 0 and there is no retriever.
    """

    filler: Filler
    pipeline: Pipeline
    options: ClozeOptions = field(default_factory=ClozeOptions)
    retriever: Encoder | None = None

    name = "cloze"

    def __post_init__(self) -> None:
        self.pipeline.require(self.options.selection)
        if self.options.passage and self.retriever is None:
            raise UsageError(f"passage={self.options.passage} needs a retriever; give an encoder")

    @property
    def needs(self) -> tuple[Need, ...]:
        """Required fields: the source."""
        return ("source",)

    @property
    def languages(self) -> Languages:
        """The language of the pipeline that finds the factors."""
        return languages_of(self.pipeline.nlp.lang or NOT_CHECKED)

    @property
    def signature(self) -> Signature:
        """Models, options, sentence splitter, and truncation rule: everything that determines the score.

        The filler's identity states whether the model knows the length of a factor (`gold-length`: one mask
        per token).
        """
        passages = self._passages
        retriever = {"retriever": passages.retriever.text_identity} if passages else {}
        return Signature.of(
            "cloze",
            version=3,
            model=self.filler.identity,
            **retriever,
            pipeline=self.pipeline.identity,
            **options_text(self.options),
            splitter=SPLITTER,
            cut="each" if self.filler.separate_windows else "longest-first",
        )

    @property
    def _passages(self) -> Passages | None:
        """Selects passages of the document; None if questions read its beginning."""
        if self.retriever is None or not self.options.passage:
            return None
        return Passages(self.retriever, self.options.passage)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by how well the model, given the source, predicts its factors."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        prepared_examples = read(examples, self.filler, self.pipeline, self.options, self._passages)
        filled = self.filler.fill([query for prepared in prepared_examples for query in prepared.queries])
        asked = [blank for prepared in prepared_examples for blank in prepared.blanks if blank.asked]
        fills: list[Fill] = [fill for fills in filled for fill in fills]
        priors = self._priors(prepared_examples) if self.options.prior == "subtract" else None
        verdicts = judge([blank.gold for blank in asked], fills, self.filler, self.options, priors)
        return [
            self._score_one(prepared, verdicts, self._doubts(example))
            for example, prepared in zip(examples, prepared_examples, strict=True)
        ]

    def _priors(self, prepared_examples: Sequence[PreparedExample]) -> list[Fill]:
        """Return predictions for the same blanks without the document."""
        alone = [replace(query, context=()) for prepared in prepared_examples for query in prepared.queries]
        return [fill for fills in self.filler.fill(alone) for fill in fills]

    def _doubts(self, example: Example) -> tuple[Flag, ...]:
        """Flag texts that are not English if the pipeline is English; other languages are not checked."""
        read = [text for text in example.texts() if text[0] != "reference"]
        return language_flags(read, self.pipeline.nlp.lang or "")

    def _score_one(
        self, prepared: PreparedExample, verdicts: Iterator[Verdict], doubts: tuple[Flag, ...]
    ) -> Score:
        judged = [(blank, _verdict(blank, verdicts)) for blank in prepared.blanks]
        if not prepared.document:
            nothing = "the model's tokenizer finds no token in the source"
            return Score.undefined(prepared.id, nothing, (Flag("empty_side", "source"),))
        spans = [factor_span(blank, verdict, self.options.alpha) for blank, verdict in judged]
        spans += bare_sentences(prepared.marked)
        ordered = tuple(sorted(spans, key=lambda span: (span.start, span.end)))
        scored = [(blank.factor, verdict) for blank, verdict in judged if verdict is not None]
        parts = _parts(scored)
        if self.options.prior == "subtract":  # scores may be negative
            del parts["geometric"], parts["sentences"]
        if not judged:  # without factors, the candidate gets the best possible score
            parts |= dict.fromkeys(get_args(Aggregate), 1.0)
        value = parts[self.options.aggregate]
        problem = UNSCORED if math.isnan(value) else None
        flags = (*prepared.flags, *_partial([verdict for _, verdict in scored], self.options), *doubts)
        return Score(prepared.id, value, parts, ordered, flags, problem)


def _verdict(blank: Blank, verdicts: Iterator[Verdict]) -> Verdict | None:
    if blank.asked:
        return next(verdicts)
    return COPIED if blank.copied else None


def _parts(scored: Judged) -> dict[str, float]:
    """Aggregate factor scores in each way (`Aggregate`), and by kind; NaN if no factor is scored."""
    values = [verdict.value for _, verdict in scored]
    kinds = {
        kind: _mean([verdict.value for factor, verdict in scored if factor.kind == kind])
        for kind in ("entity", "noun")
    }
    runs = groupby(scored, key=lambda pair: pair[0].sentence)
    sentences = [geometric([verdict.value for _, verdict in run]) for _, run in runs]
    return {
        "average": _mean(values),
        "geometric": geometric(values) if values else math.nan,
        "min": min(values, default=math.nan),
        "sentences": _mean(sentences),
        **kinds,
        "confidence": _mean([verdict.confidence for _, verdict in scored]),
        "factors": float(len(scored)),
    }


def _partial(verdicts: Sequence[Verdict], options: ClozeOptions) -> tuple[Flag, ...]:
    """Flag scores that depend on predictions whose continuation is unknown."""
    known = sum(verdict.complete for verdict in verdicts)
    sound = options.criterion in ("exact", "geometric") or (
        options.criterion == "soft" and not options.distrusts
    )
    if known == len(verdicts) or sound:
        return ()
    return (Flag("partial_answers", "candidate", known, len(verdicts)),)


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else math.nan
