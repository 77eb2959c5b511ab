"""Computes the training loss of fillers: the negative log-probability of the gold tokens.

Training uses the same input formats as filling.
"""

from collections.abc import Sequence

import torch
from torch.nn.functional import cross_entropy

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.fill.bart import AlignedFiller
from gistmeter.models.fill.masked_lm import MaskedFiller
from gistmeter.models.fill.positions import gold_tokens
from gistmeter.models.fill.protocol import Filler, Query
from gistmeter.models.fill.t5 import Seq2SeqFiller
from gistmeter.models.run.batching import mask, pad

NOTHING = -100
"""The label that `cross_entropy` ignores, for padding."""

Trainable = Seq2SeqFiller | MaskedFiller | AlignedFiller


def trainable_filler(filler: Filler) -> Trainable:
    """Return the filler if its weights can be trained on blanks.

    Raises:
        BadModel: If the family of the filler is not supported.
        UsageError: If the filler does not run on PyTorch.
    """
    if isinstance(filler, Trainable):
        if filler.runtime.engine != "torch":
            raise UsageError("training runs on PyTorch: build the filler with Runtime(backend='torch')")
        return filler
    raise BadModel(
        f"{filler.identity} cannot be trained on blanks; give a T5, a masked language model or a BART"
    )


def gold_count(filler: Trainable, queries: Sequence[Query]) -> int:
    """Return the number of tokens that `gold_loss` sums over."""
    blanked = sum(len(gold_tokens(query)) for query in queries)
    if isinstance(filler, Seq2SeqFiller):  # one more sentinel than blanks, and the end token
        return blanked + sum(len(query.blanks) + 2 for query in queries)
    return blanked


def gold_loss(filler: Trainable, queries: Sequence[Query]) -> torch.Tensor:
    """Return the sum of −log p over the gold tokens, as a scalar tensor with a gradient.

    For models with masks, the sum is over the masks, each predicted independently. For a T5, the target is
    the gold text after the sentinels, and the sentinels and the end token count too (MaskEval, section 3.2).

    Args:
        filler: The filler; its model runs in its current mode, in training usually with dropout.
        queries: At least one query; each must fit into the window of the model.
    """
    if isinstance(filler, Seq2SeqFiller):
        return _sentinel_loss(filler, queries)
    states, head = filler.read(queries)
    gold = [token for query in queries for token in gold_tokens(query)]
    return cross_entropy(head(states).float(), torch.tensor(gold, device=filler.device), reduction="sum")


def _sentinel_loss(filler: Seq2SeqFiller, queries: Sequence[Query]) -> torch.Tensor:
    inputs = [filler._input(query) for query in queries]
    written = [filler._target(query) for query in queries]
    start = filler.model.config.decoder_start_token_id
    logits = filler.model(
        input_ids=pad(inputs, filler.pad_id, filler.device),
        attention_mask=mask(inputs, filler.device),
        decoder_input_ids=pad([(start, *row) for row in written], filler.pad_id, filler.device),
        use_cache=False,
    ).logits
    targets = pad([(*row, filler.end) for row in written], NOTHING, filler.device)
    return cross_entropy(
        logits.flatten(0, 1).float(), targets.flatten(), ignore_index=NOTHING, reduction="sum"
    )
