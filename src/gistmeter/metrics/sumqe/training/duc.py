"""DUC 2005, 2006 and 2007 as NIST gives them out, for people who hold the licence (SUM-QE, section 3).

What is read, anywhere below the folder of a year, is

* the summaries of systems: files called `DOCSET.M.LENGTH.SELECTOR.PEER`, such as `D0601A.M.250.A.1`;
* `linguistic_quality.table`: lines of the docset, two columns that are not used, the peer, the number of the
  question (1 to 5) and the score (1 to 5), under a heading of a few lines.

This is the layout that the readers of SumQE (nlpaueb) and SacreROUGE read; nobody here has seen the files.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gistmeter.core.errors import DataError
from gistmeter.metrics.sumqe.qualities import QUALITIES

TABLE = "linguistic_quality.table"
NAME = re.compile(r"([Dd]\d+\w*)\.[Mm]\.\d+\.\w+\.(\w+)")
LINE = re.compile(r"([Dd]\d+\w*)\s+\S+\s+\S+\s+(\w+)\s+([1-5])\s+(\S+)")


@dataclass(frozen=True, slots=True)
class DucSummary:
    """A summary that a system wrote and people rated.

    Args:
        docset: The cluster of documents that it is about, in capitals.
        peer: The system's number.
        text: With the line breaks of the file.
        scores: Quality → 1 to 5.
    """

    docset: str
    peer: str
    text: str
    scores: dict[str, float]


def read_duc(folder: Path) -> list[DucSummary]:
    """Read the rated summaries of one year.

    Summaries that people wrote (their peers are letters) are left out, as in the paper, and so are empty
    ones, of which there is nothing to rate.

    Raises:
        DataError: If the table or the summaries are missing, or a score has no summary.
    """
    tables = sorted(path for path in folder.rglob("*") if path.name.lower() == TABLE)
    if not tables:
        raise DataError(f"{folder} holds no {TABLE}; unpack NIST's results of one year there")
    texts = _summaries(folder)
    scores = _scores(tables[0])
    lost = sorted(scores.keys() - texts.keys())
    if not texts or lost:
        example = ".M.250.A.".join(lost[0] if lost else ("D0601A", "1"))
        raise DataError(f"{folder} lacks the summary {example} that {tables[0].name} rates")
    return [
        DucSummary(docset, peer, texts[docset, peer], scores[docset, peer])
        for docset, peer in sorted(scores, key=lambda key: (key[0], int(key[1])))
        if texts[docset, peer].strip()
    ]


def _summaries(folder: Path) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for path in sorted(folder.rglob("*")):
        name = NAME.fullmatch(path.name)
        if name and path.is_file() and name[2].isdigit():
            key = (name[1].upper(), str(int(name[2])))
            text = path.read_bytes().decode("latin-1").strip()
            if found.setdefault(key, text) != text:
                raise DataError(f"{path} differs from another file of the same name; keep one of them")
    return found


def _scores(path: Path) -> dict[tuple[str, str], dict[str, float]]:
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for docset, peer, question, score in _lines(path):
        if peer.isdigit():
            found[docset.upper(), str(int(peer))][QUALITIES[int(question) - 1]] = score
    if not found:
        raise DataError(f"{path} has no line such as: D0601A M 250 1 1 4")
    return dict(found)


def _lines(path: Path) -> Iterator[tuple[str, str, str, float]]:
    for number, line in enumerate(path.read_bytes().decode("latin-1").splitlines(), 1):
        found = LINE.match(line.strip())
        if found is None:
            continue  # the heading
        try:
            score = float(found[4])
        except ValueError:
            score = 0.0
        if not 1 <= score <= 5:
            raise DataError(f"{path}, line {number}: the score {found[4]!r} is not between 1 and 5")
        yield found[1], found[2], found[3], score
