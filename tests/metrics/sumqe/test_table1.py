"""SUM-QE's tables 1 and 2 from a made-up DUC folder, and their correlations by hand."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertForNextSentencePrediction

from gistmeter.app.cli import main
from gistmeter.bench.datasets.dataset import for_file
from gistmeter.core.errors import DataError, UsageError
from gistmeter.io.rows import read_rows
from gistmeter.metrics.sumqe.baselines.rouge import VERSIONS
from gistmeter.metrics.sumqe.qualities import QUALITIES
from gistmeter.metrics.sumqe.training.duc import read_duc
from gistmeter.metrics.sumqe.training.rows import Rated, read_set
from gistmeter.metrics.sumqe.training.table1_baselines import best_rouge, perplexities
from gistmeter.metrics.sumqe.training.table1_tables import cell, mean_ratings, people_of
from tests.metrics.sumqe.test_baselines import save_gpt2
from tests.tiny_duc import DOCSETS, PEOPLE, SYSTEMS, save_folder, save_tar
from tests.tiny_models import SEED, SIZE, wordpiece

ROOT = Path(__file__).parents[3]
YEARS = (2005, 2006, 2007)


def save_head(folder: Path, kind: type) -> str:
    tokenizer = wordpiece()
    torch.manual_seed(SEED)
    kind(BertConfig(vocab_size=len(tokenizer), **SIZE)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def duc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with three years: two plain folders, and one with a tar file."""
    folder = tmp_path_factory.mktemp("duc")
    for year in YEARS[:2]:
        save_folder(folder / f"duc{year}", year)
    save_tar(folder / "duc2007", 2007)
    return folder


def rows_of(folder: Path) -> list[Rated]:
    return [row for year in YEARS for row in read_set(folder, {"name": f"duc{year}", "duc": f"duc{year}"})]


def test_a_tar_file_is_read_as_the_folder_is(tmp_path: Path) -> None:
    plain = read_duc(save_folder(tmp_path / "plain", 2006))
    packed = save_tar(tmp_path / "packed", 2006)
    assert read_duc(packed) == plain
    assert len(plain) == DOCSETS * SYSTEMS
    assert [len(one.references) for one in plain] == [len(PEOPLE)] * len(plain)
    assert "Person A wrote this." in plain[0].references[0]
    assert all(one.peer.isdigit() for one in plain), "people are references, not rows"
    (packed / "NISTeval.tar.gz").write_bytes((packed / "NISTeval.tar.gz").read_bytes()[:100])
    with pytest.raises(DataError, match=r"cannot read .*NISTeval.tar.gz"):
        read_duc(packed)


def test_a_year_can_be_one_tar_file(tmp_path: Path) -> None:
    import tarfile

    plain = save_folder(tmp_path / "plain", 2005)
    with tarfile.open(tmp_path / "duc2005.tar", "w") as archive:
        archive.add(plain, "duc2005")
    assert read_duc(tmp_path / "duc2005.tar") == read_duc(plain)


