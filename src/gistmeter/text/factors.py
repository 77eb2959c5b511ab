"""Find factual factors: the named entities and noun chunks that ClozE masks (section 3.2).

Sentence boundaries come from `split_sentences`. The authors' code uses the parser's boundaries, which depend
on the pipeline and are wrong for lower-cased, tokenized summaries. The pipeline receives the boundaries, so
that no factor crosses one.
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
"""Required components by selection, each with the attributes it assigns or the factories that create it."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A span of text that states a fact.

    Args:
        start: Offset of the first character in the user's text.
        end: Offset after the last character in the user's text.
        joined_start: Offset of the first character in the re-joined text.
        joined_end: Offset after the last character in the re-joined text.
        kind: Named entity or noun chunk.
        label: spaCy's label: the type of an entity (`PERSON`), `NP` for a noun chunk.
        sentence: The index of the sentence that contains it, counted from 0.
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
    """A re-joined text with its sentences and factors.

    Args:
        joined: The text, with its mapping to the user's text.
        sentences: (start, end) characters of each sentence in `joined.text`.
        factors: The factors in text order, without overlap.
    """

    joined: Rejoined
    sentences: tuple[Place, ...]
    factors: tuple[Factor, ...]


@dataclass(frozen=True)
class Pipeline:
    """A spaCy pipeline; pickles with its weights.

    Args:
        nlp: The pipeline: a parser and a part-of-speech tagger (for noun chunks), an entity recognizer, or
            both.
        identity: The name in a signature: `en_core_web_sm-3.8.0`, or the name, `@` and a hash of the weights.
    """

    nlp: "Language"
    identity: str
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def require(self, selection: Selection) -> None:
        """Check that the pipeline has the components for a selection.

        Raises:
            UsageError: If the selection does not exist.
            BadModel: If the pipeline lacks a component.
        """
        if selection not in get_args(Selection):
            raise UsageError(f"selection={selection}: choose one of {', '.join(get_args(Selection))}")
        made = set().union(*self._components().values())
        missing = [component for component, ways in NEEDED[selection].items() if made.isdisjoint(ways)]
        if selection != "entity" and self.nlp.vocab.get_noun_chunks is None:
            missing.append(f"noun chunks in language {self.nlp.lang!r}")
        if missing:
            lacks = f"spaCy pipeline {self.identity} has no {' and no '.join(missing)}"
            raise BadModel(f"{lacks}; choose a pipeline that has it, or another selection than {selection}")

    def spaced(self, text: str) -> str:
        r"""Join the tokens of a text with single spaces, as the authors' code of ClozE joins a document.

        A run of spaces counts as one space. Other white space, such as a line break, is a token.
        """
        single = " ".join(filter(None, text.split(" ")))
        with self.session() as nlp:
            return " ".join(single[start:end] for start, end in token_spans(nlp, single))

    @contextmanager
    def session(self) -> Iterator["Language"]:
        """Give one thread at a time access to the pipeline; clear its vocabulary cache afterwards."""
        with self._lock, self.nlp.memory_zone():
            yield self.nlp

    def idle(self, selection: Selection) -> list[str]:
        """Return the names of the components that a selection does not use."""
        tags = {"token.tag"} if selection != "entity" else set()
        useful = SHARED.union(tags, *NEEDED[selection].values())
        return [name for name, made in self._components().items() if useful.isdisjoint(made)]

    def _components(self) -> dict[str, set[str]]:
        """Return each component's factory and the attributes that it assigns."""
        metas = {name: self.nlp.get_pipe_meta(name) for name in self.nlp.pipe_names}
        return {name: {meta.factory, *meta.assigns} for name, meta in metas.items()}

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (self.nlp.config.to_str(), self.nlp.to_bytes(), self.identity)


