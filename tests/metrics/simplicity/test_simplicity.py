"""Simplicity metric on tiny models and hand-computed values; for its weights, see test_frequencies.py."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gistmeter import Example, catalog, load
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.options import Preset
from gistmeter.core.score import Flag, Score
from gistmeter.metrics.simplicity import Simplicity, SimplicityOptions
from gistmeter.metrics.simplicity.presets import PRESETS
from gistmeter.metrics.simplicity.relative import relative
from gistmeter.metrics.simplicity.weights import FrequencyWeighter
from gistmeter.models.run.tokens import Tokens
from gistmeter.text.frequencies import count_words
from tests.tiny_frequencies import save_tables

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "simplicity.json").read_text(encoding="utf-8"))
COUNTED = [case for case in GOLDEN if case["kind"] == "frequency"]
SCORED = [case for case in GOLDEN if case["kind"] == "score"]
TEXT = "The ferry left the harbour at noon. Forty passengers were on board."


@dataclass(frozen=True)
class Listed:
    """Fake encoder with given similarities: {word of candidate or source: {word of a reference: …}}."""

    similarity: Mapping[str, Mapping[str, float]]
    identity: str = "listed"

    def embed_tokens(self, texts: Sequence[str]) -> list[tuple[Tokens, NDArray[np.float32]]]:
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> tuple[Tokens, Any]:
        places = [match.span() for match in re.finditer(r"\S+", text)]
        vectors = np.array([self._vector(text[start:end]) for start, end in places])
        special = np.zeros(len(places), dtype=bool)
        return Tokens(tuple(range(len(places))), np.array(places), special, len(places)), vectors

    def _vector(self, word: str) -> list[float]:
        """Return a unit vector for each word whose dot products are the given similarities."""
        return [
            float(word == own) if word in self.similarity else row[word]
            for own, row in self.similarity.items()
        ]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tables(tmp_path_factory.mktemp("tables")))


def score(model: Path, tables: str, example: Example, **options: object) -> Score:
    metric = catalog.build("simplicity", model=str(model), options={"frequencies": tables, **options})
    return metric.score([example])[0]


@pytest.mark.parametrize("case", COUNTED, ids=lambda case: case["provenance"])
def test_golden_frequencies(case: dict[str, Any]) -> None:
    table = count_words(case["texts"])
    for word, value in case["value"].items():
        assert table.share(table.counts.get(word, 0)) == pytest.approx(value, abs=case["tolerance"]), word


@pytest.mark.parametrize("case", SCORED, ids=lambda case: case["provenance"])
def test_golden_scores(case: dict[str, Any]) -> None:
    weighter = FrequencyWeighter({(word, False): weight for word, weight in case["weights"].items()}, 1.0)
    found = Simplicity(Listed(case["similarity"]), weighter).score([Example("1", **case["input"])])[0]
    for part, value in case["value"].items():
        assert found.parts[part] == pytest.approx(value, abs=case["tolerance"]), part
    assert found.value == found.parts["f1"]
    assert math.isnan(found.parts["rel_f1"]) == ("source" not in case["input"])


def test_spans_name_the_word_that_matched_and_its_weight() -> None:
    encoder = Listed({"cat": {"kitten": 0.9, "rested": 0.1}, "sat": {"kitten": 0.3, "rested": 0.4}})
    metric = Simplicity(encoder, FrequencyWeighter({("cat", False): 0.25}, 0.5))
    found = metric.score([Example("1", "cat sat", references=["kitten rested"])])[0]
    assert [(s.start, s.end, s.value, s.weight, s.note) for s in found.spans] == [
        (0, 3, 0.9, 0.25, "kitten"),
        (4, 7, 0.4, 0.5, "rested"),
    ]


def test_spans_are_words_though_tokens_are_pieces_of_them(tiny_roberta: Path, tables: str) -> None:
    example = Example("1", "Ferries  won't\nstop.", references=["Zoos close.", "Ferries  won't\nstop."])
    found = score(tiny_roberta, tables, example)
    words = [example.candidate[span.start : span.end] for span in found.spans]
    assert words == ["Ferries", "won't", "stop", "."]
    assert [span.note for span in found.spans] == words, "each matches itself in the second reference"
    weights = np.array([span.weight for span in found.spans])
    mean = np.array([span.value for span in found.spans]) @ weights / weights.sum()
    assert mean == pytest.approx(found.parts["precision"], abs=1e-6)


@pytest.mark.parametrize("weight", ["frequency", "ratio", "zipf", "uniform"])
@pytest.mark.parametrize("unit", ["subword", "word"])
def test_a_text_against_itself_is_one(tiny_bert: Path, tables: str, weight: str, unit: str) -> None:
    example = Example("1", TEXT, "Rain fell over the hills.", ("Nobody came.", TEXT))
    found = score(tiny_bert, tables, example, weight=weight, unit=unit)
    for part in ("precision", "recall", "f1", "rel_precision", "rel_recall", "rel_f1"):
        assert found.parts[part] == pytest.approx(1, abs=1e-5), part


def test_an_output_that_is_the_input_is_zero(tiny_roberta: Path, tables: str) -> None:
    example = Example("1", TEXT, TEXT, ("Rain fell over the hills.", "The ferry left."))
    found = score(tiny_roberta, tables, example, value="rel_f1")
    assert found.value == pytest.approx(0, abs=1e-5)
    assert found.flags == ()


@given(output=st.floats(-1, 0.99), source=st.floats(-1, 0.99), baseline=st.floats(-0.5, 0.9))
def test_rescaling_changes_no_relative_score(output: float, source: float, baseline: float) -> None:
    rescaled = [(score - baseline) / (1 - baseline) for score in (output, source)]
    assert relative(*rescaled) == pytest.approx(relative(output, source), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("candidate", "value"), [(TEXT, 1.0), ("Rain fell.", 0.0)])
def test_an_input_that_equals_a_reference_is_flagged(
    tiny_bert: Path, tables: str, candidate: str, value: float
) -> None:
    example = Example("1", candidate, TEXT, ("Rain fell over the hills.", TEXT))
    found = score(tiny_bert, tables, example, value="rel_f1")
    assert (found.value, found.flags) == (value, (Flag("degenerate", "source"),))
    assert {found.parts[f"rel_{part}"] for part in ("precision", "recall", "f1")} == {value}


def test_clip_lifts_what_is_negative(tiny_bert: Path, tables: str) -> None:
    example = Example("1", "Farmers lost crops.", "The ferry left the harbour.", (TEXT,))
    assert score(tiny_bert, tables, example, value="rel_f1").value < 0
    assert score(tiny_bert, tables, example, value="rel_f1", clip=True).value == 0


def test_contrast_takes_off_what_is_kept_of_the_input() -> None:
    """By hand: f1 is .9; the similarities of the source's two words are 1 and .5, so kept is .75."""
    encoder = Listed({"cat": {"kitten": 0.9, "feline": 0.5}})
    weighter = FrequencyWeighter({}, 1.0)
    example = Example("1", "cat", "cat feline", ("kitten",))
    plain = Simplicity(encoder, weighter).score([example])[0]
    assert plain.parts["kept"] == pytest.approx(0.75)
    options = SimplicityOptions(contrast=0.4)
    found = Simplicity(encoder, weighter, options=options).score([example])[0]
    assert found.value == pytest.approx(0.9 - 0.4 * 0.75)
    assert found.parts == plain.parts
    without = Example("1", "cat", references=("kitten",))
    missing = Simplicity(encoder, weighter, options=options).score([without])[0]
    assert missing.problem == "the row has no source"
    assert math.isnan(Simplicity(encoder, weighter).score([without])[0].parts["kept"])


