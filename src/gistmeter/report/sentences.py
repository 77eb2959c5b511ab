"""What a comparison found, in sentences to paste."""

from collections.abc import Mapping, Sequence
from typing import Any

Figures = Mapping[str, Any]


def sentences(systems: Sequence[Figures], pairs: Sequence[Figures]) -> list[str]:
    """Return a sentence a metric: the best system against the next.

    Args:
        systems: Of a `Comparison`, best first.
        pairs: Of the same.
    """
    order: dict[str, list[str]] = {}
    for row in systems:
        if row["mean"] is not None:
            order.setdefault(row["metric"], []).append(row["system"])
    found = []
    for metric, names in order.items():
        best = [row for row in pairs if row["metric"] == metric and {row["a"], row["b"]} == {*names[:2]}]
        many = sum(row["metric"] == metric for row in pairs)
        found += [sentence(row, many) for row in best if row["difference"] is not None]
    return found


def sentence(row: Figures, pairs: int = 1) -> str:
    """Return what a pair of systems shows.

    Args:
        row: Of the pairs of a `Comparison`.
        pairs: How many were compared; with several, p is corrected.
    """
    better, worse, sign = (row["a"], row["b"], 1) if row["difference"] >= 0 else (row["b"], row["a"], -1)
    means = sorted((row["mean_a"], row["mean_b"]), reverse=True)
    metric, figures = row["metric"], f"mean {means[0]:.3f} and {means[1]:.3f}"
    where = f"On {row['documents']:,} document{'s' * (row['documents'] != 1)}"
    if row["few"]:
        return (
            f"{where}, {better} and {worse} score {figures} on {metric}; these are too few documents to test."
        )
    ends = sorted(sign * row[end] for end in ("low", "high"))
    corrected = f", Holm-corrected for {pairs} pairs" if pairs > 1 else ""
    tested = (
        f"difference {abs(row['difference']):.3f}, 95 % interval [{ends[0]:.3f}, {ends[1]:.3f}], "
        f"paired permutation test by document, p {probability(row['p_holm'])}{corrected}"
    )
    if row["effect"] is not None:
        tested += f", Cohen's d {abs(row['effect']):.2f}"
    if row["significant"]:
        return f"{where}, {better} scores higher than {worse} on {metric} ({figures}; {tested})."
    said = f"{where}, {better} and {worse} do not differ significantly on {metric} ({figures}; {tested})"
    if row["detectable"] is None:
        return said + "."
    return f"{said}; with as many documents, a difference of {row['detectable']:.3f} shows in 80 % of tests."


def warnings_of(pairs: Sequence[Figures]) -> list[str]:
    """Return what to keep in mind of pairs: too few documents, rows left out."""
    found = []
    few = [row for row in pairs if row["few"]]
    if few:
        least = min(row["documents"] for row in few)
        found.append(
            f"{_pairs(few, pairs)} fewer than ten documents (down to {least}): too few to tell systems "
            "apart; no difference is marked"
        )
    for name, why in (("n_undefined", "that lack a value in one of the two systems"),
                      ("n_unmatched", "that only one of the two systems has")):  # fmt: skip
        left = [row for row in pairs if row[name]]
        if left:
            most = max(row[name] for row in left)
            found.append(f"{_pairs(left, pairs)} rows {why} (up to {most}); they are left out of the pair")
    return found


def probability(p: float) -> str:
    """Return a p-value with its sign.

    >>> probability(0.0004), probability(0.0321)
    ('< .001', '= .032')
    """
    return "< .001" if p < 0.001 else "= " + f"{p:.3f}".replace("0.", ".", 1)


def _pairs(some: Sequence[Figures], pairs: Sequence[Figures]) -> str:
    if len(some) == len(pairs):
        return "all pairs have" if len(pairs) > 1 else "the pair has"
    return f"{len(some)} of {len(pairs)} pairs have"
