"""What a model filled into blanks, remembered across metrics that differ only in how they judge it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from typing import Any, cast

from gistmeter.core.metric import Metric
from gistmeter.models.fill.protocol import Fill, Filler, Query
from gistmeter.models.run.tokens import Tokens


@dataclass
class CachingFiller:
    """A filler that answers a query once, until it is told to forget.

    MaskEval asks for the same words whatever their weights are, and ClozE for the same factors whatever an
    answer is worth: with this between them, five metrics cost what one costs.

    Args:
        filler: Answers what has not been asked yet.
    """

    filler: Filler
    _known: dict[Query, list[Fill]] = field(default_factory=dict, repr=False)

    @property
    def identity(self) -> str:
        """The filler's."""
        return self.filler.identity

    @property
    def window(self) -> int | None:
        """The filler's."""
        return self.filler.window

    @property
    def separate_windows(self) -> bool:
        """The filler's."""
        return self.filler.separate_windows

    def overhead(self, query_blanks: int) -> int:
        """Return the filler's."""
        return self.filler.overhead(query_blanks)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Tokenize as the filler does."""
        return self.filler.tokenize(texts)

    def decode(self, ids: Sequence[int]) -> str:
        """Decode as the filler does."""
        return self.filler.decode(ids)

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        """Return, for each query, one fill a blank."""
        new = [query for query in dict.fromkeys(queries) if query not in self._known]
        self._known |= zip(new, self.filler.fill(new), strict=True)
        return [self._known[query] for query in queries]

    def forget(self) -> None:
        """Free what was remembered."""
        self._known.clear()


def share_filler(metric: Metric, known: dict[str, CachingFiller]) -> Metric:
    """Let a metric ask through a filler that others of the same identity ask through, too.

    Args:
        metric: Returned as it is if it has no filler.
        known: The fillers so far, by identity; gains this one.
    """
    own: Any = metric
    if not is_dataclass(own) or not hasattr(own, "filler") or isinstance(own.filler, CachingFiller):
        return metric
    shared = known.setdefault(own.filler.identity, CachingFiller(own.filler))
    return cast(Metric, replace(cast(Any, own), filler=shared))
