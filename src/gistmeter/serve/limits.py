"""The limits of the service."""

from dataclasses import dataclass

from gistmeter.core.errors import UsageError

MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """What a client may ask for, and how long it may take.

    Args:
        body_mb: Maximum size of a request's body in megabytes.
        rows: Maximum number of rows in a JSON body or in a file on the page. A stream of NDJSON has no limit
            on rows.
        characters: Maximum number of characters in the texts of one row.
        waiting: Maximum number of scores that wait, over all requests; a request beyond it gets 429.
        seconds: Time limit for the arrival of a body, and again for its scores, waiting included. In a stream
            of NDJSON, the longest pause of the client.
        seconds_per_row: Time limit per row and metric, checked between batches of a model.

    Raises:
        UsageError: If a full request of one metric would never find room.
    """

    body_mb: int = 16
    rows: int = 1_000
    characters: int = 200_000
    waiting: int = 10_000
    seconds: float = 120.0
    seconds_per_row: float = 30.0

    def __post_init__(self) -> None:
        if self.waiting < self.rows:
            raise UsageError(
                f"--max-waiting {self.waiting} is below --max-rows {self.rows}; no full request would fit"
            )

    @property
    def body(self) -> int:
        """The maximum size of a body in bytes."""
        return self.body_mb * MEGABYTE
