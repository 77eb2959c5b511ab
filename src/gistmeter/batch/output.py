"""Output rows: one strict JSON line a row and metric, on disk before the next chunk is scored."""

import gzip
import json
import math
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from gistmeter.core.errors import DataError, GistmeterError, UsageError
from gistmeter.core.example import Example
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature

SUFFIXES = (".jsonl", ".jsonl.gz")


def score_row(label: str, score: Score, signature: Signature, example: Example) -> dict[str, object]:
    """Return a score as an output row.

    Args:
        label: What the metric is called in the output.
        score: Of the example.
        signature: Of the metric.
        example: Whose system and document are repeated in the row.

    Returns:
        The keys `id, metric, value, parts, spans, flags, problem, signature, system, doc_id`. A number
        that is undefined is None. `index` stands in spans and flags about a reference only.

    >>> row = score_row("chrf", Score("1", 0.5), Signature.of("chrf", version=1), Example("1", "A cat."))
    >>> row["value"], row["problem"], row["signature"]
    (0.5, None, 'chrf|version=1')
    """
    return {
        "id": score.id,
        "metric": label,
        "value": _number(score.value),
        "parts": {name: _number(value) for name, value in score.parts.items()},
        "spans": [_span(span) for span in score.spans],
        "flags": [_flag(flag) for flag in score.flags],
        "problem": score.problem,
        "signature": signature.text,
        "system": example.system,
        "doc_id": example.doc_id,
    }


class RowWriter:
    """Writes rows as JSON lines; what `write` was given stays readable however the run ends.

    An existing file is replaced. A .gz file is a complete gzip file after every `write`.

    Args:
        path: .jsonl, .jsonl.gz, or "-" for standard output.

    Raises:
        UsageError: On entering, if the format is unknown.
        DataError: On entering, if the file cannot be written.
        GistmeterError: On writing, if the disk is full or fails. A broken pipe is the caller's to handle.
    """

    def __init__(self, path: str | Path) -> None:
        self._name = str(path)
        self._packed = self._name.lower().endswith(".gz")
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        if self._name != "-":
            self._file = _opened(self._name)
            self.write([])  # an empty run leaves a gzip file too, not an empty one
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Append rows and hand them to the operating system.

        Raises:
            ValueError: If a row holds NaN or an infinity, which JSON does not know; or outside a with block.
        """
        data = b"".join(map(_line, rows))
        if self._packed:
            data = gzip.compress(data, mtime=0)  # a member of its own: the file is whole after each
        if self._name == "-":
            _print(data)
            return
        if self._file is None:
            raise ValueError("write inside a with block")
        try:
            rest = memoryview(data)
            while rest:  # a nearly full disk takes a part of it
                rest = rest[self._file.write(rest) :]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise GistmeterError(f"cannot go on writing {self._name}: {error.strerror or error}") from error


def _opened(name: str) -> BinaryIO:
    path = Path(name)
    if path.is_dir():
        raise DataError(f"{name} is a folder; name a file in it")
    if not name.lower().endswith(SUFFIXES):
        raise UsageError(f"{name}: unknown format; the name must end in {' or '.join(SUFFIXES)}")
    try:
        return path.open("wb", buffering=0)
    except FileNotFoundError:
        raise DataError(f"cannot write {name}: make the folder {path.parent} first") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot write {name}: {getattr(error, 'strerror', None) or error}") from None


def _print(data: bytes) -> None:
    """Write to standard output as UTF-8, whatever the terminal's encoding is called."""
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(data.decode())
    else:
        stream.write(data)
    sys.stdout.flush()


def _line(row: Mapping[str, object]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which only an ASCII escape can carry
        return json.dumps(row, allow_nan=False).encode() + b"\n"


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _span(span: Span) -> dict[str, object]:
    fields: dict[str, object] = {
        "side": span.side,
        "start": int(span.start),
        "end": int(span.end),
        "value": _number(span.value),
        "weight": _number(span.weight),
        "note": span.note,
    }
    return fields | ({"index": int(span.index)} if span.side == "reference" else {})


def _flag(flag: Flag) -> dict[str, object]:
    fields: dict[str, object] = {"name": flag.name}
    if flag.side is not None:
        fields["side"] = flag.side
    index = flag.index if flag.side == "reference" else None
    numbers = {"kept": flag.kept, "total": flag.total, "index": index}
    return fields | {name: int(number) for name, number in numbers.items() if number is not None}
