"""Loads tokenizers and weights. Only this module loads weights.

Only safetensors weights are loaded, and code in a model folder is never run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gistmeter.core.errors import BadModel, MissingExtra
from gistmeter.models.files.find import ModelFiles, read_config
from gistmeter.models.files.folder import weight_files
from gistmeter.models.run.memory import lacks_memory
from gistmeter.models.run.types import Model, Tokenizer

SENTENCEPIECE = {"sentencepiece": "sentencepiece", "protobuf": "google.protobuf"}
"""The packages of the extra `multilingual`, with the module of each."""
# Embedding tables are padded to round sizes (T5: 32,100 tokens, 32,128 rows); more padding is an error.
MOST_PADDING = 256
BLOCKS = "gistmeter_block"
"""The key of `config.json` with the block size of 8-bit weights; see `models.files.blocks`."""


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
    weight_files(files.folder)
    build = _from_blocks if BLOCKS in read_config(files) else _from_weights
    model, missing = build(files, architecture, **config)
    # Many checkpoints have no pooler, and no metric uses it.
    missing = sorted(name for name in missing if not name.startswith("pooler."))
    if missing:
        raise BadModel(
            f"{files.folder} is not a complete {architecture}: {missing[0]} and {len(missing) - 1} more "
            "weights are missing; give another model"
        )
    _check_vocabulary(files, model.get_input_embeddings().num_embeddings, tokenizer)
    return model.eval()


def _from_weights(files: ModelFiles, architecture: str, **config: object) -> tuple[Any, list[str]]:
    """Return a model, and the names of its weights that are not in the files."""
    import torch
    import transformers

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
    return model, list(info["missing_keys"])


def _from_blocks(files: ModelFiles, architecture: str, **config: object) -> tuple[Any, list[str]]:
    """Return an encoder with weights that are stored in 8 bits, and the names of those that are not.

    See `models.files.blocks`.
    """
    import transformers

    from gistmeter.models.files.blocks import fill

    if architecture != "AutoModel":
        raise BadModel(f"{files.folder} has an encoder without a head; give another model")
    settings = transformers.AutoConfig.from_pretrained(
        files.folder, local_files_only=True, trust_remote_code=False, **config
    )
    build: Any = transformers.AutoModel  # its methods have no types
    model = build.from_config(settings, trust_remote_code=False)
    return model, fill(model, load_tensors(files), settings.gistmeter_block)


def _check_vocabulary(files: ModelFiles, rows: int, tokenizer: Tokenizer) -> None:
    """Check that an embedding table with so many rows fits a tokenizer."""
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
