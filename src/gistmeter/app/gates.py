"""The gates of `gistmeter score`: thresholds, and the test against a baseline."""

import logging
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gistmeter.app.options.score import ScoreOptions
from gistmeter.bench.regression import Change, change
from gistmeter.bench.stats.pair_tests import holm
from gistmeter.bench.stats.paired import FEW
from gistmeter.core.errors import UsageError
from gistmeter.core.nearest import did_you_mean
from gistmeter.io.files import write_whole
from gistmeter.io.measured import OPTIONAL_SYSTEM, Measured, read_measured
from gistmeter.io.scored import Labelled, Scored
from gistmeter.report.gates import Gate, gates_text, junit_xml

LOG = logging.getLogger("gistmeter")
WORST = 5
ROUNDING = 1e-9
EXCERPT = 60  # characters of a candidate


@dataclass(frozen=True, slots=True)
class Gates:
    """What a run must reach.

    Args:
        least: The least mean of metrics, by label.
        baseline: Scores that no metric may fall below; None if there are none.
        alpha: Level of the test against the baseline.
        junit: The file for the outcome, if any.
        aside: Whether standard output is taken by rows.
        seed: Of the permutation test.
    """

    least: Mapping[str, float]
    baseline: Sequence[Measured] | None
    alpha: float
    junit: str | None
    aside: bool
    seed: int

    @classmethod
    def of(cls, options: ScoreOptions) -> "Gates":
        """Read the gates of a command line, before anything is scored.

        Raises:
            UsageError: If a threshold cannot be read, or there is nothing to write to the JUnit file.
            DataError: If the baseline cannot be read.
        """
        least = dict(_threshold(text) for text in options.fail_under)
        path = options.fail_below_baseline
        if options.junit is not None and not least and path is None:
            raise UsageError("--junit needs a gate: --fail-under METRIC=MEAN or --fail-below-baseline")
        baseline = None if path is None else read_measured([path], by=OPTIONAL_SYSTEM)
        return cls(least, baseline, options.alpha, options.junit, options.output == "-", options.seed)

    @property
    def any(self) -> bool:
        """Whether there is a gate at all."""
        return bool(self.least) or self.baseline is not None

    def check(self, metrics: Labelled) -> None:
        """Check that every threshold is of a metric that is scored.

        Raises:
            UsageError: If one is not; the message names the nearest one.
        """
        labels = [label for label, _ in metrics]
        for name in self.least:
            if name not in labels:
                hint = did_you_mean(name, labels)
                raise UsageError(f"--fail-under {name}{hint}: give one of {', '.join(labels)}")

    def passed(self, metrics: Labelled, scored: Sequence[Scored]) -> bool:
        """Say which gates the scores pass, and return whether it is all of them."""
        labels = [label for label, _ in metrics]
        gates = [_at_least(scored, labels.index(label), label, least) for label, least in self.least.items()]
        if self.baseline is not None:
            gates += self._against(self.baseline, metrics, scored)
        if gates:
            if self.aside:
                sys.stderr.write(gates_text(gates))
            else:
                sys.stdout.write("\n" + gates_text(gates))
        if self.junit is not None:
            write_whole(self.junit, junit_xml(gates))
        return all(gate.passed for gate in gates)

    def _against(
        self, baseline: Sequence[Measured], metrics: Labelled, scored: Sequence[Scored]
    ) -> list[Gate]:
        changes = []
        for at, (label, metric) in enumerate(metrics):
            new = [_measured(one, at, label, metric.signature.text) for one in scored]
            old = [row for row in baseline if row.metric == label]
            changes.append(change(label, new, old, seed=self.seed))
        corrected = holm([found.p for found in changes])
        return [_no_fall(found, p, self.alpha) for found, p in zip(changes, corrected, strict=True)]


def _threshold(text: str) -> tuple[str, float]:
    label, _, number = text.rpartition("=")  # a label may have options: rouge:value=rouge1_f1
    try:
        least = float(number)
    except ValueError:
        least = math.nan
    if not label or not math.isfinite(least):
        raise UsageError(f"--fail-under {text}: write METRIC=MEAN, such as cloze=.4")
    return label, least


def _at_least(scored: Sequence[Scored], at: int, label: str, least: float) -> Gate:
    found = [one for one in scored if one.scores[at].problem is None]
    name = f"{label} >= {least:g}"
    if not found:
        return Gate(name, False, f"no value for any of {len(scored)} rows")
    mean = math.fsum(one.scores[at].value for one in found) / len(found)
    said = f"mean {mean:.4g} of {len(found)} rows"
    if len(found) < len(scored):
        said += f" ({len(scored) - len(found)} more have no value)"
    if mean >= least - ROUNDING:
        return Gate(name, True, said)
    worst = sorted(found, key=lambda one: one.scores[at].value)[:WORST]
    return Gate(name, False, said, tuple(_line(one, f"{one.scores[at].value:.3f}") for one in worst))


def _no_fall(found: Change, p: float, alpha: float) -> Gate:
    name = f"{found.metric} not below the baseline (alpha {alpha:g})"
    if not found.n:
        return Gate(name, False, "no row has a value here and in the baseline")
    if found.documents < FEW:
        LOG.warning(
            "gistmeter: only %d documents are in both runs: the test finds no but large falls",
            found.documents,
        )
    left_out = f"; {found.n_left_out} rows are not in both or lack a value" if found.n_left_out else ""
    said = f"difference {found.difference:+.4f} on {found.documents} documents, one-sided p {p:.4f}{left_out}"
    worst = tuple(f"{old:.3f} → {new:.3f}  {id}" for id, new, old in found.rows[:WORST] if new < old)
    return Gate(name, True, said) if p > alpha else Gate(name, False, said, worst)


def _measured(one: Scored, at: int, label: str, signature: str) -> Measured:
    example, score = one.row.example, one.scores[at]
    return Measured(score.id, label, score.value, example.system or "", example.doc_id, signature)


def _line(one: Scored, value: str) -> str:
    example = one.row.example
    text = example.candidate  # not kept for all of very many rows
    excerpt = text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"
    return "  ".join(filter(None, (value, example.id, excerpt)))
