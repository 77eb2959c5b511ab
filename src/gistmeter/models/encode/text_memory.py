"""Caches encoded texts in memory, because references and sources recur across rows, calls and metrics."""

import hashlib
from collections import OrderedDict
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from gistmeter.models.run.tokens import Tokens

Entry = tuple[Tokens, NDArray[np.float32]]


class TextMemory:
    """A thread-safe LRU cache of encoded texts with a size limit."""

    def __init__(self) -> None:
        self.size = 0
        self._entries: OrderedDict[bytes, Entry] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes) -> Entry | None:
        """Return the entry for a key, or None."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: bytes, entry: Entry, most: int) -> None:
        """Store an entry, and drop the least recently used ones until the cache is at most `most` bytes."""
        entry[1].flags.writeable = False  # shared by several callers
        with self._lock:
            self._drop(key)
            self._entries[key] = entry
            self.size += _bytes(entry)
            while self.size > most:
                self._drop(next(iter(self._entries)))

    def clear(self) -> None:
        """Drop all entries, for example before a measurement of time."""
        with self._lock:
            self._entries.clear()
            self.size = 0

    def __reduce__(self) -> "str | tuple[type[TextMemory], tuple[()]]":
        """Pickle without entries; the shared cache becomes the shared cache of the receiving process."""
        return "SHARED" if self is SHARED else (TextMemory, ())

    def _drop(self, key: bytes) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size -= _bytes(entry)


SHARED = TextMemory()
"""The cache of all encoders that are loaded by name; their identity determines their weights."""


def text_key(model: str, text: str) -> bytes:
    """Return a digest of a text and of everything that affects its encoding."""
    return hashlib.blake2b(f"{model}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _bytes(entry: Entry) -> int:
    """Return the approximate size of an entry in bytes."""
    tokens, vectors = entry
    # Python objects: about 60 bytes per token id, and 700 bytes for the objects around the arrays.
    return vectors.nbytes + tokens.offsets.nbytes + tokens.special.nbytes + 60 * len(tokens.ids) + 700
