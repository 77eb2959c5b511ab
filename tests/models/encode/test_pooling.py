"""Test the modules and the pooling mode of sentence-transformers folders."""

import json
import shutil
from pathlib import Path

import pytest

from gistmeter.core.errors import BadModel
from gistmeter.models.encode.encoder import Encoder

TYPES = "sentence_transformers.models"


def sentence_model(
    model: Path,
    folder: Path,
    pooling: dict[str, object],
    modules: tuple[str, ...] = ("Transformer", "Pooling"),
) -> str:
    shutil.copytree(model, folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "modules.json").write_text(json.dumps([{"type": f"{TYPES}.{name}"} for name in modules]))
    return str(folder)


@pytest.mark.parametrize("mode", ["mean", "max", "cls"])
def test_the_mode_may_be_a_name(tiny_bert: Path, tmp_path: Path, mode: str) -> None:
    modules = ("Transformer", "Pooling", "Normalize")
    folder = sentence_model(tiny_bert, tmp_path / "named", {"pooling_mode": mode}, modules)
    assert Encoder.load(folder).pooling == mode


@pytest.mark.parametrize("mode", ["lasttoken", ["cls", "mean"], None])
def test_an_unsupported_mode_is_an_error(tiny_bert: Path, tmp_path: Path, mode: object) -> None:
    folder = sentence_model(tiny_bert, tmp_path / "odd", {"pooling_mode": mode})
    with pytest.raises(BadModel, match="pooling_mode to one of mean, max, cls"):
        Encoder.load(folder)


def test_another_module_is_an_error(tiny_bert: Path, tmp_path: Path) -> None:
    modules = ("Transformer", "Pooling", "Dense")
    folder = sentence_model(tiny_bert, tmp_path / "dense", {"pooling_mode": "mean"}, modules)
    with pytest.raises(BadModel, match="the module Dense is not supported"):
        Encoder.load(folder)


@pytest.mark.parametrize("modules", ['{"a": 1}', "[1]", "[{}]", "["])
def test_a_damaged_list_of_modules_is_an_error(tiny_bert: Path, tmp_path: Path, modules: str) -> None:
    folder = Path(sentence_model(tiny_bert, tmp_path / "damaged", {"pooling_mode": "mean"}))
    (folder / "modules.json").write_text(modules)
    with pytest.raises(BadModel, match="is not a list of modules"):
        Encoder.load(str(folder))


def test_pooling_without_the_prompt_is_an_error_if_there_is_one(tiny_bert: Path, tmp_path: Path) -> None:
    pooling = {"pooling_mode": "mean", "include_prompt": False}
    folder = Path(sentence_model(tiny_bert, tmp_path / "prompt", pooling))
    assert Encoder.load(str(folder)).pooling == "mean"
    settings = {"prompts": {"query": "query: "}, "default_prompt_name": "query"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    with pytest.raises(BadModel, match="include_prompt=false is not supported"):
        Encoder.load(str(folder))
