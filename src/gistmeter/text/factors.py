"""Factual factors: the named entities and noun chunks that ClozE blanks out (section 3.2).

Sentences are those of `split_sentences`, where the authors' code takes the parser's: a parser's depend
on the pipeline, and fail on summaries that are lower-cased and re-spaced. The pipeline is told where
they start, so that no factor crosses from one into the next.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby, pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, get_args

from gistmeter.core.errors import BadModel, ModelNotFound, UsageError
from gistmeter.text.offsets import Rejoined, rejoin
from gistmeter.text.sentences import split_sentences
from gistmeter.text.words import Place, token_spans

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

Kind = Literal["entity", "noun"]
Selection = Literal["entity", "noun", "entity_first", "noun_first"]
Level = Literal["sentence", "summary"]

BUNDLE = Path(__file__).parents[1] / "bundle" / "en"
REINSTALL = "pip install --force-reinstall gistmeter"
SHARED = {"doc.tensor", "doc._.trf_data"}
ENTITY = {"ner": {"doc.ents"}}
NOUN = {"parser": {"token.dep"}, "morphologizer or attribute_ruler": {"token.pos", "attribute_ruler"}}
NEEDED = {"entity": ENTITY, "noun": NOUN, "entity_first": ENTITY | NOUN, "noun_first": ENTITY | NOUN}
"""What finds factors: components, and the attributes they set or the factories that make them."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A stretch of text that states a fact.

    Args:
        start: First character in the user's own text; `joined_start` is the one in the re-joined text.
        end: One past the last; `joined_end` likewise.
        kind: What it is.
        label: spaCy's: the type of an entity (`PERSON`), `NP` for a noun chunk.
        sentence: Which sentence it lies in, counted from 0.
    """

    start: int
    end: int
    joined_start: int
    joined_end: int
    kind: Kind
    label: str
    sentence: int


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A re-joined text, its sentences and its factors.

    Args:
        joined: The text, with the map to the user's own characters.
        sentences: (start, end) characters of each sentence in `joined.text`.
        factors: In text order, none overlapping another.
    """

    joined: Rejoined
    sentences: tuple[Place, ...]
    factors: tuple[Factor, ...]


@dataclass(frozen=True)
class Pipeline:
    """A spaCy pipeline; can be pickled with its weights.

    Args:
        nlp: With a parser and parts of speech (noun chunks), an entity recogniser, or both.
        identity: Its name in a signature: `en_core_web_sm-3.8.0`, or `@` and a hash of its weights.
    """

    nlp: "Language"
    identity: str
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def require(self, selection: Selection) -> None:
        """Raise BadModel if a component is missing, UsageError if there is no such selection."""
        if selection not in get_args(Selection):
            raise UsageError(f"selection={selection}: choose one of {', '.join(get_args(Selection))}")
        made = set().union(*self._components().values())
        missing = [component for component, ways in NEEDED[selection].items() if made.isdisjoint(ways)]
        if selection != "entity" and self.nlp.vocab.get_noun_chunks is None:
            missing.append(f"noun chunks in language {self.nlp.lang!r}")
        if missing:
            lacks = f"spaCy pipeline {self.identity} has no {' and no '.join(missing)}"
            raise BadModel(f"{lacks}; choose another pipeline than this for selection={selection}")

    def rejoin(self, text: str) -> Rejoined:
        """Put single spaces between the words of a text, as this pipeline's tokenizer cuts them."""
        with self.session() as nlp:
            return rejoin(text, token_spans(nlp, text))

    @contextmanager
    def session(self) -> Iterator["Language"]:
        """Lend the pipeline to one thread at a time; the words it saw are forgotten afterwards."""
        with self._lock, self.nlp.memory_zone():
            yield self.nlp

    def idle(self, selection: Selection) -> list[str]:
        """Return the names of the components that a selection has no use for."""
        tags = {"token.tag"} if selection != "entity" else set()
        useful = SHARED.union(tags, *NEEDED[selection].values())
        return [name for name, made in self._components().items() if useful.isdisjoint(made)]

    def _components(self) -> dict[str, set[str]]:
        """Return each component's factory and what it sets."""
        metas = {name: self.nlp.get_pipe_meta(name) for name in self.nlp.pipe_names}
        return {name: {meta.factory, *meta.assigns} for name, meta in metas.items()}

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (self.nlp.config.to_str(), self.nlp.to_bytes(), self.identity)


def load_pipeline(name: str | Path = BUNDLE.name, *, selection: Selection = "entity_first") -> Pipeline:
    """Load a spaCy pipeline that can find factors.

    Args:
        name: `en`, which ships; of an installed pipeline (`en_core_web_sm`); or a folder that holds one.
        selection: What it must be able to find.

    Raises:
        ModelNotFound: If there is none.
        BadModel: If it cannot be loaded, or lacks a component.
    """
    import spacy

    place = BUNDLE if name == BUNDLE.name else name
    installed = spacy.util.is_package(str(place))
    if not installed and not Path(place).is_dir():
        wanted = f"no spaCy pipeline {str(name)!r} is installed, and no folder has this name"
        fetch = REINSTALL if place is BUNDLE else f"python -m spacy download {Path(name).name}"
        raise ModelNotFound(f"{wanted}; run: {fetch}")
    if place is BUNDLE:
        _check_shipped(BUNDLE)
    try:
        nlp = spacy.load(place)
    except Exception as error:  # whatever a damaged folder makes spaCy stumble over
        reason = " ".join(str(error).split())
        raise BadModel(f"{str(name)!r} is no spaCy pipeline that loads here: {reason}") from error
    version = f"-{nlp.meta['version']}" if installed else f"@{sha256(nlp.to_bytes()).hexdigest()[:16]}"
    pipeline = Pipeline(nlp, f"{nlp.meta['lang']}_{nlp.meta['name']}{version}")
    pipeline.require(selection)
    return pipeline


