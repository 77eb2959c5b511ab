"""Make cloze_authors.json: the answers and confidences of the authors' ClozE code on a tiny random model.

    git clone https://github.com/Mr-KenLee/ClozE FOLDER
    python -m tests.golden.make_cloze_authors FOLDER

The texts are those of `pairs`, the factors come from the pipeline that ships,
and the model is `save_model`. Only results are written, not code. The authors' code needs scikit-learn and
tqdm.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, RobertaConfig, RobertaForMaskedLM

from tests.tiny_models import SEED, byte_level

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).with_name("cloze_authors.json")
REVISION = "e4088caafa94969dd3ece54d7728639e43bf702b"
FILES = ("careful.jsonl", "pairs.jsonl")
SIZE: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "initializer_range": 0.8,
    "max_position_embeddings": 514,
    "pad_token_id": 1,
}


def pairs() -> list[dict[str, str]]:
    """Return the pairs of the examples, without the careless copies of the careful candidates."""
    lines = [line for name in FILES for line in (ROOT / "examples" / name).read_text("utf-8").splitlines()]
    rows = [json.loads(line) for line in lines if line]
    return [row for row in rows if row["system"] != "careless" and row["source"]]


def save_model(folder: Path) -> Path:
    """Save a tiny random RoBERTa with the window of the real one; it never predicts a special token."""
    tokenizer = byte_level()
    torch.manual_seed(SEED)
    model = RobertaForMaskedLM(RobertaConfig(vocab_size=len(tokenizer), **SIZE))
    model.lm_head.bias.data[: len(tokenizer.all_special_ids)] = -1e4
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


class OldTokenizer:
    """Gives a tokenizer the method `encode_plus`, which the authors call and transformers 5 removed."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - a class chosen at run time
        self._tokenizer = tokenizer

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._tokenizer, name)

    def encode_plus(self, **options: Any) -> Any:  # noqa: ANN401
        return self._tokenizer(options.pop("text"), **options)


def run_authors(code: Path, model: Path, rows: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield the results of each pair: per factor its text, the answer, F1 and the confidence."""
    sys.path.insert(0, str(code))
    from extractor import FactualFactorExtractor  # type: ignore[import-not-found]
    from metric import ClozEMetric  # type: ignore[import-not-found]
    from scorer import ClozEScorer  # type: ignore[import-not-found]

    metric = object.__new__(ClozEMetric)
    tokenizer = OldTokenizer(AutoTokenizer.from_pretrained(model))
    metric.device, metric.tokenizer, metric.scorer = "cpu", tokenizer, ClozEScorer()
    metric.model = RobertaForMaskedLM.from_pretrained(model).eval()
    metric.max_len = metric.model.config.max_position_embeddings - 2
    for name in ("pad", "cls", "sep", "mask"):
        setattr(metric, f"{name}_token_id", getattr(tokenizer, f"{name}_token_id"))
    metric.extractor = FactualFactorExtractor(str(ROOT / "src" / "gistmeter" / "bundle" / "en"))
    seen: dict[int, Any] = {}
    evaluate = metric.scorer.evaluate

    def keep(results: dict[int, Any], *rest: Any) -> Any:  # noqa: ANN401
        seen.clear()
        seen.update(results)
        return evaluate(results, *rest)

    metric.scorer.evaluate = keep
    for row in rows:
        texts = ([row["source"]], [row["candidate"]])
        plain, sure = (
            metric.score(*texts, use_confidence=use, verbose=True, use_tqdm=False)[0] for use in (False, True)
        )
        factors = []
        for number, sentence in enumerate(plain["infos"]["summary"]):
            chances = seen[0]["summary"][number]["probabilities"]
            for said, chance in zip(sentence["comparision"], chances, strict=True):
                confidence = round(sum(chance) / len(chance), 6)
                factors.append([said["factor"], said["answer"], round(said["score"], 9), confidence])
        yield {"id": row["id"], "score": round(sure["score"], 9), "factors": factors}


def main() -> None:
    """Run the authors' code and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("code", type=Path, help="folder of the authors' code")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = list(run_authors(arguments.code, save_model(Path(folder)), pairs()))
    count = sum(len(one["factors"]) for one in found)
    facts = {
        "provenance": f"github.com/Mr-KenLee/ClozE, revision {REVISION}, on a tiny random model",
        "columns": ["factor", "answer", "f1", "confidence"],
        "pairs": found,
    }
    text = json.dumps(facts, ensure_ascii=False).replace('{"id"', '\n {"id"')
    GOLDEN.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(found)} pairs, {count} factors\n")


if __name__ == "__main__":
    main()
