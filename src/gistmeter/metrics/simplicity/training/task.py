"""Multi-task fine-tuning: masked language modeling and simplified-sentence identification (section 3.3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.encode.tuned import TunedEncoder
from gistmeter.models.files.find import find_model, read_config
from gistmeter.models.files.load import load_weights
from gistmeter.models.run.batching import mask, pad
from gistmeter.models.run.tokens import Tokens
from gistmeter.models.run.types import Model, Tokenizer
from gistmeter.training.batches import Batches

FAMILIES = ("bert", "roberta", "xlm-roberta")
AT_ONCE = 64
"""Texts per validation batch."""
CHOSEN, MASKED, REPLACED = 0.15, 0.8, 0.9
"""BERT's masking: share of tokens to predict; upper bounds of the random number for masking and replacing."""


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """Labeled training text.

    Args:
        tokens: Tokens of the text.
        simple: Whether the text is simplified (label 1).
        source: Name of the file that contains the text.
    """

    tokens: Tokens
    simple: bool
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Batch of sentences; tensors have the shape (texts, longest), `labels` (texts,).

    Args:
        ids: Original token IDs.
        attention: 1 for tokens, 0 for padding.
        labels: 1 for simplified sentences, otherwise 0.
        masked: Token IDs after masking.
        chosen: True for tokens to predict.
    """

    ids: torch.Tensor
    attention: torch.Tensor
    labels: torch.Tensor
    masked: torch.Tensor
    chosen: torch.Tensor


class MultiTask(torch.nn.Module):
    """Masked language model with a second head that classifies sentences.

    Args:
        whole: Masked language model from transformers.
        layer: See `TunedEncoder`.
        layers: See `TunedEncoder`.
    """

    def __init__(self, whole: Model, *, layer: int, layers: int) -> None:
        super().__init__()
        self.tuned = TunedEncoder(whole.base_model, layer=layer, layers=layers)
        [self.words] = [child for name, child in whole.named_children() if name != whole.base_model_prefix]
        # The output embeddings are tied to the input embeddings, so both are trained or frozen together.
        self.table = whole.get_output_embeddings().weight
        self.table.requires_grad_(not layers)

    def forward(self, ids: torch.Tensor, attention: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the states that the head for words reads, and those that the one for texts does."""
        found = self.tuned.encoder(input_ids=ids, attention_mask=attention, output_hidden_states=True)
        return found.last_hidden_state, found.hidden_states[self.tuned.layer]


def masked_model(name: str, tokenizer: Tokenizer, depth: int | None) -> Model:
    """Load a masked language model; add a new language modeling head if the model has none.

    Args:
        name: Model name for `find_model`.
        tokenizer: Tokenizer of the model.
        depth: Number of layers to keep, counted from the bottom; all layers by default.

    Raises:
        ModelNotFound: If the model cannot be found.
        BadModel: If the model cannot be loaded, or is not a BERT, RoBERTa or XLM-R.
        UsageError: If the model has fewer layers than `depth`.
    """
    from transformers import AutoModelForMaskedLM

    files = find_model(name)
    facts = read_config(files)
    if facts["model_type"] not in FAMILIES:
        raise BadModel(
            f"{name} is a {facts['model_type']}, which cannot be fine-tuned; use one of {', '.join(FAMILIES)}"
        )
    if depth is not None and not 1 <= depth <= int(facts.get("num_hidden_layers", 0)):
        raise UsageError(
            f"model.depth={depth}: {name} has {facts.get('num_hidden_layers', 'no')} layers; use fewer"
        )
    # The backward pass of eager attention is several times faster on CPUs than that of fused attention.
    changes: dict[str, Any] = {"attn_implementation": "eager"}
    if depth is not None:
        changes["num_hidden_layers"] = depth
    if any(kind.endswith("ForMaskedLM") for kind in facts.get("architectures") or []):
        return load_weights(files, "AutoModelForMaskedLM", tokenizer, **changes)
    encoder = load_weights(files, "AutoModel", tokenizer, **changes)
    classes: Any = AutoModelForMaskedLM  # has no types
    whole = classes.from_config(encoder.config, trust_remote_code=False, attn_implementation="eager")
    setattr(whole, whole.base_model_prefix, encoder)
    whole.tie_weights()
    return whole


