"""Descriptions of metrics: complete, true to the code, and anchors that are found by signature."""

import tomllib
from importlib.resources import files

import pytest

from gistmeter import catalog
from gistmeter.app.cli import main
from gistmeter.core.errors import UsageError
from gistmeter.described.describe import anchors_of, describe

FACTS = tomllib.loads(files("gistmeter.described").joinpath("metrics.toml").read_text(encoding="utf-8"))


def test_every_metric_is_described_and_no_other() -> None:
    assert set(FACTS) == set(catalog.METRICS)
    assert all(set(facts) == {"question", "needs", "better", "range"} for facts in FACTS.values())


@pytest.mark.parametrize("name", catalog.METRICS)
def test_options_are_those_of_the_metric_each_with_its_meaning(name: str) -> None:
    for option in describe(name).options:
        assert option.what, f"{name}: the option {option.name} has no text in Args"


def test_required_fields_are_those_of_the_default() -> None:
    for name in ("rouge", "novelty", "sari"):
        metric = catalog.build(name)
        assert describe(name).needs == ", ".join(metric.needs)


def test_presets_name_the_options_that_they_set() -> None:
    assert "criterion=geometric,aggregate=sentences" in describe("cloze").presets["mini"]
    assert describe("simplicity").presets["base"] == "layer=7,weight=zipf,unit=word,value=f_half"
    assert describe("rouge").presets == {}


def test_defaults_are_printed_as_they_are_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "simplicity"]) == 0
    printed = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert ["damp", "false"] in printed and ["layer", "none"] in printed


def test_anchors_are_found_by_signature_only() -> None:
    found = describe("novelty").anchors[0]
    assert anchors_of(catalog.build("novelty").signature.text) == found
    assert anchors_of(catalog.build("novelty", options={"value": "novel_3"}).signature.text) is None
    assert found.means["lead-3"] < found.means["reference"] < found.means["other article"]
    assert list(found.deciles) == sorted(found.deciles) and len(found.deciles) == 11
    assert found.share_below(-1.0) == 0.0 and found.share_below(2.0) == 1.0


def test_the_command_prints_a_list_and_one_metric(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics"]) == 0
    printed = capsys.readouterr().out
    assert all(f"\n{name} " in printed for name in catalog.METRICS)
    assert main(["metrics", "novelty"]) == 0
    printed = capsys.readouterr().out
    assert "needs     source" in printed and "lead-3" in printed and "Pearson correlation" in printed
    assert main(["metrics", "noveltie"]) == 2
    with pytest.raises(UsageError):
        describe("noveltie")
