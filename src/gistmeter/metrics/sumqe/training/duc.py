"""Read DUC 2005, 2006 and 2007 in the layout of NIST's distribution (SUM-QE, section 3).

The data requires an agreement with NIST. The following files are read from any folder below the year:

* System summaries: files named `DOCSET.M.LENGTH.SELECTOR.PEER`, such as `D0601A.M.250.A.1`.
* `linguistic_quality.table`: after a heading, lines with the docset, two unused columns, the peer, the number
  of the question (1 to 5), and the score (1 to 5).

The layout follows the readers of SumQE (nlpaueb) and SacreROUGE and was not tested on the original files.
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
    """System summary with human ratings.

    Args:
        docset: ID of the document cluster, in upper case.
        peer: Number of the system.
        text: Text of the summary, with the line breaks of the file.
        scores: Ratings from 1 to 5 by quality.
    """

    docset: str
    peer: str
    text: str
    scores: dict[str, float]


def read_duc(folder: Path) -> list[DucSummary]:
    """Read the rated summaries of one year.

    Human summaries (peers that are letters) are skipped, as in the paper, and so are empty summaries.

    Raises:
        DataError: If the table or the summaries are missing, or a score has no summary.
    """
    tables = sorted(path for path in folder.rglob("*") if path.name.lower() == TABLE)
    if not tables:
        raise DataError(f"{folder} contains no {TABLE}; unpack NIST's results of one year there")
    texts = _summaries(folder)
    scores = _scores(tables[0])
    lost = sorted(scores.keys() - texts.keys())
    if not texts or lost:
        example = ".M.250.A.".join(lost[0] if lost else ("D0601A", "1"))
        raise DataError(
            f"{folder} lacks the summary {example}, which {tables[0].name} rates; unpack all summaries there"
        )
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
                raise DataError(f"{path} differs from another file of the same name; delete one of them")
    return found


def _scores(path: Path) -> dict[tuple[str, str], dict[str, float]]:
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for docset, peer, question, score in _lines(path):
        if peer.isdigit():
            found[docset.upper(), str(int(peer))][QUALITIES[int(question) - 1]] = score
    if not found:
        raise DataError(f"{path} has no line like: D0601A M 250 1 1 4; use NIST's original file")
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
