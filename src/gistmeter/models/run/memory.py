"""What a lack of memory looks like."""

import errno

SAYINGS = ("allocate memory", "out of memory", "os error 12", "bad_alloc")
"""What the libraries say in errors of a general kind; no list of theirs is published."""


def lacks_memory(error: BaseException) -> bool:
    """Tell whether an error means that memory was too small."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    if type(error).__name__ == "OutOfMemoryError":  # PyTorch's, of accelerators; importing it takes seconds
        return True
    return any(words in str(error).lower() for words in SAYINGS)
