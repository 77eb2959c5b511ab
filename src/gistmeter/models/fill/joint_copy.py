"""Fills blanks with an encoder that reads both texts jointly and a head that can copy from the context."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gistmeter.models.files.adapted import adapted_encoder
from gistmeter.models.files.adapters import read_tuned, restore_tuned, save_tuned, whole_number
from gistmeter.models.files.families import JOINT_INFILLER
from gistmeter.models.files.find import ModelFiles
from gistmeter.models.files.low_rank import merge_low_rank
from gistmeter.models.fill.copy_head import CopyHead, mixed_probabilities
from gistmeter.models.fill.joint import JointFiller
from gistmeter.models.fill.pair_batch import PairBatch, pair_batch
from gistmeter.models.fill.positions import MOST_LOGITS, PositionPredictions, fills_of
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.batching import pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import States
from gistmeter.models.run.types import Model, Tokenizer


class JointInfiller(nn.Module):
    """An encoder with low-rank updates, and a copy head on its states.

    The head predicts a token from the vocabulary, or copies one from the context. Learning to copy takes far
    fewer steps than learning a language model's head alone.

    Args:
        encoder: A transformers encoder.
    """

    def __init__(self, encoder: Model) -> None:
        super().__init__()
        self.encoder: Any = encoder
        self.head = CopyHead(encoder.config.hidden_size, encoder.config.vocab_size)

    @property
    def base_model(self) -> Model:
        """The encoder."""
        return self.encoder

    @property
    def table(self) -> torch.Tensor:
        """The embeddings of the vocabulary, (V, d)."""
        weight: torch.Tensor = self.encoder.get_input_embeddings().weight
        return weight


class JointCopyFiller(JointFiller):
    """Fills blanks with a `JointInfiller`.

    Args:
        model: The infiller.
        tokenizer: The fast tokenizer of its encoder.
        identity: The name of the model in signatures; the format, the window and the precision are appended.
        runtime: The device, the precision and the backend.

    Raises:
        BadModel: If the tokenizer of the encoder has no mask token.
    """

    def __init__(
        self, model: JointInfiller, tokenizer: Tokenizer, *, identity: str, runtime: Runtime | None = None
    ) -> None:
        super().__init__(model, tokenizer, identity=identity, runtime=runtime)
        self.states = self.place(States(model.encoder), self.example)
        self.identity = f"{identity}/joint-gold-length/{self.window}/{self.runtime.precision}"

    @classmethod
    def of(cls, files: ModelFiles, runtime: Runtime | None = None) -> "JointCopyFiller":
        """Load an infiller from its files.

        Raises:
            ModelNotFound: If the encoder is missing.
            BadModel: If a file is damaged, or the encoder is not the one that was used in training.
        """
        model, tokenizer = load_joint_infiller(files)
        return cls(model, tokenizer, identity=files.identity, runtime=runtime)

    def read(self, queries: Sequence[Query]) -> tuple[torch.Tensor, torch.Tensor, PairBatch]:
        """Run the encoder once on all queries, for filling and for training.

        Returns:
            The states at all masks, (N, d), the states of the contexts, (B, C, d), and the batch that the
            head reads. Each query has its own context states, because they depend on its text.
        """
        rows = [self.assemble(query) for query in queries]
        states = self.encode(rows)
        contexts = [query.context or (self.pad_id,) for query in queries]
        longest = max(map(len, contexts))
        at = torch.tensor([min(row.context, states.shape[1] - 1) for row in rows], device=self.device)
        places = (at[:, None] + torch.arange(longest, device=self.device)).clamp(max=states.shape[1] - 1)
        memory = states.gather(1, places[:, :, None].expand(-1, -1, states.shape[2]))
        batch = replace(
            pair_batch(queries, mask_id=self.mask_id, pad_id=self.pad_id, device=self.device),
            context=pad(contexts, self.pad_id, self.device),
            context_lengths=torch.tensor([len(query.context) for query in queries], device=self.device),
            owners=torch.arange(len(queries), device=self.device),
        )
        return self.masked_states(rows, states), memory, batch

    def point(
        self, states: torch.Tensor, memory: torch.Tensor, batch: PairBatch
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the output of the head; see `CopyHead.forward`."""
        found: tuple[torch.Tensor, torch.Tensor] = self.model.head(states, memory, batch, self.model.table)
        return found

    def _forward(self, batch: list[Query]) -> list[list[Fill]]:
        states, memory, pairs = self.read(batch)
        readings = PositionPredictions([], [], [], [])
        step = max(1, MOST_LOGITS // len(self.model.table))
        for start in range(0, len(states), step):
            part = slice(start, start + step)
            own = pairs.at(part)
            logits, choices = self.point(states[part], memory, own)
            _append(readings, mixed_probabilities(logits, choices, own.context[own.sources]), own.gold)
        return fills_of(batch, readings, self.decode)


def _append(readings: PositionPredictions, probabilities: torch.Tensor, gold: torch.Tensor) -> None:
    """Append predictions, given a distribution for each blanked token, (N, V)."""
    best, predicted = probabilities.max(dim=1)
    own = probabilities.gather(1, gold[:, None])
    readings.predicted.extend(predicted.tolist())
    readings.predicted_probabilities.extend(best.tolist())
    readings.gold_probabilities.extend(own[:, 0].tolist())
    readings.gold_ranks.extend(((probabilities > own).sum(dim=1) + 1).tolist())


def new_joint_infiller(
    base: str, rank: int, *, seed: int = 1, **config: object
) -> tuple[JointInfiller, Tokenizer]:
    """Build an infiller with zero updates and an untrained head; see `adapted_encoder`."""
    encoder, tokenizer = adapted_encoder(base, rank, seed=seed, **config)
    return JointInfiller(encoder), tokenizer


def save_joint_infiller(model: JointInfiller, base: str, rank: int, folder: Path) -> None:
    """Save the updates and the head in float16, with a `config.json` that names the encoder."""
    save_tuned(model, base, folder, kind=JOINT_INFILLER, facts={"rank": rank})


def load_joint_infiller(files: ModelFiles) -> tuple[JointInfiller, Tokenizer]:
    """Load an infiller in evaluation mode, with the updates merged into the weights.

    Raises:
        ModelNotFound: If the encoder is missing.
        BadModel: If a file is damaged, or the encoder is not the one that was used in training.
    """
    facts = read_tuned(files, JOINT_INFILLER)
    model, tokenizer = new_joint_infiller(str(facts["base"]), whole_number(files, facts, "rank"))
    restore_tuned(model, files)
    merge_low_rank(model.encoder)
    return model.eval(), tokenizer
