"""Test finding, loading and running models."""

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from gistmeter.core.errors import BadModel, GistmeterError, ModelNotFound, UsageError
from gistmeter.models.encode.cross_encoder import PairScorer
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files import digest
from gistmeter.models.files.find import find_model, is_cross_encoder
from gistmeter.models.files.load import load_tokenizer, load_weights
from gistmeter.models.run import cpu
from gistmeter.models.run.batching import PADDING, in_batches, mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.tokens import tokenize, window_of
from tests.tiny_models import SENTENCES

MISMATCHED: dict[str, object] = {"ignore_mismatched_sizes": True}
UNEQUAL = ["rain", *SENTENCES, "the bridge and the ferry", ""]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("./no/such/folder", "is not a model folder"),
        ("nobody/nothing", "hf download nobody/nothing"),
        ("nobody/nothing@abc123", "hf download nobody/nothing --revision abc123"),
    ],
)
def test_a_model_that_is_not_there_says_what_would_fetch_it(name: str, says: str) -> None:
    with pytest.raises(ModelNotFound, match=says) as caught:
        find_model(name)
    assert caught.value.exit_code == 4


def test_pickled_weights_are_refused(tiny_bert: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_bert, tmp_path / "pickled"))
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(BadModel, match="pickled"):
        Encoder.load(str(folder))


def test_damaged_weights_are_refused(tiny_bert: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_bert, tmp_path / "damaged"))
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(BadModel, match="cannot load the weights"):
        Encoder.load(str(folder))


def test_a_tokenizer_of_another_model_is_refused(tiny_bert: Path, tiny_roberta: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_bert, tmp_path / "mixed"))
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = {word: at for word, at in vocabulary.items() if at < 5}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    files = find_model(str(folder))
    with pytest.raises(BadModel, match=r"5 tokens, but the embedding table has \d+ rows"):
        # The table is small here; the check's tolerance is for padding, so make it one of a real size.
        load_weights(files, "AutoModel", load_tokenizer(files), vocab_size=30_522, **MISMATCHED)


def test_weights_without_their_head_are_refused(tiny_bert: Path) -> None:
    files = find_model(str(tiny_bert))
    with pytest.raises(BadModel, match=r"classifier\S* and 1 more weights are missing"):
        load_weights(files, "AutoModelForSequenceClassification", load_tokenizer(files))


def test_the_identity_of_a_folder_is_its_content(tiny_bert: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_bert, tmp_path / "another-name"))
    assert find_model(str(copy)).identity == find_model(str(tiny_bert)).identity
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 0.1}))
    assert find_model(str(copy)).identity != find_model(str(tiny_bert)).identity


def test_a_digest_is_computed_once_and_again_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "user_cache_path", lambda _: tmp_path / "cache")
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    first = digest.sha256(file)
    with monkeypatch.context() as patch:
        patch.setattr(hashlib, "file_digest", lambda *_: pytest.fail("computed twice"))
        assert digest.sha256(file) == first
    file.write_bytes(b"three")
    assert digest.sha256(file) != first


def test_a_cache_folder_that_cannot_be_written_costs_only_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(digest, "user_cache_path", lambda _: tmp_path / "file")
    assert digest.sha256(tmp_path / "file") == digest.sha256(tmp_path / "file")


def test_batches_restore_the_order_whatever_their_size() -> None:
    items = [(3,) * length for length in (4, 1, 9, 2, 9, 3, 1)]
    for budget in (1, 5, 10, 100):
        seen: list[tuple[int, ...]] = []

        def forward(batch: list[tuple[int, ...]], seen: list[tuple[int, ...]] = seen) -> list[int]:
            seen += batch
            return [len(item) for item in batch]

        results = in_batches(items, forward, length=len, runtime=Runtime(device="cpu", batch_tokens=budget))
        assert results == [len(item) for item in items]
        assert seen == sorted(set(items), key=len, reverse=True), "equal items run once, the longest first"


def test_items_of_very_different_lengths_are_not_padded_to_the_longest() -> None:
    lengths = [200] + [100] * 3 + [97] * 2 + list(range(1, 60))
    items = [(1,) * length for length in lengths]
    batches: list[list[int]] = []

    def forward(batch: list[tuple[int, ...]]) -> list[int]:
        batches.append([len(item) for item in batch])
        return [len(item) for item in batch]

    assert in_batches(items, forward, length=len, runtime=Runtime(device="cpu", batch_tokens=2048)) == lengths
    padding = [sum(max(batch) - length for length in batch) for batch in batches]
    assert max(padding) <= PADDING
    assert batches[:2] == [[200], [100, 97]], "two batches of 100 and 97: together 3 tokens of padding"


@pytest.mark.parametrize(
    "error", [MemoryError(), torch.OutOfMemoryError("no"), RuntimeError("can't allocate memory")]
)
def test_a_batch_that_does_not_fit_is_halved(error: Exception) -> None:
    sizes: list[int] = []

    def forward(batch: list[tuple[int, ...]]) -> list[int]:
        sizes.append(len(batch))
        if len(batch) > 2:
            raise error
        return [item[0] for item in batch]

    items: list[tuple[int, ...]] = [(at,) for at in range(10)]
    assert in_batches(items, forward, length=len, runtime=Runtime(device="cpu", batch_tokens=10)) == list(
        range(10)
    )
    assert sizes == [10, 5, 2, 2, 2, 2, 2]


