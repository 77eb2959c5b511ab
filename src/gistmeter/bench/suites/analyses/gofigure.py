"""Inject errors into texts and measure a metric's sensitivity, after GO FIGURE (Gabriel et al., 2021).

The upper bound is the text without errors; the lower bound is the summary of another document. Levels 1 to 3
have one, two and three errors; each level adds one error to the previous level. Errors in entities (names,
dates, numbers) are separate from other errors (negations, pronouns, verbs).
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
"""Number of characters of a source that are searched for replacements."""


@dataclass(frozen=True, slots=True)
class Injected:
    """An injected error.

    Args:
        kind: Kind of the changed phrase.
        operation: `swap` (a phrase from the same texts), `replace` (a phrase from neither) or `delete`.
        start: First character in the text without errors.
        end: One past the last character.
        wrong: Replacement text.
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
        text: Text with errors.
        errors: Errors in the order of injection.
    """

    text: str
    errors: tuple[Injected, ...]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Sensitivity of a metric to the number of errors; undefined values are NaN.

    Args:
        upper: Mean score of the texts without errors.
        levels: Mean scores with one, two and three errors.
        lower: Mean score of other documents' summaries.
        correlation: Pearson's r of the three levels with their means, as the papers report it.
        p: Two-sided p-value of the correlation, with one degree of freedom.
        noticed: Share of the texts with an error at level 1 that score lower there than without.
        n: Number of texts with a value in all five states.
        n_undefined: Number of the other texts.
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
    """Inject errors into texts.

    The errors depend on the seed, the family and the pair, not on the other pairs.

    Args:
        pairs: Texts without errors and their sources.
        pipeline: English pipeline with entities, tags and dependencies.
        seed: Seed of the errors.

    Returns:
        Levels 1 to 3 of each text by family, without families that have no room for three errors.
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
    """Return a different text for each text: the one half the list away, or the next that differs.

    Raises:
        ValueError: If all texts are equal.
    """
    if len(set(texts)) < 2:
        raise ValueError("all texts are equal; give texts of at least two documents")
    count = len(texts)
    orders = ([*range(count // 2, count), *range(count // 2)] for _ in texts)
    return [
        next(texts[(at + step) % count] for step in order if texts[(at + step) % count] != text)
        for (at, text), order in zip(enumerate(texts), orders, strict=True)
    ]


def sensitivity(
    upper: Sequence[float],
    levels: Sequence[Sequence[float]],
    lower: Sequence[float],
    changed: Sequence[bool] | None = None,
) -> Sensitivity:
    """Summarize a metric's values for the same texts in all five states.

    Args:
        upper: Values without errors, one per text, NaN if undefined; same for the other arguments.
        levels: Values with one, two and three errors.
        lower: Values of the other documents' summaries.
        changed: Whether each text has an error at level 1; by default, all have.

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
    marked = np.ones(table.shape[1], dtype=bool) if changed is None else np.array(changed, dtype=bool)
    marked = marked[np.isfinite(table).all(axis=0)]
    noticed = float((sound[1] < sound[0])[marked].mean()) if marked.any() else math.nan
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
    """Build an error; a deletion includes the preceding white space, or the following at the text start."""
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
