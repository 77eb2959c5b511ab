"""A made-up folder in the layout of NIST's distribution of DUC."""

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

from tests.tiny_models import SENTENCES

SYSTEMS, DOCSETS, PEOPLE = 4, 3, ("A", "B")
HEAD = "docset type length peer question score\n"


def files(year: int) -> Iterator[tuple[str, str]]:
    """Yield the names and contents of the files of one year; system 1 is the best one, and 4 the worst."""
    lines = [HEAD]
    for number in range(DOCSETS):
        docset = f"D{year % 100:02}{number:02}A"
        for person in PEOPLE:
            yield f"models/{docset}.M.250.A.{person}", f"{SENTENCES[number]} Person {person} wrote this."
            lines.append(f"{docset} M 250 {person} 1 5\n")
        for system in range(1, SYSTEMS + 1):
            words = SENTENCES[number].split()
            text = (
                " ".join(words[: len(words) + 1 - 2 * system])
                + f" {SENTENCES[-1]} It was {system} in {year}."
            )
            yield f"peers/{docset}.M.250.A.{system}", text
            for question in range(1, 6):
                score = min(5, max(1, 6 - system - (number + question) % 2))
                lines.append(f"{docset} M 250 {system} {question} {score}\n")
    yield "results/linguistic_quality.table", "".join(lines)


def save_folder(folder: Path, year: int) -> Path:
    """Write one year as a plain folder."""
    for name, text in files(year):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="latin-1")
    return folder


def save_tar(folder: Path, year: int) -> Path:
    """Write one year as a folder with a compressed tar file of its summaries, and its table beside it."""
    folder.mkdir(parents=True)
    with tarfile.open(folder / "NISTeval.tar.gz", "w:gz") as archive:
        for name, text in files(year):
            content = text.encode("latin-1")
            if name.endswith(".table"):
                (folder / Path(name).name).write_bytes(content)
                continue
            member = tarfile.TarInfo(f"NISTeval/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return folder