def test_a_single_item_that_does_not_fit_is_an_error() -> None:
    def forward(batch: list[tuple[int, ...]]) -> list[int]:
        raise MemoryError

    with pytest.raises(GistmeterError, match="3 tokens does not fit"):
        in_batches([tuple([1, 2, 3])], forward, length=len, runtime=Runtime(device="cpu"))


def test_other_errors_are_not_taken_for_a_lack_of_memory() -> None:
    def forward(batch: list[tuple[int, ...]]) -> list[int]:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        in_batches([tuple([1])], forward, length=len, runtime=Runtime(device="cpu"))


def test_padding_and_mask() -> None:
    cpu = torch.device("cpu")
    assert pad([(1, 2), (3,)], 9, cpu).tolist() == [[1, 2], [3, 9]]
    assert mask([(1, 2), (3,)], cpu).tolist() == [[1, 1], [1, 0]]


def test_fast_products_are_used_only_where_exact_and_leave_no_trace(
    tiny_bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cpu.oneDNN.matmul.fp32_precision
    seen: list[str] = []

    def forward(batch: list[tuple[int, ...]]) -> list[int]:
        seen.append(cpu.oneDNN.matmul.fp32_precision)
        return [0] * len(batch)

    for exact in (True, False):
        monkeypatch.setattr(cpu, "is_exact", lambda exact=exact: exact)
        in_batches([tuple([1, 2])], forward, length=len, runtime=Runtime(device="cpu"))
    assert seen == ["bf16", before]
    assert cpu.oneDNN.matmul.fp32_precision == before
    monkeypatch.setattr(cpu, "is_exact", lambda: True)
    with pytest.raises(ZeroDivisionError), cpu.fast_products(torch.device("cpu")):
        _ = 1 / 0
    assert cpu.oneDNN.matmul.fp32_precision == before


def test_a_route_that_rounds_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = torch.nn.functional.linear

    def rounding(left: torch.Tensor, right: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        if left.dtype == torch.float64:
            return exact(left, right, bias)
        return exact(left.bfloat16(), right.bfloat16(), bias.bfloat16()).float()

    monkeypatch.setattr(torch.nn.functional, "linear", rounding)
    cpu._is_exact.cache_clear()
    assert not cpu.is_exact()
    cpu._is_exact.cache_clear()


@pytest.mark.parametrize("kind", ["tiny_bert", "tiny_roberta"])
def test_text_vectors_equal_a_straight_line_computation(kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    vectors = Encoder.load(str(folder)).embed(UNEQUAL).vectors
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    for text, vector in zip(UNEQUAL, vectors, strict=True):
        with torch.no_grad():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        mean = states.mean(dim=0)
        np.testing.assert_allclose(vector, mean / mean.norm(), atol=1e-6)


@pytest.mark.parametrize(("kind", "layers"), [("tiny_t5", None), ("tiny_t5", 1), ("tiny_bart", None)])
def test_of_an_encoder_decoder_only_the_encoder_reads_texts(
    kind: str, layers: int | None, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(kind)
    found = Encoder.load(str(folder), layers=layers).embed_tokens(UNEQUAL)
    model = AutoModel.from_pretrained(folder).eval().get_encoder()
    if layers:
        model.block = model.block[:layers]
    for tokens, vectors in found:
        with torch.no_grad():
            states = model(input_ids=torch.tensor([tokens.ids])).last_hidden_state[0]
        np.testing.assert_allclose(vectors, torch.nn.functional.normalize(states, dim=-1), atol=1e-5)


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_an_encoder_stops_at_the_layer_asked_for(tiny_roberta: Path, layer: int) -> None:
    encoder = Encoder.load(str(tiny_roberta), layers=layer)
    tokens, vectors = encoder.embed_tokens([SENTENCES[0]])[0]
    model = AutoModel.from_pretrained(tiny_roberta).eval()
    with torch.no_grad():
        states = model(torch.tensor([tokens.ids]), output_hidden_states=True).hidden_states[layer][0]
    np.testing.assert_allclose(vectors, torch.nn.functional.normalize(states, dim=-1), atol=1e-6)
    assert len(encoder.model.encoder.layer) == layer
    with pytest.raises(UsageError, match="choose a layer from 1 to 3"):
        Encoder.load(str(tiny_roberta), layers=4)


@pytest.mark.parametrize("pooling", ["mean", "max", "cls"])
def test_pooling_is_the_one_the_model_was_trained_with(tiny_bert: Path, tmp_path: Path, pooling: str) -> None:
    folder = Path(shutil.copytree(tiny_bert, tmp_path / pooling))
    (folder / "1_Pooling").mkdir()
    names = {"mean": "mean_tokens", "max": "max_tokens", "cls": "cls_token"}
    modes = {f"pooling_mode_{name}": name == names[pooling] for name in names.values()}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(modes | {"word_embedding_dimension": 32}))
    encoder = Encoder.load(str(folder))
    tokens, _ = encoder.embed_tokens([SENTENCES[1]])[0]
    ids = torch.tensor([tokens.ids])
    with torch.no_grad():
        raw = encoder.model(ids).last_hidden_state[0]
    expected = {"mean": raw.mean(0), "max": raw.max(0).values, "cls": raw[0]}[pooling]
    np.testing.assert_allclose(
        encoder.embed([SENTENCES[1]]).vectors[0], expected / expected.norm(), atol=1e-6
    )


def test_pooling_that_is_not_understood_is_refused(tiny_bert: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_bert, tmp_path / "odd"))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_weightedmean_tokens": True}))
    with pytest.raises(BadModel, match="set exactly one of"):
        Encoder.load(str(folder))


def test_a_long_text_is_cut_and_says_so(tiny_bert: Path, tiny_roberta: Path) -> None:
    for folder, window in ((tiny_bert, 66), (tiny_roberta, 64)):
        encoder = Encoder.load(str(folder))
        assert encoder.window == window
        tokens, vectors = encoder.embed_tokens(["rain " * 500])[0]
        assert (tokens.kept, len(vectors)) == (window - 2, window)
        assert tokens.total >= 500
        assert tokens.special.tolist() == [True, *[False] * (window - 2), True]


def test_a_cut_stored_in_the_tokenizer_file_does_not_apply(tiny_bert: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_bert)
    tokenizer.backend_tokenizer.enable_truncation(4)
    tokenizer.backend_tokenizer.enable_padding(length=200)
    assert tokenize(tokenizer, ["the ferry left the harbour"], None)[0].total > 4
    assert len(tokenize(tokenizer, ["rain"], None)[0].ids) < 20


def test_no_limit_where_the_model_has_none(tiny_bert: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_bert)
    config = type("Config", (), {})()
    assert window_of(type("Model", (), {"config": config})(), tokenizer) is None


def test_half_precision_is_part_of_the_identity(tiny_bert: Path) -> None:
    full = Encoder.load(str(tiny_bert))
    half = Encoder.load(str(tiny_bert), Runtime(dtype="bf16"))
    assert full.identity != half.identity
    np.testing.assert_allclose(full.embed(UNEQUAL).vectors, half.embed(UNEQUAL).vectors, atol=0.05)


def test_a_device_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="--device cpu"):
        Runtime(device="cuda:99").torch_device()
    with pytest.raises(UsageError, match="choose one of"):
        Runtime(dtype="fp64")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="above 0"):
        Runtime(batch_tokens=0)


