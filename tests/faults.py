"""A simulated disk that is full after a number of bytes."""

import errno
import io
import os

import pytest

from gistmeter.io import files


class Filling(io.FileIO):
    """A file on a disk with room for `left` bytes, which all files share."""

    left = 0

    def write(self, data: object) -> int:
        """Take what there is room for; raise where there is none."""
        whole = bytes(data)  # type: ignore[call-overload]
        if whole and not Filling.left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = super().write(whole[: Filling.left])
        Filling.left -= taken
        return taken


def fail_at(patch: pytest.MonkeyPatch, size: int) -> None:
    """Let every output fail once that many bytes are written in all."""
    patch.setattr(Filling, "left", size)
    patch.setattr(files, "opened", lambda name, mode: Filling(os.fspath(name), mode))
