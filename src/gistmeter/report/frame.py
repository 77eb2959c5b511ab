"""Convert columns to a pandas, polars or pyarrow data frame, and write rows as JSON lines."""

import gzip
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.errors import DataError, MissingExtra, UsageError
from gistmeter.core.score_row import json_line

Kind = Literal["pandas", "polars", "pyarrow"]
Frame = Any
"""A `pandas.DataFrame`, a `polars.DataFrame` or a `pyarrow.Table`."""
Columns = Mapping[str, Sequence[str | None] | NDArray[np.float64]]
EXTRA = "frames"


def frame_of(columns: Columns, kind: Kind | None = None) -> Frame:
    """Convert columns to a data frame.

    Args:
        columns: Columns of strings, with None for missing values; or of numbers, with NaN, which becomes null
            in polars and pyarrow.
        kind: The library; by default, the first of pandas, polars and pyarrow that is installed.

    Raises:
        UsageError: If the kind does not exist.
        MissingExtra: If the library is not installed.
    """
    if kind is not None and kind not in get_args(Kind):
        raise UsageError(f"kind {kind!r}: choose one of {', '.join(get_args(Kind))}")
    installed = [name for name in get_args(Kind) if kind in (None, name) and find_spec(name)]
    if not installed:
        raise MissingExtra(kind or "pandas", EXTRA)
    library = import_module(installed[0])
    known = {name: values if _is_number(values) else _encodable(values) for name, values in columns.items()}
    if installed[0] == "pandas":
        return library.DataFrame(known)
    if installed[0] == "polars":
        types = {True: library.Float64, False: library.String}
        series = {name: library.Series(x, dtype=types[_is_number(x)]) for name, x in known.items()}
        return library.DataFrame(series).fill_nan(None)
    types = {True: library.float64(), False: library.string()}
    arrays = {name: library.array(x, types[_is_number(x)], from_pandas=True) for name, x in known.items()}
    return library.table(arrays)


def write_jsonl(path: str | Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows as JSON lines, compressed if the path ends in .gz.

    Raises:
        DataError: If the file cannot be written.
    """
    data = b"".join(map(json_line, rows))
    write_bytes(path, gzip.compress(data, mtime=0) if Path(path).suffix == ".gz" else data)


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file that appears under its name when it is whole; a pipe or a device is written directly.

    Raises:
        DataError: If the file cannot be written; an earlier file stays as it is.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f"{target.name}.new")
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        beside.write_bytes(data)
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            beside.unlink()


def _is_number(values: object) -> bool:
    return isinstance(values, np.ndarray)


def _encodable(texts: Iterable[str | None]) -> list[str | None]:
    """Replace lone surrogates, which polars and pyarrow do not support."""
    return [None if text is None else text.encode("utf-8", "replace").decode() for text in texts]
