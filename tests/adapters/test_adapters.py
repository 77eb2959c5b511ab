"""Each adapter in its real library: the numbers of `gistmeter.score`, and rows with a problem.

A library that is not installed skips its test; docs/adapters.md says which ones the extra dev installs.
"""

import asyncio
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gistmeter as gm
from gistmeter.adapters.common import library, mean_of, metric_from
from gistmeter.core.errors import MissingField, UsageError

pytestmark = pytest.mark.filterwarnings("ignore")  # of the other libraries
ROWS = [json.loads(line) for line in Path("examples/pairs.jsonl").read_text().splitlines()]
SOURCES = [row["source"] for row in ROWS]
REFERENCES = [row["references"] for row in ROWS]
EMPTY = len(ROWS) - 1
"""The position of a candidate that cannot be scored."""
CANDIDATES = [row["candidate"] for row in ROWS[:EMPTY]] + [""]
PROBLEM = "the candidate is empty"


@pytest.fixture(autouse=True)
def caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("HF_HOME", "HF_MODULES_CACHE", "HF_EVALUATE_CACHE", "WANDB_DIR", "INSPECT_LOG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    yield


def wanted(spec: str) -> list[float]:
    scores = gm.score(spec, candidates=CANDIDATES, sources=SOURCES, references=REFERENCES).scores
    assert math.isnan(scores[EMPTY].value)
    return [score.value for score in scores]


def needs(module: str) -> Any:  # noqa: ANN401 - a module without types
    return pytest.importorskip(module, reason=f"{module} is not installed, see docs/adapters.md")


def same(found: list[Any], spec: str) -> bool:
    return [math.nan if value is None else value for value in found] == pytest.approx(
        wanted(spec), nan_ok=True
    )


@pytest.mark.parametrize("spec", ["rouge", "extractive"])
def test_evaluate(spec: str) -> None:
    needs("evaluate")
    column = {"references": REFERENCES} if spec == "rouge" else {"sources": SOURCES}
    found = gm.as_evaluate(spec).compute(predictions=CANDIDATES, **column)
    assert same(found["scores"], spec)
    assert found[spec] == pytest.approx(mean_of(wanted(spec)))
    assert found["problems"] == [None] * EMPTY + [PROBLEM]
    assert found["signature"] == gm.load(spec).signature.text


def test_evaluate_loads_the_module_folder(tmp_path: Path) -> None:
    evaluate = needs("evaluate")
    from gistmeter.adapters.evaluate import FOLDER

    loaded = evaluate.load(FOLDER, "rouge:value=rouge1_f1", cache_dir=str(tmp_path))
    loaded.add_batch(predictions=CANDIDATES[:2], references=[texts[0] for texts in REFERENCES[:2]])
    one_each = gm.score(
        "rouge:value=rouge1_f1", candidates=CANDIDATES[:2], references=[r[0] for r in REFERENCES[:2]]
    )
    assert loaded.compute()["rouge"] == pytest.approx(one_each.mean)


def test_datasets_map() -> None:
    datasets = needs("datasets")
    from gistmeter.adapters.datasets import as_datasets

    rows = datasets.Dataset.from_dict({"made": CANDIDATES, "source": SOURCES})
    fields = {"candidate": "made"}
    mapped = rows.map(as_datasets("extractive", fields=fields), batched=True, batch_size=2)
    assert same(mapped["extractive"][:], "extractive")
    assert all((text == "") == (at < EMPTY) for at, text in enumerate(mapped["extractive_problem"]))
    again = rows.map(as_datasets("extractive", fields=fields), batched=True, batch_size=2)
    assert again._fingerprint == mapped._fingerprint, "a second map reads the cache"
    with pytest.raises(MissingField):
        rows.map(as_datasets("extractive"), batched=True)


def test_torchmetrics() -> None:
    needs("torchmetrics")
    from gistmeter.adapters.torchmetrics import as_torchmetrics

    metric = as_torchmetrics("rouge")
    for part in (slice(0, 1), slice(1, 4), slice(4, None)):
        metric.update(CANDIDATES[part], references=REFERENCES[part])
    assert float(metric.compute()) == pytest.approx(mean_of(wanted("rouge")))
    assert (int(metric.defined), int(metric.undefined)) == (EMPTY, 1)
    other = as_torchmetrics("rouge")
    other.update([""], references=["A cat."])
    assert math.isnan(other.compute())


@pytest.mark.slow
def test_sentence_transformers() -> None:
    library = needs("sentence_transformers")
    from gistmeter.adapters.sentence_transformers import as_sentence_transformers
    from gistmeter.models.files.find import find_model

    model = library.SentenceTransformer(str(find_model("minilm").folder), device="cpu")
    metric = as_sentence_transformers(model, against="source")
    found = gm.score(metric, candidates=CANDIDATES, sources=SOURCES)
    assert [score.value for score in found.scores] == pytest.approx(
        wanted("speed:against=source"), nan_ok=True, abs=1e-5
    )
    assert metric.signature == as_sentence_transformers(model, against="source").signature
    model.max_seq_length = 8
    short = gm.score(
        as_sentence_transformers(model, against="source"), candidates=CANDIDATES, sources=SOURCES
    )
    assert short.signature != metric.signature
    assert any(flag.name == "truncated" for flag in short.scores[0].flags)


def test_everything_that_decides_an_embedding_is_in_the_signature() -> None:
    library = needs("sentence_transformers")
    from gistmeter.adapters.sentence_transformers import as_sentence_transformers
    from gistmeter.models.files.find import find_model

    def signature(tokenizer: str = "", **settings: Any) -> str:  # noqa: ANN401 - of the library
        model = library.SentenceTransformer(str(find_model("minilm").folder), device="cpu", **settings)
        if tokenizer:
            model.tokenizer.add_tokens([tokenizer])
        return as_sentence_transformers(model).signature.text

    others = [
        signature(truncate_dim=4),
        signature(prompts={"q": "query: "}, default_prompt_name="q"),
        signature(prompts={"q": "text: "}, default_prompt_name="q"),
        signature(tokenizer="ferryboats"),
    ]
    assert signature(prompts={"q": "query: "}) == signature()
    assert len({signature(), *others}) == 5


def test_lm_eval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    lm_eval = needs("lm_eval")
    from lm_eval.api.model import LM
    from lm_eval.api.task import ConfigurableTask

    from gistmeter.adapters.lm_eval import as_lm_eval

    class Given(LM):  # type: ignore[misc,unused-ignore]
        def generate_until(self, requests: list[Any]) -> list[str]:
            return [CANDIDATES[request.doc_id] for request in requests]

        loglikelihood = loglikelihood_rolling = generate_until

    task = ConfigurableTask(
        config={
            "task": "summaries",
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": "examples/pairs.jsonl"}},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{source}}",
            "doc_to_target": "{{references[0]}}",
            **as_lm_eval("rouge"),
        }
    )
    found = lm_eval.evaluate(Given(), {"summaries": task}, bootstrap_iters=0)["results"]["summaries"]
    assert found["rouge,none"] == pytest.approx(mean_of(wanted("rouge")))
    assert found["rouge_undefined,none"] == pytest.approx(1 / len(ROWS))


def test_inspect_ai() -> None:
    inspect_ai = needs("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    from gistmeter.adapters.inspect_ai import as_inspect_ai

    @solver  # type: ignore[untyped-decorator,unused-ignore]
    def given() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.output = ModelOutput.from_content("none", CANDIDATES[int(state.sample_id)])
            return state

        return solve

    samples = [Sample(id=at, input=row["source"], target=row["references"]) for at, row in enumerate(ROWS)]
    for spec in ("rouge", "extractive"):
        task = inspect_ai.Task(dataset=samples, solver=given(), scorer=as_inspect_ai(spec))
        (log,) = inspect_ai.eval(task, model="mockllm/model", display="none")
        scores = [next(iter(sample.scores.values())) for sample in log.samples]
        assert same([score.value for score in scores], spec)
        assert scores[EMPTY].explanation == PROBLEM
        assert log.results.scores[0].metrics["mean"].value == pytest.approx(mean_of(wanted(spec)))


def test_deepeval() -> None:
    needs("deepeval")
    from deepeval.test_case import LLMTestCase

    from gistmeter.adapters.deepeval import as_deepeval

    metric = as_deepeval("rouge", threshold=0.3)
    found = []
    for candidate, source, texts in zip(CANDIDATES, SOURCES, REFERENCES, strict=True):
        case = LLMTestCase(input=source, actual_output=candidate, expected_output=texts[0])
        found.append((metric.measure(case), metric.success, metric.error))
    values = gm.score("rouge", candidates=CANDIDATES, references=[texts[0] for texts in REFERENCES]).scores
    assert [value for value, _, _ in found[:EMPTY]] == [score.value for score in values[:EMPTY]]
    assert [success for _, success, _ in found] == [score.value >= 0.3 for score in values]
    assert found[EMPTY] == (None, False, PROBLEM)
    case = LLMTestCase(input=SOURCES[0], actual_output=CANDIDATES[0], expected_output=REFERENCES[0][0])
    assert asyncio.run(metric.a_measure(case)) == values[0].value
    assert metric.error is None


def test_mlflow(tmp_path: Path) -> None:
    mlflow = needs("mlflow")
    import pandas

    from gistmeter.adapters.mlflow import as_mlflow

    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.create_experiment("summaries", artifact_location=str(tmp_path))
    mlflow.set_experiment("summaries")
    one_each = [texts[0] for texts in REFERENCES]
    frame = pandas.DataFrame({"candidate": CANDIDATES, "article": SOURCES, "reference": one_each})
    found = mlflow.models.evaluate(
        data=frame,
        predictions="candidate",
        targets="reference",
        extra_metrics=[as_mlflow("rouge"), as_mlflow("extractive")],
        evaluators="default",
        evaluator_config={"col_mapping": {"sources": "article"}},
    )
    assert found.metrics["extractive/mean"] == pytest.approx(mean_of(wanted("extractive")))
    assert found.metrics["rouge/mean"] == pytest.approx(
        gm.score("rouge", candidates=CANDIDATES, references=one_each).mean
    )
    assert found.metrics["rouge/undefined"] == 1


def test_wandb(tmp_path: Path) -> None:
    wandb = needs("wandb")
    from gistmeter.adapters.wandb import as_wandb

    report = gm.score(["rouge", "extractive"], candidates=CANDIDATES, sources=SOURCES, references=REFERENCES)
    table = as_wandb(report)
    assert table.columns[4:] == ["rouge", "rouge_problem", "extractive", "extractive_problem"]
    assert same([row[4] for row in table.data], "rouge")
    assert table.data[EMPTY][4:6] == [None, PROBLEM]
    with wandb.init(mode="offline", dir=tmp_path) as run:
        run.log({"scores": table})


def test_langchain() -> None:
    needs("langchain_classic")
    from gistmeter.adapters.langchain import as_langchain

    evaluator = as_langchain("extractive")
    found = [
        evaluator.evaluate_strings(prediction=c, input=s) for c, s in zip(CANDIDATES, SOURCES, strict=True)
    ]
    assert same([one["score"] for one in found], "extractive")
    assert found[EMPTY]["reasoning"] == PROBLEM
    with pytest.raises(ValueError, match="reference"):
        as_langchain("rouge").evaluate_strings(prediction="A cat.")


def test_a_missing_library_is_one_line() -> None:
    said = "no-such-library is not installed; run: pip install no-such-library"
    with pytest.raises(UsageError, match=said), library("no-such-library"):
        import no_such_library  # type: ignore[import-not-found]
    with (
        pytest.raises(ModuleNotFoundError),
        library("json"),
    ):  # an installed library that lacks its own dependency
        import no_such_library  # noqa: F401


def test_keywords_are_only_for_names() -> None:
    with pytest.raises(UsageError, match="stemmer: only for a metric given by name"):
        metric_from(gm.load("rouge"), {"stemmer": False})
    assert metric_from("rouge", {"stemmer": False}) == gm.load("rouge:stemmer=false")
