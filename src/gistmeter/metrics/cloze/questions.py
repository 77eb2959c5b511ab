"""Group factors, truncate texts, and build queries with blanks (section 3.4)."""

from collections.abc import Sequence
from dataclasses import dataclass

from gistmeter.metrics.cloze.chunks import Chunk, Place, factor_tokens
from gistmeter.metrics.cloze.cut import fit
from gistmeter.metrics.cloze.options import ClozeOptions
from gistmeter.models.fill.protocol import Filler, Query
from gistmeter.models.run.tokens import Tokens
from gistmeter.text.factors import Factor, group_factors

Ids = tuple[int, ...]
CUT_OFF = "not scored: cut off by the model's window"
DROPPED = "not scored: the model's tokenizer finds no token in it"
SHARED = "not scored: its tokens belong to the factor before it"


@dataclass(frozen=True, slots=True)
class Blank:
    """Factor and its blank.

    Args:
        factor: Factor that is blanked out.
        gold: Tokens of the factor.
        number: Index of the blank within its question; -1 without a blank.
        problem: Reason why the factor has no blank; empty if it has one.
        copied: Whether the text around the factor stands in the document word for word, so that nothing is
            asked.
    """

    factor: Factor
    gold: tuple[int, ...] = ()
    number: int = -1
    problem: str = ""
    copied: bool = False

    @property
    def asked(self) -> bool:
        """Whether the model is asked for the factor."""
        return not self.problem and not self.copied


@dataclass(frozen=True, slots=True)
class Question:
    """Document and text with a group of factors blanked out (Y' in section 3.1).

    Args:
        query: Input of the model; None if no factor of the group can be blanked.
        blanks: One blank per factor of the group.
        kept: Number of tokens kept of the document or its passage, and of the text.
        lost: Number of tokens of the document or its passage that are cut off.
    """

    query: Query | None
    blanks: tuple[Blank, ...]
    kept: tuple[int, int]
    lost: int = 0


def ask(chunk: Chunk, text: Tokens, document: Ids, filler: Filler, options: ClozeOptions) -> list[Question]:
    """Build one question for each of the ⌈N/k⌉ groups of a chunk's factors (section 3.4)."""
    places = dict(zip(chunk.factors, factor_tokens(chunk, text), strict=True))
    groups = group_factors(chunk.factors, options.k, options.level)
    return [
        ask_once(group, [places[factor] for factor in group], text, document, filler, options.window)
        for group in groups
    ]


def trust(chunk: Chunk, text: Tokens, document: Ids) -> Question:
    """Return a question that asks nothing, for a chunk that is copied from the document."""
    blanks = tuple(Blank(factor, copied=True) for factor in chunk.factors)
    return Question(None, blanks, (len(document), len(text.ids)))


def ask_once(
    group: Sequence[Factor],
    places: Sequence[Place],
    text: Tokens,
    document: Ids,
    filler: Filler,
    window: int = 0,
) -> Question:
    """Build the question that blanks out a group of factors.

    Args:
        group: Factors in text order.
        places: Token range of each factor.
        text: Tokens of the text that contains the factors.
        document: Tokens of the document or of a passage from it.
        filler: Model whose window limits the query.
        window: Smaller window to use instead of the model's; 0 for the model's.
    """
    kept = fit(len(document), len(text.ids), len(group), filler, window)
    lost = len(document) - kept[0]
    blanks, taken = [], 0
    asked: list[Place] = []
    for factor, place in zip(group, places, strict=True):
        # Tokens may span white space, so that neighboring factors share a token: the first one gets it.
        start, end = max(place[0], taken), place[1]
        if place[0] == place[1]:
            blanks.append(Blank(factor, problem=DROPPED))
        elif end > kept[1]:
            blanks.append(Blank(factor, problem=CUT_OFF))
        elif start >= end:
            blanks.append(Blank(factor, problem=SHARED))
        else:
            blanks.append(Blank(factor, text.ids[start:end], len(asked)))
            asked.append((start, end))
            taken = end
    if not asked:
        return Question(None, tuple(blanks), kept, lost)
    query = Query(text.ids[: kept[1]], tuple(asked), document[: kept[0]])
    return Question(query, tuple(blanks), kept, lost)
