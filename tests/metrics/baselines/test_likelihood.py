"""Compare the log likelihood with the loss of transformers, and with values computed by hand."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from gistmeter import catalog
from gistmeter.core.errors import BadModel, ModelNotFound, UsageError
from gistmeter.core.example import Example
from gistmeter.core.score import Flag
from gistmeter.metrics.baselines.likelihood import Likelihood, LikelihoodOptions
from gistmeter.models.rate.seq2seq import ConditionalModel, FloatArray, TargetText
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.vocabulary import Ids
from tests.tiny_models import SENTENCES

RUNTIME = Runtime(device="cpu", batch_tokens=60)
GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "likelihood.json").read_text(encoding="utf-8"))
EXAMPLE = Example("1", SENTENCES[0], SENTENCES[1], (SENTENCES[2], "Rain is expected."))


def loss(folder: Path, given: str, text: str, prefix: str = "") -> float:
    """Return BARTScore's number: minus the loss of the text given another, special tokens included."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    inputs, labels = tokenizer(given, return_tensors="pt"), tokenizer(text, return_tensors="pt").input_ids
    skipped = [tokenizer.convert_tokens_to_ids(prefix)] if prefix else []
    labels = torch.cat([torch.tensor([skipped], dtype=torch.long), labels], dim=1)
    with torch.no_grad():
        logits = model(input_ids=inputs.input_ids, labels=labels).logits[0]
    said = logits.log_softmax(dim=-1)[range(labels.shape[1]), labels[0]]
    return float(said[len(skipped) :].mean())


@pytest.mark.parametrize("kind", ["tiny_bart", "tiny_t5"])
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
def test_it_is_the_mean_log_probability_of_the_library(
    kind: str, direction: str, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(kind)
    options = {"direction": direction}
    [score] = catalog.build("likelihood", model=str(folder), runtime=RUNTIME, options=options).score(
        [EXAMPLE]
    )
    both = {
        "forward": loss(folder, SENTENCES[1], SENTENCES[0]),
        "backward": loss(folder, SENTENCES[0], SENTENCES[1]),
    }
    expected = both if direction == "both" else {direction: both[direction]}
    assert score.parts == pytest.approx(expected, abs=1e-5)
    assert score.value == pytest.approx(sum(expected.values()) / len(expected), abs=1e-5)


def test_several_references_are_averaged(tiny_t5: Path) -> None:
    options = {"against": "references", "direction": "both"}
    metric = catalog.build("likelihood", model=str(tiny_t5), runtime=RUNTIME, options=options)
    [score] = metric.score([EXAMPLE])
    forward = [loss(tiny_t5, text, SENTENCES[0]) for text in EXAMPLE.references]
    backward = [loss(tiny_t5, SENTENCES[0], text) for text in EXAMPLE.references]
    parts = {"forward": sum(forward) / 2, "backward": sum(backward) / 2}
    assert score.parts == pytest.approx(parts, abs=1e-5)
    assert {(span.side, span.index) for span in score.spans} == {
        ("candidate", 0),
        ("reference", 0),
        ("reference", 1),
    }


def test_a_prefix_is_read_and_does_not_count(tiny_t5: Path) -> None:
    """PRISM's model begins each text with a language tag."""
    plain, tagged = (
        catalog.build("likelihood", model=str(tiny_t5), runtime=RUNTIME, options={"prefix": prefix})
        for prefix in ("", "<extra_id_7>")
    )
    [one], [other] = plain.score([EXAMPLE]), tagged.score([EXAMPLE])
    assert other.value == pytest.approx(loss(tiny_t5, SENTENCES[1], SENTENCES[0], "<extra_id_7>"), abs=1e-5)
    assert one.value != pytest.approx(other.value, abs=1e-4)
    assert plain.signature != tagged.signature
    with pytest.raises(BadModel, match="has no token <en>"):
        catalog.build("likelihood", model=str(tiny_t5), runtime=RUNTIME, options={"prefix": "<en>"})


@dataclass
class Listed:
    """A model whose tokens are words, with ½ to the power of their length as their probability.

    A zero-width space has no token.
    """

    identity: str = "listed"

    def read(self, texts: Sequence[str]) -> list[TargetText]:
        return [self._read(text) for text in texts]

    def _read(self, text: str) -> TargetText:
        places, at = [], 0
        for word in text.replace("\u200b", " ").split():
            places.append((text.index(word, at), text.index(word, at) + len(word)))
            at = places[-1][1]
        lengths = [end - start for start, end in places]
        places = [*places, places[-1] if places else (0, 0)]  # the end token
        return TargetText((*lengths, 3), np.array(places), len(lengths), len(lengths))

    def log_probabilities(self, pairs: Sequence[tuple[Ids, Ids]]) -> list[FloatArray]:
        return [np.array([-math.log(2) * at for at in text]) for _, text in pairs]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["provenance"])
