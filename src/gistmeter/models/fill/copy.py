"""Filling by an infiller: the context is encoded once for all blanks that it is asked about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from gistmeter.models.files.load import find_model
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


@dataclass(frozen=True, slots=True, eq=False)
class _Memory:
    """A context as the layers and the head see it."""

    states: torch.Tensor
    layers: Tensors


class CopyFiller(ContextFiller):
    """The filler that ships, or another of its kind: see `CopyInfiller`.

    One mask a gold sub-word (a length oracle), all predicted in one pass. Text and context have a window
    each; their order means nothing.

    Args:
        model: An infiller.
        tokenizer: The fast tokenizer of its encoder.
        identity: What signatures call the model; the format, the window and the precision are added.
        runtime: Where and how to run.
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
        # In full precision always: of the predictions that 8 bits change, two thirds would change here.
        self.point = place(Point(model), self.runtime, examples.blanks)
        self.identity = f"{identity}/reader-gold-length/{self.window}/{self.runtime.precision}"

    @classmethod
    def load(cls, name: str, runtime: Runtime | None = None) -> "CopyFiller":
        """Load an infiller by name: a folder, or `gistmeter/fill`.

        Raises:
            ModelNotFound: If there is no such model, or not the encoder that it builds on.
            BadModel: If it cannot be loaded.
        """
        files = find_model(name)
        infiller, tokenizer = load_copy_infiller(files)
        return cls(infiller, tokenizer, identity=files.identity, runtime=runtime)

    def _fill_groups(self, groups: list[Group]) -> list[list[list[Fill]]]:
        """Encode some contexts together; answer the queries of each."""
        contexts = self._batch([group.queries[0] for group in groups])
        memory, *layers = self.remember(contexts.context, contexts.context_lengths)
        results = []
        for at, group in enumerate(groups):
            own = slice(0, max(1, len(group.context)))
            both = tuple(tensor[at : at + 1, :, own].contiguous() for tensor in layers)
            seen = _Memory(memory[at : at + 1, own], both)
            runtime = replace(self.runtime, progress=False)  # the bar counts contexts
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
        """Read predictions and gold tokens at the blanks, a few at a time."""
        readings = PositionPredictions([], [], [], [])
        step = max(1, MOST_LOGITS // len(self.model.table))
        for start in range(0, len(batch.rows), step):
            part = batch.at(slice(start, start + step))
            about = (batch.context, batch.context_lengths, part.neighbours, part.distances)
            made, copied = self.point(states[part.rows, part.places], memory.states, *about)
            _read(readings, made, copied, part)
        return readings


def _read(
    readings: PositionPredictions, logits: torch.Tensor, choices: torch.Tensor, batch: PairBatch
) -> None:
    """Read a mixture of a vocabulary, (N, V), and copies from the batch's only context, (N, 1 + C).

    Only words of the context gain from copying: the vocabulary is looked through as it is, and the words of
    the context are set right afterwards.
    """
    made = logits - (logits.logsumexp(dim=1) - choices[:, 0])[:, None]
    words, which = torch.unique(batch.context[0], return_inverse=True)
    copies = torch.zeros(len(made), len(words), device=made.device).index_add_(1, which, choices[:, 1:].exp())
    mixed = made[:, words].exp() + copies
    best, token = made.max(dim=1)
    best_here, here = mixed.max(dim=1)
    probability = torch.maximum(best.exp(), best_here)
    predicted = torch.where(best_here >= best.exp(), words[here], token)
    same = words[None] == batch.gold[:, None]
    gold = made.gather(1, batch.gold[:, None])[:, 0].exp() + (copies * same).sum(dim=1)
    # Only of words outside the context does `made` say how probable they are.
    better = (made > gold.log()[:, None]).sum(dim=1) - (made[:, words] > gold.log()[:, None]).sum(dim=1)
    better += ((mixed > gold[:, None]) & ~same).sum(dim=1)
    readings.predicted.extend(predicted.tolist())
    readings.predicted_probabilities.extend(probability.tolist())
    readings.gold_probabilities.extend(gold.tolist())
    readings.gold_ranks.extend((better + 1).tolist())
