"""Cases for `timing.py`: each metric with gistmeter's implementation and a naive one.

A case has the number of text pairs, and returns scores and predictions to compare the implementations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import timing_fill
import timing_match
import torch
from transformers import BartConfig, BartForConditionalGeneration

from gistmeter import Example, catalog
from gistmeter.models.files.find import find_model
from gistmeter.models.fill.bart import AlignedFiller
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.runtime import Runtime

SHIPPED = ("maskeval", "cloze", "speed", "bertscore", "simplicity")
"""Metrics with included models. Naive: one row per call, fp32 on PyTorch, without a cache."""
Numbers = list[float]
Predictions = list[bool]
Way = Callable[[], tuple[Numbers, Predictions]]


@dataclass(frozen=True, slots=True)
class Setting:
    """Input of all cases.

    Args:
        examples: Rows with candidate, source and references.
        tokenizer: tokenizer.json of T5, required for models of the papers' sizes.
        every: Use every n-th blank of MaskEval with a model of the paper's size.
    """

    examples: list[Example]
    tokenizer: str | None
    every: int


@dataclass(frozen=True, slots=True)
class Case:
    """A metric to time.

    Args:
        pairs: Number of text pairs; fractional if only part of the blanks is used.
        ours: gistmeter's implementation.
        naive: Naive implementation with the same weights.
        warm: Warm-up run.
    """

    pairs: float
    ours: Way
    naive: Way
    warm: Callable[[], object]


def names(setting: Setting) -> list[str]:
    """Return the names of all cases."""
    sized = ["maskeval T5-base", "cloze RoBERTa-base", "cloze BART-base"]
    return [*SHIPPED, "speed by sentence_transformers", *(sized if setting.tokenizer else [])]


def make(name: str, setting: Setting, runtime: Runtime) -> Case:
    """Build a case."""
    if name in SHIPPED:
        return _shipped(name, setting, runtime)
    if name == "speed by sentence_transformers":
        return _speed_by_hand(setting, runtime)
    return _sized(name, setting, runtime)


def _speed_by_hand(setting: Setting, runtime: Runtime) -> Case:
    """Build a case of SPEED and a naive implementation with `sentence_transformers`, without a cache."""
    from sentence_transformers import SentenceTransformer

    ours = _shipped("speed", setting, runtime)

    def naive() -> tuple[Numbers, Predictions]:
        model = SentenceTransformer(str(find_model("minilm").folder), device="cpu")
        model.max_seq_length = 512
        return timing_match.naive(model, setting.examples), []

    return Case(ours.pairs, ours.ours, naive, ours.warm)


def _shipped(name: str, setting: Setting, runtime: Runtime) -> Case:
    metric = catalog.build(name, runtime=runtime)
    examples = setting.examples

    def scored(parts: Sequence[Sequence[Example]]) -> tuple[Numbers, Predictions]:
        values = [score.value for part in parts for score in metric.score(part)]
        # The prediction of these metrics is which of two neighbouring rows scores higher.
        return values, [one > two for one, two in pairwise(values)]

    return Case(
        len(examples),
        partial(scored, [examples]),
        partial(scored, [[example] for example in examples]),
        partial(metric.score, examples[:1]),
    )


def _sized(name: str, setting: Setting, runtime: Runtime) -> Case:
    """Build a filler of a paper's size with random weights, which do not affect the time."""
    assert setting.tokenizer is not None
    texts = [(example.candidate, example.source or "") for example in setting.examples]
    filler: Any
    if name == "maskeval T5-base":
        filler = timing_fill.t5_filler(setting.tokenizer, runtime)
        queries = timing_fill.maskeval_queries(filler.vocabulary.tokenizer, texts)
        naive: Any = timing_fill.naive_maskeval
    elif name == "cloze RoBERTa-base":
        filler = timing_fill.roberta_filler(setting.tokenizer, runtime)
        queries = timing_fill.cloze_queries(filler.vocabulary.tokenizer, texts)
        naive = timing_fill.naive_cloze
    else:
        filler = bart_filler(setting.tokenizer, runtime)
        queries = timing_fill.cloze_queries(filler.vocabulary.tokenizer, texts, separate=True)
        naive = naive_aligned
    # ClozE has few blanks, and blanks of one document share its encoding, so use them all.
    chosen = queries[:: setting.every] if name == "maskeval T5-base" else queries

    def ours() -> tuple[Numbers, Predictions]:
        fills = [fill for fills in filler.fill(chosen) for fill in fills]
        return [_mean(fill) for fill in fills], [fill.matches for fill in fills]

    return Case(
        len(texts) * len(chosen) / len(queries),
        ours,
        lambda: ([], naive(filler, chosen)),
        partial(filler.fill, chosen[:2]),
    )


def bart_filler(file: str, runtime: Runtime) -> AlignedFiller:
    """Return a BART-base with random weights; the vocabulary is T5's."""
    tokenizer = timing_fill.roberta_filler(file, Runtime(device="cpu", backend="torch")).vocabulary.tokenizer
    torch.manual_seed(0)
    half = {"layers": 6, "attention_heads": 12, "ffn_dim": 3072}
    sizes: dict[str, Any] = {f"{at}_{key}": n for at in ("encoder", "decoder") for key, n in half.items()}
    config = BartConfig(vocab_size=50_265, d_model=768, **sizes)
    model = BartForConditionalGeneration(config)
    return AlignedFiller(model, tokenizer, identity="bart-base-size", runtime=runtime)


def naive_aligned(filler: AlignedFiller, queries: list[Query]) -> Predictions:
    """Run encoder and decoder for one factor at a time, with logits at every position."""
    predictions = []
    for query in queries:
        hidden = {at for first, last in query.blanks for at in range(first, last)}
        text = tuple(filler.mask_id if at in hidden else token for at, token in enumerate(query.text))
        context, masked = (torch.tensor([filler.vocabulary.join(ids).ids]) for ids in (query.context, text))
        with torch.inference_mode():
            logits = filler.model(input_ids=context, decoder_input_ids=masked).logits[0]
        predicted = logits[masked[0] == filler.mask_id].argmax(dim=-1).tolist()
        gold = query.text[slice(*query.blanks[0])]
        predictions.append(filler.decode(predicted).lower() == filler.decode(gold).lower())
    return predictions


def _mean(fill: Fill) -> float:
    return sum(fill.gold_probabilities) / len(fill.gold_probabilities)
