"""Compare tests between metrics with published values, with plain loops, and on simulated data."""

import json
import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gistmeter.bench.stats.correlate import correlate
from gistmeter.bench.stats.pair_tests import draw_signs, holm, williams
from gistmeter.bench.stats.resampling import Floats
from gistmeter.bench.stats.significance import Difference, compare_all, difference_row
from gistmeter.core.bootstrap import group_weights
from gistmeter.core.levels import Level
from gistmeter.report.pairs import pairs_table

LEVELS: tuple[Level, ...] = ("pooled", "summary", "system")
DOCUMENTS = [f"d{n // 4}" for n in range(48)]
SYSTEMS = [f"s{n % 4}" for n in range(48)]


def made_up(seed: int, *agreement: float) -> tuple[dict[str, Floats], Floats]:
    """Return metrics that agree with people by so much, and the people, over 12 documents × 4 systems."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=48) + np.repeat(rng.normal(size=12), 4)
    return {f"m{k}": share * human + rng.normal(size=48) for k, share in enumerate(agreement)}, human


def run(
    metrics: dict[str, Floats], human: Floats, level: Level = "pooled", *, seed: int = 0
) -> list[Difference]:
    return compare_all(
        metrics, human, documents=DOCUMENTS, systems=SYSTEMS, level=level, resamples=200, seed=seed
    )


def r(x: Floats, y: Floats) -> float:
    return float(np.corrcoef(x, y)[0, 1])


def at_level(level: Level, x: Floats, y: Floats) -> float:
    """Correlate in plain steps."""
    if level == "pooled":
        return r(x, y)
    labels = np.array(DOCUMENTS if level == "summary" else SYSTEMS)
    groups = [labels == name for name in sorted(set(labels))]
    if level == "summary":
        return float(np.mean([r(x[group], y[group]) for group in groups]))
    return r(*(np.array([side[group].mean() for group in groups]) for side in (x, y)))


@pytest.mark.parametrize("level", LEVELS)
def test_correlations_and_williams_are_those_of_the_level(level: Level) -> None:
    metrics, human = made_up(1, 0.5, 1.0)
    a, b = metrics.values()
    (found,) = run(metrics, human, level)
    assert (found.a, found.b, found.level, found.n_undefined) == ("m0", "m1", level, 0)
    assert found.n == {"pooled": 48, "summary": 12, "system": 4}[level]
    alone = [
        correlate(x, human, documents=DOCUMENTS, systems=SYSTEMS, level=level).pearson
        for x in metrics.values()
    ]
    assert [found.pearson_a, found.pearson_b] == pytest.approx(alone, abs=1e-12)
    assert found.difference == found.pearson_a - found.pearson_b
    if level == "summary":
        assert math.isnan(found.p_williams)
    else:
        expected = williams(alone[0], alone[1], at_level(level, a, b), found.n)[1]
        assert found.p_williams == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_is_that_of_a_plain_paired_loop(level: Level) -> None:
    metrics, human = made_up(2, 0.5, 1.0)
    names = sorted(set(DOCUMENTS))
    drawn = []
    for counts in group_weights(names, resamples=200, seed=0):
        times = np.array([counts[names.index(name)] for name in DOCUMENTS])
        if level == "summary":
            each = [
                [r(x[rows], human[rows]) for x in metrics.values()]
                for rows in (np.array(DOCUMENTS) == name for name in names)
            ]
            found = np.average(each, axis=0, weights=counts)
        else:
            rows = np.repeat(np.arange(48), times)
            keys = np.array(SYSTEMS)[rows]
            groups = (
                [rows[keys == s] for s in sorted(set(keys))] if level == "system" else list(rows[:, None])
            )
            found = np.array(
                [
                    r(*(np.array([side[group].mean() for group in groups]) for side in (x, human)))
                    for x in metrics.values()
                ]
            )
        drawn.append(found[0] - found[1])
    (pair,) = run(metrics, human, level)
    np.testing.assert_allclose([pair.low, pair.high], np.quantile(drawn, [0.025, 0.975]), atol=1e-12)
    rarer = min((np.array(drawn) < 0).sum(), (np.array(drawn) > 0).sum())
    assert pair.p_bootstrap == 2 * (1 + rarer) / 201


@pytest.mark.parametrize("level", LEVELS)
def test_the_permutation_test_is_that_of_a_plain_loop(level: Level) -> None:
    metrics, human = made_up(3, 0.6, 0.7)
    a, b = ((x - x.mean()) / x.std() for x in metrics.values())
    observed = abs(at_level(level, a, human) - at_level(level, b, human))
    as_large = 0
    for signs in draw_signs(48, resamples=200, seed=0).T:
        one, other = np.where(signs == 1, a, b), np.where(signs == 1, b, a)
        as_large += abs(at_level(level, one, human) - at_level(level, other, human)) >= observed
    assert 0 < as_large < 200
    assert run(metrics, human, level)[0].p_permutation == (1 + as_large) / 201


@pytest.mark.parametrize("level", LEVELS)
def test_metrics_equally_good_seldom_differ_and_others_do(level: Level) -> None:
    def share(first: float, second: float, of: Callable[[Difference], float]) -> float:
        pairs = [run(*made_up(seed, first, second), level)[0] for seed in range(40)]
        return float(np.mean([of(pair) < 0.05 for pair in pairs]))

    assert share(0.7, 0.7, lambda pair: pair.p_permutation) <= 0.12
    if level != "system":  # four systems cannot tell
        assert share(0.1, 2.0, lambda pair: pair.p_permutation) >= 0.9


def test_intervals_of_differences_cover_the_truth() -> None:
    covered = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        human, a, b = rng.normal(size=(3, 60, 4)) + rng.normal(size=(3, 60, 1))
        metrics = {"a": (human + a).ravel(), "b": (human + b).ravel()}
        documents = [f"d{n // 4}" for n in range(240)]
        (pair,) = compare_all(metrics, human.ravel(), documents=documents, systems=documents, resamples=400)
        covered += pair.low <= 0 <= pair.high
    assert 88 <= covered <= 99


@pytest.mark.parametrize("level", LEVELS)
def test_turning_a_pair_round_or_changing_its_scale_changes_no_p(level: Level) -> None:
    metrics, human = made_up(5, 0.5, 1.0)
    (pair,) = run(metrics, human, level)
    (turned,) = run({"b": 100 * metrics["m1"] + 7, "a": metrics["m0"] / 9}, human, level)
    assert turned.difference == pytest.approx(-pair.difference)
    assert (turned.low, turned.high) == pytest.approx((-pair.high, -pair.low))
    assert turned.p_permutation == pair.p_permutation
    assert turned.p_bootstrap == pair.p_bootstrap
    np.testing.assert_allclose(turned.p_williams, pair.p_williams)


@pytest.mark.parametrize("level", LEVELS)
def test_a_metric_does_not_differ_from_itself_on_another_scale(level: Level) -> None:
    metrics, human = made_up(6, 0.5)
    (pair,) = run({"a": metrics["m0"], "b": 0.3 * metrics["m0"] - 11}, human, level)
    assert pair.difference == pytest.approx(0, abs=1e-12)
    assert (pair.p_bootstrap, pair.p_permutation, pair.p_holm) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("level", LEVELS)
def test_rows_that_one_of_the_two_lacks_are_left_out_for_both(level: Level) -> None:
    metrics, human = made_up(7, 0.5, 1.0, 0.2)
    metrics["m1"][::3] = math.nan  # on a third of the rows
    human[1] = math.nan
    pairs = {(pair.a, pair.b): pair for pair in run(metrics, human, level)}
    both = np.isfinite(metrics["m1"]) & np.isfinite(human)
    common = {name: np.where(both, x, math.nan) for name, x in metrics.items()}
    expected = {(pair.a, pair.b): pair for pair in run(common, np.where(both, human, math.nan), level)}
    for key in [("m0", "m1"), ("m1", "m2")]:
        assert pairs[key].n_undefined == 16
        assert pairs[key].n == expected[key].n
        assert pairs[key].difference == expected[key].difference
        assert pairs[key].p_permutation == expected[key].p_permutation
    assert pairs["m0", "m2"].n_undefined == 0
    if level == "pooled":
        assert (pairs["m0", "m1"].n, pairs["m0", "m2"].n) == (31, 47)


@pytest.mark.parametrize("level", LEVELS)
def test_a_constant_metric_differs_undefinedly_and_counts_for_no_correction(level: Level) -> None:
    metrics, human = made_up(8, 0.3, 1.0)
    others = run(metrics, human, level)
    pairs = run({**metrics, "constant": np.full(48, 0.1 + 0.2), "none": np.full(48, math.nan)}, human, level)
    assert len(pairs) == 6
    assert pairs[0].p_holm == pairs[0].p_permutation
    assert pairs[0].difference == others[0].difference
    for pair in pairs[1:]:
        tests = [pair.difference, pair.low, pair.high, pair.p_bootstrap, pair.p_permutation, pair.p_holm]
        assert all(map(math.isnan, [*tests, pair.p_williams]))


def test_all_pairs_in_order_and_corrected() -> None:
    pairs = run(*made_up(9, 0.1, 0.5, 1.0))
    assert [(pair.a, pair.b) for pair in pairs] == [("m0", "m1"), ("m0", "m2"), ("m1", "m2")]
    assert [pair.p_holm for pair in pairs] == holm([pair.p_permutation for pair in pairs])
    metrics, human = made_up(9, 0.1)
    assert run(metrics, human) == []


def test_twelve_metrics_can_still_differ_after_correction() -> None:
    metrics, human = made_up(10, *[0.0] * 11, 5.0)
    best = [pair for pair in run(metrics, human) if pair.b == "m11"]
    assert len(best) == 11
    assert all(pair.p_holm < 0.05 for pair in best)


def test_rows_without_documents_or_systems() -> None:
    metrics, human = made_up(11, 0.3, 1.0)
    nothing = [None] * 48
    (flat,) = compare_all(metrics, human, documents=nothing, systems=nothing, resamples=100)
    assert flat.low < flat.difference < flat.high
    for level in LEVELS[1:]:
        (pair,) = compare_all(metrics, human, documents=nothing, systems=nothing, level=level)
        assert (pair.n, pair.n_undefined) == (0, 0)
        assert math.isnan(pair.difference)
    with pytest.raises(ValueError, match="same length"):
        compare_all(metrics, human[:-1], documents=nothing, systems=nothing)


def test_rows_for_json_and_their_table() -> None:
    metrics, human = made_up(12, 0.0, 3.0)
    metrics["constant"] = np.ones(48)
    signatures = {name: f"{name}|version=1" for name in metrics}
    rows = [
        difference_row("made-up", "fluency", pair, signatures)
        for level in ("pooled", "summary")
        for pair in run(metrics, human, level)
    ]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert (rows[0]["signature_a"], rows[0]["signature_b"]) == ("m0|version=1", "m1|version=1")
    assert rows[1]["difference"] is None
    title, flat, second, _, legend = pairs_table(rows).split("\n\n")
    assert (title, second) == ("made-up, fluency, pooled level", "made-up, fluency, summary level")
    first, undefined = (line.split() for line in flat.splitlines()[2:4])
    assert first[:3] == ["m0", "m1", f"{rows[0]['difference']:+.3f}"]
    assert first[-2:] == ["*", "48"]
    assert undefined == ["m0", "constant", "—", "—", "—", "—", "48"]
    assert "PERM-BOTH" in legend
    assert pairs_table([]) == ""


@pytest.mark.parametrize(
    ("p", "low", "high", "mark"),
    [(0.04, 0.1, 0.3, "*"), (0.04, -0.3, -0.1, "*"), (0.05, 0.1, 0.3, ""), (0.01, -0.1, 0.3, "")],
)
def test_a_mark_needs_the_permutation_test_and_the_interval(
    p: float, low: float, high: float, mark: str
) -> None:
    metrics, human = made_up(12, 0.0, 3.0)
    (pair,) = run(metrics, human)
    for documents, marked in ((10, len(mark)), (9, 0)):
        pair = replace(pair, p_holm=p, low=low, high=high, documents=documents)
        row = difference_row("made-up", "fluency", pair, {"m0": "", "m1": ""})
        table = pairs_table([row])
        assert table.splitlines()[4].count("*") == marked
        assert ("1 of 1 pairs have fewer than ten documents (down to 9)" in table) == (documents < 10)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_ten_metrics_on_1600_rows_take_under_ten_seconds(level: Level) -> None:
    rng = np.random.default_rng(0)
    human = rng.normal(size=1600)
    metrics = {f"m{k}": human + rng.normal(size=1600) for k in range(10)}
    documents, systems = [f"d{n // 16}" for n in range(1600)], [f"s{n % 16}" for n in range(1600)]
    start = time.process_time()  # of one core, whatever else the machine does
    pairs = compare_all(metrics, human, documents=documents, systems=systems, level=level, resamples=1000)
    assert time.process_time() - start < 10
    assert len(pairs) == 45
