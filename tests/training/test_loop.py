"""Test the training loop: interruptions, checkpoints, and each setting."""

import errno
import json
import math
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from gistmeter.core.errors import BadModel, GistmeterError, UsageError
from gistmeter.training.checkpoint import load_checkpoint, save_checkpoint
from gistmeter.training.files import CHECKPOINT, HISTORY
from gistmeter.training.loop import History, learning_rate_factor, train
from gistmeter.training.recipe import Settings

SETTINGS = Settings(
    steps=50,
    learning_rate=0.05,
    warmup=5,
    schedule="linear",
    clip=0.5,
    validate_every=7,
    checkpoint_every=6,
)


def _small() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.3), nn.Linear(8, 1))


@dataclass
class Sums:
    """Learns to add three numbers; batches and dropout follow from the step."""

    model: nn.Module = field(default_factory=_small)
    parts: int = 1
    before: Callable[[int], None] = lambda step: None
    figures: list[float] = field(default_factory=list)

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        return [
            {"params": list(self.model.parameters())[:2], "scale": 2.0},
            {"params": list(self.model.parameters())[2:]},
        ]

    def loss(self, step: int) -> torch.Tensor | Iterator[torch.Tensor]:
        self.before(step)
        numbers = torch.randn(8, 3, generator=torch.Generator().manual_seed(step))
        if self.parts == 1:
            return self._error(numbers)
        return (self._error(part) / self.parts for part in numbers.chunk(self.parts))

    def validate(self) -> dict[str, float]:
        if self.figures:
            return {"loss": 1.0, "quality": self.figures.pop(0)}
        return {"loss": float(self._error(torch.eye(3)))}

    def _error(self, numbers: torch.Tensor) -> torch.Tensor:
        error: torch.Tensor = ((self.model(numbers)[:, 0] - numbers.sum(dim=1)) ** 2).mean()
        return error


def run(folder: Path, task: Sums | None = None, settings: Settings = SETTINGS) -> tuple[Sums, History]:
    task = task or Sums()
    return task, train(task, settings, folder, progress=False)


def weights(task: Sums) -> list[list[float]]:
    return [weight.detach().flatten().tolist() for weight in task.model.parameters()]


def curve(history: History) -> History:
    """The history without its clock."""
    return {
        name: [{key: value for key, value in point.items() if key != "seconds"} for point in points]
        for name, points in history.items()
    }


def fail(at: int, how: Callable[[], object]) -> Callable[[int], None]:
    def before(step: int) -> None:
        if step == at:
            how()

    return before


def crash() -> None:
    raise MemoryError("killed")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sums, History]:
    """A run without a break."""
    return run(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("at", [0, 5, 6, 20, 21, 48, 49])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    whole: tuple[Sums, History], tmp_path: Path, at: int
) -> None:
    with pytest.raises(MemoryError):
        run(tmp_path, Sums(before=fail(at, crash)))
    seen: list[int] = []
    task, history = run(tmp_path, Sums(before=seen.append))
    assert seen[0] == at // SETTINGS.checkpoint_every * SETTINGS.checkpoint_every, "from the last checkpoint"
    assert curve(history) == curve(whole[1])
    assert weights(task) == weights(whole[0])
    assert curve(json.loads((tmp_path / HISTORY).read_text())) == curve(history)


@pytest.mark.parametrize("at", [3, 20, 48])
def test_ctrl_c_loses_no_step(whole: tuple[Sums, History], tmp_path: Path, at: int) -> None:
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, Sums(before=fail(at, lambda: os.kill(os.getpid(), signal.SIGINT))))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, usual)
    seen: list[int] = []
    task, history = run(tmp_path, Sums(before=seen.append))
    assert seen == list(range(at + 1, SETTINGS.steps))
    assert (curve(history), weights(task)) == (curve(whole[1]), weights(whole[0]))


def test_a_finished_run_is_not_run_again(whole: tuple[Sums, History], tmp_path: Path) -> None:
    run(tmp_path)
    task, history = run(tmp_path, Sums(before=lambda step: crash()))
    assert (curve(history), weights(task)) == (curve(whole[1]), weights(whole[0]))


def test_the_history_says_what_happened(whole: tuple[Sums, History]) -> None:
    history = whole[1]
    assert [point["step"] for point in history["steps"]] == [20, 40, 50]
    assert [point["step"] for point in history["validations"]] == [7, 14, 21, 28, 35, 42, 49, 50]
    # The rate of the step before: step 19 of 50, of which 5 warm up.
    assert history["steps"][0]["learning_rate"] == pytest.approx(0.05 * (50 - 19) / 45)
    assert history["steps"][-1]["loss"] < history["steps"][0]["loss"] / 2


def test_the_mean_of_the_logged_losses(tmp_path: Path) -> None:
    said: list[float] = []

    class Noted(Sums):
        def loss(self, step: int) -> torch.Tensor:
            found = self._error(torch.full((1, 3), float(step)))
            said.append(float(found.detach()))
            return found

    _, history = run(tmp_path, Noted(), replace(SETTINGS, steps=23))
    assert [p["loss"] for p in history["steps"]] == [math.fsum(said[:20]) / 20, math.fsum(said[20:]) / 3]


