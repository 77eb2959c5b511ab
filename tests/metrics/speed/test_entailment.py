"""The entailment score of SPEED: premises, the share of similarity, and the best premise."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gistmeter.core.errors import UsageError
from gistmeter.core.options import options_from
from gistmeter.metrics.speed.entailment import Entailment
from gistmeter.metrics.speed.metric import Speed
from gistmeter.metrics.speed.options import SpeedOptions
from gistmeter.metrics.speed.similarity import Block
from gistmeter.models.encode.cross_encoder import PairScores
from gistmeter.models.encode.encoder import TextVectors

NLI = {"mode": "cross", "against": "source", "task": "nli"}


class Judge:
    """Says that a premise entails a sentence if it has all of its words, and contradicts it otherwise."""

    identity = "judge"

    def score(self, pairs: Sequence[tuple[str, str]]) -> PairScores:
        entailed = np.array([float(set(b.split()) <= set(a.split())) for a, b in pairs])
        counts = np.array([[len(a.split()), len(b.split())] for a, b in pairs])
        return PairScores(2 * entailed - 1, 1 - entailed, counts, counts)


class Bags:
    """Embeds a sentence as the unit vector of the words of a small vocabulary that it has."""

    def __init__(self, *words: str) -> None:
        self.words, self.text_identity = words, "+".join(words)

    def embed(self, sentences: Sequence[str]) -> TextVectors:
        counts = np.array(
            [[word in text.split() for word in self.words] for text in sentences], dtype=np.float32
        )
        norms = np.linalg.norm(counts, axis=1, keepdims=True).clip(1)
        tokens: Any = [SimpleNamespace(kept=1, total=1)] * len(sentences)
        return TextVectors(counts / norms, tokens)


def values(similarity: float, candidate: tuple[str, ...], source: tuple[str, ...]) -> list[float]:
    judge: Any = Judge()
    retriever: Any = Bags("rain", "fell", "wind", "blew", "noon", "night", "and")
    [found] = Entailment(judge, retriever, similarity, 1.0).compare([Block(candidate, source)])
    best: list[float] = found.values.max(axis=1).tolist()
    return best


SOURCE = ("rain fell", "wind blew", "noon", "night")


def test_without_similarity_a_value_is_the_best_premises_entailment() -> None:
    assert values(0.0, ("rain fell", "rain and night"), SOURCE) == [1.0, -1.0]
    assert values(0.0, ("rain fell noon",), SOURCE) == [1.0], "joined sentences are a premise as well"


@pytest.mark.parametrize(("weight", "value"), [(0.0, 0.0), (0.3, -0.3), (1.0, -1.0)])
def test_contradiction_is_subtracted_with_its_weight(weight: float, value: float) -> None:
    judge: Any = Judge()
    retriever: Any = Bags("rain", "wind")
    weighed = Entailment(judge, retriever, 0.0, weight)
    [found] = weighed.compare([Block(("rain fell", "rain and night"), SOURCE)])
    assert found.values.max(axis=1).tolist() == pytest.approx([1.0, value])


def test_similarity_has_its_share() -> None:
    alone = values(1.0, ("rain and night", "wind blew"), SOURCE)
    assert alone == pytest.approx([1 / np.sqrt(3), 1.0])
    mixed = values(0.7, ("rain and night", "wind blew"), SOURCE)
    assert mixed == pytest.approx([0.3 * -1 + 0.7 / np.sqrt(3), 1.0])


@pytest.mark.parametrize("name", ["contradiction", "similarity"])
@pytest.mark.parametrize("weight", [-0.1, 1.5, float("nan")])
def test_a_weight_outside_0_and_1_is_refused(name: str, weight: float) -> None:
    with pytest.raises(UsageError, match="from 0 to 1"):
        options_from(SpeedOptions, {name: weight})


def test_a_copied_sentence_has_1_whatever_the_model_says() -> None:
    candidate = ("Rain fell at noon!", "rain and night", "wind at noon")
    source = ("night", "rain fell at noon in Ely", "they denied that wind at noon blew")
    asked: list[tuple[str, str]] = []

    class Doubter(Judge):
        def score(self, pairs: Sequence[tuple[str, str]]) -> PairScores:
            asked.extend(pairs)
            counts = np.ones((len(pairs), 2), dtype=np.int64)
            return PairScores(np.full(len(pairs), -1.0), np.zeros(len(pairs)), counts, counts)

    judge: Any = Doubter()
    retriever: Any = Bags("rain", "noon", "night")
    model = Entailment(judge, retriever, 0.0, 1.0)
    [found] = model.compare([Block(candidate, source)])
    assert found.values.max(axis=1).tolist() == [1.0, -1.0, -1.0]
    assert found.values[0].argmax() == 1, "the source sentence that it is copied from is the evidence"
    assert {sentence for _, sentence in asked} == set(candidate[1:])
    whole = Entailment(judge, retriever, 0.0, 1.0, parts=False)
    assert whole.compare([Block(candidate, source)])[0].values.max() == -1.0
    assert whole.identity != model.identity


def test_a_candidate_that_is_all_copied_leaves_nothing_to_ask() -> None:
    assert values(0.7, ("they say rain fell",), ("so they say rain fell",)) == [1.0]


def test_the_pair_that_loses_the_most_tokens_is_reported() -> None:
    class Short(Judge):
        """Reads four words of a premise, and half of a sentence that is read with a longer one."""

        def score(self, pairs: Sequence[tuple[str, str]]) -> PairScores:
            total = np.array([[len(a.split()), len(b.split())] for a, b in pairs]).reshape(-1, 2)
            kept = np.where(total[:, :1] > 4, [[4, 1]], total)
            return PairScores(np.zeros(len(pairs)), np.zeros(len(pairs)), kept, total)

    class Counted(Bags):
        def embed(self, sentences: Sequence[str]) -> TextVectors:
            tokens: Any = [SimpleNamespace(kept=len(s.split()), total=len(s.split())) for s in sentences]
            return TextVectors(super().embed(sentences).vectors, tokens)

    judge: Any = Short()
    retriever: Any = Counted("rain", "wind")
    source = ("rain fell", "wind blew", "noon it was")
    model = Entailment(judge, retriever, 0.0, 1.0)
    [found] = model.compare([Block(("rain and wind",), source)])
    assert found.total.tolist() == [3, 2, 2, 3]
    assert found.kept.tolist() == [1, 2, 2, 0], "the end of the joined premise is cut"
    [copied] = model.compare([Block(("rain fell at noon",), ("rain fell at noon",))])
    assert copied.kept.tolist() == copied.total.tolist() == [4, 4]


def test_only_entailment_names_its_weights_in_the_signature() -> None:
    def options_of(options: SpeedOptions) -> set[str]:
        return {name for name, _ in Speed((), options).signature.settings}

    weights = {"contradiction", "similarity"}
    assert not weights & options_of(SpeedOptions())
    assert weights <= options_of(SpeedOptions(mode="cross", against="source", task="nli"))