@pytest.fixture
def recipe(tmp_path: Path, tiny_bert: Path, duc: Path) -> Path:
    """Return the recipe that ships, with tiny models in place of the paper's, and one epoch."""
    text = (ROOT / "recipes" / "sumqe-table1.toml").read_text(encoding="utf-8")
    following = save_head(tmp_path / "next", BertForNextSentencePrediction)
    models = {
        'base = "bert-base-uncased"': f'base = "{tiny_bert}"',
        'gpt2 = "gpt2"': f'gpt2 = "{save_gpt2(tmp_path / "gpt2")}"',
        'masked = "bert-base-uncased"': f'masked = "{save_head(tmp_path / "masked", BertForMaskedLM)}"',
        'next = "bert-base-uncased"': f'next = "{following}"',
        "window = 512": "window = 48",
        "hidden = 128": "hidden = 8",
        "epochs = 10": "epochs = 1",
    }
    for old, new in models.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "table1.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_one_recipe_makes_tables_1_and_2(
    tmp_path: Path, recipe: Path, duc: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    assert main(["train", str(recipe), "--data", str(duc), "--output", str(output), "--quiet"]) == 0
    capsys.readouterr()
    made = json.loads((output / "table1.json").read_text(encoding="utf-8"))
    regressors = [
        f"{kind}-{flavour}" for kind in ("BiGRU-ATT", "BERT-FT") for flavour in ("S-1", "M-1", "M-5")
    ]
    of_quality = {
        quality: {one["method"] for one in made["table1"] if one["quality"] == quality}
        for quality in QUALITIES
    }
    rouge = {"BEST-ROUGE", "ROUGE chosen on the other years"}
    assert of_quality["grammaticality"] == {*regressors, *rouge, "GPT-2", "BERT-FR-LM"}
    assert of_quality["non_redundancy"] == {*regressors, *rouge}
    for quality in QUALITIES[2:]:
        assert of_quality[quality] == {*regressors, *rouge, "BERT-FR-NS"}
    assert {one["systems"] for one in made["table1"]} == {SYSTEMS}
    assert {one["year"] for one in made["table1"]} == {f"duc{year}" for year in YEARS}
    for one in made["table1"]:
        for name in ("spearman", "kendall", "pearson"):
            assert one[name] is None or -1 <= one[name] <= 1
    assert set(made["chosen"]["BEST-ROUGE"].values()) <= set(VERSIONS)
    assert all(k >= 1 for k in made["chosen"]["GPT-2"].values())
    text = (output / "table1.md").read_text(encoding="utf-8")
    assert "| year | quality | method | systems | ρ | τ | r |" in text
    assert "# SUM-QE, table 2" in text
    rows = list(read_rows(output / "rows" / "duc2005.jsonl"))
    assert for_file(output / "rows" / "duc2005.jsonl").name == "duc05", "reproduce linguistic finds it"
    assert len(rows) == DOCSETS * SYSTEMS
    assert all(row.scores.keys() == {"Q1", "Q2", "Q3", "Q4", "Q5"} for row in rows)
    assert len(rows[0].example.references) == len(PEOPLE)
    assert (output / "BERT-FT-M-5" / "fold-duc2005" / "model").is_dir()
    # The held-out year of each fold is predicted by a model that did not read it.
    lines = (output / "BERT-FT-M-5" / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    assert {(json.loads(line)["set"], json.loads(line)["fold"]) for line in lines} == {
        (f"duc{year}", f"fold-duc{year}") for year in YEARS
    }


def test_correlations_are_over_means_of_systems() -> None:
    """By hand: means of people 4.5, 3, 2; of values 0.9, 0.1, 0.5; ρ = .5, τ = 1/3."""
    shares = {"a": (1.0, 0.75), "b": (0.5, 0.5), "c": (0.25, 0.25)}
    said = {"a": (0.8, 1.0), "b": (0.1, 0.1), "c": (0.5, 0.5)}
    rows = [
        Rated("text", {"focus": share}, "y", f"d{at}", system)
        for system, own in shares.items()
        for at, share in enumerate(own)
    ]
    values = np.array([value for own in said.values() for value in own])
    found = cell(rows, "focus", "mine", values)
    assert (found.year, found.systems) == ("y", 3)
    assert found.spearman == pytest.approx(0.5)
    assert found.kendall == pytest.approx(1 / 3)
    assert found.pearson == pytest.approx(np.corrcoef([4.5, 3, 2], [0.9, 0.1, 0.5])[0, 1])
    assert people_of(rows, "focus").tolist() == [5.0, 4.0, 3.0, 3.0, 2.0, 2.0]
    constant = cell(rows, "focus", "mine", np.ones(6))
    assert math.isnan(constant.pearson) and math.isnan(constant.kendall)
    mean, spread = mean_ratings(rows)["y"]["focus"]
    assert mean == pytest.approx(9.5 / 3)
    assert spread == pytest.approx(np.std([4.5, 3, 2]))


def test_parameters_are_chosen_on_the_other_years(duc: Path) -> None:
    rated = rows_of(duc)
    people = people_of(rated, QUALITIES[0])
    # The lowest token says what people say in the first two years; the mean of all tokens in the third.
    tokens = [
        np.array([score - 9, -1.0]) if row.set != "duc2007" else np.array([-9.0, score])
        for row, score in zip(rated, people, strict=True)
    ]
    values, chosen = perplexities(rated, lambda texts: tokens)
    assert chosen["duc2007"] == 1, "chosen on 2005 and 2006"
    assert set(values) == {QUALITIES[0]}
    references = [one.references for year in YEARS for one in read_duc(duc / f"duc{year}")]
    best, own = best_rouge(rated, references, own_year=True)
    other, _ = best_rouge(rated, references, own_year=False)
    for year in YEARS:
        at = [place for place, row in enumerate(rated) if row.set == f"duc{year}"]
        rows = [rated[place] for place in at]

        def height(found: dict[str, np.ndarray], rows: list[Rated] = rows, at: list[int] = at) -> float:
            return float(np.mean([cell(rows, name, "", found[name][at]).pearson for name in QUALITIES]))

        assert height(best) >= height(other) - 1e-12, f"{own} is the best on its own year"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('flavours = ["s1", "m1", "m5"]', 'flavours = ["m2"]', "model.flavours must be a list of s1, m1, m5"),
        ("hidden = 8", "width = 8", "unknown key 'width'"),
        ('[[data.sets]]\nname = "duc2006"\nduc = "duc2006"\n\n', "", ""),
    ],
)
def test_a_recipe_that_cannot_be(
    tmp_path: Path, recipe: Path, duc: Path, old: str, new: str, says: str
) -> None:
    from gistmeter.catalog import train

    text = recipe.read_text(encoding="utf-8")
    assert old in text
    text = text.replace(old, new)
    if not says:  # one year alone cannot be held out
        text, says = text.replace('[[data.sets]]\nname = "duc2005"\nduc = "duc2005"\n\n', ""), "two or more"
    recipe.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        train(recipe, duc, tmp_path / "out", steps=None, progress=False)
