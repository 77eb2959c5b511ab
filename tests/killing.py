"""Kill training processes at random moments, and compare the result with an undisturbed run."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

from gistmeter.training.files import CHECKPOINT, HISTORY
from tests.tiny_models import SENTENCES, save_bert

RECIPE = """
task = "fill"
[model]
base = "BASE"
layers = 2
batch = { contexts = 2, group = 3, lengths = [24, 40], held_out = 36 }
[data]
sets = [{ file = "pairs.jsonl" }]
mix = { window = 40 }
[training]
steps = 100
learning_rate = 2e-3
validate_every = 20
checkpoint_every = 2
"""


def prepare(folder: Path) -> Path:
    """Write a recipe, its data and its tiny encoder; return the recipe."""
    rng = random.Random(1)
    words = sorted({word for text in SENTENCES for word in text.lower().split() if word.isalpha()})
    lines = []
    for at in range(60):
        chosen = [f"{' '.join(rng.sample(words, 7)).capitalize()}." for _ in range(3)]
        lines.append(json.dumps({"id": str(at), "source": " ".join(chosen), "candidate": chosen[0]}))
    (folder / "pairs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    recipe = folder / "killed.toml"
    recipe.write_text(RECIPE.replace("BASE", str(save_bert(folder / "bert"))), encoding="utf-8")
    return recipe


def kill_training(recipe: Path, kills: int, *, seed: int) -> int:
    """Train once without a break, then again and again with kills; assert that no result differs.

    Args:
        recipe: From `prepare`.
        kills: How often a process is sent SIGKILL.
        seed: Of the moments.

    Returns:
        How many of the kills left a checkpoint to go on from.
    """
    whole, cut = recipe.parent / "whole", recipe.parent / "cut"
    _start(recipe, whole, run=_nothing).join()  # starts the server, which takes longer than a training
    started = time.monotonic()
    assert _finish(recipe, whole) == 0
    usual = time.monotonic() - started
    rng = random.Random(seed)
    hits = resumed = 0
    while hits < kills:
        started, process = time.monotonic(), _start(recipe, cut)
        process.join(rng.uniform(0.1, 1.0) * usual)
        if process.exitcode is not None:  # it was over before its moment came
            usual = min(usual, time.monotonic() - started)
            _assert_same(cut, whole)
            shutil.rmtree(cut)
            continue
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        hits += 1
        resumed += (cut / CHECKPOINT).exists()
        if (cut / "recipe.json").exists():
            json.loads((cut / "recipe.json").read_text(encoding="utf-8"))
    assert _finish(recipe, cut) == 0
    _assert_same(cut, whole)
    return resumed


def _assert_same(cut: Path, whole: Path) -> None:
    for name in ("model/model.safetensors", "model/config.json"):
        assert (cut / name).read_bytes() == (whole / name).read_bytes(), name
    assert _curve(cut) == _curve(whole)


def train(recipe: str, output: str) -> None:
    """Run `gistmeter train` in this process."""
    import sys

    import torch

    from gistmeter.app.cli import main

    torch.set_num_threads(1)
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    sys.exit(main(["train", recipe, "--data", str(Path(recipe).parent), "--output", output, "--quiet"]))


def _nothing(recipe: str, output: str) -> None:
    """Do nothing, in a process of its own."""


def _start(
    recipe: Path, output: Path, *, run: Callable[[str, str], None] = train
) -> multiprocessing.process.BaseProcess:
    # A server that has loaded PyTorch once forks each process: seconds less for each kill.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gistmeter.training.recipes.infiller", "tests.killing"])
    process = context.Process(target=run, args=(str(recipe), str(output)))
    process.start()
    return process


def _finish(recipe: Path, output: Path) -> int | None:
    process = _start(recipe, output)
    process.join()
    return process.exitcode


def _curve(folder: Path) -> dict[str, list[dict[str, float]]]:
    history = json.loads((folder / HISTORY).read_text(encoding="utf-8"))
    for point in history["steps"]:
        del point["seconds"]
    return history  # type: ignore[no-any-return]
