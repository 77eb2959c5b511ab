"""Compare gistmeter's fillers with naive implementations: same predictions, same weights, timed in one run.

Both models have their real size and random weights, which do not affect the time. MaskEval's naive
implementation calls `model.generate` for one masked sequence at a time, with at most six new tokens, about
where a trained model stops. ClozE's runs one forward pass per factor and computes logits at every position.
Naive implementations run in fp32; the filler runs in fp32, where its predictions must be equal, and in bf16.

    python benchmarks/timing_fill.py --tokenizer t5-base/tokenizer.json
    python benchmarks/timing_fill.py --tokenizer t5-base/tokenizer.json --pairs 1 --every 20
"""

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial
from random import Random
from typing import TypeVar

import torch
from tokenizers import processors
from transformers import (
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
)

from gistmeter.io.rows import read_rows
from gistmeter.models.fill.masked_lm import MaskedFiller
from gistmeter.models.fill.protocol import Query
from gistmeter.models.fill.t5 import Seq2SeqFiller
from gistmeter.models.run.runtime import Dtype, Runtime

WORDS = """
the mayor of a northern town said on Monday that work had begun to repair an old bridge after engineers
found cracks in two beams and closed it to traffic while farmers who lost crops in the floods waited for
help from London 2013 £40,000 Mrs Okafor described ferry passengers' delays as unacceptable
"""
Fast: Callable[..., PreTrainedTokenizerFast] = PreTrainedTokenizerFast  # its constructor has no types
DTYPES: tuple[Dtype, ...] = ("fp32", "bf16")
WINDOW = 24
"""Number of sub-words on each side of a blank, as in MaskEval."""
Ids = tuple[int, ...]
Predictions = list[bool]
Result = TypeVar("Result")