def test_clip_makes_no_number_of_what_is_undefined(tiny_bert: Path, tables: str) -> None:
    found = score(tiny_bert, tables, Example("1", TEXT, references=("Rain fell.",)), clip=True)
    assert math.isnan(found.parts["rel_f1"])


@pytest.mark.parametrize("references", [(), ("", "  "), ("\u200b",)])
def test_values_about_the_candidate_alone_need_no_references(
    tiny_bert: Path, tables: str, references: tuple[str, ...]
) -> None:
    found = score(tiny_bert, tables, Example("1", TEXT, references=references), value="simplicity")
    assert (found.problem, found.spans) == (None, ())
    assert found.value == found.parts["simplicity"] > 0
    assert all(math.isnan(found.parts[part]) for part in ("precision", "recall", "f1", "rel_f1", "kept"))
    assert score(tiny_bert, tables, Example("1", TEXT, references=references)).problem is not None


def test_the_source_is_needed_by_relative_values_only(tiny_bert: Path, tables: str) -> None:
    example = Example("1", TEXT, references=("Rain fell.",))
    assert score(tiny_bert, tables, example, value="rel_f1").problem == "the row has no source"
    plain = score(tiny_bert, tables, example)
    assert plain.problem is None
    assert math.isnan(plain.parts["rel_f1"])


