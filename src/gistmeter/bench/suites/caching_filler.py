"""Cache a filler's answers, so that metrics that ask the same queries share them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, cast

from gistmeter.core.metric import Metric
from gistmeter.models.fill.protocol import Fill, Filler, Query
from gistmeter.models.run.tokens import Tokens


@dataclass
class CachingFiller:
    """A filler that caches its answers.

    MaskEval's queries do not depend on its weights, and ClozE's do not depend on how answers are judged. With
    a shared cache, several configurations cost one pass through the model.

    Args:
        filler: Filler that answers new queries.
    """

    filler: Filler
    _known: dict[Query, list[Fill]] = field(default_factory=dict, repr=False)

    @property
    def identity(self) -> str:
        """Identity of the wrapped filler."""
        return self.filler.identity

    @property
    def window(self) -> int | None:
        """Window of the wrapped filler."""
        return self.filler.window

    @property
    def separate_windows(self) -> bool:
        """Whether the wrapped filler has separate windows for text and context."""
        return self.filler.separate_windows

    def overhead(self, query_blanks: int) -> int:
        """Return the overhead of the wrapped filler."""
        return self.filler.overhead(query_blanks)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Tokenize with the wrapped filler."""
        return self.filler.tokenize(texts)

    def decode(self, ids: Sequence[int]) -> str:
        """Decode with the wrapped filler."""
        return self.filler.decode(ids)

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        """Return one fill per blank for each query."""
        new = [query for query in dict.fromkeys(queries) if query not in self._known]
        self._known |= zip(new, self.filler.fill(new), strict=True)
        return [self._known[query] for query in queries]

    def forget(self) -> None:
        """Clear the cache."""
        self._known.clear()


def uses_filler(metric: Metric) -> bool:
    """Return whether a metric is a dataclass with a field `filler`."""
    candidate: object = metric
    return is_dataclass(candidate) and "filler" in {field.name for field in fields(candidate)}


def share_filler(metric: Metric, known: dict[str, CachingFiller]) -> Metric:
    """Return the metric with a cached filler that is shared by metrics with the same filler.

    Args:
        metric: Metric; returned unchanged if it has no filler.
        known: Shared fillers by identity; a new one is added.
    """
    own: Any = metric
    if not uses_filler(metric) or isinstance(own.filler, CachingFiller):
        return metric
    shared = known.setdefault(own.filler.identity, CachingFiller(own.filler))
    return cast(Metric, replace(own, filler=shared))
