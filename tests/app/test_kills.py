"""Kill real runs with SIGKILL; `python -m tests.kills --kills 50` kills each command fifty times."""

import random
from pathlib import Path

import pytest

from tests.kills import CASES, Case, kill_case, make_rows


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_killed_run_goes_on_and_ends_in_the_same_bytes(case: Case, tmp_path: Path) -> None:
    data = tmp_path / "summeval.jsonl"
    make_rows(data, 200)
    counts = kill_case(case, data, 3, random.Random(1))
    assert counts["kills"] >= 3
    assert (counts["failed"], counts["other bytes"], counts["left behind"]) == (0, 0, 0)
