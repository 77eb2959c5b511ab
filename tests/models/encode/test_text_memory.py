"""Test the in-memory cache of encoded texts."""

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gistmeter.models.encode import encoder as encoder_module
from gistmeter.models.encode.encoder import Encoder, Row
from gistmeter.models.encode.text_memory import SHARED, TextMemory, text_key
from gistmeter.models.run import batching
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.tokens import Tokens
from tests.tiny_models import SENTENCES

CPU = Runtime(device="cpu", backend="torch")


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Return the rows that are encoded, in a memory of the test's own."""
    seen: list[tuple[int, ...]] = []
    real = batching.in_batches

    def counted(items: Sequence[Row], *args: Any, **kwargs: Any) -> list[Any]:  # noqa: ANN401
        seen.extend(dict.fromkeys(items))
        return real(items, *args, **kwargs)

    monkeypatch.setattr(encoder_module, "in_batches", counted)
    monkeypatch.setattr(encoder_module, "SHARED", TextMemory())
    return seen


def entry(tokens: int, width: int) -> tuple[Tokens, NDArray[np.float32]]:
    offsets, special = np.zeros((tokens, 2), np.int64), np.zeros(tokens, bool)
    return Tokens((1,) * tokens, offsets, special, tokens), np.ones((tokens, width), np.float32)


def test_a_text_is_encoded_once_whoever_asks(tiny_bert: Path, encoded: list[tuple[int, ...]]) -> None:
    first, second = (Encoder.load(str(tiny_bert), CPU) for _ in range(2))
    fresh = Encoder.load(str(tiny_bert), replace(CPU, cache_mb=0))
    one = first.embed_tokens(SENTENCES)
    assert len(encoded) == len(SENTENCES)
    two = second.embed_tokens([*SENTENCES[::-1], "One more."])
    assert len(encoded) == len(SENTENCES) + 1
    for (tokens, vectors), (others, same) in zip(one, two[-2::-1], strict=True):
        assert tokens.ids == others.ids
        assert np.array_equal(vectors, same)
    for (_, kept), (_, new) in zip(two, fresh.embed_tokens([*SENTENCES[::-1], "One more."]), strict=True):
        assert kept == pytest.approx(new, abs=1e-5)
    assert len(encoded) == 2 * len(SENTENCES) + 2, "cache_mb=0 keeps nothing and asks for nothing"


@pytest.mark.parametrize(
    "other",
    [
        {"layers": 2},
        {"runtime": replace(CPU, dtype="bf16")},
        {"runtime": replace(CPU, batch_tokens=7)},
    ],
)
def test_another_model_or_runtime_encodes_for_itself(
    tiny_bert: Path, encoded: list[tuple[int, ...]], other: dict[str, object]
) -> None:
    ours = Encoder.load(str(tiny_bert), CPU).embed(SENTENCES).vectors
    asked: dict[str, object] = {"runtime": CPU, **other}
    theirs = Encoder.load(str(tiny_bert), **asked).embed(SENTENCES).vectors  # type: ignore[arg-type]
    assert len(encoded) == 2 * len(SENTENCES)
    assert ("batch_tokens" in str(other)) or np.abs(ours - theirs).max() > 1e-4


def test_vectors_of_texts_and_of_tokens_are_kept_apart(
    tiny_bert: Path, encoded: list[tuple[int, ...]]
) -> None:
    encoder = Encoder.load(str(tiny_bert), CPU)
    assert encoder.embed(SENTENCES[:1]).vectors.shape == (1, 32)
    assert encoder.embed_tokens(SENTENCES[:1])[0][1].shape == (len(encoded[0]), 32)
    assert len(encoded) == 2


def test_encoders_that_were_not_loaded_by_name_share_nothing(tiny_bert: Path) -> None:
    known = Encoder.load(str(tiny_bert), CPU)
    one, two = (Encoder(known.model, known.tokenizer, identity="mine", runtime=CPU) for _ in range(2))
    assert one.memory is not two.memory
    assert known.memory is SHARED


def test_what_is_kept_cannot_be_changed(tiny_bert: Path) -> None:
    ((_, vectors),) = Encoder.load(str(tiny_bert), CPU).embed_tokens(["Snow fell on the tenth of May."])
    with pytest.raises(ValueError, match="read-only"):
        vectors[0] = 0


def test_memory_is_bounded_and_forgets_what_was_not_asked_for_longest() -> None:
    memory, most = TextMemory(), 10_000
    keys = [text_key("model", str(at)) for at in range(20)]
    for key in keys:
        memory.put(key, entry(4, 100), most)
        assert memory.get(keys[0]) is not None, "it was just asked for"
        assert memory.size <= most
    assert memory.get(keys[1]) is None
    assert memory.get(keys[-1]) is not None
    memory.put(keys[-1], entry(4, 100), most)
    memory.put(b"large", entry(100, 1000), most)
    assert memory.get(b"large") is None
    assert memory.size == 0, "what is too large by itself is not kept"


def test_keys_tell_models_and_texts_apart() -> None:
    assert text_key("a", "b") == text_key("a", "b")
    assert len({text_key("a", "b"), text_key("a", "c"), text_key("ab", ""), text_key("", "ab")}) == 4
    assert text_key("a", "\ud800")


def test_memory_goes_to_other_processes_empty() -> None:
    memory = TextMemory()
    memory.put(b"key", entry(4, 100), 10_000)
    assert pickle.loads(pickle.dumps(memory)).size == 0
    assert pickle.loads(pickle.dumps(SHARED)) is SHARED
