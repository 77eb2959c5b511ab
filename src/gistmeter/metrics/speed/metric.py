"""SPEED: match each candidate sentence with the closest sentence of the references or the source."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gistmeter.core.example import Example, Need, Side
from gistmeter.core.language import Languages, languages_of, row_language
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_text
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.metrics.speed.align import Alignment, align
from gistmeter.metrics.speed.options import SpeedOptions
from gistmeter.metrics.speed.rescale import BY_LANGUAGE, NONE, VERSION, baseline_of, rescaled
from gistmeter.metrics.speed.similarity import Block, SentenceModel, Similarity, combine
from gistmeter.text.language import CHECKED, language_flags
from gistmeter.text.sentences import split_sentences, splitter_name

Cut = tuple[int, int]
_NUMBER = re.compile(r"\Areference (\d+):")


@dataclass(frozen=True, slots=True)
class Text:
    """Text of an example, split into sentences.

    Args:
        side: Side of the text: candidate, source, or reference.
        index: Index of the reference; 0 for other sides.
        text: Text as given by the user.
        cuts: Offsets of each sentence: first character, and one past the last.
    """

    side: Side
    index: int
    text: str
    cuts: tuple[Cut, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences as texts."""
        return tuple(self.text[start:end] for start, end in self.cuts)


@dataclass(frozen=True, slots=True)
class Speed:
    """Sentence Pair Embeddings Based Evaluation Metric (Akula and Garibay, 2022).

    Args:
        models: Sentence models whose similarities are averaged or max-voted.
        options: See `SpeedOptions`.
    """

    models: tuple[SentenceModel, ...]
    options: SpeedOptions = field(default_factory=SpeedOptions)

    name = "speed"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Required fields: the references, or the source."""
        return (self.options.against,)

    @property
    def languages(self) -> Languages:
        """The languages of the models, as the options name them."""
        return languages_of(self.options.language)

    @property
    def signature(self) -> Signature:
        """Models with their windows, options, and sentence splitter: everything that determines the score."""
        models = ",".join(model.identity for model in self.models)
        options = options_text(self.options)
        if self.options.task == "similarity":  # these belong to entailment
            del options["contradiction"], options["similarity"]
        language, baseline = options.pop("language"), options.pop("baseline")
        changed = {} if language == CHECKED else {"language": language}
        if baseline != NONE:
            changed["baseline"] = VERSION if baseline == BY_LANGUAGE else baseline
        return Signature.of(
            "speed",
            version=1,
            models=models,
            **options,
            **changed,
            splitter=splitter_name(language),
        )

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the similarity of its sentences to their matches."""
        scores = score_sound(examples, self.needs, self._score, self.languages)
        return [_numbered(*pair) for pair in zip(examples, scores, strict=True)]

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        texts = _cut(examples, self.options)
        blocks = [Block(ours.sentences, _sentences(theirs)) for ours, theirs in texts]
        views = [model.compare(blocks) for model in self.models]
        return [
            self._flagged(
                self._score_read(example.id, ours, theirs, list(view), self._baseline(example)),
                [ours, *theirs],
            )
            for example, (ours, theirs), *view in zip(examples, texts, *views, strict=True)
        ]

    def _baseline(self, example: Example) -> float:
        return baseline_of(self.options.baseline, row_language(example.language, self.options.language))

    def _flagged(self, score: Score, texts: Sequence[Text]) -> Score:
        """Flag the texts that are not English, if the models are for English."""
        read = [(text.side, text.index, text.text) for text in texts]
        return replace(score, flags=score.flags + language_flags(read, self.options.language))

    def _score_read(
        self, id: str, ours: Text, theirs: list[Text], views: list[Similarity], baseline: float
    ) -> Score:
        """Score a candidate against the texts that have tokens."""
        texts = [ours, *theirs]
        sizes = [len(text.cuts) for text in texts]
        read = _have_tokens(sizes, views)
        empty = [text for text, found in zip(texts, read, strict=True) if not found]
        flags = tuple(Flag("empty_side", text.side, index=text.index) for text in empty)
        if not read[0] or not any(read[1:]):
            problem = f"the model's tokenizer finds no token in the {empty[0].side}"
            return Score.undefined(id, problem, flags)
        if not empty:
            return self._score_one(id, ours, theirs, views, baseline)
        left = [text for text in theirs if text not in empty]
        score = self._score_one(id, ours, left, _of_sentences(views, sizes, read), baseline)
        return replace(score, flags=score.flags + flags)

    def _score_one(
        self, id: str, ours: Text, theirs: list[Text], views: list[Similarity], baseline: float
    ) -> Score:
        similarity = rescaled(combine(views, self.options.ensemble), baseline)
        groups = _groups(theirs, pooled=self.options.references == "pooled")
        alignments = [align(similarity[:, columns], self.options) for columns in groups]
        if self.options.references == "max":
            best = int(np.argmax([alignment.parts[self.options.value] for alignment in alignments]))
            alignments, groups = [alignments[best]], [groups[best]]
        parts = {
            name: float(np.mean([alignment.parts[name] for alignment in alignments]))
            for name in alignments[0].parts
        }
        spans = _candidate_spans(ours, theirs, groups, alignments)
        if self.options.value in ("recall", "f1"):
            spans += _other_spans(theirs, groups, alignments)
        return Score(id, parts[self.options.value], parts, spans, _flags([ours, *theirs], views))


