"""Test the catalog: tables of names in the form of entry points."""

import dataclasses
import inspect
from importlib.metadata import EntryPoint
from typing import get_type_hints

import pytest

from gistmeter import catalog
from gistmeter.core.errors import UsageError
from gistmeter.metrics.baselines import Chrf, Rouge
from gistmeter.models.run.runtime import Runtime


@pytest.mark.parametrize("name", catalog.METRICS)
def test_every_metric_is_found_and_is_a_function_or_a_class_with_options(name: str) -> None:
    found = EntryPoint(name, catalog.METRICS[name], catalog.GROUP).load()
    if isinstance(found, type):
        assert dataclasses.is_dataclass(get_type_hints(found)["options"])
        assert catalog.build(name).name == name
    else:
        assert list(inspect.signature(found).parameters) == ["preset", "model", "runtime", "options"]


@pytest.mark.parametrize("task", catalog.TASKS)
def test_every_task_is_found(task: str) -> None:
    assert callable(EntryPoint(task, catalog.TASKS[task], "gistmeter.tasks").load())


def of_two_arguments(preset: str, model: str | None, runtime: Runtime, options: dict[str, str]) -> Chrf:
    assert (preset, model, runtime.device, options) == ("other", "m", "cpu", {"a": "b"})
    return Chrf()


def test_metrics_of_other_packages_join(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [
        EntryPoint("zeta", "tests.test_catalog:of_two_arguments", catalog.GROUP),
        EntryPoint("alpha", "gistmeter.metrics.baselines:Rouge", catalog.GROUP),
        EntryPoint("rouge", "nowhere:nothing", catalog.GROUP),
    ]
    monkeypatch.setattr(catalog, "entry_points", lambda *, group: entries)
    assert catalog.names() == [*catalog.METRICS, "alpha", "zeta"]
    assert catalog.load("zeta:a=b", preset="other", model="m", runtime=Runtime(device="cpu")) == Chrf()
    assert catalog.load("alpha:value=rouge1_f1").signature == catalog.load("rouge:value=rouge1_f1").signature
    assert isinstance(catalog.build("rouge"), Rouge), "a metric of gistmeter's own is not replaced"


def test_a_misspelled_name_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no metric 'speeed' \(did you mean 'speed'"):
        catalog.parse_spec("speeed:value=min")
    with pytest.raises(UsageError, match="write options as name:option=value"):
        catalog.parse_spec("speed:value")
    with pytest.raises(UsageError, match="value is given twice"):
        catalog.parse_spec("speed:value=min,match=greedy,value=f1")


def test_options_given_apart_win_over_the_specs() -> None:
    both = catalog.load("rouge:value=rouge1_f1,stemmer=false", options={"value": "rouge2_f1"})
    assert both == catalog.load("rouge:value=rouge2_f1,stemmer=false")
