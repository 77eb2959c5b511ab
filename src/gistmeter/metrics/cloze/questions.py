"""From the factors of a candidate to the queries of a model: group, cut, blank out."""

from collections.abc import Sequence
from dataclasses import dataclass

from gistmeter.metrics.cloze.chunks import Chunk, Place, factor_tokens
from gistmeter.metrics.cloze.cut import fit
from gistmeter.metrics.cloze.options import ClozeOptions
from gistmeter.models.fill.protocol import Filler, Query
from gistmeter.models.run.tokens import Tokens
from gistmeter.text.factors import Factor, group_factors

CUT_OFF = "not scored: cut off by the model's window"
DROPPED = "not scored: the model's tokenizer finds no token in it"
SHARED = "not scored: its tokens belong to the factor before it"


@dataclass(frozen=True, slots=True)
class Blank:
    """A factor, and where it was blanked out.

    Args:
        factor: What was blanked out.
        gold: Its tokens.
        number: Which blank of its question; -1 if it has none.
        problem: Why it has none.
    """

    factor: Factor
    gold: tuple[int, ...] = ()
    number: int = -1
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A document and a text with a group of factors blanked out (the Y' of section 3.1).

    Args:
        query: For the model; None where no factor of the group is left.
        blanks: The group's factors.
        kept: Tokens kept of the document, and of the text.
    """

    query: Query | None
    blanks: tuple[Blank, ...]
    kept: tuple[int, int]


def ask(
    chunk: Chunk, text: Tokens, document: Tokens, filler: Filler, options: ClozeOptions
) -> list[Question]:
    """Turn the ⌈N/k⌉ groups of a chunk's factors into questions (section 3.4)."""
    places = dict(zip(chunk.factors, factor_tokens(chunk, text), strict=True))
    groups = group_factors(chunk.factors, options.k, options.level)
    return [ask_once(group, [places[factor] for factor in group], text, document, filler) for group in groups]


def ask_once(
    group: Sequence[Factor], places: Sequence[Place], text: Tokens, document: Tokens, filler: Filler
) -> Question:
    """Blank out a group of factors.

    Args:
        group: In text order.
        places: The tokens of each.
        text: What they stand in.
        document: What the text is read beside.
        filler: Whose window decides the cut.
    """
    kept = fit(len(document.ids), len(text.ids), len(group), filler)
    blanks, taken = [], 0
    asked: list[Place] = []
    for factor, place in zip(group, places, strict=True):
        # A tokenizer whose tokens cross white space may give one token to two factors.
        start, end = max(place[0], taken), place[1]
        problem = DROPPED if place[0] == place[1] else CUT_OFF if end > kept[1] else SHARED * (start >= end)
        if problem:
            blanks.append(Blank(factor, problem=problem))
            continue
        blanks.append(Blank(factor, text.ids[start:end], len(asked)))
        asked.append((start, end))
        taken = end
    if not asked:
        return Question(None, tuple(blanks), kept)
    query = Query(text.ids[: kept[1]], tuple(asked), document.ids[: kept[0]])
    return Question(query, tuple(blanks), kept)
