"""Test the number of threads: never more than the processors that the process may use."""

from pathlib import Path

import pytest
import torch

from gistmeter.models.run import cpu


@pytest.mark.parametrize(
    ("files", "share"),
    [
        ({}, None),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu.max": "150000 100000\n"}, 1.5),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5),
    ],
)
def test_a_containers_limit_is_read(tmp_path: Path, files: dict[str, str], share: float | None) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    assert cpu.granted_share(tmp_path) == share


def test_no_more_threads_than_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(cpu, "granted_share", lambda: 1.5)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    cpu.grant_threads.__wrapped__()
    assert asked == [1]
