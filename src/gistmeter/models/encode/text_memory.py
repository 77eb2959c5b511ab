"""Encoded texts kept in memory: references and sources come back in other rows, calls and metrics."""

import hashlib
from collections import OrderedDict
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from gistmeter.models.run.tokens import Tokens

Entry = tuple[Tokens, NDArray[np.float32]]


class TextMemory:
    """A bounded store of encoded texts; what was not asked for longest goes first. Safe between threads."""

    def __init__(self) -> None:
        self.size = 0
        self._entries: OrderedDict[bytes, Entry] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes) -> Entry | None:
        """Return what is kept under a key."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: bytes, entry: Entry, most: int) -> None:
        """Keep an entry, and drop others until all of them together take no more than `most` bytes."""
        entry[1].flags.writeable = False  # several callers share it
        with self._lock:
            self._drop(key)
            self._entries[key] = entry
            self.size += _bytes(entry)
            while self.size > most:
                self._drop(next(iter(self._entries)))

    def __reduce__(self) -> "str | tuple[type[TextMemory], tuple[()]]":
        """Go to another process empty; the shared one is that process's own."""
        return "SHARED" if self is SHARED else (TextMemory, ())

    def _drop(self, key: bytes) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size -= _bytes(entry)


SHARED = TextMemory()
"""Of all encoders that were loaded by name, whose identity therefore says which weights they have."""


def text_key(model: str, text: str) -> bytes:
    """Return a digest of a text and of everything that decides what a model makes of it."""
    return hashlib.blake2b(f"{model}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _bytes(entry: Entry) -> int:
    """Return about how much memory an entry takes."""
    tokens, vectors = entry
    # Python's own objects: some 60 bytes a token id, and 700 for the objects around the arrays.
    return vectors.nbytes + tokens.offsets.nbytes + tokens.special.nbytes + 60 * len(tokens.ids) + 700
