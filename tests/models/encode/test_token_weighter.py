"""Test learned word weights: saved heads, and encoders that read pairs."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModel, AutoTokenizer, T5EncoderModel

from gistmeter.core.errors import BadModel, ModelNotFound, UsageError
from gistmeter.core.example import Example
from gistmeter.metrics.maskeval import Learned, Uniform, build
from gistmeter.models.encode.pair import PairEncoder, _plan
from gistmeter.models.encode.token_weighter import Head, TokenWeighter
from gistmeter.models.run.runtime import Runtime
from tests.tiny_fillers import save_bart, save_bert_mlm, save_roberta_mlm, save_t5
from tests.tiny_heads import DIMENSIONS, save_heads

RUNTIME = Runtime(device="cpu", batch_tokens=200)
CANDIDATE = "The ferry left at noon."
SOURCE = "A ferry with forty passengers left the harbour at noon, and nobody was hurt."
EXAMPLE = Example("1", CANDIDATE, SOURCE)
SAVERS: dict[str, tuple[Callable[[Path], Path], int]] = {
    "t5": (save_t5, 48),
    "bert": (save_bert_mlm, 32),
    "roberta": (save_roberta_mlm, 32),
    "bart": (save_bart, 32),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {
        name: save_heads(save(tmp_path_factory.mktemp(name)), width) for name, (save, width) in SAVERS.items()
    }


def tokens_of(encoder: PairEncoder, *texts: str) -> list[tuple[int, ...]]:
    return [tokens.ids for tokens in encoder.vocabulary.tokenize(texts)]


def test_a_head_is_saved_and_loaded(tmp_path: Path) -> None:
    head = Head("fluency", "filler", np.arange(5, dtype=np.float32))
    head.save(tmp_path / "new")
    again = Head.load(tmp_path / "new", "fluency")
    assert (again.dimension, again.encoder, again.weight.tolist()) == ("fluency", "filler", [0, 1, 2, 3, 4])
    assert again.identity == head.identity
    assert again.identity != Head("fluency", "filler", np.zeros(5, np.float32)).identity
    with pytest.raises(ModelNotFound, match=r"no weights for dimension=coherence.*dimension=none"):
        Head.load(tmp_path / "new", "coherence")


def test_the_encoder_of_a_head_is_found_from_every_working_directory(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders["bert"].parent)
    Head("fluency", folders["bert"].name, np.zeros(32, np.float32)).save(tmp_path)
    monkeypatch.chdir("/")
    given = {"dimension": "fluency", "weigher": str(tmp_path)}
    assert build("paper", str(folders["bert"]), RUNTIME, given).score([EXAMPLE])[0].problem is None


def test_weights_of_the_source_that_fall_are_saved_and_used(folders: dict[str, Path], tmp_path: Path) -> None:
    head = Head("fluency", "filler", np.zeros(32, np.float32), 0.5, 0.5)
    head.save(tmp_path)
    again = Head.load(tmp_path, "fluency")
    assert (again.candidate_share, again.fall, again.identity) == (0.5, 0.5, head.identity)
    assert head.identity != Head("fluency", "filler", np.zeros(32, np.float32)).identity
    encoder = PairEncoder.load(str(folders["bert"]), RUNTIME)
    ids = tokens_of(encoder, CANDIDATE, SOURCE)
    [(ours, theirs)] = TokenWeighter(encoder, again).logits([(ids[0], ids[1])])
    assert not ours.any()
    assert np.exp(theirs) == pytest.approx(1 / np.sqrt(np.arange(1, len(ids[1]) + 1)))
    with pytest.raises(BadModel):
        broken = json.loads((tmp_path / "fluency.json").read_text(encoding="utf-8")) | {"fall": -1}
        (tmp_path / "fluency.json").write_text(json.dumps(broken), encoding="utf-8")
        Head.load(tmp_path, "fluency")


@pytest.mark.parametrize(
    ("facts", "data"),
    [
        ({"dimension": "fluency", "encoder": "x", "width": 4}, None),
        ({"dimension": "relevance", "encoder": "x", "width": 5}, None),
        ({"dimension": "fluency", "width": 5}, None),
        ({"dimension": "fluency", "encoder": "x", "width": 5}, b"nonsense"),
    ],
)
def test_a_damaged_head_is_refused(tmp_path: Path, facts: dict[str, object], data: bytes | None) -> None:
    Head("fluency", "x", np.ones(5, np.float32)).save(tmp_path)
    (tmp_path / "fluency.json").write_text(json.dumps(facts), encoding="utf-8")
    if data:
        (tmp_path / "fluency.safetensors").write_bytes(data)
    with pytest.raises(BadModel, match=r"fluency\.safetensors"):
        Head.load(tmp_path, "fluency")


def test_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    Head("fluency", "x", np.array([1.0, np.nan], np.float32)).save(tmp_path)
    with pytest.raises(BadModel):
        Head.load(tmp_path, "fluency")


def test_a_head_of_another_width_is_refused(folders: dict[str, Path]) -> None:
    encoder = PairEncoder.load(str(folders["t5"]), RUNTIME)
    with pytest.raises(BadModel, match=r"width 5.*has width 48"):
        TokenWeighter(encoder, Head("fluency", "filler", np.ones(5, np.float32)))


def test_t5_states_equal_a_straight_line_computation(folders: dict[str, Path]) -> None:
    encoder = PairEncoder.load(str(folders["t5"]), RUNTIME)
    ours, theirs = tokens_of(encoder, CANDIDATE, SOURCE)
    plain = T5EncoderModel.from_pretrained(folders["t5"])
    known = plain.shared.weight.shape[0]
    plain.resize_token_embeddings(known + 1, mean_resizing=False)
    with torch.no_grad():
        plain.shared.weight[known] = plain.shared.weight[:known].mean(dim=0)
        ids = torch.tensor([[*ours, known, *theirs, 1]])
        states = plain(input_ids=ids).last_hidden_state[0].numpy()
    [(first, second)] = encoder.states([(ours, theirs)])
    np.testing.assert_allclose(first, states[: len(ours)], atol=1e-5)
    np.testing.assert_allclose(second, states[len(ours) + 1 : -1], atol=1e-5)


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_states_of_pairs_equal_a_straight_line_computation(folders: dict[str, Path], name: str) -> None:
    encoder = PairEncoder.load(str(folders[name]), RUNTIME)
    short = SOURCE[:30]
    ours, theirs = tokens_of(encoder, CANDIDATE, short)
    tokenizer = AutoTokenizer.from_pretrained(folders[name])
    inputs = tokenizer(CANDIDATE, short, return_tensors="pt", return_token_type_ids=name == "bert")
    with torch.no_grad():
        states = AutoModel.from_pretrained(folders[name]).eval()(**inputs).last_hidden_state[0].numpy()
    [(first, second)] = encoder.states([(ours, theirs)])
    np.testing.assert_allclose(first, states[1 : 1 + len(ours)], atol=1e-5)
    np.testing.assert_allclose(second, states[-1 - len(theirs) : -1], atol=1e-5)


@pytest.mark.parametrize("name", SAVERS)
def test_every_token_has_a_weight_and_batches_change_none(folders: dict[str, Path], name: str) -> None:
    head = Head.load(folders[name] / "weigher", "fluency")
    small, large = (
        TokenWeighter(PairEncoder.load(str(folders[name]), Runtime(device="cpu", batch_tokens=size)), head)
        for size in (8, 9000)
    )
    texts = tokens_of(small.encoder, CANDIDATE, "Rain.", SOURCE * 6)
    pairs = [(ours, theirs) for ours in texts for theirs in texts]
    for pair, few, many in zip(pairs, small.logits(pairs), large.logits(pairs), strict=True):
        assert [len(side) for side in few] == [len(side) for side in pair]
        np.testing.assert_allclose(few[0], many[0], atol=1e-4)
        np.testing.assert_allclose(few[1], many[1], atol=1e-4)
    [(states, _)] = small.encoder.states(pairs[:1])
    np.testing.assert_allclose(small.logits(pairs[:1])[0][0], states @ head.weight, atol=1e-4)


@given(candidate=st.integers(1, 300), source=st.integers(1, 300), room=st.integers(2, 120))
def test_a_long_pair_is_read_whole_in_chunks(candidate: int, source: int, room: int) -> None:
    plan = _plan(candidate, source, room)
    for reading in plan:
        lengths = [end - start for start, end in (reading.candidate, reading.source)]
        assert min(lengths) > 0
        assert sum(lengths) <= room
    ours = [at for reading in plan if reading.wanted[0] for at in range(*reading.candidate)]
    theirs = [at for reading in plan if reading.wanted[1] for at in range(*reading.source)]
    assert (ours, theirs) == (list(range(candidate)), list(range(source)))
    if candidate + source <= room:
        assert len(plan) == 1
    assert len(plan) <= 2 + 2 * (candidate + source) / max(1, room // 2)


@pytest.mark.parametrize("name", SAVERS)
def test_maskeval_with_learned_weights(folders: dict[str, Path], name: str) -> None:
    uniform = build("paper", str(folders[name]), RUNTIME, {})
    assert isinstance(uniform.weighting, Uniform)
    signatures = {uniform.signature.hash}
    for dimension in DIMENSIONS[:2]:
        metric = build("paper", str(folders[name]), RUNTIME, {"dimension": dimension, "score": "probability"})
        [score] = metric.score([EXAMPLE])
        assert 0 < score.value < 1
        weights = [span.weight for span in score.spans if span.side == "candidate"]
        assert sum(weights) == pytest.approx(1)
        assert len(set(weights)) > 2
        assert f"weights={dimension}@" in metric.signature.text
        signatures.add(metric.signature.hash)
    again = pickle.loads(pickle.dumps(metric)).score([EXAMPLE])[0]
    assert again.value == pytest.approx(score.value, abs=1e-6)
    assert len(signatures) == 3


def test_word_weights_are_the_sums_of_their_sub_words(folders: dict[str, Path]) -> None:
    metric = build("paper", str(folders["t5"]), RUNTIME, {"dimension": "relevance"})
    assert isinstance(metric.weighting, Learned)
    example = Example("1", "The ferryboats left at noon.", SOURCE)  # a word of several sub-words
    [(ours, theirs)] = metric._cut([example])
    logits = metric.weighting.weigher.logits([(ours.ids, theirs.ids)])[0][0].astype(np.float64)
    softmax = np.exp(logits) / np.exp(logits).sum()
    by_hand = [softmax[word.first : word.last + 1].sum() for word in ours.words]
    assert sum(len(word.tokens) for word in ours.words) == len(ours.ids)
    assert any(len(word.tokens) > 1 for word in ours.words), "the test would see little"
    spans = [span for span in metric.score([example])[0].spans if span.side == "candidate"]
    assert [span.weight for span in spans] == pytest.approx(by_hand, abs=1e-6)


def test_weights_of_another_model(folders: dict[str, Path], tmp_path: Path) -> None:
    elsewhere = save_heads(tmp_path / "a", 32, encoder=str(folders["bert"])) / "weigher"
    given = {"dimension": "fluency", "weigher": str(elsewhere)}
    assert build("paper", str(folders["bert"]), RUNTIME, given).score([EXAMPLE])[0].problem is None
    with pytest.raises(BadModel, match="use the tokenizer of"):
        build("paper", str(folders["t5"]), RUNTIME, given)


def test_presets_say_what_is_missing(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are: mini, base, paper"):
        build("best", None, RUNTIME, {})
    with pytest.raises(UsageError, match="spaCy has no language 'tlh'"):
        build("paper", str(folders["bert"]), RUNTIME, {"language": "tlh"})
    with pytest.raises(UsageError, match="choose one of none, consistency"):
        build("paper", str(folders["bert"]), RUNTIME, {"dimension": "beauty"})
    with pytest.raises(ModelNotFound, match="no weights for dimension=fluency"):
        build("paper", str(save_bert_mlm(tmp_path)), RUNTIME, {"dimension": "fluency"})


def test_a_folder_that_does_not_say_what_it_holds(folders: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes((folders["bert"] / "model.safetensors").read_bytes())
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadModel, match="has no model_type"):
        build("paper", str(tmp_path), RUNTIME, {})