def test_golden(case: dict[str, Any]) -> None:
    fields = {key: value for key, value in case["input"].items() if key != "options"}
    metric = Likelihood(Listed(), LikelihoodOptions(**case["input"]["options"]))
    [score] = metric.score([Example("1", **fields)])
    assert {**score.parts, "value": score.value} == pytest.approx(case["value"], abs=case["tolerance"])


def test_words_and_their_values_by_hand() -> None:
    """Words of 4 and 5 letters and an end token of 3: the mean is −4 ln 2, the last word −(5 + 3)/2 ln 2."""
    [score] = Likelihood(Listed()).score([Example("1", "Rain fell.", "Rain.")])
    assert score.value == pytest.approx(-4 * math.log(2))
    assert [(s.start, s.end) for s in score.spans] == [(0, 4), (5, 10)]
    assert [s.value for s in score.spans] == pytest.approx([-4 * math.log(2)] * 2)
    assert [s.weight for s in score.spans] == pytest.approx([1 / 3, 2 / 3])
    backward = LikelihoodOptions(direction="backward")
    [score] = Likelihood(Listed(), backward).score([Example("1", "Rain fell.", "Rain.")])
    assert score.value == pytest.approx(-4 * math.log(2))
    assert [span.side for span in score.spans] == ["source"]


def test_a_reference_without_tokens_is_left_out(tiny_bert: Path) -> None:
    metrics = [
        Likelihood(Listed(), LikelihoodOptions(against="references", direction="both")),
        catalog.build("bertscore", model=str(tiny_bert), runtime=RUNTIME),
    ]
    references = (["\u200b", "It fell."], ["It fell."], ["\u200b"])
    for metric in metrics:
        found, alone, none = metric.score([Example("1", "Rain.", references=given) for given in references])
        assert found.value == pytest.approx(alone.value)
        assert found.flags == none.flags == (Flag("empty_side", "reference"),)
        assert none.problem == "the model's tokenizer finds no token in the reference"


def test_long_texts_are_truncated_and_flagged(tiny_bart: Path) -> None:
    metric = catalog.build("likelihood", model=str(tiny_bart), runtime=RUNTIME)
    source = " ".join(SENTENCES * 5)
    [score] = metric.score([Example("1", SENTENCES[0], source)])
    [flag] = score.flags
    assert (flag.name, flag.side, flag.kept) == ("truncated", "source", 62)
    assert isinstance(flag, Flag) and flag.total is not None and flag.total > 200
    model = ConditionalModel.load(str(tiny_bart), RUNTIME, prefix="<mask>")
    assert len(model.read([source])[0].ids) == 63, "the prefix takes a place of the window"


def test_what_is_no_encoder_decoder(tiny_bert: Path) -> None:
    with pytest.raises(BadModel, match="is a bert, not an encoder-decoder"):
        catalog.build("likelihood", model=str(tiny_bert), runtime=RUNTIME)
    with pytest.raises(ModelNotFound, match="no model in the preset mini; use --preset paper"):
        catalog.build("likelihood", runtime=RUNTIME)
    with pytest.raises(UsageError, match="there are: mini, base, paper"):
        catalog.build("likelihood", preset="huge", runtime=RUNTIME)
