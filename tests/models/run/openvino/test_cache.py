"""Test the cache of OpenVINO conversions: reused, verified when read, and rebuilt if damaged."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from gistmeter.core.errors import GistmeterError
from gistmeter.models.run.backend import place
from gistmeter.models.run.openvino import cache as openvino_cache
from gistmeter.models.run.openvino import submodule as openvino_piece
from gistmeter.models.run.submodules import state_rows
from tests.models.run.test_backend import OPENVINO


class Doubled(torch.nn.Module):
    """A submodule that is converted in a moment."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        doubled: torch.Tensor = self.layer(states) * 2
        return doubled


class Unknown(Doubled):
    """A submodule that no conversion is kept of."""


def test_a_conversion_is_kept_and_read_again(openvino: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = state_rows(4)(5, 1)
    first = place(Doubled(), OPENVINO, state_rows(4))(*inputs)
    monkeypatch.setattr(openvino_piece, "convert", lambda *_: pytest.fail("converted twice"))
    assert torch.equal(place(Doubled(), OPENVINO, state_rows(4))(*inputs), first)
    assert first.allclose(Doubled()(*inputs), atol=1e-5)
    assert not list(openvino.glob("new-*")), "nothing is left lying about"


def test_other_weights_have_a_conversion_of_their_own() -> None:
    pytest.importorskip("openvino")
    one, two = Doubled(), Doubled()
    assert openvino_cache.key_of(one, "float") == openvino_cache.key_of(two, "float")
    with torch.no_grad():
        two.layer.weight[0, 0] += 1e-7
    assert openvino_cache.key_of(one, "float") != openvino_cache.key_of(two, "float")
    assert openvino_cache.key_of(one, "float") != openvino_cache.key_of(one, "int8")


@pytest.mark.parametrize("damage", ["model.bin", "model.xml", "sha256.json", "another model"])
def test_a_damaged_conversion_is_made_again(openvino: Path, damage: str) -> None:
    inputs = state_rows(4)(5, 1)
    right = place(Doubled(), OPENVINO, state_rows(4))(*inputs)
    kept = openvino / openvino_cache.key_of(Doubled(), "float")
    if damage == "another model":  # whole, but not what its name says
        other = Doubled()
        torch.nn.init.ones_(other.layer.weight)
        place(other, OPENVINO, state_rows(4))(*inputs)
        shutil.rmtree(kept)
        shutil.copytree(openvino / openvino_cache.key_of(other, "float"), kept)
    else:
        content = (kept / damage).read_bytes()
        (kept / damage).write_bytes(content[:-3] + b"???")
    assert torch.equal(place(Doubled(), OPENVINO, state_rows(4))(*inputs), right)
    sums = json.loads((kept / "sha256.json").read_text())
    assert sums == openvino_cache._checksums(kept), "it was written anew"
    assert torch.equal(place(Doubled(), OPENVINO, state_rows(4))(*inputs), right)


def test_without_a_cache_every_process_converts(openvino: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    openvino.parent.joinpath("file").write_text("in the way")
    monkeypatch.setattr(openvino_cache, "_root", lambda: openvino.parent / "file" / "openvino")
    inputs = state_rows(4)(5, 1)
    assert place(Doubled(), OPENVINO, state_rows(4))(*inputs).allclose(Doubled()(*inputs), atol=1e-5)


def test_two_that_convert_at_once_do_not_harm_each_other(openvino: Path) -> None:
    shutil.rmtree(openvino, ignore_errors=True)
    inputs = state_rows(4)(5, 1)
    submodules = [place(Doubled(), OPENVINO, state_rows(4)) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda submodule: submodule(*inputs), submodules)
    assert torch.equal(one, two)
    assert [path.name for path in openvino.iterdir()] == [openvino_cache.key_of(Doubled(), "float")]


@pytest.mark.parametrize("wrong", ["convert", "difference"])
@pytest.mark.usefixtures("openvino")
def test_what_cannot_be_converted_runs_on_pytorch_or_says_so(
    wrong: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if wrong == "convert":
        monkeypatch.setattr(openvino_piece, "convert", lambda *_: [].pop())
    else:  # converted, but into something else
        monkeypatch.setattr(openvino_piece, "difference", lambda *_: 0.2)
    inputs, auto = state_rows(4)(14, 1), replace(OPENVINO, backend="auto")
    with caplog.at_level("WARNING"):
        assert place(Unknown(), auto, state_rows(4))(*inputs).equal(Unknown()(*inputs))
    assert "OpenVINO cannot convert a part of the model, so PyTorch runs it" in caplog.text
    for asked in (OPENVINO, replace(auto, dtype="bf16")):
        with pytest.raises(GistmeterError, match=r"use --(backend torch|dtype fp32)"):
            place(Unknown(), asked, state_rows(4))(*inputs)
