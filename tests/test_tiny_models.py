"""Test that the tiny models of the tests are the same in every process."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAKERS = """
import hashlib
from tests.tiny_fillers import sentinel_unigram
from tests.tiny_models import byte_level, wordpiece
for make in (wordpiece, byte_level, sentinel_unigram):
    print(hashlib.sha256(make().backend_tokenizer.to_str().encode()).hexdigest())
"""


def test_tokenizers_are_the_same_in_every_process() -> None:
    from tests.tiny_fillers import sentinel_unigram
    from tests.tiny_models import byte_level, wordpiece

    makers = (wordpiece, byte_level, sentinel_unigram)
    ours = [hashlib.sha256(make().backend_tokenizer.to_str().encode()).hexdigest() for make in makers]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), *sys.path])
    told = subprocess.run(
        [sys.executable, "-c", MAKERS],
        env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == ours
