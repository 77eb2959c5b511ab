"""Errors put into texts on purpose: does a metric fall as they grow in number?

The upper bound is the text without an error, the lower bound the summary of another document. Between them
stand one, two and three errors, those in entities (names, dates, numbers) apart from the others (negations,
pronouns, verbs). The errors of a level are those of the level below and one more. After GO FIGURE
(Gabriel et al., 2021).
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from gistmeter.bench.suites.analyses.gofigure_sites import (
    Kind,
    Operation,
    Site,
    find_sites,
    groups_of,
    wrong_texts,
)

if TYPE_CHECKING:
    from gistmeter.text.factors import Pipeline

Family = Literal["entity", "other"]
FAMILIES: dict[Family, tuple[Kind, ...]] = {
    "entity": ("entity", "number"),
    "other": ("negation", "pronoun", "verb"),
}
LEVELS = 3
READ = 2000
"""Characters of a source that are searched for what may be swapped in."""


@dataclass(frozen=True, slots=True)
class Injected:
    """One error.

    Args:
        kind: What was made wrong.
        operation: How: with something else from the same texts (`swap`), with something from neither
            (`replace`), or by leaving it out (`delete`).
        start: First character in the text without errors.
        end: One past the last.
        wrong: What stands there now.
    """

    kind: Kind
    operation: Operation
    start: int
    end: int
    wrong: str


@dataclass(frozen=True, slots=True)
class Corrupted:
    """A text with errors.

    Args:
        text: As it reads now.
        errors: In the order they were put in.
    """

    text: str
    errors: tuple[Injected, ...]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How a metric takes a growing number of errors; NaN is undefined.

    Args:
        upper: Mean over the texts without errors.
        levels: Means at one, two and three errors.
        lower: Mean over other documents' summaries.
        correlation: Pearson's, of the three levels with their means, as the papers report it.
        p: Its two-sided p-value. Three points: one degree of freedom.
        noticed: Share of texts that score lower with one error than without.
        n: Texts with a value in all five states.
        n_undefined: Texts without.
    """

    upper: float
    levels: tuple[float, ...]
    lower: float
    correlation: float
    p: float
    noticed: float
    n: int
    n_undefined: int


def corrupt(
    pairs: Sequence[tuple[str, str]], pipeline: "Pipeline", *, seed: int = 0
) -> list[dict[Family, tuple[Corrupted, ...]]]:
    """Put errors into texts.

    What is drawn depends on the seed, the family and the pair itself, not on the other pairs.

    Args:
        pairs: Each text without errors, and its source.
        pipeline: English: entities, tags and dependencies.
        seed: Draws other errors.

    Returns:
        For each text its levels 1 to 3 by family, without a family of which three errors find no place.
    """
    with pipeline.session() as nlp:
        texts = [text for summary, source in pairs for text in (summary, source[:READ])]
        found = [find_sites(doc) for doc in nlp.pipe(texts)]
    made = []
    for (text, _), ours, theirs in zip(pairs, found[::2], found[1::2], strict=True):
        levels = {
            family: _levels(text, ours, groups_of([*ours, *theirs]), family, seed) for family in FAMILIES
        }
        made.append({family: texts for family, texts in levels.items() if texts})
    return made


def others(texts: Sequence[str]) -> list[str]:
    """Return for each text another one: the one half of the list further, or the next that differs.

    Raises:
        ValueError: If all texts are the same.
    """
    if len(set(texts)) < 2:
        raise ValueError("one text alone has no other; give texts of two documents at least")
    count = len(texts)
    orders = ([*range(count // 2, count), *range(count // 2)] for _ in texts)
    return [
        next(texts[(at + step) % count] for step in order if texts[(at + step) % count] != text)
        for (at, text), order in zip(enumerate(texts), orders, strict=True)
    ]


def sensitivity(
    upper: Sequence[float], levels: Sequence[Sequence[float]], lower: Sequence[float]
) -> Sensitivity:
    """Sum up a metric's values for the same texts in all five states.

    Args:
        upper: One value a text, NaN where there is none; the others likewise.
        levels: With one, two and three errors.
        lower: Of the other documents' summaries.

    >>> found = sensitivity([0.9, 0.7], [[0.6, 0.7], [0.5, 0.6], [0.4, 0.5]], [0.1, 0.1])
    >>> round(found.upper, 3), round(found.correlation, 3), found.noticed, found.n
    (0.8, -1.0, 0.5, 2)
    """
    table = np.array([upper, *levels, lower], dtype=float)
    sound = table[:, np.isfinite(table).all(axis=0)]
    if not sound.shape[1]:
        nothing = math.nan
        return Sensitivity(
            nothing, (nothing,) * LEVELS, nothing, nothing, nothing, nothing, 0, table.shape[1]
        )
    means = sound.mean(axis=1)
    r, p = _correlation(means[1:-1])
    noticed = float((sound[1] < sound[0]).mean())
    figures = (float(means[0]), tuple(map(float, means[1:-1])), float(means[-1]))
    return Sensitivity(*figures, r, p, noticed, sound.shape[1], table.shape[1] - sound.shape[1])


def _correlation(means: NDArray[np.float64]) -> tuple[float, float]:
    from scipy.stats import pearsonr

    if np.ptp(means) <= 1e-12 * np.abs(means).max():
        return math.nan, math.nan
    found = pearsonr(np.arange(1, len(means) + 1), means)
    return float(found.statistic), float(found.pvalue)


def _levels(
    text: str, all_sites: Sequence[Site], known: Mapping[str, Sequence[str]], family: Family, seed: int
) -> tuple[Corrupted, ...]:
    digest = hashlib.sha256(f"{seed}\0{family}\0{text}".encode(errors="surrogatepass"))
    rng = Random(digest.hexdigest())
    chosen: list[Injected] = []
    sites = [site for site in all_sites if site.kind in FAMILIES[family]]
    for site in rng.sample(sites, len(sites)):
        if any(site.start < error.end and error.start < site.end for error in chosen):
            continue
        wrong = wrong_texts(site, known, rng)
        operation = rng.choice(sorted(wrong))
        chosen.append(_error(text, site, operation, wrong[operation]))
        if len(chosen) == LEVELS:
            return tuple(_apply(text, chosen[:level]) for level in range(1, LEVELS + 1))
    return ()


def _error(text: str, site: Site, operation: Operation, wrong: str) -> Injected:
    """Make an error; what is left out takes the white space before it along, at the start that behind."""
    start, end = site.start, site.end
    if not wrong:
        if start and text[start - 1].isspace():
            start -= 1
        elif not start and text[end : end + 1].isspace():
            end += 1
    return Injected(site.kind, operation, start, end, wrong)


def _apply(text: str, errors: Sequence[Injected]) -> Corrupted:
    parts, at = [], 0
    for error in sorted(errors, key=lambda error: error.start):
        parts += [text[at : error.start], error.wrong]
        at = error.end
    return Corrupted("".join([*parts, text[at:]]), tuple(errors))
