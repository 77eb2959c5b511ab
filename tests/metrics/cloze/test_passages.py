"""Passages: the document sentences that are most similar to a text, in the order of the document."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gistmeter.core.errors import UsageError
from gistmeter.core.example import Example
from gistmeter.metrics.cloze.metric import Cloze
from gistmeter.metrics.cloze.options import ClozeOptions
from gistmeter.metrics.cloze.passages import Document, Passages
from gistmeter.models.encode.encoder import TextVectors
from gistmeter.models.run.tokens import Tokens
from gistmeter.text.factors import Pipeline
from tests.listed_filler import Listed
from tests.tiny_spacy import tiny_pipeline

WORDS = ("rain", "wind", "noon", "harbour", "ferry", "hills")
TEXT = "The rain fell. The wind blew. The ferry left the harbour at noon. The hills are green."


class Bags:
    """Embeds a text as the unit vector of the known words that it has."""

    identity = text_identity = "bags"

    def embed(self, texts: Sequence[str]) -> TextVectors:
        counts = np.array([[word in text.lower() for word in WORDS] for text in texts], dtype=np.float32)
        return TextVectors(counts / np.maximum(1, np.linalg.norm(counts, axis=1, keepdims=True)), [])


def words(text: str) -> Tokens:
    """Return one token per word; its number is its place in the text."""
    found = list(re.finditer(r"\S+", text))
    offsets = np.array([match.span() for match in found], dtype=np.int64).reshape(-1, 2)
    return Tokens(tuple(range(len(found))), offsets, np.zeros(len(found), dtype=np.bool_), len(found))


def selected(text: str, most: int) -> str:
    retriever: Any = Bags()
    [ids] = Passages(retriever, most).select([((text,), Document(TEXT, words(TEXT)))])
    return " ".join(TEXT.split()[at] for at in ids)


def test_the_most_similar_sentences_come_in_the_order_of_the_document() -> None:
    assert selected("a ferry", 7) == "The ferry left the harbour at noon."
    assert selected("a ferry in the wind", 10) == "The wind blew. The ferry left the harbour at noon."
    assert selected("wind", 6) == "The rain fell. The wind blew.", "ties in the order of the text"
    assert selected("wind", 1000) == TEXT


def test_texts_that_share_a_passage_get_what_is_similar_to_one_of_them() -> None:
    retriever: Any = Bags()
    document = Document(TEXT, words(TEXT))
    [ids] = Passages(retriever, 10).select([(("a ferry", "wind"), document)])
    assert " ".join(TEXT.split()[at] for at in ids) == "The wind blew. The ferry left the harbour at noon."


def test_a_first_sentence_that_is_too_long_is_cut_and_an_empty_document_is_empty() -> None:
    assert selected("a ferry", 3) == "The ferry left"
    retriever: Any = Bags()
    assert Passages(retriever, 5).select([(("rain",), Document("", words("")))]) == [()]


def test_a_document_that_fits_is_its_own_passage_without_a_search() -> None:
    nobody: Any = None
    document = Document(TEXT, words(TEXT))
    assert Passages(nobody, len(document.tokens.ids)).select([(("a ferry",), document)]) == [
        document.tokens.ids
    ]


def test_the_metric_asks_with_passages_and_flags_no_truncation() -> None:
    retriever: Any = Bags()
    pipeline = Pipeline(tiny_pipeline(), "tiny")
    metric = Cloze(Listed(), pipeline, ClozeOptions(passage=7), retriever)
    assert "passage=7" in metric.signature.text and "retriever=bags" in metric.signature.text
    [score] = metric.score([Example("1", "The ferry left at noon.", TEXT)])
    assert score.problem is None and not [flag for flag in score.flags if flag.name == "truncated"]
    with pytest.raises(UsageError, match="needs a retriever"):
        Cloze(Listed(), pipeline, ClozeOptions(passage=7))
    with pytest.raises(UsageError, match="at least 0"):
        ClozeOptions(passage=-1)
