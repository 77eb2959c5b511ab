"""Score candidate sentences by their entailment from source sentences (`task=nli`)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gistmeter.metrics.speed.similarity import Block, Cosine, FloatArray, Similarity
from gistmeter.models.encode.cross_encoder import PairScorer
from gistmeter.models.encode.encoder import Encoder
from gistmeter.text.copied import copied_from

SINGLE = 2
"""Number of most similar source sentences that serve as single-sentence premises."""
JOINED = (5,)
"""Numbers of most similar source sentences that are joined, in source order, into one premise."""
Columns = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entailment:
    """Natural language inference model with a sentence encoder.

    Args:
        scorer: Natural language inference model.
        retriever: Encoder whose cosine similarity selects the source sentences used as premises. The highest
            one is part of the score of a sentence.
        similarity: Weight of that similarity, from 0 to 1.
        contradiction: Weight of p(contradiction), which is subtracted from p(entailment); from 0 to 1.
        parts: Whether parts of source sentences count as copied, too; see `copied_from`.
    """

    scorer: PairScorer
    retriever: Encoder
    similarity: float
    contradiction: float
    parts: bool = True

    @property
    def identity(self) -> str:
        """Names of the models and sizes of the premises, for signatures."""
        premises = f"top{SINGLE}/joined{'+'.join(map(str, JOINED))}"
        copied = "copied-parts" if self.parts else "copied"
        return f"{self.scorer.identity}/nli/{premises}/{copied}/by {self.retriever.text_identity}"

    def compare(self, blocks: Sequence[Block]) -> list[Similarity]:
        """Score each candidate sentence against its premises; one that is copied from the source has 1.

        Returns:
            One matrix per block. The score of a premise is in the column of its most similar sentence; all
            other columns hold −1, so that greedy matching selects the best premise.
        """
        retrieved = Cosine(self.retriever).compare(blocks)
        cosines = [found.values for found in retrieved]
        copies = [copied_from(block.candidate, block.other, parts=self.parts) for block in blocks]
        premises = [
            [_sets(row) if copy is None else [] for row, copy in zip(own, found, strict=True)]
            for own, found in zip(cosines, copies, strict=True)
        ]
        pairs = [
            (_joined(block, columns), sentence)
            for block, own in zip(blocks, premises, strict=True)
            for sentence, sets in zip(block.candidate, own, strict=True)
            for columns in sets
        ]
        scores = self.scorer.score(pairs)
        closest = np.repeat(
            [row.max() for own in cosines for row in own], [len(sets) for own in premises for sets in own]
        )
        judged = scores.values + (1 - self.contradiction) * scores.contradicted
        values = (1 - self.similarity) * judged + self.similarity * closest
        cut = scores.total - scores.kept
        found, at = [], 0
        for near, own, copied in zip(retrieved, premises, copies, strict=True):
            end = at + sum(map(len, own))
            view = _view(near, own, values[at:end], cut[at:end])
            for row, column in enumerate(copied):
                if column is not None:
                    view.values[row, column] = 1.0
            found.append(view)
            at = end
        return found


def _sets(cosines: FloatArray) -> list[Columns]:
    """Return single sentences, then joined ones, without repeated sets; the most similar one first."""
    most = min(len(cosines), max(SINGLE, *JOINED))
    top = np.argpartition(-cosines, most - 1)[:most] if most < len(cosines) else np.arange(most)
    order = top[np.lexsort((top, -cosines[top]))].tolist()  # ties in the order of the text
    sets = [(column,) for column in order[:SINGLE]]
    sets += [tuple(order[:size]) for size in JOINED]
    return list(dict.fromkeys(sets))


def _joined(block: Block, columns: Columns) -> str:
    return " ".join(block.other[column] for column in sorted(columns))


def _view(
    near: Similarity, sets: list[list[Columns]], values: NDArray[np.float64], cut: NDArray[np.int64]
) -> Similarity:
    """Return the score matrix of one block, with the numbers of tokens read and given.

    Args:
        near: Cosine similarities of the block.
        sets: Premises of each candidate sentence.
        values: Scores of the pairs, shape (pairs,).
        cut: Tokens of premise and sentence that the model did not read, shape (pairs, 2).
    """
    matrix = np.full(near.values.shape, -1.0, dtype=np.float32)
    lost = near.total - near.kept
    at = 0
    for row, own in enumerate(sets):
        if not own:
            lost[row] = 0  # a copied sentence has 1, however long it is
        for columns in own:
            best = columns[0]
            matrix[row, best] = max(matrix[row, best], values[at])
            lost[row] = max(lost[row], cut[at, 1])
            _spread(lost[len(sets) :], near.total[len(sets) :], columns, cut[at, 0])
            at += 1
    return Similarity(matrix, np.maximum(near.total - lost, 0), near.total)


def _spread(lost: NDArray[np.int64], total: NDArray[np.int64], columns: Columns, cut: int) -> None:
    """Count the tokens cut off a premise as lost by its last sentences."""
    for column in sorted(columns, reverse=True):
        here = min(cut, total[column])
        lost[column] = max(lost[column], here)
        cut -= here
