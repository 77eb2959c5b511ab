"""Models that users fetch once: one revision of one repository, every file with its SHA-256.

They lie in the user's cache, or in the folder that the environment variable `GISTMETER_MODELS` names. Looking
for one never touches the network; `gistmeter models fetch` does, see `fetch`.
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
"""The environment variable with the folder of fetched models."""
READ_UNASKED = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja")
"""Files that the libraries may read if they lie in a model's folder."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A model that is fetched once and checked whenever it is found.

    Args:
        preset: The preset that needs it; `gistmeter models fetch PRESET` brings it.
        repository: On the Hub, `owner/name`; the name is also that of its folder.
        revision: The commit.
        files: What is fetched, by path below its folder.
        unread: Other files of the repository that may lie in the folder; nothing here reads them.
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
        """What signatures call it."""
        return f"{self.name}@{self.files['model.safetensors']['sha256'][:12]}"

    @property
    def bytes(self) -> int:
        """The size of its files."""
        return sum(file["bytes"] for file in self.files.values())

    @property
    def command(self) -> str:
        """The command that fetches it."""
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
"""By the name that `find_model` knows."""


def models_folder() -> Path:
    """Return the folder of fetched models."""
    named = os.environ.get(HOME)
    return Path(named).expanduser() if named else user_cache_path("gistmeter") / "models"


def find_pinned(model: Pinned, *, fresh: bool = False) -> Path:
    """Return the folder of a fetched model, its files checked.

    Args:
        model: One of `PINNED`.
        fresh: Compute every checksum anew instead of trusting those that are remembered.

    Raises:
        ModelNotFound: If it has not been fetched; the message says the command.
        BadModel: If a file is missing, is not the published one, or is one too many.
    """
    folder = models_folder() / model.name
    if not folder.is_dir():
        raise ModelNotFound(f"{model.name} is not at {folder}; run: {model.command}")
    wrong = flaw(model, folder, fresh=fresh)
    if wrong is not None:
        raise BadModel(f"{folder / wrong}; remove {folder} and run: {model.command}")
    return folder


def flaw(model: Pinned, folder: Path, *, fresh: bool = False) -> str | None:
    """Return the first file that is wrong and why, None if all are right."""
    for name, facts in model.files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != facts["bytes"] or sha256(path, fresh=fresh) != facts["sha256"]:
            return f"{name} is not the file that was published"
    allowed = {*model.files, *model.unread}
    for pattern in READ_UNASKED:
        for path in sorted(folder.glob(pattern)):
            if path.name not in allowed:
                return f"{path.name} does not belong to this model"
    return None
