"""Brings a pinned model into the user's cache: from the Hub, from a folder, or from an address.

Files are written into a folder beside, checked there, and renamed in one step, so nobody finds half a model.
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
"""Seconds without a byte before a server counts as out of reach."""
STALE = 24 * 3600
"""Seconds after which an unfinished fetch counts as given up."""
CHUNK = 2**20
Bring = Callable[[str, Path], None]
"""Writes one file, named by its path in the repository, to a path."""


def fetch(model: Pinned, origin: str | None = None) -> bool:
    """Bring a model's files, unless they are there.

    Args:
        model: One of `PINNED`.
        origin: A folder with the files, or its address (`https://…`, `file://…`); the Hub by default.

    Returns:
        Whether they were brought; False if they were already there.

    Raises:
        UsageError: If the origin is neither a folder nor such an address.
        ModelNotFound: If the origin lacks a file or cannot be reached.
        BadModel: If a file is not the published one, or the folder of the model holds other files.
        ModelError: If the cache cannot be written.
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
        raise ModelError(f"cannot write {home}: {error.strerror or error}") from None
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
        raise BadModel(f"{folder / wrong}; remove {folder} and run this command again")
    return True


def _fill(model: Pinned, draft: Path, bring: Bring, place: str) -> None:
    for name in model.files:
        target = draft / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            bring(name, target)
        except OSError as error:
            raise ModelNotFound(f"cannot fetch {name} from {place}: {_reason(error)}") from error
    shutil.rmtree(draft / ".cache", ignore_errors=True)  # the Hub's notes about its downloads
    wrong = flaw(model, draft, fresh=True)
    if wrong is not None:
        raise BadModel(f"{place} does not hold {model.name}: {wrong}; nothing was kept")


def _rename(model: Pinned, draft: Path, folder: Path) -> bool:
    draft.chmod(0o755)  # a temporary folder is its owner's alone
    try:
        draft.rename(folder)
    except OSError as error:
        if _is_there(model, folder):
            return False  # another process was faster
        raise ModelError(f"cannot write {folder}: {error.strerror or error}") from None
    return True


def _bringer(model: Pinned, origin: str | None) -> tuple[Bring, str]:
    """Return what brings a file, and the place that it comes from."""
    if origin is None:
        return _from_hub(model), f"the Hub ({model.repository})"
    scheme = urlsplit(origin).scheme if "://" in origin else ""
    if scheme == "https":
        return _from_address(model, origin.rstrip("/")), origin
    if scheme not in ("", "file"):
        raise UsageError(
            f"--from {origin}: give a folder, or an address that begins with https:// or file://"
        )
    folder = Path(url2pathname(urlsplit(origin).path)) if scheme else Path(origin).expanduser()
    if not folder.is_dir():
        raise UsageError(f"--from {origin}: there is no such folder")
    return _from_folder(model, folder), str(folder)


def _from_hub(model: Pinned) -> Bring:
    def bring(name: str, target: Path) -> None:
        from huggingface_hub import hf_hub_download

        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it tells of each new attempt
        root = target.parents[name.count("/")]
        try:
            hf_hub_download(model.repository, name, revision=model.revision, local_dir=root)
        except ValueError as error:  # some of its errors are of this kind, others are OSErrors
            raise OSError(str(error)) from error
        except OSError as error:
            raise OSError(f"{_reason(error)}; if there is no network, give --from FOLDER_OR_URL") from error

    return bring


def _from_address(model: Pinned, address: str) -> Bring:
    def bring(name: str, target: Path) -> None:
        with closing(urlopen(f"{address}/{quote(name)}", timeout=TIMEOUT)) as stream:
            _copy(stream, target, name, model.files[name]["bytes"])

    return bring


def _from_folder(model: Pinned, folder: Path) -> Bring:
    def bring(name: str, target: Path) -> None:
        if not (folder / name).is_file():  # a pipe or a device would never end
            raise FileNotFoundError("there is no such file")
        with (folder / name).open("rb") as stream:
            _copy(stream, target, name, model.files[name]["bytes"])

    return bring


def _copy(stream: BinaryIO, target: Path, name: str, size: int) -> None:
    """Copy a stream, but no more than one byte over the size it should have."""
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
