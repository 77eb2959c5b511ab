"""Finds models by name, and reads their configuration.

Supported model names:
* `multilingual`: the encoder multilingual-e5-small, for ten languages from the package
  gistmeter-multilingual or, where it is not installed, from the Hub;
* `minilm`: the encoder all-MiniLM-L6-v2, from an installed package; never uses the network;
* `mpnet`: the encoder all-mpnet-base-v2 of the preset `base`, after `gistmeter models fetch base`; never uses
  the network;
* `gistmeter/NAME`: a bundled model, checked against the manifest; never uses the network;
* a folder with `config.json`, a tokenizer and `*.safetensors`;
* an id on the Hugging Face Hub, `owner/name` or `owner/name@revision`.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gistmeter.core.errors import BadModel, ModelNotFound
from gistmeter.models.files import minilm, multilingual
from gistmeter.models.files.bundle import BUNDLE, entry, flaws
from gistmeter.models.files.folder import NEEDED_FILES, POOLING_FILE, check_fetched, folder_digest, read_json
from gistmeter.models.files.pinned import PINNED, find_pinned


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model on disk.

    Args:
        folder: The folder with its files.
        identity: Its name in signatures: name and revision, or the combined SHA-256 of all its files.
    """

    folder: Path
    identity: str


def find_model(name: str, *, fresh: bool = False) -> ModelFiles:
    """Find a model by name; download it from the Hub if the name is a Hub id that is not on disk.

    Args:
        name: See the module docstring.
        fresh: Whether to compute all checksums again instead of using cached ones.

    Raises:
        ModelNotFound: If the model does not exist; the message contains the command that downloads it.
        BadModel: If its files are damaged, or its weights are not safetensors.
    """
    if name == "minilm":
        return ModelFiles(minilm.packaged_folder(fresh=fresh), minilm.IDENTITY)
    if name == "multilingual":
        packaged = multilingual.packaged_folder(fresh=fresh)
        if packaged is not None:
            return ModelFiles(packaged, multilingual.identity())
        name = multilingual.HUB
    if name in PINNED:
        return ModelFiles(find_pinned(PINNED[name], fresh=fresh), PINNED[name].identity)
    if is_built_in(name):
        return _find_bundled(name.removeprefix("gistmeter/"), fresh=fresh)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return ModelFiles(folder, f"sha256:{folder_digest(folder, fresh=fresh)[:16]}")
    if re.fullmatch(r"[\w.-]+(/[\w.-]+)?(@[\w./-]+)?", name) and not name.startswith("."):
        return _find_on_hub(*name.partition("@")[::2], fresh=fresh)
    raise ModelNotFound(
        f"{name} is not a model folder; give a folder, or a Hub id such as owner/name@revision"
    )


def is_built_in(name: str) -> bool:
    """Return whether a name belongs to gistmeter; it takes precedence over a folder of the same name."""
    return name == "minilm" or name in PINNED or name.startswith("gistmeter/")


def read_config(files: ModelFiles) -> dict[str, Any]:
    """Read the configuration of a model.

    Raises:
        BadModel: If the configuration is missing or not readable.
    """
    path = files.folder / "config.json"
    if not path.is_file():
        raise BadModel(f"{files.folder} has no config.json; give a folder saved by transformers")
    config = read_json(path)
    if not isinstance(config.get("model_type"), str):
        raise BadModel(f"{path} has no model_type; give a folder saved by transformers")
    return config


def is_cross_encoder(files: ModelFiles) -> bool:
    """Return whether a model was saved as a sequence classifier, as cross-encoders are."""
    architectures = read_config(files).get("architectures")
    names = architectures if isinstance(architectures, list) else []
    return any(str(name).endswith("ForSequenceClassification") for name in names)


def _find_bundled(name: str, *, fresh: bool) -> ModelFiles:
    model, folder = entry(name, root=BUNDLE), BUNDLE / name
    wrong = flaws(model, root=BUNDLE, fresh=fresh)
    if wrong:
        raise BadModel(f"{folder.as_posix()}/{wrong[0]}")
    return ModelFiles(folder, f"gistmeter/{name}@{model.digest[:12]}")


def _find_on_hub(repository: str, revision: str, *, fresh: bool) -> ModelFiles:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    wanted: dict[str, Any] = {"revision": revision or None, "allow_patterns": [*NEEDED_FILES, POOLING_FILE]}
    try:
        folder = Path(snapshot_download(repository, local_files_only=True, **wanted))
    except (LocalEntryNotFoundError, OSError, ValueError):
        try:
            folder = Path(snapshot_download(repository, **wanted))
        except Exception as error:
            model, option = repository, ""
            if revision:
                model, option = f"{repository}@{revision}", f" --revision {revision}"
            raise ModelNotFound(
                f"{model} is not on disk and could not be downloaded ({type(error).__name__}); "
                f"connect to a network and run: hf download {repository}{option}"
            ) from error
    check_fetched(folder, fresh=fresh)
    return ModelFiles(folder, f"{repository}@{folder.name[:12]}")
