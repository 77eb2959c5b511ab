"""Kill a training at random moments, and compare what it ends with byte by byte.

    python -m benchmarks.kill_train [--kills 50] [--seed 1]

Run it in the repository's root: it trains a tiny model of the tests.
"""

import argparse
import tempfile
import time
from pathlib import Path

from tests.killing import kill_training, prepare


def main() -> None:
    """Print how many kills hit a training, and that nothing differs."""
    parser = argparse.ArgumentParser(description="Kill a training at random moments; compare the outcome.")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        hits, resumed = kill_training(prepare(Path(folder)), arguments.kills, seed=arguments.seed)
    print(
        f"{arguments.kills} SIGKILLs, {hits} before the end, {resumed} with a checkpoint to go on "
        f"from: model and curve equal byte by byte ({time.monotonic() - started:.0f} s)"
    )


if __name__ == "__main__":
    main()
