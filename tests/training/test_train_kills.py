"""Kill a training with SIGKILL at random moments; `benchmarks/kill_train.py` does it fifty times."""

import sys
from pathlib import Path

import pytest

from tests.killing import kill_training, prepare


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no fork server")
def test_three_kills_change_no_byte(tmp_path: Path) -> None:
    kill_training(prepare(tmp_path), 3, seed=1)  # asserts equal bytes