def make_texts(pairs: int, words: int) -> list[tuple[str, str]]:
    """Return pairs of a random summary and source with SummEval's length ratio."""
    rng = Random(0)

    def text(size: int) -> str:
        return " ".join(rng.choices(WORDS.split(), k=size))

    return [(text(max(8, words * 60 // 400)), text(words)) for _ in range(pairs)]


def words_of(tokenizer: PreTrainedTokenizerFast, text: str) -> tuple[Ids, list[tuple[int, int]]]:
    """Return a text's tokens and the token range of each word, split at white space."""
    encoding = tokenizer.backend_tokenizer.encode(text, add_special_tokens=False)
    begins = [begin for begin, _ in encoding.offsets]
    starts = [
        at for at, begin in enumerate(begins) if at == 0 or text[begin] == " " or text[begin - 1] == " "
    ]
    return tuple(encoding.ids), list(zip(starts, [*starts[1:], len(encoding.ids)], strict=True))


def maskeval_queries(tokenizer: PreTrainedTokenizerFast, texts: list[tuple[str, str]]) -> list[Query]:
    """Blank each word of both texts in its own window, with the other text as context (512 tokens)."""
    queries = []
    for pair in texts:
        sides = [words_of(tokenizer, text) for text in pair]
        for side, (ids, words) in enumerate(sides):
            other = sides[1 - side][0]
            for start, end in words:
                if not tokenizer.decode(list(ids[start:end])):
                    continue  # a lone space: MaskEval leaves it out
                low, high = max(0, start - WINDOW), end + WINDOW
                text = ids[low:high]
                context = other[: 510 - len(text)]
                queries.append(Query(text, ((start - low, end - low),), context, context_first=side == 1))
    return queries


def cloze_queries(
    tokenizer: PreTrainedTokenizerFast, texts: list[tuple[str, str]], *, separate: bool = False
) -> list[Query]:
    """Blank two words in every five, in sentences of twenty words, with the source as context.

    Args:
        tokenizer: Tokenizer.
        texts: Pairs of a summary and a source.
        separate: Whether text and source have separate windows, so that the source length is constant.
    """
    queries = []
    for summary, source in texts:
        document = words_of(tokenizer, source)[0]
        words = summary.split()
        for begin in range(0, len(words), 20):
            ids, places = words_of(tokenizer, " ".join(words[begin : begin + 20]))
            for at in range(0, len(places) - 1, 5):
                blank = (places[at][0], places[at + 1][1])
                room = 508 - (0 if separate else len(ids))
                queries.append(Query(ids, (blank,), document[:room]))
    return queries


def naive_maskeval(filler: Seq2SeqFiller, queries: list[Query]) -> Predictions:
    """Generate for one masked sequence at a time."""
    predictions = []
    for query in queries:
        row = torch.tensor([filler._input(query)])
        output = filler.model.generate(row, max_new_tokens=6, do_sample=False, num_beams=1)[0, 1:].tolist()
        gold = query.text[slice(*query.blanks[0])]
        predictions.append(filler.decode(output).lower() == filler.decode(gold).lower())
    return predictions


def naive_cloze(filler: MaskedFiller, queries: list[Query]) -> Predictions:
    """Run the whole model for one factor at a time."""
    predictions = []
    for query in queries:
        row = torch.tensor([filler.assemble(query).ids])
        with torch.inference_mode():
            logits = filler.model(row).logits[0]
        predicted = logits[row[0] == filler.mask_id].argmax(dim=-1).tolist()
        gold = query.text[slice(*query.blanks[0])]
        predictions.append(filler.decode(predicted).lower() == filler.decode(gold).lower())
    return predictions


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Run a function; return its result and the seconds it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def t5_filler(file: str, runtime: Runtime) -> Seq2SeqFiller:
    """Return a T5-base with random weights."""
    tokenizer = Fast(tokenizer_file=file, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    torch.manual_seed(0)
    config = T5Config(vocab_size=32_128, d_model=768, d_ff=3_072, num_layers=12, num_heads=12)
    config.decoder_start_token_id = 0
    return Seq2SeqFiller(
        T5ForConditionalGeneration(config), tokenizer, identity="t5-base-size", runtime=runtime
    )


def roberta_filler(file: str, runtime: Runtime) -> MaskedFiller:
    """Return a RoBERTa-base with random weights; the vocabulary is T5's."""
    tokenizer = Fast(
        tokenizer_file=file,
        pad_token="<pad>",
        unk_token="<unk>",
        cls_token="<s>",
        sep_token="</s>",
        mask_token="<mask>",
    )
    tokenizer.backend_tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", tokenizer.sep_token_id), ("<s>", tokenizer.cls_token_id)
    )
    torch.manual_seed(0)
    config = RobertaConfig(vocab_size=50_265, max_position_embeddings=514, type_vocab_size=1)
    return MaskedFiller(RobertaForMaskedLM(config), tokenizer, identity="roberta-base-size", runtime=runtime)


def predictions_of(filler: Seq2SeqFiller | MaskedFiller, queries: list[Query]) -> Predictions:
    """Run all queries through the filler."""
    return [answer[0].matches for answer in filler.fill(queries)]


def main() -> None:
    """Time both ways, for both metrics and both precisions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", required=True, help="tokenizer.json of T5")
    parser.add_argument("--data", help="rows with candidates and sources; random texts by default")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--words", type=int, default=400, help="words of a random source")
    parser.add_argument("--every", type=int, default=1, help="use every n-th blank only, for a short run")
    parser.add_argument("--metric", choices=["maskeval", "cloze"], action="append")
    arguments = parser.parse_args()
    if arguments.data:
        examples = [row.example for row in read_rows(arguments.data) if row.problem is None]
        texts = [(example.candidate, example.source or "") for example in examples[: arguments.pairs]]
    else:
        texts = make_texts(arguments.pairs, arguments.words)
    for metric in arguments.metric or ["maskeval", "cloze"]:
        compare(metric, arguments, texts)
    print(f"most memory      {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB")


def compare(metric: str, arguments: argparse.Namespace, texts: list[tuple[str, str]]) -> None:
    """Time one metric: the naive way in fp32, then the filler in fp32 and bf16, on the same weights."""
    for dtype in DTYPES:
        runtime = Runtime(device="cpu", dtype=dtype)
        if metric == "maskeval":
            t5 = t5_filler(arguments.tokenizer, runtime)
            filler: Seq2SeqFiller | MaskedFiller = t5
            queries = maskeval_queries(t5.vocabulary.tokenizer, texts)[:: arguments.every]
            naive = partial(naive_maskeval, t5, queries)
        else:
            roberta = filler = roberta_filler(arguments.tokenizer, runtime)
            queries = cloze_queries(roberta.vocabulary.tokenizer, texts)[:: arguments.every]
            naive = partial(naive_cloze, roberta, queries)
        predictions_of(filler, queries[:2])  # what is done once a process
        if dtype == "fp32":
            wanted, slow = timed(naive)
            print(f"{metric}: {len(queries)} blanks; naive in fp32 {slow:.1f} s", flush=True)
        predictions, seconds = timed(partial(predictions_of, filler, queries))
        same = sum(a == b for a, b in zip(predictions, wanted, strict=True))
        print(f"  {dtype} {seconds:.1f} s, ratio {slow / seconds:.1f}×, {same} predictions alike", flush=True)


if __name__ == "__main__":
    main()
