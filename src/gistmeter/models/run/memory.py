"""Recognizes out-of-memory errors of the libraries."""

import errno

SAYINGS = ("allocate memory", "out of memory", "os error 12", "bad_alloc")
"""Texts in out-of-memory errors that the libraries raise as general errors; there is no published list."""


def lacks_memory(error: BaseException) -> bool:
    """Return whether an error means that memory ran out."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    if type(error).__name__ == "OutOfMemoryError":  # PyTorch's class; importing it takes seconds
        return True
    return any(words in str(error).lower() for words in SAYINGS)
