"""TorchMetrics: a metric as a `torchmetrics.Metric` that accumulates over batches and processes."""

from collections.abc import Sequence

import torch

from gistmeter.adapters.common import library, metric_from, score_texts
from gistmeter.core.metric import Metric

with library("torchmetrics"):
    import torchmetrics


class GistmeterMetric(torchmetrics.Metric):
    """The mean of a metric over all rows of all batches; rows with a problem are counted in `undefined`.

    Args:
        metric: The metric.
    """

    is_differentiable = False
    full_state_update = False
    total: torch.Tensor
    defined: torch.Tensor
    undefined: torch.Tensor

    def __init__(self, metric: Metric) -> None:
        super().__init__()
        self.metric = metric
        self.add_state("total", torch.tensor(0.0, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("defined", torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("undefined", torch.tensor(0), dist_reduce_fx="sum")

    def update(
        self,
        candidates: Sequence[str],
        sources: Sequence[str] | None = None,
        references: Sequence[str | Sequence[str]] | None = None,
    ) -> None:
        """Score a batch; references are one text or a list of texts per row."""
        scores = score_texts(self.metric, candidates, sources, references)
        values = [score.value for score in scores if score.problem is None]
        self.total += sum(values)
        self.defined += len(values)
        self.undefined += len(scores) - len(values)

    def compute(self) -> torch.Tensor:
        """Return the mean over the rows without a problem; NaN if there are none."""
        return self.total / self.defined


def as_torchmetrics(metric: str | Metric, **words: object) -> GistmeterMetric:
    """Return a metric as a `torchmetrics.Metric`.

    Args:
        metric: A name, a spec such as `speed:against=source`, or a loaded metric.
        **words: The keywords of `gistmeter.load`.

    Raises:
        UsageError: If a name or an option does not exist, or torchmetrics is not installed.
    """
    return GistmeterMetric(metric_from(metric, words))
