"""The training loop shared by all models."""

import math
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import torch
from tqdm.auto import tqdm

from gistmeter.core.errors import GistmeterError, UsageError
from gistmeter.training.checkpoint import load_checkpoint, restore, save_checkpoint, trainable
from gistmeter.training.interrupt import delayed_interrupt
from gistmeter.training.recipe import Settings

LOG_EVERY = 20
"""Number of steps averaged into one point of the training curve."""
History = dict[str, list[dict[str, float]]]


class TrainingTask(Protocol):
    """A model with its data and loss.

    All randomness is derived from the step number, so a resumed run sees the same batches.
    """

    @property
    def model(self) -> torch.nn.Module:
        """The model to train."""

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """Return parameter groups: `params`, and optionally `scale`, a factor of the learning rate."""

    def loss(self, step: int) -> torch.Tensor | Iterable[torch.Tensor]:
        """Draw the batch of a step and return its loss, or the losses of micro-batches, which add up to it.

        Each micro-batch is backpropagated before the next is computed, so a batch may exceed memory.
        """

    def validate(self) -> dict[str, float]:
        """Return the validation metrics, including `loss`."""


def train(task: TrainingTask, settings: Settings, folder: Path, *, progress: bool = True) -> History:
    """Train a model, resuming from the checkpoint in the folder if there is one.

    A killed run loses at most the steps since the last checkpoint, and the resumed run gives the same curve;
    an interrupted run (Ctrl-C) loses no step. At the end, the model has the weights selected by
    `settings.select`.

    Args:
        task: Model, data and loss.
        settings: Settings of the loop.
        folder: Folder for checkpoints and the history.
        progress: Whether to show a progress bar and validation results on standard error.

    Returns:
        `steps` (step, loss, learning_rate, seconds) and `validations` (step and the task's metrics).

    Raises:
        GistmeterError: If the loss is NaN or infinite.
        UsageError: If the folder has a run with other settings, or the task does not report the metric
            named by `settings.select`.
        BadModel: If the checkpoint is damaged or belongs to another model.
        KeyboardInterrupt: After Ctrl-C, once a checkpoint is saved.
    """
    run = _Run(task, settings, folder)
    with (
        tqdm(
            total=settings.steps, initial=run.step, disable=not progress, mininterval=_pause(), unit="step"
        ) as bar,
        delayed_interrupt() as interrupt,
    ):
        while run.step < settings.steps:
            line = run.advance()
            bar.update()
            bar.set_postfix_str(run.summary, refresh=False)
            if line and progress:
                tqdm.write(line, file=sys.stderr)
            if interrupt.is_set():
                run.save()
                raise KeyboardInterrupt
    run.finish()
    return run.history