def load_pipeline(name: str | Path = BUNDLE.name, *, selection: Selection = "entity_first") -> Pipeline:
    """Load a spaCy pipeline that finds factors.

    Args:
        name: `en`, the pipeline that ships with gistmeter; the name of an installed pipeline
            (`en_core_web_sm`); or the folder of a pipeline.
        selection: The kinds of factors that the pipeline must find.

    Raises:
        ModelNotFound: If there is no such pipeline.
        BadModel: If the pipeline cannot be loaded, or lacks a component.
    """
    import spacy

    place = BUNDLE if name == BUNDLE.name else name
    installed = spacy.util.is_package(str(place))
    if not installed and not Path(place).is_dir():
        wanted = f"no spaCy pipeline {str(name)!r} is installed, and there is no folder of this name"
        fetch = REINSTALL if place is BUNDLE else f"python -m spacy download {Path(name).name}"
        raise ModelNotFound(f"{wanted}; run: {fetch}")
    if place is BUNDLE:
        _check_shipped(BUNDLE)
    try:
        nlp = spacy.load(place)
    except Exception as error:  # a damaged folder can make spaCy raise any error
        reason = " ".join(str(error).split())
        raise BadModel(f"cannot load spaCy pipeline {str(name)!r}: {reason}; install it again") from error
    version = f"-{nlp.meta['version']}" if installed else f"@{sha256(nlp.to_bytes()).hexdigest()[:16]}"
    pipeline = Pipeline(nlp, f"{nlp.meta['lang']}_{nlp.meta['name']}{version}")
    pipeline.require(selection)
    return pipeline


def find_factors(texts: Sequence[str], pipeline: Pipeline, selection: Selection) -> list[MarkedText]:
    """Find the factors of texts (ClozE, section 3.2).

    Args:
        texts: The texts as the user gave them.
        pipeline: Finds entities and noun chunks.
        selection: `entity` or `noun` for one kind only. `entity_first` for all entities, and the noun chunks
            that do not overlap an entity; `noun_first` for the reverse.

    Returns:
        One marked text per text, in the order given; a text without words has no sentences and no factors.

    Raises:
        UsageError: If the selection does not exist.
        BadModel: If the pipeline lacks a component that the selection requires.
    """
    pipeline.require(selection)
    with pipeline.session() as nlp:
        cut = [_cut(nlp, text) for text in texts]
        docs = nlp.pipe((_doc(nlp, *parts) for parts in cut), disable=pipeline.idle(selection))
        return [_mark(*parts, _select(doc, selection)) for parts, doc in zip(cut, docs, strict=True)]


def group_factors(factors: Sequence[Factor], k: int, level: Level = "sentence") -> list[tuple[Factor, ...]]:
    """Group consecutive factors that are masked in one pass (ClozE, sections 3.4 and 3.5).

    Args:
        factors: The factors of one text, in text order.
        k: The maximum size of a group; at least 1.
        level: `sentence` keeps each group within one sentence; `summary` does not.

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
    """Raise BadModel if a file of the shipped pipeline differs from the manifest."""
    try:
        manifest = json.loads((folder.parent / "manifest.json").read_text(encoding="utf-8"))
        for name, facts in manifest["models"][folder.name]["files"].items():
            path = folder / name
            if not path.is_file() or sha256(path.read_bytes()).hexdigest() != facts["sha256"]:
                raise BadModel(f"{path} is missing or differs from the published file; run: {REINSTALL}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadModel(f"the manifest beside {folder} is missing or damaged; run: {REINSTALL}") from error


def _cut(nlp: "Language", text: str) -> tuple[str, list[Place], list[int]]:
    """Return the text, its words, and the index of the sentence that contains each word."""
    starts = [start for start, _ in split_sentences(text)]
    words = [place for place in token_spans(nlp, text, starts) if text[slice(*place)].strip()]
    raw = [bisect_right(starts, start) for start, _ in words]
    numbers = {old: new for new, old in enumerate(dict.fromkeys(raw))}
    return text, words, [numbers[old] for old in raw]


def _doc(nlp: "Language", text: str, words: Sequence[Place], sentences: Sequence[int]) -> "Doc":
    """Return a spaCy document with the user's spacing and fixed sentence starts."""
    from spacy.tokens import Doc

    begins: list[bool | int | None] = [a != b for a, b in pairwise([None, *sentences])]
    forms = [text[start:end] for start, end in words]
    spaces = [text[end : end + 1].isspace() for _, end in words]
    return Doc(nlp.vocab, words=forms, spaces=spaces, sent_starts=begins)


def _select(doc: "Doc", selection: Selection) -> list[tuple[Kind, "Span"]]:
    """Return the spans to mask, in text order."""
    chunks = doc.noun_chunks if selection != "entity" and len(doc) else ()
    nouns: list[tuple[Kind, Span]] = [("noun", span) for span in chunks]
    # Rule-based components, unlike trained ones, may produce spans that cross a sentence end.
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
    """Rebuild a pipeline from its pickled form."""
    from spacy.util import load_model_from_config
    from thinc.api import Config

    nlp = load_model_from_config(Config().from_str(config))
    return Pipeline(nlp.from_bytes(weights), identity)
