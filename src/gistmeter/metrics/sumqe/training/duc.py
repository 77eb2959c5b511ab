"""Read DUC 2005, 2006 and 2007 in the layout of NIST's distribution (SUM-QE, section 3).

The data requires an agreement with NIST. The following files are read from any folder below the year, and
from tar files (.tar, .tar.gz, .tgz) there; nothing is unpacked:

* Summaries: files named `DOCSET.M.LENGTH.SELECTOR.PEER`, such as `D0601A.M.250.A.1`. Peers that are numbers
  are systems; peers that are letters are people, whose summaries are the references.
* `linguistic_quality.table`: after a heading, lines with the docset, two unused columns, the peer, the number
  of the question (1 to 5), and the score (1 to 5).

The layout follows the readers of SumQE (nlpaueb) and SacreROUGE and was not tested on the original files.
"""

import re
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gistmeter.core.errors import DataError
from gistmeter.metrics.sumqe.qualities import QUALITIES

TABLE = "linguistic_quality.table"
NAME = re.compile(r"([Dd]\d+\w*)\.[Mm]\.\d+\.\w+\.(\w+)")
LINE = re.compile(r"([Dd]\d+\w*)\s+\S+\s+\S+\s+(\w+)\s+([1-5])\s+(\S+)")
TARS = (".tar", ".tar.gz", ".tgz")
Texts = dict[tuple[str, str], str]
"""Summaries by docset and peer."""


@dataclass(frozen=True, slots=True)
class DucSummary:
    """System summary with human ratings.

    Args:
        docset: ID of the document cluster, in upper case.
        peer: Number of the system.
        text: Text of the summary, with the line breaks of the file.
        scores: Ratings from 1 to 5 by quality.
        references: Human summaries of the same documents.
    """

    docset: str
    peer: str
    text: str
    scores: dict[str, float]
    references: tuple[str, ...] = ()


def read_duc(folder: Path) -> list[DucSummary]:
    """Read the rated summaries of one year.

    Human summaries are no rows, as in the paper; they are the references. Empty summaries are skipped.

    Args:
        folder: Folder of the year, or one tar file.

    Raises:
        DataError: If the table or the summaries are missing, or a score has no summary.
    """
    tables: dict[str, bytes] = {}
    texts: Texts = {}
    for place, content in _files(folder):
        name = PurePosixPath(place).name
        if name.lower() == TABLE:
            tables[place] = content
        else:
            _add(texts, place, name, content)
    if not tables:
        raise DataError(f"{folder} contains no {TABLE}; put NIST's results of one year there")
    table = min(tables)
    scores = _scores(table, tables[table])
    lost = sorted(scores.keys() - texts.keys())
    if not texts or lost:
        example = ".M.250.A.".join(lost[0] if lost else ("D0601A", "1"))
        rated = PurePosixPath(table).name
        raise DataError(f"{folder} lacks the summary {example}, which {rated} rates; put all summaries there")
    references = _references(texts)
    return [
        DucSummary(docset, peer, texts[docset, peer], scores[docset, peer], tuple(references.get(docset, ())))
        for docset, peer in sorted(scores, key=lambda key: (key[0], int(key[1])))
        if texts[docset, peer].strip()
    ]


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the place and the content of each table and summary, in sorted order of the files."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
        if path.name.endswith(TARS):
            yield from _members(path)
        elif _wanted(path.name) and path.is_file():
            yield str(path), path.read_bytes()


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                inside = archive.extractfile(member) if _wanted(PurePosixPath(member.name).name) else None
                if inside is not None:
                    yield f"{path}/{member.name}", inside.read()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {error}; copy it again") from error


def _wanted(name: str) -> bool:
    return name.lower() == TABLE or NAME.fullmatch(name) is not None


def _add(texts: Texts, place: str, name: str, content: bytes) -> None:
    found = NAME.fullmatch(name)
    if found is None:
        return
    peer = str(int(found[2])) if found[2].isdigit() else found[2].upper()
    text = content.decode("latin-1").strip()
    if texts.setdefault((found[1].upper(), peer), text) != text:
        raise DataError(f"{place} differs from another file of the same name; delete one of them")


def _references(texts: Mapping[tuple[str, str], str]) -> dict[str, list[str]]:
    """Return the human summaries of each docset, in the order of their letters."""
    found: dict[str, list[str]] = defaultdict(list)
    for (docset, peer), text in sorted(texts.items()):
        if not peer.isdigit() and text:
            found[docset].append(text)
    return found


def _scores(place: str, content: bytes) -> dict[tuple[str, str], dict[str, float]]:
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for docset, peer, question, score in _lines(place, content):
        if peer.isdigit():
            found[docset.upper(), str(int(peer))][QUALITIES[int(question) - 1]] = score
    if not found:
        raise DataError(f"{place} has no line like: D0601A M 250 1 1 4; use NIST's original file")
    return dict(found)


def _lines(place: str, content: bytes) -> Iterator[tuple[str, str, str, float]]:
    for number, line in enumerate(content.decode("latin-1").splitlines(), 1):
        found = LINE.match(line.strip())
        if found is None:
            continue  # the heading
        try:
            score = float(found[4])
        except ValueError:
            score = 0.0
        if not 1 <= score <= 5:
            raise DataError(f"{place}, line {number}: the score {found[4]!r} is not between 1 and 5")
        yield found[1], found[2], found[3], score