def test_runtime_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Runtime().device = "cpu"  # type: ignore[misc]


def test_a_cross_encoder_equals_a_straight_line_computation(tiny_cross_encoder: Path) -> None:
    files = find_model(str(tiny_cross_encoder))
    assert is_cross_encoder(files)
    pairs = [(UNEQUAL[0], UNEQUAL[1]), (UNEQUAL[3], UNEQUAL[2]), (UNEQUAL[0], UNEQUAL[1]), ("rain", "rain")]
    scores = PairScorer.load(files).score(pairs)
    tokenizer = AutoTokenizer.from_pretrained(tiny_cross_encoder)
    model = AutoModelForSequenceClassification.from_pretrained(tiny_cross_encoder).eval()
    for (first, second), value in zip(pairs, scores.values, strict=True):
        inputs = tokenizer(first, second, return_tensors="pt", return_token_type_ids=True)
        with torch.no_grad():
            assert value == pytest.approx(torch.sigmoid(model(**inputs).logits).item(), abs=1e-6)
    assert (scores.kept == scores.total).all()
    long = PairScorer.load(files).score([("rain " * 100, "news")])
    assert (long.kept[0].sum(), long.total[0, 0] >= 100, long.kept[0, 1] == long.total[0, 1]) == (
        63,
        True,
        True,
    )


def test_a_classifier_with_two_labels_is_no_pair_scorer(tiny_cross_encoder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_cross_encoder, tmp_path / "two"))
    config = json.loads((folder / "config.json").read_text())
    config["id2label"], config["label2id"] = {"0": "no", "1": "yes"}, {"no": 0, "yes": 1}
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=2, ignore_mismatched_sizes=True
    )
    model.save_pretrained(folder)
    with pytest.raises(BadModel, match="2 outputs, labeled"):
        PairScorer.load(find_model(str(folder)))


@pytest.mark.slow
def test_minilm_is_found_without_its_loader_and_knows_meaning() -> None:
    encoder = Encoder.load("minilm")
    assert encoder.identity.startswith("all-MiniLM-L6-v2@53aa51172d14")
    same, other = "The firm fired its boss.", "Heavy rain is forecast."
    vectors = encoder.embed(["The company dismissed its chief executive.", same, other]).vectors
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]
    assert encoder.embed(["word " * 400]).tokens[0].kept == 254, "its files cut at 256"