@pytest.mark.parametrize(("select", "kept"), [("quality", 1), ("-quality", 2), ("", 3)])
def test_the_weights_that_were_best_are_kept(tmp_path: Path, select: str, kept: int) -> None:
    settings = replace(SETTINGS, steps=4, warmup=0, validate_every=1, checkpoint_every=2, select=select)
    after: list[list[list[float]]] = []

    class Watched(Sums):
        def validate(self) -> dict[str, float]:
            after.append(weights(self))
            return super().validate()

    task, history = run(tmp_path, Watched(figures=[2.0, 1.0, 9.0, 3.0]), settings)
    assert weights(task) == after[kept]
    assert [point["quality"] for point in history["validations"]] == [2.0, 1.0, 9.0, 3.0]
    again, _ = run(tmp_path, None, settings)
    assert weights(again) == after[kept], "from the checkpoint"


def test_parts_of_a_batch_add_up_to_it(tmp_path: Path) -> None:
    def plain(parts: int) -> Sums:
        torch.manual_seed(3)
        return Sums(nn.Sequential(nn.Linear(3, 8), nn.Linear(8, 1)), parts=parts)

    one, first = run(tmp_path / "1", plain(1))
    four, second = run(tmp_path / "4", plain(4))
    assert [p["loss"] for p in second["steps"]] == pytest.approx(
        [p["loss"] for p in first["steps"]], rel=1e-4
    )
    for ours, theirs in zip(weights(four), weights(one), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-4)


def test_schedules_by_hand() -> None:
    linear = Settings(steps=10, learning_rate=1.0, warmup=4, schedule="linear")
    constant = replace(linear, schedule="constant")
    assert [learning_rate_factor(step, linear) for step in range(10)] == pytest.approx(
        [1 / 4, 2 / 4, 3 / 4, 1, 6 / 6, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6]
    )
    assert [learning_rate_factor(step, constant) for step in (0, 3, 4, 9)] == [0.25, 1, 1, 1]
    assert learning_rate_factor(0, replace(linear, warmup=0)) == 1


def test_one_step_of_adam_by_hand(tmp_path: Path) -> None:
    settings = Settings(steps=1, learning_rate=0.05, optimizer="adam", select="")
    before = weights(task := Sums())
    run(tmp_path, task, settings)
    # The first step of Adam is the learning rate, against the sign of the gradient; here twice for a group.
    moved = [
        max(abs(a - b) for a, b in zip(*pair, strict=True))
        for pair in zip(before, weights(task), strict=True)
    ]
    assert moved == pytest.approx([0.1, 0.1, 0.05, 0.05], rel=1e-3)


def test_what_cannot_go_on(tmp_path: Path) -> None:
    run(tmp_path, None, replace(SETTINGS, steps=3))
    with pytest.raises(UsageError, match=r"was written with steps=3, but the recipe has 50"):
        run(tmp_path)
    with pytest.raises(BadModel, match="belongs to another model"):
        run(tmp_path, Sums(nn.Linear(3, 1)), replace(SETTINGS, steps=3))
    torch.manual_seed(0)
    wider = Sums(nn.Sequential(nn.Linear(3, 9), nn.Dropout(0.3), nn.Linear(9, 1)))
    with pytest.raises(BadModel, match="belongs to another model"):
        run(tmp_path, wider, replace(SETTINGS, steps=3))
    whole = (tmp_path / CHECKPOINT).read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"no checkpoint"):
        (tmp_path / CHECKPOINT).write_bytes(damaged)
        with pytest.raises(BadModel, match=r"checkpoint.pt is damaged .*delete it"):
            run(tmp_path, None, replace(SETTINGS, steps=3))
    torch.save({"step": 1}, tmp_path / CHECKPOINT)
    with pytest.raises(BadModel, match="is damaged"):
        run(tmp_path)


def test_a_flipped_byte_is_refused(tmp_path: Path) -> None:
    settings = replace(SETTINGS, steps=3)
    run(tmp_path, None, settings)
    path = tmp_path / CHECKPOINT
    whole = path.read_bytes()
    facts = {key: value for key, value in asdict(settings).items() if key != "checkpoint_every"}
    known = repr(load_checkpoint(tmp_path, facts))
    refused = 0
    for at in range(0, len(whole), 41):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        try:
            found = repr(load_checkpoint(tmp_path, facts))
        except BadModel as error:
            refused += 1
            assert "; delete it" in str(error)
        else:
            assert found == known, f"byte {at} changes what is read, in silence"  # else it is padding
    assert refused > len(whole) / 41 / 3


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, None, replace(SETTINGS, steps=6))
    kept = (tmp_path / CHECKPOINT).read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(tmp_path, {"history": {}})
    assert (tmp_path / CHECKPOINT).read_bytes() == kept
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_no_number(tmp_path: Path, bad: float) -> None:
    class Broken(Sums):
        def loss(self, step: int) -> torch.Tensor:
            return self._error(torch.ones(1, 3)) * (bad if step == 8 else 1)

    with pytest.raises(GistmeterError, match=f"the loss is {bad} at step 8; lower training.learning_rate"):
        run(tmp_path, Broken())
    state = torch.load(tmp_path / CHECKPOINT, weights_only=True)
    assert state["step"] == 6
    assert all(bool(weight.isfinite().all()) for weight in state["weights"].values())
    assert state["settings"].keys() == asdict(SETTINGS).keys() - {"checkpoint_every"}


def test_a_figure_that_nobody_measures(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"training\.select=-beauty: no such metric; choose one of: loss"):
        run(tmp_path, None, replace(SETTINGS, select="-beauty"))
