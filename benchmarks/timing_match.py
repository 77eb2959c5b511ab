"""Compare SPEED and BERTScore with other implementations: same scores, timed in one run.

Without --tokenizer, compare SPEED with a naive implementation that encodes every text of every row with
`sentence_transformers`, even if a reference recurs. Both use the same sentence splitter and MiniLM weights.

With --tokenizer, compare BERTScore with the authors' package `bert-score`, on a randomly initialized model of
roberta-base's size with the byte-level vocabulary in that folder (GPT-2's vocab.json and merges.txt). Each
implementation runs in its own process, which reports time and peak memory.

    python benchmarks/timing_match.py --data summeval.dev.jsonl.gz
    python benchmarks/timing_match.py --data summeval.dev.jsonl.gz --tokenizer gpt2
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

from gistmeter import Example, catalog, load
from gistmeter.io.rows import read_rows
from gistmeter.models.files.find import find_model
from gistmeter.models.run.types import Model
from gistmeter.text.sentences import split_sentences

LAYER, WINDOW = 10, 512
PARTS = ("precision", "recall", "f1")


def naive(model: Model, examples: list[Example]) -> list[float]:
    """Score row by row without caching; average over references."""
    values = []
    for example in examples:
        ours = model.encode(sentences(example.candidate), normalize_embeddings=True)
        best = []
        for reference in example.references:
            theirs = model.encode(sentences(reference), normalize_embeddings=True)
            best.append((ours @ theirs.T).max(axis=1).mean())
        values.append(float(np.mean(best)))
    return values


def sentences(text: str) -> list[str]:
    """Split a text as SPEED does."""
    return [text[start:end] for start, end in split_sentences(text)]


def against_naive(examples: list[Example]) -> None:
    """Time both implementations of SPEED; print seconds, ratio and the largest difference."""
    from sentence_transformers import SentenceTransformer

    speed = load("speed")
    speed.score(examples[:1])
    start = time.perf_counter()
    ours = [score.value for score in speed.score(examples)]
    ours_seconds = time.perf_counter() - start

    model = SentenceTransformer(str(find_model("minilm").folder), device="cpu")
    model.max_seq_length = 512
    naive(model, examples[:1])
    start = time.perf_counter()
    theirs = naive(model, examples)
    naive_seconds = time.perf_counter() - start

    print(f"rows                 {len(examples)}")
    print(f"naive                {naive_seconds:.1f} s")
    print(f"gistmeter            {ours_seconds:.1f} s")
    print(f"ratio                {naive_seconds / ours_seconds:.1f}×")
    print(f"largest difference   {np.abs(np.array(ours) - np.array(theirs)).max():.1e}")


def against_package(arguments: argparse.Namespace) -> None:
    """Time both implementations of BERTScore; print seconds, memory, ratios and the largest difference."""
    with tempfile.TemporaryDirectory() as folder:
        save_roberta(Path(arguments.tokenizer), Path(folder))
        again = [sys.executable, __file__, "--data", arguments.data, "--model", folder]
        again += ["--limit", str(arguments.limit)] if arguments.limit else []
        runs = {
            way: json.loads(subprocess.run([*again, "--way", way], stdout=subprocess.PIPE, check=True).stdout)
            for way in ("bert-score", "gistmeter")
        }
    theirs, ours = runs["bert-score"], runs["gistmeter"]
    print(f"rows                 {len(ours['scores'])}")
    for way, run in runs.items():
        print(f"{way:<20} {run['seconds']:.1f} s, {run['megabytes']:.0f} MB")
    print(f"ratio                {theirs['seconds'] / ours['seconds']:.2f}× as fast")
    print(f"                     {ours['megabytes'] / theirs['megabytes']:.2f}× the memory")
    print(f"largest difference   {np.abs(np.array(ours['scores']) - np.array(theirs['scores'])).max():.1e}")


def one_way(way: str, model: str, examples: list[Example]) -> None:
    """Run one implementation; print scores, seconds (without loading) and peak megabytes as JSON."""
    score = by_package if way == "bert-score" else by_gistmeter
    scores, seconds = score(model, examples)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    json.dump({"scores": scores, "seconds": seconds, "megabytes": megabytes}, sys.stdout)


def by_gistmeter(model: str, examples: list[Example]) -> tuple[list[list[float]], float]:
    """Return precision, recall and F1 of each example, and the seconds."""
    metric = catalog.build("bertscore", model=model, options={"layer": LAYER})
    metric.score(examples[:1])
    start = time.perf_counter()
    scores = metric.score(examples)
    seconds = time.perf_counter() - start
    return [[score.parts[part] for part in PARTS] for score in scores], seconds


def by_package(model: str, examples: list[Example]) -> tuple[list[list[float]], float]:
    """Return precision, recall and F1 of each example, and the seconds."""
    warnings.simplefilter("ignore")
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=model, num_layers=LAYER, device="cpu")
    scorer.score([examples[0].candidate], [list(examples[0].references)])
    start = time.perf_counter()
    found = scorer.score([e.candidate for e in examples], [list(e.references) for e in examples])
    seconds = time.perf_counter() - start
    return np.stack([part.numpy() for part in found], axis=1).tolist(), seconds


def save_roberta(source: Path, folder: Path) -> None:
    """Save a random model of roberta-base's size, with a vocabulary in RoBERTa's layout."""
    words = json.loads((source / "vocab.json").read_text(encoding="utf-8"))
    merges = (source / "merges.txt").read_text(encoding="utf-8").splitlines()
    own = ["<s>", "<pad>", "</s>", "<unk>", *sorted(words, key=words.get)[:-1], "<mask>"]
    vocabulary = {word: at for at, word in enumerate(own)}
    pairs = [(a, b) for a, b in map(str.split, merges[1:])]  # the first line names the version
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    names = {"bos": "<s>", "cls": "<s>", "eos": "</s>", "sep": "</s>", "pad": "<pad>", "unk": "<unk>"}
    special = {f"{name}_token": token for name, token in {**names, "mask": "<mask>"}.items()}
    fast: Any = PreTrainedTokenizerFast  # its constructor has no types
    fast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    # bert-score needs a maximum length and a tokenizer class that it knows.
    path = folder / "tokenizer_config.json"
    facts = {
        **json.loads(path.read_text()),
        "tokenizer_class": "RobertaTokenizer",
        "model_max_length": WINDOW,
    }
    path.write_text(json.dumps(facts))
    torch.manual_seed(1)
    config = RobertaConfig(vocab_size=len(own), pad_token_id=1, max_position_embeddings=WINDOW + 2)
    RobertaModel(config).save_pretrained(folder)


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="rows with candidates and references")
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--tokenizer", help="folder with vocab.json and merges.txt: compare BERTScore")
    parser.add_argument("--way", choices=("bert-score", "gistmeter"), help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.tokenizer:
        against_package(arguments)
        return
    examples = [row.example for row in read_rows(arguments.data) if row.problem is None][: arguments.limit]
    if arguments.way:
        one_way(arguments.way, arguments.model, examples)
    else:
        against_naive(examples)


if __name__ == "__main__":
    main()
