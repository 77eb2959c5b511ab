"""Compute the components of SARI from words (Xu et al., 2016, section 3.1)."""

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
    """Differences between the definitions of SARI in use.

    Args:
        precision_by_type: Whether distinct n-grams have equal weight in precisions, not occurrences.
        recall_by_type: The same for the recall of kept n-grams.
        f1_of_means: Whether to use the F1 of the means over n (equation 7); otherwise, the mean of the F1.
        strict_deletion: Whether deleting one of two occurrences is correct only if the references have fewer
            than one on average; otherwise (equation 6), if they have fewer than two.
        nothing: Precision or recall with a denominator of 0.
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
    """Counts of one operation on one n-gram.

    Args:
        good: Correct operations of the candidate, which agree with the references.
        done: Operations of the candidate.
        wanted: Operations of the references, on average.
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
        source: Words of the source.
        candidate: Words of the candidate.
        references: Words of each reference, at least one.
        definition: Definition of SARI; see `RULES`.

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
    """Count added, kept and deleted n-grams (equations 4 to 6).

    With I and O the counts of an n-gram in source and candidate, R in all references together, and
    R′ = R / number of references:

    * add: n-grams that the source lacks, 1 or 0 each: done if in O, wanted if in R, good if in both.
    * keep: done = min(I, O), wanted = min(I, R′), good = min(done, wanted).
    * delete: done = max(I − O, 0), wanted = max(I − R′, 0), good = min(done, wanted); in the
      authors' program good = max(done − R′, 0), the same unless the n-gram is repeated.

    Args:
        source: Words of the source.
        candidate: Words of the candidate.
        references: Words of each reference, at least one.
        n: Length of the n-grams.
        strict_deletion: Whether to count correct deletions as the authors' program does.

    Returns:
        Counts by operation. `delete` contains only n-grams that the candidate deleted, because SARI does not
        use the recall of deletions.
    """
    before, after = Counter(ngrams(source, n)), Counter(ngrams(candidate, n))
    total = Counter(ngram for reference in references for ngram in ngrams(reference, n))
    added = (after.keys() | total.keys()) - before.keys()
    found = {
        "add": [_addition(done=ngram in after, wanted=ngram in total) for ngram in added],
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


def _addition(*, done: bool, wanted: bool) -> Edit:
    """Count an n-gram that the source lacks: 1 or 0 for each side."""
    return Edit(good=float(done and wanted), done=float(done), wanted=float(wanted))


def _rate(pairs: Iterable[tuple[float, float]], *, by_type: bool, nothing: float) -> float:
    """Return the mean of good / total, or Σ good / Σ total, over the pairs with a positive total."""
    counted = [(good, total) for good, total in pairs if total > 0]
    if not counted:
        return nothing
    if by_type:
        return fmean(good / total for good, total in counted)
    return fsum(good for good, _ in counted) / fsum(total for _, total in counted)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
