"""Combined metrics with tiny members and weights chosen by hand."""

import json
from pathlib import Path

from gistmeter.combined.support import FEATURES
from tests.tiny_fillers import save_roberta_mlm
from tests.tiny_models import save_bert
from tests.tiny_spacy import tiny_pipeline

TERMS = (
    {"spec": "extractive", "part": "value", "mean": 0.5, "scale": 0.5, "weight": 0.4},
    {"spec": "novelty", "part": "value", "mean": 0.5, "scale": 0.25, "weight": -0.3},
)
DIMENSIONS = ("consistency", "coherence", "fluency", "relevance", "meaning", "simplicity")


def save_quality(folder: Path) -> Path:
    """Save a `quality` whose members need no model."""
    linear = {
        name: {"intercept": 3.0 + at % 4, "terms": TERMS[: 1 + at % 2], "low": 1.0, "high": 5.0}
        for at, name in enumerate(DIMENSIONS)
    }
    members: dict[str, object] = {"extractive": {}, "novelty": {}}
    facts = {"model_type": "gistmeter-quality", "members": members, "dimensions": linear}
    (folder / "config.json").write_text(json.dumps(facts))
    return folder


def save_check(folder: Path) -> Path:
    """Save a `check` with tiny random members."""
    encoder, filler, pipeline = folder / "encoder", folder / "filler", folder / "pipeline"
    save_bert(encoder)
    save_roberta_mlm(filler)
    tiny_pipeline().to_disk(pipeline)
    speed = {"spec": "speed:against=source", "model": str(encoder)}
    facts = {
        "model_type": "gistmeter-check",
        "members": {
            "entailment": {**speed, "spec": "speed:against=source,match=optimal"},
            "similarity": speed,
            "facts": {"spec": f"cloze:pipeline={pipeline}", "model": str(filler)},
            "names": {"spec": "names"},
            "denials": {"spec": f"denials:pipeline={pipeline}"},
        },
        "intercept": -0.2,
        "weights": dict.fromkeys(FEATURES, -1.5),
        "means": {**dict.fromkeys(FEATURES, 0.5), "denials": 1.0},
        "alarm": 0.3,
    }
    (folder / "config.json").write_text(json.dumps(facts))
    return folder
