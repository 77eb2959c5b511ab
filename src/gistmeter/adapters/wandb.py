"""Weights & Biases: a report as a table."""

from typing import Any

from gistmeter.adapters.common import library
from gistmeter.report.report import Report

with library("wandb"):
    import wandb


def as_wandb(report: Report) -> wandb.Table:
    """Return a report as a W&B table with one row per example, to log with `run.log({"scores": table})`.

    Columns: id, system, candidate, source, and for each metric its value and its problem.

    Args:
        report: From `gistmeter.score`.

    Raises:
        UsageError: If wandb is not installed.
    """
    names = [column for metric in report.metrics for column in (metric, f"{metric}_problem")]
    table = wandb.Table(columns=["id", "system", "candidate", "source", *names])
    scores = [report[metric].scores for metric in report.metrics]
    for at, example in enumerate(report.examples):
        cells: list[Any] = []
        for column in scores:
            score = column[at]
            cells += [None if score.problem else score.value, score.problem]
        table.add_data(example.id, example.system, example.candidate, example.source, *cells)
    return table
