"""Test pipelines with a transformer, such as `en_core_web_trf`, on a tiny one."""

import importlib.util
import pickle
from pathlib import Path

import pytest

from gistmeter.core.errors import BadModel
from gistmeter.core.example import Example
from gistmeter.metrics.cloze import Cloze
from gistmeter.models.fill.load import load_filler
from gistmeter.models.run.runtime import Runtime
from gistmeter.text.factors import Pipeline, find_factors, load_pipeline
from tests.tiny_trf import tiny_trf_pipeline

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("spacy_curated_transformers") is None,
    reason="spacy-curated-transformers is not installed",
)
TEXTS = [
    "Anna Berg sold the red boat in Oslo.",
    "It didn't rain.",
    "On Monday she sold the old school. Karl Lund's sister lives near Bergen.\nShe thanked her brother.",
    "🙂",
    "",
]


@pytest.fixture
def pipeline() -> Pipeline:
    return Pipeline(tiny_trf_pipeline(), "trf")


def test_factors_do_not_depend_on_the_other_texts(pipeline: Pipeline) -> None:
    found = find_factors(TEXTS, pipeline, "entity_first")
    assert any(marked.factors for marked in found)
    assert found == [find_factors([text], pipeline, "entity_first")[0] for text in TEXTS]
    assert found == find_factors(TEXTS[::-1], pipeline, "entity_first")[::-1]


def test_a_text_longer_than_the_transformers_window_is_read_to_its_end(pipeline: Pipeline) -> None:
    [marked] = find_factors(["The mayor thanked Karl Lund. " * 60], pipeline, "entity")
    assert len(marked.sentences) == 60
    assert all(factor.end <= 60 * 29 for factor in marked.factors)


def test_the_transformer_runs_for_every_selection(pipeline: Pipeline) -> None:
    assert all(
        "transformer" not in pipeline.idle(selection) for selection in ("entity", "noun", "entity_first")
    )
    assert "ner" in pipeline.idle("noun") and "parser" in pipeline.idle("entity")


def test_a_copy_and_a_folder_find_the_same_factors(pipeline: Pipeline, tmp_path: Path) -> None:
    found = find_factors(TEXTS, pipeline, "entity_first")
    assert find_factors(TEXTS, pickle.loads(pickle.dumps(pipeline)), "entity_first") == found
    pipeline.nlp.to_disk(tmp_path / "trf")
    loaded = load_pipeline(tmp_path / "trf")
    assert find_factors(TEXTS, loaded, "entity_first") == found
    assert loaded.identity == load_pipeline(tmp_path / "trf").identity


def test_the_package_that_a_pipeline_needs_is_named(pipeline: Pipeline, tmp_path: Path) -> None:
    pipeline.nlp.to_disk(tmp_path / "trf")
    config = tmp_path / "trf" / "config.cfg"
    config.write_text(config.read_text().replace("curated_transformer", "absent_transformer"))
    with pytest.raises(BadModel, match="cannot load spaCy pipeline"):
        load_pipeline(tmp_path / "trf")


def test_cloze_scores_with_it(pipeline: Pipeline, tiny_roberta_lm: Path) -> None:
    metric = Cloze(load_filler(str(tiny_roberta_lm), Runtime(device="cpu")), pipeline)
    examples = [Example(str(at), text, "Anna Berg sold a boat.") for at, text in enumerate(TEXTS[:3])]
    scores = metric.score(examples)
    assert all(score.problem is None for score in scores)
    assert [score.parts["factors"] for score in scores] == [
        metric.score([e])[0].parts["factors"] for e in examples
    ]
    assert "|pipeline=trf|" in metric.signature.text