class _Run:
    """State of a training run."""

    def __init__(self, task: TrainingTask, settings: Settings, folder: Path) -> None:
        self.task, self.settings, self.folder = task, settings, folder
        self.facts = {key: value for key, value in asdict(settings).items() if key != "checkpoint_every"}
        self.optimizer = _optimizer(task, settings)
        self.rates = [float(group["lr"]) for group in self.optimizer.param_groups]
        self.step, self.seconds = 0, 0.0
        self.history: History = {"steps": [], "validations": []}
        self.pending: list[float] = []
        self.best_value = math.inf
        self.best: dict[str, torch.Tensor] = {}
        self.summary = ""
        state = load_checkpoint(folder, self.facts)
        if state is not None:
            self._restore(state)

    def advance(self) -> str:
        """Take one step, log, validate and save if due; return a line with the validation metrics, or ""."""
        started = time.perf_counter()
        self._learn()
        self.seconds += time.perf_counter() - started
        self.step += 1
        last = self.step == self.settings.steps
        if self.step % LOG_EVERY == 0 or last:
            self._log()
        line = self._validate() if self.step % self.settings.validate_every == 0 or last else ""
        if self.step % self.settings.checkpoint_every == 0 or last:
            self.save()
        return line

    def save(self) -> None:
        """Save a checkpoint."""
        state = {
            "settings": self.facts,
            "step": self.step,
            "seconds": self.seconds,
            "weights": trainable(self.task.model),
            "optimizer": self.optimizer.state_dict(),
            "history": self.history,
            "pending": self.pending,
            "best_value": self.best_value,
            "best": self.best,
        }
        save_checkpoint(self.folder, state)

    def finish(self) -> None:
        """Load the selected weights into the model."""
        if self.best:
            restore(self.task.model, self.best)
        self.task.model.eval()

    def _learn(self) -> None:
        settings = self.settings
        torch.manual_seed(settings.seed * 1_000_003 + self.step)
        factor = learning_rate_factor(self.step, settings)
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor
        self.task.model.train()
        total = 0.0
        for loss in self._losses():
            value = float(loss.detach())
            if not math.isfinite(value):
                raise GistmeterError(f"the loss is {value} at step {self.step}; lower training.learning_rate")
            loss.backward()  # type: ignore[no-untyped-call]
            total += value
        if settings.clip:
            torch.nn.utils.clip_grad_norm_(trainable_weights(self.task.model), settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.pending.append(total)

    def _losses(self) -> Iterator[torch.Tensor]:
        """Yield the losses of a step's micro-batches; only the forward pass uses bfloat16."""
        with _precision(self.task.model, self.settings):
            found = self.task.loss(self.step)
        parts = iter([found] if isinstance(found, torch.Tensor) else found)
        while True:
            with _precision(self.task.model, self.settings):
                part = next(parts, None)
            if part is None:
                return
            yield part

    def _log(self) -> None:
        mean = math.fsum(self.pending) / len(self.pending)
        rate = self.settings.learning_rate * learning_rate_factor(self.step - 1, self.settings)
        point = {"step": self.step, "loss": mean, "learning_rate": rate, "seconds": self.seconds}
        self.history["steps"].append(point)
        self.pending.clear()
        self.summary = f"loss {mean:.3f}"

    def _validate(self) -> str:
        self.task.model.eval()
        with torch.no_grad(), _precision(self.task.model, self.settings):
            figures = self.task.validate()
        self.history["validations"].append({"step": self.step, **figures})
        name = self.settings.select
        if name:
            value = _chosen(figures, name)
            if value < self.best_value:
                self.best_value = value
                self.best = {name: weight.clone() for name, weight in trainable(self.task.model).items()}
        return _line(self.step, self.seconds, figures)

    def _restore(self, state: dict[str, Any]) -> None:
        restore(self.task.model, state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds = state["step"], state["seconds"]
        self.history, self.pending = state["history"], state["pending"]
        self.best_value, self.best = state["best_value"], state["best"]


def kept(validations: Sequence[dict[str, float]], select: str) -> dict[str, float]:
    """Return the metrics of the validation whose weights were kept."""
    return min(validations, key=lambda figures: _chosen(figures, select)) if select else validations[-1]


def learning_rate_factor(step: int, settings: Settings) -> float:
    """Return the factor of the learning rate at a step, counted from 0."""
    if step < settings.warmup:
        return (step + 1) / settings.warmup
    if settings.schedule == "linear":
        return max(0.0, (settings.steps - step) / max(1, settings.steps - settings.warmup))
    return 1.0


def trainable_weights(model: torch.nn.Module) -> list[torch.nn.Parameter]:
    """Return the trainable weights."""
    return [weight for weight in model.parameters() if weight.requires_grad]


def _chosen(figures: Mapping[str, float], name: str) -> float:
    """Return the metric that selects the best weights, negated for `-NAME`; lower is better."""
    if name.removeprefix("-") not in figures:
        raise UsageError(f"training.select={name}: no such metric; choose one of: {', '.join(figures)}")
    return -figures[name[1:]] if name.startswith("-") else figures[name]


def _optimizer(task: TrainingTask, settings: Settings) -> torch.optim.Optimizer:
    groups = [
        {"params": group["params"], "lr": settings.learning_rate * float(group.get("scale", 1.0))}
        for group in task.parameters()
    ]
    if settings.optimizer == "adam":
        return torch.optim.Adam(groups, lr=settings.learning_rate)
    return torch.optim.AdamW(groups, lr=settings.learning_rate, weight_decay=settings.weight_decay)


def _precision(model: torch.nn.Module, settings: Settings) -> torch.autocast:
    device = next(model.parameters()).device.type
    return torch.autocast(device, dtype=torch.bfloat16, enabled=settings.precision == "bf16")


def _line(step: int, seconds: float, figures: Mapping[str, float]) -> str:
    said = ", ".join(f"{name} {value:.4f}" for name, value in figures.items())
    return f"step {step}, {seconds:.0f} s: {said}"


def _pause() -> float:
    return 0.1 if sys.stderr.isatty() else 30.0  # keep log files short
