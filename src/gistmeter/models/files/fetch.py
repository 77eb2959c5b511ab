"""Downloads a pinned model into the user's cache, from the Hub, a folder or a URL.

Files are written to a temporary folder, verified there, and moved into place with one rename, so that a model
folder is always complete.
"""

import logging
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO
from urllib.error import URLError
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname, urlopen

from tqdm import tqdm

from gistmeter.core.errors import BadModel, ModelError, ModelNotFound, UsageError
from gistmeter.models.files.pinned import Pinned, flaw, models_folder

TIMEOUT = 60
"""Seconds without data after which a download fails."""
STALE = 24 * 3600
"""Seconds after which the files of an unfinished download are deleted."""
CHUNK = 2**20
Bring = Callable[[str, Path], None]
"""Writes one file, given by its path in the repository, to a local path."""


def fetch(model: Pinned, origin: str | None = None) -> bool:
    """Download the files of a model, unless they are in the cache.

    Args:
        model: One of `PINNED`.
        origin: A folder with the files, or its URL (`https://…`, `file://…`); the Hub by default.

    Returns:
        True if the files were downloaded, False if they were already in the cache.

    Raises:
        UsageError: If the origin is neither a folder nor a supported URL.
        ModelNotFound: If the origin does not have a file or is not reachable.
        BadModel: If a file differs from the published one, or the model folder contains other files.
        ModelError: If the cache is not writable.
    """
    bring, place = _bringer(model, origin)
    home = models_folder()
    folder = home / model.name
    if _is_there(model, folder):
        return False
    try:
        home.mkdir(parents=True, exist_ok=True)
        _remove_stale(model, home)
        draft = Path(tempfile.mkdtemp(dir=home, prefix=f".{model.name}."))
    except OSError as error:
        raise ModelError(f"cannot write to {home}: {error.strerror or error}") from None
    try:
        _fill(model, draft, bring, place)
        return _rename(model, draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _is_there(model: Pinned, folder: Path) -> bool:
    if not folder.exists():
        return False
    wrong = flaw(model, folder, fresh=True)
    if wrong is not None:
        raise BadModel(f"{folder / wrong}; delete {folder} and run this command again")
    return True


def _fill(model: Pinned, draft: Path, bring: Bring, place: str) -> None:
    for name in model.files:
        target = draft / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            bring(name, target)
        except OSError as error:
            raise ModelNotFound(f"cannot download {name} from {place}: {_reason(error)}") from error
    shutil.rmtree(draft / ".cache", ignore_errors=True)  # download metadata of huggingface_hub
    wrong = flaw(model, draft, fresh=True)
    if wrong is not None:
        raise BadModel(
            f"{place} does not have the published {model.name}: {wrong}; give another folder or URL"
        )


def _rename(model: Pinned, draft: Path, folder: Path) -> bool:
    draft.chmod(0o755)  # temporary folders are readable by their owner only
    try:
        draft.rename(folder)
    except OSError as error:
        if _is_there(model, folder):
            return False  # another process was first
        raise ModelError(f"cannot write {folder}: {error.strerror or error}") from None
    return True


def _bringer(model: Pinned, origin: str | None) -> tuple[Bring, str]:
    """Return a function that writes one file, and the name of the origin for messages."""
    if origin is None:
        return _from_hub(model), f"the Hub ({model.repository})"
    scheme = urlsplit(origin).scheme if "://" in origin else ""
    if scheme == "https":
        return _from_address(model, origin.rstrip("/")), origin
    if scheme not in ("", "file"):
        raise UsageError(f"--from {origin}: give a folder, or a URL that begins with https:// or file://")
    folder = Path(url2pathname(urlsplit(origin).path)) if scheme else Path(origin).expanduser()
    if not folder.is_dir():
        raise UsageError(f"--from {origin}: the folder does not exist; give an existing one")
    return _from_folder(model, folder), str(folder)


def _from_hub(model: Pinned) -> Bring:
    def bring(name: str, target: Path) -> None:
        from huggingface_hub import hf_hub_download

        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it logs every retry
        root = target.parents[name.count("/")]
        try:
            hf_hub_download(model.repository, name, revision=model.revision, local_dir=root)
        except ValueError as error:  # some of its errors are ValueErrors, others are OSErrors
            raise OSError(str(error)) from error
        except OSError as error:
            raise OSError(f"{_reason(error)}; without a network, use --from FOLDER_OR_URL") from error

    return bring


def _from_address(model: Pinned, address: str) -> Bring:
    def bring(name: str, target: Path) -> None:
        with closing(urlopen(f"{address}/{quote(name)}", timeout=TIMEOUT)) as stream:
            _copy(stream, target, name, model.files[name]["bytes"])

    return bring


def _from_folder(model: Pinned, folder: Path) -> Bring:
    def bring(name: str, target: Path) -> None:
        if not (folder / name).is_file():  # reading a pipe or a device may not end
            raise FileNotFoundError("the file does not exist")
        with (folder / name).open("rb") as stream:
            _copy(stream, target, name, model.files[name]["bytes"])

    return bring


def _copy(stream: BinaryIO, target: Path, name: str, size: int) -> None:
    """Copy a stream up to one byte more than the expected size, so that a wrong size is detected."""
    with (
        target.open("wb") as file,
        tqdm(desc=name, total=size, unit="B", unit_scale=True, delay=2, disable=None, leave=False) as bar,
    ):
        left = size + 1
        while left and (chunk := stream.read(min(CHUNK, left))):
            file.write(chunk)
            bar.update(len(chunk))
            left -= len(chunk)


def _remove_stale(model: Pinned, home: Path) -> None:
    for draft in home.glob(f".{model.name}.*"):
        if time.time() - draft.stat().st_mtime > STALE:
            shutil.rmtree(draft, ignore_errors=True)


def _reason(error: OSError) -> str:
    said = str(error) if isinstance(error, URLError) else error.strerror or str(error)
    return next(iter(said.splitlines()), type(error).__name__).rstrip(".")
