"""The arithmetic of SARI (Xu et al., 2016, section 3.1): words in, three figures out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import fsum
from statistics import fmean
from typing import Literal, NamedTuple

from gistmeter.metrics.baselines.common import ngrams

ORDERS = (1, 2, 3, 4)
Definition = Literal["authors", "equations", "evaluate"]
Texts = Sequence[Sequence[str]]


class Rules(NamedTuple):
    """Where the definitions in use differ.

    Args:
        precision_by_type: Each distinct n-gram weighs the same in a precision; else each occurrence.
        recall_by_type: The same for the recall of what is kept.
        f1_of_means: F1 of the means over n (equation 7); else the mean over n of F1.
        strict_deletion: Taking out one of two occurrences is right only if the references have
            fewer than one; else (equation 6) if they have fewer than two.
        nothing: What a precision or recall is whose denominator is 0.
    """

    precision_by_type: bool
    recall_by_type: bool
    f1_of_means: bool
    strict_deletion: bool
    nothing: float


RULES: dict[Definition, Rules] = {
    "authors": Rules(True, True, f1_of_means=False, strict_deletion=True, nothing=0.0),
    "equations": Rules(False, False, f1_of_means=True, strict_deletion=False, nothing=0.0),
    "evaluate": Rules(True, False, f1_of_means=False, strict_deletion=True, nothing=1.0),
}


class Edit(NamedTuple):
    """What happened to one n-gram under one operation.

    Args:
        good: How often the candidate did it as the references did.
        done: How often the candidate did it.
        wanted: How often the references did, on average.
    """

    good: float
    done: float
    wanted: float


def sari(
    source: Sequence[str], candidate: Sequence[str], references: Texts, definition: Definition = "authors"
) -> dict[str, float]:
    """Return `add`, `keep` and `delete`, each from 0 to 100; SARI is their mean (equation 7).

    For each n from 1 to 4 and each operation, precision = Σ good / Σ done and recall =
    Σ good / Σ wanted over the n-grams (`equations`), or the mean of good / done and of good / wanted
    over the distinct n-grams with a denominator (`authors`). Add and keep are F1 = 2PR / (P + R),
    delete is a precision, "because over-deleting hurts readability much more".

    Args:
        source: Words before simplification.
        candidate: Words after it.
        references: Words of at least one.
        definition: Whose conventions: see `RULES`.

    >>> before, after = "the big cat sat .".split(), "the cat sat .".split()
    >>> {name: round(part, 2) for name, part in sari(before, after, ["a cat sat .".split()]).items()}
    {'add': 0.0, 'keep': 71.43, 'delete': 100.0}
    """
    rules = RULES[definition]
    orders = [edits(source, candidate, references, n, strict_deletion=rules.strict_deletion) for n in ORDERS]
    parts = {}
    for name, recall_by_type in (("add", True), ("keep", rules.recall_by_type)):
        done = [[(edit.good, edit.done) for edit in order[name]] for order in orders]
        wanted = [[(edit.good, edit.wanted) for edit in order[name]] for order in orders]
        precisions = [_rate(pairs, by_type=rules.precision_by_type, nothing=rules.nothing) for pairs in done]
        recalls = [_rate(pairs, by_type=recall_by_type, nothing=rules.nothing) for pairs in wanted]
        if rules.f1_of_means:
            precisions, recalls = [fmean(precisions)], [fmean(recalls)]
        parts[name] = 100 * fmean(_f1(*pair) for pair in zip(precisions, recalls, strict=True))
    deleted = [[(edit.good, edit.done) for edit in order["delete"]] for order in orders]
    rates = [_rate(pairs, by_type=rules.precision_by_type, nothing=rules.nothing) for pairs in deleted]
    return {**parts, "delete": 100 * fmean(rates)}


def edits(
    source: Sequence[str], candidate: Sequence[str], references: Texts, n: int, *, strict_deletion: bool
) -> dict[str, list[Edit]]:
    """Say of each n-gram how it was added, kept and deleted (equations 4 to 6).

    With I and O the counts of an n-gram in source and candidate, R in all references together, and
    R′ = R / number of references:

    * add: n-grams that the source lacks, 1 or 0 each: done if in O, wanted if in R, good if in both.
    * keep: done = min(I, O), wanted = min(I, R′), good = min(done, wanted).
    * delete: done = max(I − O, 0), wanted = max(I − R′, 0), good = min(done, wanted); in the
      authors' program good = max(done − R′, 0), the same unless the n-gram is repeated.

    Args:
        source: Words before simplification.
        candidate: Words after it.
        references: Words of at least one.
        n: The n-grams' length.
        strict_deletion: Whether to count right deletions as the authors' program does.

    Returns:
        By operation; under `delete` only what the candidate deleted, since its recall does not count.
    """
    before, after = Counter(ngrams(source, n)), Counter(ngrams(candidate, n))
    total = Counter(ngram for reference in references for ngram in ngrams(reference, n))
    added = (after.keys() | total.keys()) - before.keys()
    found = {
        "add": [Edit(ngram in after and ngram in total, ngram in after, ngram in total) for ngram in added],
        "keep": [],
        "delete": [],
    }
    for ngram, there in before.items():
        mean, left = total.get(ngram, 0) / len(references), after.get(ngram, 0)
        if mean or left:
            kept = min(there, left)
            found["keep"].append(Edit(min(kept, mean), kept, min(there, mean)))
        if left < there:
            gone, wanted = there - left, max(there - mean, 0)
            good = max(gone - mean, 0) if strict_deletion else min(gone, wanted)
            found["delete"].append(Edit(good, gone, wanted))
    return found


def _rate(pairs: Iterable[tuple[float, float]], *, by_type: bool, nothing: float) -> float:
    """Return the mean of good / total, or Σ good / Σ total, over the pairs with a total."""
    counted = [(good, total) for good, total in pairs if total > 0]
    if not counted:
        return nothing
    if by_type:
        return fmean(good / total for good, total in counted)
    return fsum(good for good, _ in counted) / fsum(total for _, total in counted)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
