"""Make maskeval_log.json: the numbers of the log file that MaskEval's authors publish.

    git clone https://github.com/rbawden/Token_QuestEval FOLDER
    python -m tests.golden.make_maskeval_log FOLDER/questeval/EN_train_logs/example_training_logfile

The log has one pair of SummEval: each word with its sub-words, whether the prediction matched, the logits and
the weights. The article belongs to its publisher, so the golden file has numbers and no text. `--tokenizer
FOLDER` (T5's tokenizer) also cuts the texts of the log as gistmeter does, and prints how many are equal.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).with_name("maskeval_log.json")
REVISION = "8b33b014af269ed084c4c79884aa9f7c593b5052"
SIDES = {"candidate": ("hyp", "hyp_text"), "source": ("ref", "ref_text")}
Log = Mapping[str, Any]


def side_of(log: Log, side: str) -> dict[str, Any]:
    """Return the numbers of one side: sub-words, match, logits and weight of each word, and the score.

    The scores are those that the log's own numbers give with equation 5: with uniform weights, and with the
    log's weights.
    """
    masking, field = SIDES[side]
    words = [word for word in log["masked"] if word["masking"] == masking]
    matches = [word["prediction_eval_metrics"]["exact_match"] for word in words]
    weights = [sum(word["weight"]["weight_values"]) for word in words]
    return {
        "sha256": hashlib.sha256(log[field].encode()).hexdigest(),
        "words": len(words),
        "subwords": [len(word["ground_truth_ids"]) for word in words],
        "matches": matches,
        "logits": [[round(logit, 7) for logit in word["weight"]["scores"]] for word in words],
        "weights": [round(weight, 10) for weight in weights],
        "uniform": round(sum(matches) / len(matches), 9),
        "learned": round(sum(map(float.__mul__, weights, map(float, matches))) / sum(weights), 9),
    }


def golden(log: Log) -> dict[str, Any]:
    """Return the content of the golden file."""
    sides = {side: side_of(log, side) for side in SIDES}
    values = {name: round(sum(own[name] for own in sides.values()) / 2, 9) for name in ("uniform", "learned")}
    ratings = [annotation["coherence"] for annotation in log["expert_annotations"]]
    return {
        "provenance": f"github.com/rbawden/Token_QuestEval, revision {REVISION}, example_training_logfile",
        "id": log["id"],
        "coherence": ratings,
        "value": values,
        **sides,
    }


def same_words(log: Log, tokenizer: Path) -> dict[str, tuple[int, int, int]]:
    """Return for each side the number of words in the log, of ours, and of those that are equal.

    Args:
        log: The log.
        tokenizer: Folder of T5's tokenizer.json.
    """
    from tokenizers import Tokenizer

    from gistmeter.text.words import linguistic_ends, segments

    model = Tokenizer.from_file(str(tokenizer / "tokenizer.json"))
    found = {}
    for side, (masking, field) in SIDES.items():
        text = log[field]
        encoding = model.encode(text, add_special_tokens=False)
        words = segments(text, encoding.offsets, linguistic_ends(text, "en"))
        ours = [text[word.start : word.end] for word in words]
        theirs = [word["ground_truth"] for word in log["masked"] if word["masking"] == masking]
        found[side] = (len(theirs), len(ours), equal(theirs, ours))
    return found


def equal(theirs: Sequence[str], ours: Sequence[str]) -> int:
    """Return the number of words in the longest common sequence of two lists of words."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, list(theirs), list(ours), autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks())


def main() -> None:
    """Write the golden file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("log", type=Path, help="the authors' log file")
    parser.add_argument("--tokenizer", type=Path, help="folder of T5's tokenizer, to compare the words")
    arguments = parser.parse_args()
    log = json.loads(arguments.log.read_text(encoding="utf-8"))
    text = json.dumps(golden(log)).replace('{"sha256"', '\n {"sha256"').replace(', "source"', ',\n "source"')
    GOLDEN.write_text(text + "\n", encoding="utf-8")
    if arguments.tokenizer:
        for side, (theirs, ours, both) in same_words(log, arguments.tokenizer).items():
            sys.stdout.write(f"{side}: {theirs} words in the log, {ours} here, {both} equal\n")


if __name__ == "__main__":
    main()
