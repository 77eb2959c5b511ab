"""Fit the risk of `check`: the probability that people call a text wrong, from its sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gistmeter.combined.check import KIND, OPTIONAL, REQUIRED
from gistmeter.combined.members import save_combination
from gistmeter.combined.support import FEATURES, Risk, geometric_mean, read_sentences
from gistmeter.combined.training.judged import BY, Judged, folds, read_judged
from gistmeter.core.correlation import pearson
from gistmeter.core.errors import DataError
from gistmeter.report.check import UNSUPPORTED
from gistmeter.training.recipe import check_keys

Array = NDArray[np.float64]
LEAST = 1e-6  # probability, so that its logarithm is finite
FALSE_ALARMS = 0.05
"""Default of the share of the texts without errors in which a sentence counts as unsupported."""


def train_check(recipe: Mapping[str, Any], data: Path, output: Path) -> dict[str, float]:
    """Fit the weights of a recipe and save them.

    The share of people who call a text right is the geometric mean of 1 − p over its sentences, with p from a
    logistic model. It is fitted by maximum likelihood; each set has the same total weight. The level of alarm
    is the p that a sentence exceeds in a given share of the texts that people call right.

    Args:
        recipe: Recipe such as `recipes/check.toml`: `members`; optionally `false_alarms`, that share, on
            average over the sets (default .05); `given`, weights of features that are too rare to be fitted;
            `sets`, each with `name`, `rows`, `scores`, `dimension`, and
            the judgements that stand for `wrong` and `right`.
        data: Folder of the rows and scores.
        output: Folder; the weights are in its subfolder `model`.

    Returns:
        For each set, Pearson correlation of 1 − value with the judgements, and the shares of right and of
        wrong texts with an unsupported sentence: with documents left out, and with sets left out.

    Raises:
        UsageError: If a key of the recipe is missing.
        DataError: If the data cannot be read, or has no judgement.
    """
    check_keys(recipe, ("task", "members", "false_alarms", "given", "sets", "notes"), "the recipe")
    false_alarms = float(recipe.get("false_alarms", FALSE_ALARMS))
    given = {name: float(weight) for name, weight in recipe.get("given", {}).items()}
    labels = [
        str(recipe["members"][name]["spec"]) for name in (*REQUIRED, OPTIONAL) if name in recipe["members"]
    ]
    rows: list[Judged] = []
    texts: list[Array] = []
    wrong: list[float] = []
    for table in recipe["sets"]:
        for row in read_judged(data, table, labels):
            judgement, features = row.judgements.get(table["dimension"]), _features(row, labels)
            if judgement is not None and len(features):  # a text without sentences says nothing
                rows.append(row)
                texts.append(features)
                wrong.append(_share(judgement, table["wrong"], table["right"]))
    if not rows:
        raise DataError("no row has a judgement of the dimension that its set names")
    shares = np.array(wrong)
    risk = fit(texts, shares, [row.set for row in rows], false_alarms, given)
    facts = {
        "model_type": KIND,
        "members": recipe["members"],
        "intercept": risk.intercept,
        "weights": dict(zip(FEATURES, risk.weights, strict=True)),
        "means": dict(zip(FEATURES, risk.means, strict=True)),
        "alarm": risk.alarm,
    }
    save_combination(output / "model", facts)
    return _figures(rows, texts, shares, false_alarms, given)


def fit(
    texts: Sequence[Array],
    wrong: Array,
    sets: Sequence[str],
    false_alarms: float = FALSE_ALARMS,
    given: Mapping[str, float] = MappingProxyType({}),
) -> Risk:
    """Fit the logistic model of sentences to texts.

    Args:
        texts: For each text, the features of its sentences, at least one, shape (sentences, features); NaN if
            unknown.
        wrong: Share of people who call each text wrong, shape (texts,).
        sets: The data set of each text.
        false_alarms: Share of the right texts with an unsupported sentence, on average over the sets.
        given: Weights of features that are not fitted, by name.
    """
    flat = np.concatenate(texts)
    known = np.atleast_1d(~np.isnan(flat).all(axis=0))
    means = np.where(known, np.nanmean(np.where(known, flat, 0.0), axis=0), 0.0)
    centred = np.where(np.isnan(flat), means, flat) - means
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    size = {name: sets.count(name) for name in set(sets)}
    weight = np.array([1 / size[name] for name in sets]) / len(size)
    sentences = np.bincount(owner)

    def loss(theta: Array) -> float:
        logs = -np.logaddexp(0, theta[0] + centred @ theta[1:])
        right = np.exp(np.bincount(owner, logs, len(texts)) / sentences)
        right = np.clip(right, LEAST, 1 - LEAST)
        return float(-(weight * (wrong * np.log1p(-right) + (1 - wrong) * np.log(right))).sum())

    fixed = [given.get(name, None if use else 0.0) for name, use in zip(FEATURES, known, strict=True)]
    start = np.array([-1.0, *(-0.5 if weight is None else weight for weight in fixed)])
    bounds = [(None, None), *((weight, 0.0 if weight is None else weight) for weight in fixed)]
    theta = minimize(loss, start, bounds=bounds).x
    risk = Risk(float(theta[0]), tuple(map(float, theta[1:])), tuple(map(float, means)))
    worst = np.full(len(texts), -np.inf)
    np.maximum.at(worst, owner, centred @ theta[1:])
    return replace(risk, alarm=risk.intercept + _alarm_level(worst, weight * (1 - wrong), false_alarms))


def _alarm_level(worst: Array, right: Array, false_alarms: float) -> float:
    """Return the log-odds that the worst sentence exceeds in a share of the right texts.

    Args:
        worst: Log-odds of the worst sentence of each text, without the intercept, shape (texts,).
        right: Weight of each text among the right ones, same shape.
        false_alarms: That share.
    """
    order = np.argsort(-worst)
    share = np.cumsum(right[order]) / right.sum()
    return float(worst[order][np.searchsorted(share, false_alarms)])


def _features(row: Judged, labels: Sequence[str]) -> Array:
    found = read_sentences(*(row.scores[label] for label in labels))
    return np.array([sentence.features for sentence in found]).reshape(-1, len(FEATURES))


def _share(judgement: float, wrong: float, right: float) -> float:
    return float(np.clip((right - judgement) / (right - wrong), 0, 1))


def _figures(
    rows: Sequence[Judged],
    texts: Sequence[Array],
    wrong: Array,
    false_alarms: float,
    given: Mapping[str, float],
) -> dict[str, float]:
    """Return what the predictions for left-out documents, and for left-out sets, are worth."""
    found: dict[str, float] = {}
    names = list(dict.fromkeys(row.set for row in rows))
    for left_out in ("document", "set"):
        if len({BY[left_out](row) for row in rows}) < 2:
            continue
        predicted, flagged = np.full(len(rows), np.nan), np.zeros(len(rows))
        for kept, held in folds(rows, BY[left_out]):
            sets = [rows[at].set for at in kept]
            risk = fit([texts[at] for at in kept], wrong[kept], sets, false_alarms, given)
            support = [[risk.support(sentence) for sentence in texts[at].tolist()] for at in held]
            predicted[held] = [1 - geometric_mean(own) for own in support]
            flagged[held] = [min(own) < UNSUPPORTED for own in support]
        for name in names:
            mine = np.array([row.set == name for row in rows])
            found[f"{name}_r_by_{left_out}"] = pearson(predicted[mine], wrong[mine])
            for kind, weight in (("right", 1 - wrong[mine]), ("wrong", wrong[mine])):
                share = flagged[mine] @ weight / (weight.sum() or 1.0)
                found[f"{name}_{kind}_flagged_by_{left_out}"] = float(share)
    return found
