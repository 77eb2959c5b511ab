"""Test adapted encoders with a classifier, saved and loaded again."""

from pathlib import Path

import torch

from gistmeter.models.files.adapted import AdapterPlan, load_adapted, new_adapted, save_adapted
from gistmeter.models.files.find import find_model

LABELS = ("entailment", "neutral", "contradiction")


def test_a_bert_classifier_trains_its_pooler_and_keeps_its_output(tiny_bert: Path, tmp_path: Path) -> None:
    plan = AdapterPlan("AutoModelForSequenceClassification", 2, LABELS)
    model, tokenizer = new_adapted(str(tiny_bert), plan)
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert "bert.pooler.dense.weight" in trained
    save_adapted(model, str(tiny_bert), plan, tmp_path)
    again, _, found = load_adapted(find_model(str(tmp_path)))
    read = tokenizer("Rain fell.", "It rained.", return_tensors="pt")
    assert found == plan
    assert torch.allclose(again(**read).logits, model.eval()(**read).logits, atol=2e-3)  # saved in float16
