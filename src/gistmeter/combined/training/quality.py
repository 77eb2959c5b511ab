"""Fit the weights of `quality` to human judgements."""

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from gistmeter.combined.linear import Linear, Term, feature
from gistmeter.combined.members import save_combination
from gistmeter.combined.quality import KIND
from gistmeter.combined.training.judged import BY, Judged, folds, read_judged
from gistmeter.core.correlation import pearson
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.score import Score
from gistmeter.training.recipe import check_keys

Array = NDArray[np.float64]
KEYS = ("terms", "members", "sets", "scale", "penalty")


def train_quality(recipe: Mapping[str, Any], data: Path, output: Path) -> dict[str, float]:
    """Fit the weights of a recipe and save them.

    Each dimension is a ridge regression of the judgements on standardized scores of the members, with sign
    constraints. The penalty makes the weights of correlated scores alike. Scores and judgements are compared
    within each data set; least squares on the first set that has the dimension decides the scale of the
    result, so that the penalty does not shrink the differences between texts.

    A dimension without judgements is the sum of standardized scores with the weights of its terms, in its
    standard deviations on the rows of all sets.

    A member that was itself trained on a set would look better than it is. So a set may give its predictions
    from cross-validation (`unseen`): those without the row's document in the metrics by document, those
    without its system everywhere else.

    Args:
        recipe: Recipe such as `recipes/quality.toml`: `members` (spec → preset and model), `terms` (each with
            `spec`, `part`, the `dimensions` it serves, and `sign` 1, −1 or 0 for either, or `weight` if
            they have no judgements), `sets` (as in `read_judged`, with `dimensions`: ours → theirs), `scale`
            and optionally `penalty`, one for all dimensions or a table with one for each.
        data: Folder of the rows and scores.
        output: Folder; the weights are in its subfolder `model`.

    Returns:
        For each fitted dimension and set, Pearson correlation by cross-validation over documents, systems
        and sets.

    Raises:
        UsageError: If a key of the recipe is missing, a term of a dimension with judgements has a weight, or
            `penalty` is a table without a dimension.
        DataError: If the data cannot be read, has no judgement, or contradicts the signs of the terms.
    """
    check_keys(recipe, ("task", *KEYS, "notes"), "the recipe")
    asked = dict.fromkeys(name for chosen in recipe["sets"] for name in chosen.get("dimensions", ()))
    judged = [
        (chosen, read_judged(data, chosen, _needed(recipe, chosen, asked))) for chosen in recipe["sets"]
    ]
    dimensions: dict[str, Any] = {}
    figures: dict[str, float] = {}
    for name in asked:
        problem = Problem.of(name, recipe, judged)
        dimensions[name] = problem.fit().to_dict()
        figures |= {f"{name}_{what}": value for what, value in problem.figures().items()}
    rows = [row for _, found in judged for row in found]
    for name in dict.fromkeys(name for term in recipe["terms"] for name in term["dimensions"]):
        if name not in dimensions:
            terms = [term for term in recipe["terms"] if name in term["dimensions"]]
            dimensions[name] = fixed(rows, terms, scale=recipe["scale"]).to_dict()
    used = {str(term["spec"]) for linear in dimensions.values() for term in linear["terms"]}
    members = {spec: entry for spec, entry in recipe["members"].items() if spec in used}
    save_combination(output / "model", {"model_type": KIND, "members": members, "dimensions": dimensions})
    return figures


def _needed(recipe: Mapping[str, Any], chosen: Mapping[str, Any], asked: Collection[str]) -> list[str]:
    """Return the members that a set must have scores by: those of its dimensions.

    A dimension without judgements (not `asked`) is scaled on the rows of all sets, so all of them need its
    members.
    """
    own = chosen.get("dimensions", ())
    used = {
        str(term["spec"])
        for term in recipe["terms"]
        if any(name in own or name not in asked for name in term["dimensions"])
    }
    return [spec for spec in recipe["members"] if spec in used]


def fixed(rows: Sequence[Judged], terms: Sequence[Mapping[str, Any]], *, scale: Sequence[float]) -> Linear:
    """Return the weighted sum of standardized features, in its standard deviations on the rows.

    Args:
        rows: Rows whose features have mean 0 and standard deviation 1, and whose result has the same.
        terms: Tables with `spec`, `part` and `weight`.
        scale: Least and greatest result.

    Raises:
        DataError: If there are no rows.
    """
    means, scales, features = standardized([row.scores for row in rows], terms)
    weights = np.array([float(term["weight"]) for term in terms])
    weights /= (features @ weights).std() or 1.0
    return Linear(0.0, _terms(terms, means, scales, weights), *map(float, scale))


def standardized(
    rows: Sequence[Mapping[str, Score]], terms: Sequence[Mapping[str, Any]]
) -> tuple[Array, Array, Array]:
    """Return each feature's mean and standard deviation, shape (terms,), and features, shape (rows, terms).

    Args:
        rows: For each row, the scores by the label of the metric.
        terms: Tables with `spec` and `part`.

    Raises:
        DataError: If there are no rows.
    """
    if not rows:
        raise DataError("no row has a judgement of a dimension that its set names")
    raw = np.array([[feature(scores[str(t["spec"])], str(t["part"])) for t in terms] for scores in rows])
    means, scales = np.nanmean(raw, axis=0), np.nanstd(raw, axis=0)
    scales[np.isclose(scales, 0)] = 1.0  # rounding gives equal values a tiny deviation
    return means, scales, np.nan_to_num((raw - means) / scales)


