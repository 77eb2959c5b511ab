"""Evaluate a pipeline: F1 of entities and noun chunks against silver labels, and speed."""

import time
from collections.abc import Hashable, Iterable, Sequence, Set

from spacy.language import Language
from spacy.tokens import Doc

from gistmeter.text.factors import Pipeline
from gistmeter.training.recipes.silver import Silver


def f1(found: Iterable[Set[Hashable]], expected: Iterable[Set[Hashable]]) -> float:
    """Return micro-averaged F1 (0 to 1) of exact matches, including labels.

    Args:
        found: Predicted items of each text.
        expected: Expected items of each text.

    >>> f1([{"a", "b"}, set()], [{"a"}, {"c"}])
    0.5
    """
    pairs = list(zip(found, expected, strict=True))
    both = sum(len(have & want) for have, want in pairs)
    either = sum(len(have) + len(want) for have, want in pairs)
    return 2 * both / either if either else 1.0


def entities(doc: Doc) -> set[tuple[int, int, str]]:
    """Return (start, end, label) of every entity, in words."""
    return {(span.start, span.end, span.label_) for span in doc.ents}


def chunks(doc: Doc) -> set[tuple[int, int]]:
    """Return (start, end) of every noun chunk, in words."""
    return {(span.start, span.end) for span in doc.noun_chunks}


def measure(nlp: Language, texts: Sequence[Silver]) -> dict[str, float]:
    """Evaluate a pipeline on texts as written, and lower-cased with a space after each word.

    The pipeline receives words and sentence starts, as in ClozE.

    Args:
        nlp: Pipeline with entities and noun chunks.
        texts: Held-out texts.

    Returns:
        `entity_f1`, `chunk_f1`, `entity_f1_lower`, `chunk_f1_lower` (0 to 1), and `words_per_second` of CPU
        time over all threads, with the components that ClozE uses.
    """
    figures: dict[str, float] = {}
    words, seconds = 0, 0.0
    for suffix, versions in (("", texts), ("_lower", [text.lower() for text in texts])):
        with nlp.memory_zone():
            docs, spent = _parse(nlp, versions)
            figures[f"entity_f1{suffix}"] = f1(map(entities, docs), (set(text.entities) for text in texts))
            figures[f"chunk_f1{suffix}"] = f1(map(chunks, docs), (set(text.chunks) for text in texts))
            words, seconds = words + sum(map(len, docs)), seconds + spent
            del docs
    return figures | {"words_per_second": words / seconds}


def _parse(nlp: Language, texts: Sequence[Silver]) -> tuple[list[Doc], float]:
    docs = [text.bare(nlp.vocab) for text in texts]
    started = time.process_time()
    parsed = list(nlp.pipe(docs, disable=Pipeline(nlp, "").idle("entity_first")))
    return parsed, time.process_time() - started
