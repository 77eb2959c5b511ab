"""How probable a filler finds the gold tokens of blanks, in a form that it can be trained by.

The same formats as in filling: what a filler is trained on is what a metric asks it.
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
"""What `cross_entropy` leaves out: padding."""

Trainable = Seq2SeqFiller | MaskedFiller | AlignedFiller


def trainable_filler(filler: Filler) -> Trainable:
    """Return a filler as one whose weights can be trained on blanks.

    Raises:
        BadModel: If it is of a kind that is trained otherwise.
        UsageError: If it does not run on PyTorch.
    """
    if isinstance(filler, Trainable):
        if filler.runtime.engine != "torch":
            raise UsageError("training runs on PyTorch: build the filler with Runtime(backend='torch')")
        return filler
    raise BadModel(f"{filler.identity} cannot be trained by this task; give a T5, a masked model or a BART")


def gold_count(filler: Trainable, queries: Sequence[Query]) -> int:
    """Return how many tokens `gold_loss` sums over."""
    blanked = sum(len(gold_tokens(query)) for query in queries)
    if isinstance(filler, Seq2SeqFiller):  # the sentinels, one more than blanks, and the end
        return blanked + sum(len(query.blanks) + 2 for query in queries)
    return blanked


def gold_loss(filler: Trainable, queries: Sequence[Query]) -> torch.Tensor:
    """Return −log p summed over the gold tokens, a number with a gradient.

    A model with masks is read at the masks alone, each predicted by itself. A T5 writes the gold text behind
    its sentinels, and its sentinels and its end count, too (MaskEval, section 3.2).

    Args:
        filler: Its model is run as it is: in training mode, with dropout.
        queries: At least one; each must fit into the model's window.
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
