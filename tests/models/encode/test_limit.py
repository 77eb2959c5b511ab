"""Test the limit of sentence models: `max_seq_length` in sentence_bert_config.json."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from gistmeter import load
from gistmeter.core.errors import BadModel
from gistmeter.core.example import Example
from gistmeter.core.score import Flag
from gistmeter.models.encode.encoder import Encoder

TEXT = "The ferry left the harbour at noon with forty passengers"


def limited(model: Path, folder: Path, limit: object) -> str:
    shutil.copytree(model, folder)
    (folder / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": limit, "do_lower_case": False})
    )
    return str(folder)


def test_a_sentence_is_read_up_to_the_models_limit(tiny_bert: Path, tmp_path: Path) -> None:
    plain = Encoder.load(str(tiny_bert))
    short = Encoder.load(limited(tiny_bert, tmp_path / "short", 8))
    assert plain.window is not None and short.window == plain.window > 8
    embedded = short.embed([TEXT])
    assert embedded.tokens[0].kept == 8 - 2 < embedded.tokens[0].total
    start, end = embedded.tokens[0].offsets[~embedded.tokens[0].special][[0, -1], [0, 1]].tolist()
    np.testing.assert_allclose(embedded.vectors, plain.embed([TEXT[start:end]]).vectors, atol=1e-6)
    assert short.embed_tokens([TEXT])[0][0].kept == plain.embed_tokens([TEXT])[0][0].kept, (
        "for sentences only"
    )
    assert short.text_identity.endswith("/8/fp32") and short.identity.endswith(f"/{short.window}/fp32")


def test_the_signature_and_the_flag_of_speed_state_the_limit(tiny_bert: Path, tmp_path: Path) -> None:
    metric = load("speed", model=limited(tiny_bert, tmp_path / "short", 8))
    assert "/8/fp32/mean|" in metric.signature.text
    [score] = metric.score([Example("1", TEXT, references=["Rain"])])
    assert score.flags[0].name == "truncated" and score.flags[0].kept == 6
    assert isinstance(score.flags[0], Flag)


@pytest.mark.parametrize("limit", [None, 10_000])
def test_a_limit_above_the_window_changes_nothing(tiny_bert: Path, tmp_path: Path, limit: object) -> None:
    encoder = Encoder.load(limited(tiny_bert, tmp_path / "long", limit))
    assert encoder.text_window == encoder.window


@pytest.mark.parametrize("limit", [0, "256", 1.5, True])
def test_an_invalid_limit_is_an_error(tiny_bert: Path, tmp_path: Path, limit: object) -> None:
    with pytest.raises(BadModel, match=r"max_seq_length is .*; give a number of tokens, or null"):
        Encoder.load(limited(tiny_bert, tmp_path / "bad", limit))
