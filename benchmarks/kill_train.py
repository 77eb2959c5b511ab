"""Kill a training run at random moments, resume it, and compare the final model byte by byte.

    python -m benchmarks.kill_train [--kills 50] [--seed 1]

Run it in the repository root; it trains a tiny model from the tests.
"""

import argparse
import tempfile
import time
from pathlib import Path

from tests.killing import kill_training, prepare


def main() -> None:
    """Run the test and print the number of kills."""
    parser = argparse.ArgumentParser(description="Kill and resume a training run; compare the result.")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        resumed = kill_training(prepare(Path(folder)), arguments.kills, seed=arguments.seed)
    print(
        f"{arguments.kills} SIGKILLs, {resumed} of them with a checkpoint to resume from: "
        f"model and curve equal byte by byte ({time.monotonic() - started:.0f} s)"
    )


if __name__ == "__main__":
    main()
