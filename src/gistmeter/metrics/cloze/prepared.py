"""Prepare examples for the model: find factors, split texts, and build queries."""

from collections.abc import Sequence
from dataclasses import dataclass

from gistmeter.core.example import Example
from gistmeter.core.score import Flag
from gistmeter.metrics.cloze.chunks import cut_chunks
from gistmeter.metrics.cloze.options import ClozeOptions
from gistmeter.metrics.cloze.passages import Document, Passages
from gistmeter.metrics.cloze.questions import Blank, Question, ask
from gistmeter.models.fill.protocol import Filler, Query
from gistmeter.text.factors import MarkedText, Pipeline, find_factors


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
        options: `selection`, `level` and `k` are used.
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
    read = {pair: documents[pair[1]].tokens.ids for pair in pairs}
    if passages:
        asked = [(text, documents[source]) for text, source in pairs]
        read = dict(zip(pairs, passages.select(asked), strict=True))
    return [
        PreparedExample(
            example.id,
            marked[example.candidate],
            len(documents[_source(example)].tokens.ids),
            tuple(
                (
                    len(tokens[c.text].ids),
                    tuple(ask(c, tokens[c.text], read[c.text, _source(example)], filler, options)),
                )
                for c in chunks[example.candidate]
            ),
        )
        for example in examples
    ]


def _source(example: Example) -> str:
    """Return the source; `score_sound` guarantees that it is set."""
    return example.source or ""