class SimplicityTask:
    """Training task: mean of the masked language modeling loss and the classification loss.

    Args:
        model: Model to train.
        sentences: Training sentences and validation sentences.
        tokenizer: Tokenizer of the model.
        batch: Sentences per step.
        new_scale: Factor of the learning rate for new weights.
        seed: Random seed.
    """

    def __init__(
        self,
        model: MultiTask,
        sentences: tuple[Sequence[Sentence], Sequence[Sentence]],
        tokenizer: Tokenizer,
        *,
        batch: int,
        new_scale: float,
        seed: int,
    ) -> None:
        self.model, self.tokenizer, self.new_scale, self.seed = model, tokenizer, new_scale, seed
        self.training, self.held_out = sentences
        self.batches = Batches(len(self.training), batch, seed)

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """Return the parameters of the encoder, and those of the heads."""
        named = [(name, weight) for name, weight in self.model.named_parameters() if weight.requires_grad]
        encoder = [weight for name, weight in named if name.startswith("tuned.encoder")]
        heads = [weight for name, weight in named if not name.startswith("tuned.encoder")]
        return [{"params": encoder}, {"params": heads, "scale": self.new_scale}]

    def loss(self, step: int) -> torch.Tensor:
        """Return the loss of a batch; one forward pass over masked sentences serves both tasks."""
        some = [self.training[row] for row in self.batches.rows_of(step)]
        batch = self._batch(some, torch.Generator().manual_seed(self.seed * 7_919 + step))
        states, pooled = self.model(batch.masked, batch.attention)
        return (self._words(states, batch).mean() + self._texts(pooled, batch)[0].mean()) / 2

    def validate(self) -> dict[str, float]:
        """Return losses and accuracy on the validation sentences, with the accuracy for each file."""
        words, texts, right = [], [], []
        for start in range(0, len(self.held_out), AT_ONCE):
            some = self.held_out[start : start + AT_ONCE]
            batch = self._batch(some, torch.Generator().manual_seed(self.seed + start))
            words += self._words(self.model(batch.masked, batch.attention)[0], batch).tolist()
            # Classification uses unmasked sentences, as in scoring.
            losses, hits = self._texts(self.model(batch.ids, batch.attention)[1], batch)
            texts += losses.tolist()
            right += hits.tolist()
        mlm, identification = sum(words) / max(1, len(words)), sum(texts) / len(texts)
        figures = {"loss": (mlm + identification) / 2, "accuracy": sum(right) / len(right)}
        figures |= {"mlm_loss": mlm, "identification_loss": identification}
        for source in dict.fromkeys(sentence.source for sentence in self.held_out):
            own = [hit for hit, one in zip(right, self.held_out, strict=True) if one.source == source]
            figures[f"accuracy_{source}"] = sum(own) / len(own)
        return figures

    def _batch(self, some: Sequence[Sentence], draws: torch.Generator) -> _Batch:
        device = self.model.table.device
        rows = [sentence.tokens.ids for sentence in some]
        ids, attention = pad(rows, self.tokenizer.pad_token_id, device), mask(rows, device)
        special = pad([sentence.tokens.special.tolist() for sentence in some], 1, device).bool()
        labels = torch.tensor([float(sentence.simple) for sentence in some], device=device)
        return _Batch(ids, attention, labels, *mask_words(ids, special, self.tokenizer, draws))

    def _words(self, states: torch.Tensor, batch: _Batch) -> torch.Tensor:
        """Return the loss of each masked token."""
        logits = self.model.words(states[batch.chosen]).float()
        return cross_entropy(logits, batch.ids[batch.chosen], reduction="none")

    def _texts(self, pooled: torch.Tensor, batch: _Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the classification loss of each sentence, and whether its prediction is correct."""
        logits = self.model.tuned.judge(pooled, batch.attention).float()
        losses = binary_cross_entropy_with_logits(logits, batch.labels, reduction="none")
        return losses, ((logits > 0) == (batch.labels > 0)).float()


def mask_words(
    ids: torch.Tensor,
    special: torch.Tensor,
    tokenizer: Tokenizer,
    draws: torch.Generator,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mask tokens as in BERT: of 15 %, 80 % are masked, 10 % are replaced by random tokens, 10 % are kept.

    Args:
        ids: Token IDs, shape (texts, longest).
        special: True for special tokens and padding, which are never masked, same shape.
        tokenizer: Tokenizer of the model.
        draws: Random number generator.

    Returns:
        Changed token IDs, and a mask of the tokens to predict (at least one), both of the same shape.
    """
    chance = torch.rand(ids.shape, generator=draws).to(ids.device).masked_fill(special, 1.0)
    chosen = ((chance < CHOSEN) | (chance == chance.min())) & ~special
    kind = torch.rand(ids.shape, generator=draws).to(ids.device)
    other = torch.randint(len(tokenizer), ids.shape, generator=draws).to(ids.device)
    masked = torch.where(chosen & (kind < MASKED), torch.full_like(ids, tokenizer.mask_token_id), ids)
    return torch.where(chosen & (kind >= MASKED) & (kind < REPLACED), other, masked), chosen