def _cut(examples: Sequence[Example], options: SpeedOptions) -> list[tuple[Text, list[Text]]]:
    """Split candidates and the texts they are compared with into sentences, each distinct text once."""
    known: dict[tuple[str, str], tuple[Cut, ...]] = {}
    cut = []
    for example in examples:
        texts = []
        language = row_language(example.language, options.language)
        for side, index, text in example.compared(options.against):
            key = (language, text)
            if key not in known:
                known[key] = tuple(split_sentences(text, language))
            texts.append(Text(side, index, text, known[key]))
        cut.append((texts[0], texts[1:]))
    return cut


def _sentences(texts: list[Text]) -> tuple[str, ...]:
    return tuple(sentence for text in texts for sentence in text.sentences)


def _have_tokens(sizes: Sequence[int], views: Sequence[Similarity]) -> list[bool]:
    """Return whether every model finds a token in each text; `sizes` are their numbers of sentences."""
    fewest = np.min([view.total for view in views], axis=0)
    return [bool(own.sum()) for own in np.split(fewest, np.cumsum(sizes)[:-1])]


def _of_sentences(
    views: Sequence[Similarity], sizes: Sequence[int], read: Sequence[bool]
) -> list[Similarity]:
    """Return the similarities to the texts that are read; the first text is the candidate."""
    kept = np.repeat(read, sizes)
    return [Similarity(view.values[:, kept[sizes[0] :]], view.kept[kept], view.total[kept]) for view in views]


def _numbered(example: Example, score: Score) -> Score:
    """Number the references in the notes as the user does, who counts the empty ones, too."""
    kept = [index for index, text in enumerate(example.references) if text.strip()]
    if len(kept) == len(example.references):
        return score
    spans = (
        replace(span, note=_NUMBER.sub(lambda found: f"reference {kept[int(found[1])]}:", span.note))
        if span.side == "candidate"
        else span
        for span in score.spans
    )
    return replace(score, spans=tuple(spans))


def _groups(texts: list[Text], *, pooled: bool) -> list[list[int]]:
    """Return the column numbers of each text's sentences; with `pooled`, all columns as one group."""
    ends = np.cumsum([len(text.cuts) for text in texts]).tolist()
    groups = [list(range(end - len(text.cuts), end)) for text, end in zip(texts, ends, strict=True)]
    return [list(range(ends[-1]))] if pooled else groups


def _candidate_spans(
    ours: Text, theirs: list[Text], groups: list[list[int]], alignments: list[Alignment]
) -> tuple[Span, ...]:
    """Return one span per candidate sentence: its similarity, and the best match as note."""
    columns = [(text, cut) for text in theirs for cut in text.cuts]
    forward = np.stack([alignment.forward.similarity for alignment in alignments])
    # Texts have equal weight. Optimal matching can leave a sentence unmatched in some of them.
    matched = ~np.isnan(forward)
    share = matched / matched.sum(axis=1, keepdims=True)
    weights = share.sum(axis=0) * len(ours.cuts) / len(alignments)
    spans = []
    for row, (start, end) in enumerate(ours.cuts):
        if not weights[row]:
            spans.append(Span("candidate", start, end, float("nan"), 0.0, "no partner"))
            continue
        values = forward[:, row]
        best = int(np.nanargmax(values))
        text, (first, last) = columns[groups[best][alignments[best].forward.partner[row]]]
        where = f"reference {text.index}" if text.side == "reference" else text.side
        value = float(np.nansum(values * share[:, row]) / share[:, row].sum())
        note = f"{where}: {text.text[first:last]}"
        spans.append(Span("candidate", start, end, value, float(weights[row]), note))
    return tuple(spans)


def _other_spans(
    theirs: list[Text], groups: list[list[int]], alignments: list[Alignment]
) -> tuple[Span, ...]:
    """Return one span per sentence of the other texts: its similarity to the best candidate sentence."""
    columns = [(text, cut) for text in theirs for cut in text.cuts]
    spans = []
    for group, alignment in zip(groups, alignments, strict=True):
        for column, value in zip(group, alignment.backward.similarity.tolist(), strict=True):
            text, (start, end) = columns[column]
            # Texts have equal weight, regardless of their number of sentences.
            weight = 0.0 if np.isnan(value) else 1 / len(group)
            spans.append(Span(text.side, start, end, value, weight, index=text.index))
    return tuple(spans)


def _flags(texts: list[Text], views: list[Similarity]) -> tuple[Flag, ...]:
    """Flag each text with sentences that exceed a model's window."""
    flags, start = [], 0
    kept = np.stack([view.kept for view in views])
    total = np.stack([view.total for view in views])
    model = int((total - kept).sum(axis=1).argmax())
    for text in texts:
        mine = slice(start, start + len(text.cuts))
        used, there = int(kept[model, mine].sum()), int(total[model, mine].sum())
        if used < there:
            flags.append(Flag("truncated", text.side, used, there, text.index))
        start = mine.stop
    return tuple(flags)