def find_factors(texts: Sequence[str], pipeline: Pipeline, selection: Selection) -> list[MarkedText]:
    """Find the factors of texts (ClozE, section 3.2).

    Args:
        texts: The users' own.
        pipeline: Finds entities and noun chunks.
        selection: `entity` or `noun` alone; or all of one kind, and those of the other that overlap
            none of them.

    Returns:
        One marked text each, in the order given; one without words has no sentence and no factor.

    Raises:
        UsageError: If there is no such selection.
        BadModel: If the pipeline cannot find what the selection asks for.
    """
    pipeline.require(selection)
    with pipeline.session() as nlp:
        cut = [_cut(nlp, text) for text in texts]
        docs = nlp.pipe((_doc(nlp, *parts) for parts in cut), disable=pipeline.idle(selection))
        return [_mark(*parts, _select(doc, selection)) for parts, doc in zip(cut, docs, strict=True)]


def group_factors(factors: Sequence[Factor], k: int, level: Level = "sentence") -> list[tuple[Factor, ...]]:
    """Put consecutive factors together that are masked in one pass (ClozE, sections 3.4 and 3.5).

    Args:
        factors: Of one text, in text order.
        k: The most a group may hold; at least 1.
        level: `sentence` lets no group cross into the next sentence.

    Raises:
        UsageError: If k is less than 1.

    >>> boat, oslo, she = (Factor(0, 1, 0, 1, "noun", "NP", sentence) for sentence in (0, 0, 1))
    >>> group_factors([boat, oslo, she], k=2) == [(boat, oslo), (she,)]
    True
    """
    if k < 1:
        raise UsageError(f"k={k}: give at least 1")
    units = groupby(factors, key=lambda factor: factor.sentence if level == "sentence" else 0)
    runs = (tuple(unit) for _, unit in units)
    return [run[at : at + k] for run in runs for at in range(0, len(run), k)]


def _check_shipped(folder: Path) -> None:
    """Raise BadModel if a file of the pipeline that ships is not the one in the manifest."""
    try:
        manifest = json.loads((folder.parent / "manifest.json").read_text(encoding="utf-8"))
        for name, facts in manifest["models"][folder.name]["files"].items():
            path = folder / name
            if not path.is_file() or sha256(path.read_bytes()).hexdigest() != facts["sha256"]:
                raise BadModel(f"{path} is not the file that was published; run: {REINSTALL}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadModel(f"the manifest beside {folder} is missing or damaged; run: {REINSTALL}") from error


def _cut(nlp: "Language", text: str) -> tuple[str, list[Place], list[int]]:
    """Return the text, its words, and the sentence of each word, which no word crosses."""
    starts = [start for start, _ in split_sentences(text)]
    words = [place for place in token_spans(nlp, text, starts) if text[slice(*place)].strip()]
    raw = [bisect_right(starts, start) for start, _ in words]
    numbers = {old: new for new, old in enumerate(dict.fromkeys(raw))}
    return text, words, [numbers[old] for old in raw]


def _doc(nlp: "Language", text: str, words: Sequence[Place], sentences: Sequence[int]) -> "Doc":
    """Build what the pipeline reads: the user's own spacing, sentence starts fixed."""
    from spacy.tokens import Doc

    begins: list[bool | int | None] = [a != b for a, b in pairwise([None, *sentences])]
    forms = [text[start:end] for start, end in words]
    spaces = [text[end : end + 1].isspace() for _, end in words]
    return Doc(nlp.vocab, words=forms, spaces=spaces, sent_starts=begins)


def _select(doc: "Doc", selection: Selection) -> list[tuple[Kind, "Span"]]:
    """Return what to blank out, in text order."""
    chunks = doc.noun_chunks if selection != "entity" and len(doc) else ()
    nouns: list[tuple[Kind, Span]] = [("noun", span) for span in chunks]
    # Rules, unlike trained components, may look across the end of a sentence.
    whole = (span for span in doc.ents if not any(token.is_sent_start for token in span[1:]))
    entities: list[tuple[Kind, Span]] = [("entity", span) for span in whole if selection != "noun"]
    first, second = (nouns, entities) if selection == "noun_first" else (entities, nouns)
    taken = {at for _, span in first for at in range(span.start, span.end)}
    free = [(kind, span) for kind, span in second if taken.isdisjoint(range(span.start, span.end))]
    return sorted([*first, *free], key=lambda found: found[1].start)


def _mark(
    text: str, words: Sequence[Place], sentences: Sequence[int], found: Sequence[tuple[Kind, "Span"]]
) -> MarkedText:
    joined = rejoin(text, words)
    factors = []
    for kind, span in found:
        start, end = words[span.start][0], words[span.end - 1][1]
        place = joined.to_joined(start, end)
        factors.append(Factor(start, end, *place, kind, span.label_, sentences[span.start]))
    runs = (list(run) for _, run in groupby(range(len(words)), key=lambda at: sentences[at]))
    places = tuple(joined.to_joined(words[run[0]][0], words[run[-1]][1]) for run in runs)
    return MarkedText(joined, places, tuple(factors))


def _revive(config: str, weights: bytes, identity: str) -> Pipeline:
    """Build a pickled pipeline anew."""
    from spacy.util import load_model_from_config
    from thinc.api import Config

    nlp = load_model_from_config(Config().from_str(config))
    return Pipeline(nlp.from_bytes(weights), identity)