def _terms(
    terms: Sequence[Mapping[str, Any]], means: Array, scales: Array, weights: Array
) -> tuple[Term, ...]:
    return tuple(
        Term(str(t["spec"]), str(t["part"]), float(mean), float(scale), float(weight))
        for t, mean, scale, weight in zip(terms, means, scales, weights, strict=True)
        if weight
    )


class Problem:
    """The regression of one dimension.

    Args:
        rows: The rows that have the judgement.
        judgements: Of the rows, shape (rows,).
        terms: Tables with `spec`, `part` and `sign`.
        scale: Least and greatest result.
        penalty: Weight of the squared weights, in rows.

    Raises:
        DataError: If there are no rows.
    """

    def __init__(
        self,
        rows: Sequence[Judged],
        judgements: Array,
        terms: Sequence[Mapping[str, Any]],
        *,
        scale: Sequence[float],
        penalty: float,
    ) -> None:
        self.rows, self.judgements = rows, judgements
        self.scale, self.penalty = scale, penalty
        self.terms = terms

    @classmethod
    def of(cls, name: str, table: Mapping[str, Any], judged: Sequence[tuple[Any, list[Judged]]]) -> "Problem":
        """Return the problem of a dimension, with the rows of all sets that have it.

        Raises:
            UsageError: If one of its terms has a weight, or it has no penalty.
            DataError: If there are no rows.
        """
        rows, judgements = [], []
        for chosen, found in judged:
            theirs = chosen.get("dimensions", {}).get(name)
            mine = [row for row in found if not math.isnan(row.judgements.get(theirs, math.nan))]
            rows += mine
            judgements += [row.judgements[theirs] for row in mine]
        terms = [term for term in table["terms"] if name in term["dimensions"]]
        if any("weight" in term for term in terms):
            raise UsageError(f"terms: {name} has judgements, so its terms need a sign instead of a weight")
        penalty = table.get("penalty", 0)
        if isinstance(penalty, Mapping):
            if name not in penalty:
                raise UsageError(f"penalty has no entry for {name}; add one, or give one number for all")
            penalty = penalty[name]
        return cls(rows, np.array(judgements), terms, scale=table["scale"], penalty=float(penalty))

    def fit(self) -> Linear:
        """Fit all rows; results have the scale of the first set.

        Raises:
            DataError: If the weights that fit all sets do not rank the first set as its judgements do.
        """
        means, scales, features = self._features("system")
        weights = self._weights(features, range(len(self.rows)))
        first = np.array([row.set == self.rows[0].set for row in self.rows])
        fitted, judgements = features[first] @ weights, self.judgements[first]
        level = float(judgements.mean())
        # The ridge decides the ratios of the weights, least squares their common factor.
        slope = float((fitted - fitted.mean()) @ judgements) / (float(fitted.var()) * len(fitted) or 1.0)
        if slope <= 0:
            specs = ", ".join(dict.fromkeys(str(term["spec"]) for term in self.terms))
            raise DataError(
                f"{specs}: with these signs, the fitted sum does not rise with the judgements of "
                f"{self.rows[0].set}, the first set; put another set first, or change the signs"
            )
        terms = _terms(self.terms, means, scales, slope * weights)
        return Linear(level - slope * float(fitted.mean()), terms, *map(float, self.scale))

    def figures(self) -> dict[str, float]:
        """Return Pearson correlations on left-out documents, systems and sets, by set."""
        names = list(dict.fromkeys(row.set for row in self.rows))
        found = {}
        for left_out, by in BY.items():
            if len({by(row) for row in self.rows}) < 2:
                continue
            _, _, features = self._features("document" if left_out == "document" else "system")
            predicted = np.full(len(self.rows), np.nan)
            for kept, held in folds(self.rows, by):
                predicted[held] = features[held] @ self._weights(features, kept)
            for name in names:
                mine = np.array([row.set == name for row in self.rows])
                found[f"{name}_by_{left_out}"] = pearson(predicted[mine], self.judgements[mine])
        return found

    def _features(self, left_out: str) -> tuple[Array, Array, Array]:
        return standardized([row.scores_without(left_out) for row in self.rows], self.terms)

    def _weights(self, features: Array, rows: Sequence[int]) -> Array:
        """Return the weights of the standardized features, fitted within each set, with all sets alike."""
        x, y = features[rows].copy(), self.judgements[rows].copy()
        sets = np.array([self.rows[at].set for at in rows])
        names = np.unique(sets)
        for name in names:
            mine = sets == name
            x[mine] -= x[mine].mean(axis=0)
            y[mine] = (y[mine] - y[mine].mean()) / (y[mine].std() or 1.0)
            share = math.sqrt(len(sets) / (len(names) * mine.sum()))
            x[mine] *= share
            y[mine] *= share
        signs = [[1, -1] if not term["sign"] else [int(term["sign"])] for term in self.terms]
        owner = [at for at, own in enumerate(signs) for _ in own]
        sign = np.array([s for own in signs for s in own], dtype=float)
        columns = x[:, owner] * sign
        ridge = math.sqrt(self.penalty) * np.eye(len(owner))
        solved, _ = nnls(np.vstack([columns, ridge]), np.concatenate([y, np.zeros(len(owner))]))
        weights = np.zeros(len(self.terms))
        np.add.at(weights, owner, sign * solved)
        return weights
