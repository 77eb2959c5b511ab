"""Every error gistmeter raises on purpose, and the exit code each one ends the command line with.

```
GistmeterError          1  something failed
├── UsageError          2  an option, a metric or a preset that does not exist
├── MissingExtra        2  an optional dependency that is not installed
├── DataError           3  bad or missing data
│   ├── BadRow             a row that cannot be read
│   └── MissingField       a field that the metric needs
└── ModelError          4  model not available
    ├── ModelNotFound      neither on disk nor to be fetched
    ├── BadModel           found, but damaged, unsafe or of the wrong kind
    └── NotFinite          gives numbers that are not finite
```

Each message is one line that says what to do next.
"""

from typing import ClassVar


class GistmeterError(Exception):
    """Base class; `exit_code` is what the command line ends with."""

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
    """A field that the metric needs and no row has."""


class ModelError(GistmeterError):
    """A model that is not available."""

    exit_code = 4


class ModelNotFound(ModelError):
    """A model that is neither on disk nor to be fetched."""


class BadModel(ModelError):
    """A model that was found, but is damaged, unsafe or of the wrong kind."""


class NotFinite(ModelError):
    """A model whose numbers for a text are not finite; metrics make it the problem of that row."""
