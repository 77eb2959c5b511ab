"""Fills blanks with a copy infiller, which encodes a context once for all its blanks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from gistmeter.models.files.find import find_model
from gistmeter.models.fill.contexts import ContextFiller, Group, text_length
from gistmeter.models.fill.copy_files import load_copy_infiller
from gistmeter.models.fill.copy_infiller import CopyInfiller
from gistmeter.models.fill.copy_submodules import CopyDummyInputs, Point, ReadTexts, Remember
from gistmeter.models.fill.pair_batch import PairBatch, pair_batch
from gistmeter.models.fill.positions import MOST_LOGITS, PositionPredictions, fills_of
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.backend import place
from gistmeter.models.run.batching import in_batches
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import Tensors
from gistmeter.models.run.types import Tokenizer

AT_ONCE = 32
"""Number of distributions over the vocabulary that are read at once: few, so that they stay in the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class _Memory:
    """An encoded context: states for the head, keys and values for the layers."""

    states: torch.Tensor
    layers: Tensors


class CopyFiller(ContextFiller):
    """Fills blanks with the bundled copy infiller or another `CopyInfiller`.

    Uses one mask per gold sub-word (a length oracle) and predicts all masks in one pass. Text and context
    have separate windows; their order has no effect.

    Args:
        model: The copy infiller.
        tokenizer: The fast tokenizer of its encoder.
        identity: The name of the model in signatures; the format, the window and the precision are appended.
        runtime: The device, the precision and the backend.
    """

    window: int

    def __init__(
        self,
        model: CopyInfiller,
        tokenizer: Tokenizer,
        *,
        identity: str,
        runtime: Runtime | None = None,
    ) -> None:
        super().__init__(model, tokenizer, identity=identity, runtime=runtime)
        self.window = int(model.embeddings.position_embeddings.num_embeddings)
        examples = CopyDummyInputs(model)
        self.remember = self.place(Remember(model), examples.contexts)
        self.read_texts = self.place(ReadTexts(model), examples.texts)
        # Always in full precision: int8 here would cause two thirds of all changed predictions.
        self.point = place(Point(model), self.runtime, examples.blanks)
        self.identity = f"{identity}/reader-gold-length/{self.window}/{self.runtime.precision}"

    @classmethod
    def load(cls, name: str, runtime: Runtime | None = None) -> "CopyFiller":
        """Load an infiller by name: a folder, or `gistmeter/fill`.

        Raises:
            ModelNotFound: If the model or its encoder does not exist.
            BadModel: If it cannot be loaded.
        """
        files = find_model(name)
        infiller, tokenizer = load_copy_infiller(files)
        return cls(infiller, tokenizer, identity=files.identity, runtime=runtime)

    def _fill_groups(self, groups: list[Group]) -> list[list[list[Fill]]]:
        """Encode a batch of contexts and fill the queries of each."""
        contexts = self._batch([group.queries[0] for group in groups])
        memory, *layers = self.remember(contexts.context, contexts.context_lengths)
        results = []
        for at, group in enumerate(groups):
            own = slice(0, max(1, len(group.context)))
            both = tuple(tensor[at : at + 1, :, own].contiguous() for tensor in layers)
            seen = _Memory(memory[at : at + 1, own], both)
            runtime = replace(self.runtime, progress=False)  # the outer progress bar counts contexts
            results.append(in_batches(group.queries, self._answer(seen), length=text_length, runtime=runtime))
        return results

    def _answer(self, memory: _Memory) -> "Callable[[list[Query]], list[list[Fill]]]":
        def answer(queries: list[Query]) -> list[list[Fill]]:
            batch = self._batch(queries)
            texts = (batch.text, batch.text_lengths, batch.context_lengths)
            states = self.read_texts(*texts, *memory.layers)
            return fills_of(queries, self._readings(states, memory, batch), self.decode)

        return answer

    def _batch(self, queries: Sequence[Query]) -> PairBatch:
        return pair_batch(queries, mask_id=self.model.mask, pad_id=self.pad_id, device=self.device)

    def _readings(self, states: torch.Tensor, memory: _Memory, batch: PairBatch) -> PositionPredictions:
        """Compute the predictions and the gold probabilities at the blanks, in steps to limit memory."""
        readings = PositionPredictions([], [], [], [])
        step = max(1, MOST_LOGITS // len(self.model.table))
        for start in range(0, len(batch.rows), step):
            part = batch.at(slice(start, start + step))
            about = (batch.context, batch.context_lengths, part.neighbours, part.distances)
            made, copied = self.point(states[part.rows, part.places], memory.states, *about)
            for first in range(0, len(made), AT_ONCE):
                some = slice(first, first + AT_ONCE)
                _read(readings, made[some], copied[some], part.at(some))
        return readings


def _read(
    readings: PositionPredictions, logits: torch.Tensor, choices: torch.Tensor, batch: PairBatch
) -> None:
    """Append the predictions of the mixture of vocabulary logits, (N, V), and copy choices, (N, 1 + C).

    Copying changes only the probabilities of tokens in the context, so these are corrected separately,
    without computing the full mixture. The batch must have a single context.
    """
    made = logits.log_softmax(dim=1).add_(choices[:, :1])
    words, which = torch.unique(batch.context[0], return_inverse=True)
    copies = torch.zeros(len(made), len(words), device=made.device).index_add_(1, which, choices[:, 1:].exp())
    made_here = made[:, words]
    mixed = made_here.exp() + copies
    best, token = made.max(dim=1)
    best_here, here = mixed.max(dim=1)
    probability = torch.maximum(best.exp(), best_here)
    predicted = torch.where(best_here >= best.exp(), words[here], token)
    same = words[None] == batch.gold[:, None]
    own, copied = made.gather(1, batch.gold[:, None]), (copies * same).sum(dim=1, keepdim=True)
    gold = own.exp() + copied
    # The logarithm of an exponential is rounded, so a token that cannot be copied is compared as it is.
    least = torch.where(same.any(dim=1, keepdim=True), gold.log(), own)
    # `made` is the final log-probability only for tokens outside the context. Adding up floats is faster
    # than adding up booleans, and exact up to 2**24.
    better = (made > least).float().sum(dim=1).long() - (made_here > least).sum(dim=1)
    better += ((mixed > gold) & ~same).sum(dim=1)
    readings.predicted.extend(predicted.tolist())
    readings.predicted_probabilities.extend(probability.tolist())
    readings.gold_probabilities.extend(gold[:, 0].tolist())
    readings.gold_ranks.extend((better + 1).tolist())
