"""Make `maskeval_log.json` from the log that MaskEval's authors published.

The log is `questeval/EN_train_logs/example_training_logfile` in `rbawden/Token_QuestEval` at commit 44582fe:
a SummEval pair with the words, the predictions and the learned weights for consistency. The golden file has
the numbers and the checksums of texts and segments, but no text: the article belongs to its publisher.

    python tests/golden/make_maskeval_log.py LOG
"""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SIDES = {"candidate": ("hyp", "hyp_text"), "source": ("ref", "ref_text")}
GOLDEN = Path(__file__).with_name("maskeval_log.json")


def side_of(log: Mapping[str, Any], side: str) -> dict[str, Any]:
    """Return the numbers of one text: its words, and the logit and the weight of each sub-word."""
    name, text = SIDES[side]
    words = [word for word in log["masked"] if word["masking"] == name]
    return {
        "text_sha256": hashlib.sha256(log[text].encode()).hexdigest(),
        "segments_sha256": segments_digest([word["ground_truth_ids"] for word in words]),
        "sub_words": [len(word["ground_truth_ids"]) for word in words],
        "exact_match": [word["prediction_eval_metrics"]["exact_match"] for word in words],
        "logits": [round(at, 6) for word in words for at in word["weight"]["scores"]],
        "weights": [round(sum(word["weight"]["weight_values"]), 8) for word in words],
    }


def segments_digest(segments: Sequence[Sequence[int]]) -> str:
    """Return the checksum of the sub-word IDs of all words."""
    return hashlib.sha256(json.dumps([list(segment) for segment in segments]).encode()).hexdigest()


def main() -> None:
    """Write the golden file."""
    log = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    made = {
        "provenance": "rbawden/Token_QuestEval at 44582fe, questeval/EN_train_logs/example_training_logfile",
        "id": log["id"],
        **{side: side_of(log, side) for side in SIDES},
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in made.items()]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