@pytest.mark.parametrize(
    ("candidate", "references"),
    [("?!", ("...",)), ("Rain", ("Rain fell.",)), ("qqq zzz", ("vvv",)), ("Rain.", ("", "Rain."))],
    ids=["punctuation", "one word", "unseen words", "an empty reference"],
)
def test_meagre_texts_have_a_number(
    tiny_roberta: Path, tables: str, candidate: str, references: tuple[str, ...]
) -> None:
    for weight in ("frequency", "ratio", "zipf"):
        found = score(tiny_roberta, tables, Example("1", candidate, "Rain.", references), weight=weight)
        assert found.problem is None
        assert -1 <= found.value <= 1 + 1e-6


def test_what_the_model_cannot_see_has_a_problem(tiny_bert: Path, tables: str) -> None:
    found = score(tiny_bert, tables, Example("1", "\u200b", "Rain.", ("Rain.",)))
    assert found.problem == "the model's tokenizer finds no token in the candidate"
    unseen = score(tiny_bert, tables, Example("1", "Rain.", "\u200b", ("Rain fell.",)))
    assert unseen.problem is None
    assert math.isnan(unseen.parts["rel_f1"])
    assert unseen.flags == (Flag("empty_side", "source"),)


def test_a_reference_without_tokens_is_left_out(tiny_bert: Path, tables: str) -> None:
    found = score(tiny_bert, tables, Example("1", "Rain.", "It rained.", ("\u200b", "Rain fell.")))
    alone = score(tiny_bert, tables, Example("1", "Rain.", "It rained.", ("Rain fell.",)))
    assert (found.value, found.flags) == (alone.value, (Flag("empty_side", "reference"),))


def test_long_texts_are_cut_and_flagged(tiny_bert: Path, tables: str) -> None:
    example = Example("1", "Rain. " * 50, "The ferry left.", ("It left.", "Rain. " * 60))
    flags = score(tiny_bert, tables, example).flags
    assert flags == (
        Flag("truncated", "candidate", 64, 100),
        Flag("truncated", "reference", 64, 120, index=1),
    )


def test_a_model_given_by_name_keeps_the_presets_layer(
    tiny_bert: Path, tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The preset `paper` reads layer 17; `--preset paper --model FOLDER` reads the same layer of FOLDER."""
    monkeypatch.setitem(PRESETS, "paper", Preset("roberta-large", layer=2))
    kept = load("simplicity", preset="paper", model=str(tiny_bert), frequencies=tables)
    assert "/layer2/" in kept.signature.text
    last = load("simplicity", model=str(tiny_bert), frequencies=tables)
    assert "/layer" not in last.signature.text, "without a preset: all layers"
    other = load("simplicity", preset="paper", model=str(tiny_bert), frequencies=tables, layer=1)
    assert "/layer1/" in other.signature.text, "the option wins"


def test_the_encoder_stops_at_the_layer(tiny_bert: Path, tables: str) -> None:
    metric = load("simplicity", model=str(tiny_bert), frequencies=tables, layer=2)
    assert isinstance(metric, Simplicity)
    assert "/layer2/" in metric.signature.text
    assert metric.encoder.model.config.num_hidden_layers == 2  # type: ignore[attr-defined]
    assert len(metric.encoder.model.encoder.layer) == 2  # type: ignore[attr-defined]


def test_what_cannot_be_is_said(tiny_bert: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"contrast=1.5: give a number from 0 to 1"):
        SimplicityOptions(contrast=1.5)
    with pytest.raises(UsageError, match="contrast needs value=f1, f_half, precision or recall, not rel_f1"):
        SimplicityOptions(contrast=0.4, value="rel_f1")
    with pytest.raises(UsageError, match="was not trained for it"):
        load("simplicity", model=str(tiny_bert), weight="uniform", value="p_simple")
    with pytest.raises(UsageError, match="damp needs weight=frequency, not zipf"):
        SimplicityOptions(weight="zipf", damp=True)
    with pytest.raises(DataError, match=r"there is no frequency table at .*general.txt.gz"):
        load("simplicity", model=str(tiny_bert), frequencies=str(tmp_path))
    with pytest.raises(DataError, match="no folder of frequency tables at nowhere"):
        load("simplicity", model=str(tiny_bert), frequencies="nowhere")
    with pytest.raises(UsageError, match="mini, base, tuned, paper"):
        load("simplicity", preset="tiny")
