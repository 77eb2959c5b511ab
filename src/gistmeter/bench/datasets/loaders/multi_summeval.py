"""Load Multi_SummEval (Koto et al., 2021): summaries in eight languages, judged for focus and coverage.

The authors publish one file a text; the original is an archive of their repository.
"""

from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from gistmeter.bench.datasets.loaders.records import Record, csv_records_of
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example
from gistmeter.core.row import Row

LANGUAGES = ("de", "en", "es", "fr", "id", "ru", "tr", "zh")
DIMENSIONS = ("focus", "coverage")
SCORES = "score.csv"


def read(path: Path, *, language: str) -> Iterator[Row]:
    """Read the folder `resulting_data/LANGUAGE` of the archive.

    Scores are the published means of standardized judgements. A candidate's reference is the summary that its
    judges compared it with; there are no articles.

    Args:
        path: An archive (zip) of the repository, or of its folder `resulting_data`.
        language: One of `LANGUAGES`.
    """
    texts = _texts(path, language.upper())
    if SCORES not in texts:
        raise DataError(f"{path} has no resulting_data/{language.upper()}/{SCORES}")
    for record in csv_records_of(texts[SCORES], f"{path}: {SCORES}", ("id", "model", *DIMENSIONS)):
        # The names of the Chinese files are padded with zeros, the ids are not.
        number, system = record.label("id").lstrip("0") or "0", record.text("model")
        example = Example(
            f"{language}_{number}|{system}",
            _text(texts, f"pred_{system}/{number}", record),
            references=[_text(texts, f"gold/{number}", record)],
            system=system,
            doc_id=f"{language}_{number}",
            language=language,
        )
        yield Row(example, {name: record.number(name) for name in DIMENSIONS})


def _texts(path: Path, language: str) -> dict[str, str]:
    """Return the texts of a language by folder and number, such as `gold/12`."""
    found = {}
    try:
        with ZipFile(path) as archive:
            for name in archive.namelist():
                _, _, own = name.partition(f"resulting_data/{language}/")
                folder, slash, number = own.rpartition("/")
                if own and number:
                    key = f"{folder}{slash}{number.lstrip('0') or '0'}"
                    found[key] = archive.read(name).decode("utf-8").strip()
    except (OSError, BadZipFile, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path} as a zip archive: {error}") from None
    return found


def _text(texts: dict[str, str], key: str, record: Record) -> str:
    if key not in texts:
        raise DataError(f"{record.place}: the archive has no {key}")
    return texts[key]
