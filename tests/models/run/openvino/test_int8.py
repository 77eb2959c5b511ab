"""Test int8 quantization: layers left in higher precision, and unsupported settings."""

from pathlib import Path

import pytest
import torch

from gistmeter.core.errors import GistmeterError
from gistmeter.models.run.backend import place
from gistmeter.models.run.openvino import int8 as openvino_int8
from gistmeter.models.run.openvino.cache import read_model
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.submodules import Submodule, state_rows

WIDTH, SAMPLES = 16, 12


class FeedForward(torch.nn.Module):
    """Widens, then narrows."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.down(torch.nn.functional.gelu(self.up(states)))
        return out


def placed(module: torch.nn.Module) -> Submodule:
    """Return a submodule in 8 bits, calibrated with random numbers."""
    runtime = Runtime(device="cpu", backend="openvino", dtype="int8")

    def calibrate() -> None:
        for at in range(SAMPLES):
            submodule(*state_rows(WIDTH)(3, at + 1))

    submodule = place(module, runtime, state_rows(WIDTH), calibrate)
    return submodule


def stored(folder: Path) -> str:
    """Return the newest conversion as text, and forget it."""
    newest = max(folder.iterdir(), key=lambda path: path.stat().st_mtime)
    assert read_model(newest.name) is not None
    text = (newest / "model.xml").read_text(encoding="utf-8")
    for path in newest.iterdir():
        path.unlink()
    newest.rmdir()
    return text


def test_narrowing_products_are_kept_out_where_8_bits_are_too_few(
    openvino: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nncf")
    module = FeedForward()
    inputs = state_rows(WIDTH)(5, 3)
    with torch.inference_mode():
        exact = module(*inputs)
    apart, quantizers = [], []
    for good in (0.0, 2.0):
        monkeypatch.setattr(openvino_int8, "GOOD_COSINE", good)
        apart.append(float((placed(FeedForward())(*inputs) - exact).norm()))
        quantizers.append(stored(openvino).count('type="FakeQuantize"'))
    assert 0 < max(apart) < 0.2 * float(exact.norm())
    assert 0 < quantizers[1] < quantizers[0]


def test_what_does_not_bear_8_bits_is_refused(openvino: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nncf")
    monkeypatch.setattr(openvino_int8, "LEAST_COSINE", 2.0)
    with pytest.raises(GistmeterError, match="int8 is too inexact for this model"):
        placed(FeedForward())(*state_rows(WIDTH)(5, 3))
    assert not list(openvino.glob("new-*"))
