"""Prepare examples for the model: find factors, split texts, and build queries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gistmeter.core.example import Example
from gistmeter.core.score import Flag
from gistmeter.metrics.cloze.chunks import Chunk, cut_chunks
from gistmeter.metrics.cloze.options import ClozeOptions
from gistmeter.metrics.cloze.passages import Document, Ids, Passages
from gistmeter.metrics.cloze.questions import Blank, Question, ask, trust
from gistmeter.models.fill.protocol import Filler, Query
from gistmeter.text.copied import copied_from
from gistmeter.text.factors import MarkedText, Pipeline, find_factors
from gistmeter.text.sentences import split_sentences

Pair = tuple[str, str]
"""A candidate or the text of one of its chunks, and the source."""


@dataclass(frozen=True, slots=True)
class PreparedExample:
    """Example with its factors and queries.

    Args:
        id: ID of the example.
        marked: Re-joined candidate with its sentences and factors.
        document: Number of tokens of the re-joined source.
        chunks: Number of tokens and questions of each chunk of the candidate.
    """

    id: str
    marked: MarkedText
    document: int
    chunks: tuple[tuple[int, tuple[Question, ...]], ...]

    @property
    def queries(self) -> list[Query]:
        """Queries for the model."""
        return [question.query for question in self._questions() if question.query]

    @property
    def blanks(self) -> list[Blank]:
        """Blanks of all factors in text order, including factors that cannot be scored."""
        return [blank for question in self._questions() for blank in question.blanks]

    @property
    def flags(self) -> tuple[Flag, ...]:
        """Flag missing factors and truncated texts; the source counts by its most truncated question."""
        lost = max((question.lost for question in self._questions()), default=0)
        total = sum(length for length, _ in self.chunks)
        kept = sum(min((q.kept[1] for q in questions), default=length) for length, questions in self.chunks)
        cut = []
        if kept < total:
            cut.append(Flag("truncated", "candidate", kept, total))
        if lost:
            cut.append(Flag("truncated", "source", self.document - lost, self.document))
        bare = [] if self.marked.factors else [Flag("no_factors", "candidate")]
        return (*bare, *cut)

    def _questions(self) -> list[Question]:
        return [question for _, questions in self.chunks for question in questions]


def read(
    examples: Sequence[Example],
    filler: Filler,
    pipeline: Pipeline,
    options: ClozeOptions,
    passages: Passages | None = None,
) -> list[PreparedExample]:
    """Find the factors of the candidates and build the questions; each distinct text is processed once.

    Args:
        examples: Examples with a source.
        filler: Model that defines tokens, window, and input format.
        pipeline: spaCy pipeline that finds factors.
        options: `selection`, `level`, `k` and `copied` are used.
        passages: Selects what a question reads of the document; None for its beginning.
    """
    candidates = list(dict.fromkeys(example.candidate for example in examples))
    marked = dict(zip(candidates, find_factors(candidates, pipeline, options.selection), strict=True))
    chunks = {text: cut_chunks(found, options.level) for text, found in marked.items()}
    sources = {text: pipeline.spaced(text) for text in dict.fromkeys(map(_source, examples))}
    texts = [*sources.values(), *(chunk.text for own in chunks.values() for chunk in own)]
    tokens = dict(zip(texts, filler.tokenize(texts), strict=True))
    documents = {text: Document(joined, tokens[joined]) for text, joined in sources.items()}
    pairs = dict.fromkeys((c.text, _source(e)) for e in examples for c in chunks[e.candidate])
    copied = _copied(pairs, sources, parts=pipeline.nlp.lang == "en") if options.copied else set()
    groups = {
        (e.candidate, _source(e)): [c.text for c in chunks[e.candidate] if (c.text, _source(e)) not in copied]
        for e in examples
    }
    passage = _passages(groups, documents, passages, shared=filler.separate_windows)

    def questions(chunk: Chunk, example: Example) -> tuple[Question, ...]:
        source = _source(example)
        own = tokens[chunk.text]
        if (chunk.text, source) in copied:
            return (trust(chunk, own, documents[source].tokens.ids),)
        return tuple(ask(chunk, own, passage[example.candidate, source, chunk.text], filler, options))

    return [
        PreparedExample(
            example.id,
            marked[example.candidate],
            len(documents[_source(example)].tokens.ids),
            tuple(
                (len(tokens[chunk.text].ids), questions(chunk, example))
                for chunk in chunks[example.candidate]
            ),
        )
        for example in examples
    ]


def _passages(
    groups: Mapping[Pair, Sequence[str]],
    documents: Mapping[str, Document],
    passages: Passages | None,
    *,
    shared: bool,
) -> dict[tuple[str, str, str], Ids]:
    """Return what the questions about each text read of the source.

    Args:
        groups: (candidate, source) → the texts to ask about.
        documents: Of each source.
        passages: Selects them; None for the whole document.
        shared: Whether the texts of a candidate share a passage, which a filler with separate windows then
            reads once for all of them.
    """
    keys = [
        (candidate, source, own)
        for (candidate, source), texts in groups.items()
        for own in ([tuple(texts)] if shared else [(text,) for text in texts])
        if own
    ]
    if passages is None:
        chosen = [documents[source].tokens.ids for _, source, _ in keys]
    else:
        chosen = passages.select([(own, documents[source]) for _, source, own in keys])
    return {
        (candidate, source, text): ids
        for (candidate, source, own), ids in zip(keys, chosen, strict=True)
        for text in own
    }


def _copied(pairs: Iterable[Pair], sources: Mapping[str, str], *, parts: bool) -> set[Pair]:
    """Return the pairs whose text stands in the source word for word; see `copied_from`."""
    texts: dict[str, list[str]] = {}
    for text, source in pairs:
        texts.setdefault(source, []).append(text)
    found = set()
    for source, own in texts.items():
        spaced = sources[source]
        sentences = [spaced[start:end] for start, end in split_sentences(spaced)]
        rows = copied_from(own, sentences, parts=parts)
        found |= {(text, source) for text, row in zip(own, rows, strict=True) if row is not None}
    return found


def _source(example: Example) -> str:
    """Return the source; `score_sound` guarantees that it is set."""
    return example.source or ""
