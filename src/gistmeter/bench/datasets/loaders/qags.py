"""Load QAGS: JSON lines, one summary each, with yes/no votes by three workers per sentence."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from gistmeter.bench.datasets.loaders.records import Record, json_lines
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.core.row import Row


def read(path: Path) -> Iterator[Row]:
    """Read `mturk_cnndm.jsonl` or `mturk_xsum.jsonl`.

    `consistency` is the share of sentences with a majority of yes votes, as in the paper;
    `consistency_mean_vote` is the share of yes votes, averaged over sentences.
    """
    for number, record in enumerate(json_lines(path)):
        sentences = record.records("summary_sentences")
        if not sentences:
            raise DataError(f"{record.place}: summary_sentences is empty")
        shares = [_share(sentence) for sentence in sentences]
        candidate = " ".join(sentence.text("sentence").strip() for sentence in sentences)
        scores = {
            "consistency": fmean(share > 0.5 for share in shares),
            "consistency_mean_vote": fmean(shares),
        }
        yield Row(Example(f"{path.stem}_{number}", candidate, source=record.text("article")), scores)


def _share(sentence: Record) -> float:
    votes = [vote.text("response") for vote in sentence.records("responses")]
    if not votes or not {"yes", "no"}.issuperset(votes):
        raise DataError(f"{sentence.place}: responses must be a non-empty list of yes and no")
    return votes.count("yes") / len(votes)
