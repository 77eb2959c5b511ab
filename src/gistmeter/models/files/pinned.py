"""Defines the models that users download once, with a fixed revision and the SHA-256 of every file.

They are stored in the user's cache folder, or in the folder in the environment variable `GISTMETER_MODELS`.
Finding a model never uses the network; only `gistmeter models fetch` downloads, see `models.files.fetch`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from gistmeter.core.errors import BadModel, ModelNotFound
from gistmeter.models.files.bundle import FileFacts
from gistmeter.models.files.digest import sha256

HOME = "GISTMETER_MODELS"
"""The environment variable with the folder of downloaded models."""
READ_UNASKED = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja")
"""Files that the libraries may read automatically from a model folder."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A model that is downloaded once and verified on every load.

    Args:
        preset: The preset that needs it; `gistmeter models fetch PRESET` downloads it.
        repository: The Hub repository, `owner/name`; the folder has the same name.
        revision: The commit.
        files: The files to download, by path relative to the folder.
        unread: Other files of the repository that may be in the folder; they are not read.
    """

    preset: str
    repository: str
    revision: str
    files: Mapping[str, FileFacts]
    unread: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.repository.rpartition("/")[2]

    @property
    def identity(self) -> str:
        """Its name in signatures."""
        return f"{self.name}@{self.files['model.safetensors']['sha256'][:12]}"

    @property
    def bytes(self) -> int:
        """The total size of its files."""
        return sum(file["bytes"] for file in self.files.values())

    @property
    def command(self) -> str:
        """The command that downloads it."""
        return f"gistmeter models fetch {self.preset}"


MPNET = Pinned(
    preset="base",
    repository="sentence-transformers/all-mpnet-base-v2",
    revision="e8c3b32edf5434bc2275fc9bab85f82640a19130",
    files={
        "1_Pooling/config.json": {
            "sha256": "a37f83ada23e7887be6b88f4998927dbeac0038af301553c7cd5461413bf1a56",
            "bytes": 190,
        },
        "config.json": {
            "sha256": "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0",
            "bytes": 571,
        },
        "model.safetensors": {
            "sha256": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
            "bytes": 437_971_872,
        },
        "special_tokens_map.json": {
            "sha256": "9ef40e9c160511bf3f46ceb71f1471dafa1e9473d5120bb816c36b2efa75f8ba",
            "bytes": 239,
        },
        "tokenizer.json": {
            "sha256": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
            "bytes": 466_021,
        },
        "tokenizer_config.json": {
            "sha256": "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268",
            "bytes": 363,
        },
        "vocab.txt": {
            "sha256": "dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada",
            "bytes": 231_536,
        },
    },
    unread=(
        "config_sentence_transformers.json",
        "data_config.json",
        "modules.json",
        "sentence_bert_config.json",
    ),
)
PINNED: dict[str, Pinned] = {"mpnet": MPNET}
"""The pinned models, by their name in `find_model`."""


def models_folder() -> Path:
    """Return the folder of downloaded models."""
    named = os.environ.get(HOME)
    return Path(named).expanduser() if named else user_cache_path("gistmeter") / "models"


def find_pinned(model: Pinned, *, fresh: bool = False) -> Path:
    """Verify a downloaded model and return its folder.

    Args:
        model: One of `PINNED`.
        fresh: Whether to compute all checksums again instead of using cached ones.

    Raises:
        ModelNotFound: If it is not downloaded; the message contains the command.
        BadModel: If a file is missing, differs from the published one, or is not part of the model.
    """
    folder = models_folder() / model.name
    if not folder.is_dir():
        raise ModelNotFound(f"{model.name} is not in {folder}; run: {model.command}")
    wrong = flaw(model, folder, fresh=fresh)
    if wrong is not None:
        raise BadModel(f"{folder / wrong}; delete {folder} and run: {model.command}")
    return folder


def flaw(model: Pinned, folder: Path, *, fresh: bool = False) -> str | None:
    """Return the first problem with the files of a model, or None if there is none."""
    for name, facts in model.files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != facts["bytes"] or sha256(path, fresh=fresh) != facts["sha256"]:
            return f"{name} differs from the published file"
    allowed = {*model.files, *model.unread}
    for pattern in READ_UNASKED:
        for path in sorted(folder.glob(pattern)):
            if path.name not in allowed:
                return f"{path.name} is not part of this model"
    return None
