"""Read the one pair of texts that a command line names."""

from gistmeter.app.options.score import PairOptions
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.example import Example
from gistmeter.io.formats import check_input

LONGEST_TEXT = 2**26


def pair_of(options: PairOptions) -> Example | None:
    """Return the one pair on the command line, or None if there is none.

    Raises:
        UsageError: If a text is given twice, or there is no candidate.
        DataError: If a file cannot be read.
    """
    candidate = _text(options.candidate, options.candidate_text, "candidate")
    source = _text(options.source, options.source_text, "source")
    references = [_read(path) for path in options.reference] + list(options.reference_text)
    if candidate is None:
        if source is not None or references:
            raise UsageError("one pair needs a candidate: --candidate FILE or --candidate-text TEXT")
        return None
    return Example("1", candidate, source, tuple(references), language=options.language)


def _text(path: str | None, text: str | None, side: str) -> str | None:
    if path is not None and text is not None:
        raise UsageError(f"give --{side} or --{side}-text, not both")
    return _read(path) if path is not None else text


def _read(path: str) -> str:
    """Return the text of a file; a pipe is read to its end."""
    check_input(path)
    try:
        with open(path, "rb") as file:
            data = file.read(LONGEST_TEXT + 1)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > LONGEST_TEXT:
        raise DataError(f"{path} has more than {LONGEST_TEXT:,} bytes; give a file with one text")
    try:
        return data.decode().strip()
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text (byte {error.start}); convert it first") from error
