"""Base class of fillers that encode a context once for all its queries."""

from collections.abc import Sequence
from dataclasses import dataclass

from gistmeter.core.errors import UsageError
from gistmeter.models.fill.adapter import Adapter
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.batching import in_batches


@dataclass(frozen=True, slots=True)
class Group:
    """All queries that share one context."""

    context: tuple[int, ...]
    queries: tuple[Query, ...]


class ContextFiller(Adapter):
    """A filler with separate windows for text and context; their order has no effect.

    Subclasses set `window` and implement `_fill_groups`.
    """

    separate_windows = True

    def overhead(self, query_blanks: int) -> int:
        """Return the number of tokens that the format adds to text and context together."""
        return 2 * self.vocabulary.added(1)

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        """Return one fill per blank for each query, in input order. Equal queries run once.

        Raises:
            UsageError: If a text or a context exceeds its window.
        """
        longest = max((max(len(q.text), len(q.context)) for q in queries), default=0) + self.overhead(1) // 2
        if self.window is not None and longest > self.window:
            raise UsageError(
                f"a text of {longest} tokens exceeds the window of {self.window} tokens; use a shorter text"
            )
        groups: dict[tuple[int, ...], dict[Query, None]] = {}
        for query in queries:
            groups.setdefault(query.context, {})[query] = None
        items = [Group(context, tuple(members)) for context, members in groups.items()]
        results = in_batches(
            items, self._fill_groups, length=_context_length, runtime=self.runtime, label="filling"
        )
        fills = {
            query: fill
            for group, answers in zip(items, results, strict=True)
            for query, fill in zip(group.queries, answers, strict=True)
        }
        return [fills[query] for query in queries]

    def _fill_groups(self, groups: list[Group]) -> list[list[list[Fill]]]:
        """Encode a batch of contexts and fill the queries of each."""
        raise NotImplementedError


def text_length(query: Query) -> int:
    """Return the length of the text of a query, whose context is already encoded."""
    return len(query.text)


def _context_length(group: Group) -> int:
    return len(group.context)
