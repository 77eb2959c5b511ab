"""The errors that gistmeter raises, with the exit code of the command line for each.

```
GistmeterError          1  something failed
├── UsageError          2  an option, a metric or a preset that does not exist
├── MissingExtra        2  an optional dependency that is not installed
├── DataError           3  bad or missing data
│   ├── BadRow             a row that cannot be read
│   └── MissingField       a field that the metric requires
└── ModelError          4  model not available
    ├── ModelNotFound      not on disk, and not downloadable
    ├── BadModel           found, but damaged, unsafe or of the wrong kind
    └── NotFinite          returns numbers that are not finite
```

Each message is one line that says what is wrong and what to do.
"""

from typing import ClassVar


class GistmeterError(Exception):
    """Base class; `exit_code` is the exit code of the command line."""

    exit_code: ClassVar[int] = 1


class UsageError(GistmeterError):
    """An option, a metric or a preset that does not exist."""

    exit_code = 2


class MissingExtra(UsageError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'gistmeter[{extra}]'")

    def __reduce__(self) -> tuple[type[UsageError], tuple[str, ...]]:
        """Reach another process as what it says."""
        return UsageError, self.args


class DataError(GistmeterError):
    """Bad or missing data."""

    exit_code = 3


class BadRow(DataError):
    """A row that cannot be read."""


class MissingField(DataError):
    """A field that the metric requires and no row has."""


class ModelError(GistmeterError):
    """A model that is not available."""

    exit_code = 4


class ModelNotFound(ModelError):
    """A model that is not on disk and cannot be downloaded."""


class BadModel(ModelError):
    """A model that was found, but is damaged, unsafe or of the wrong kind."""


class NotFinite(ModelError):
    """A model that returns NaN or infinity for a text; metrics report it as the problem of that row."""
