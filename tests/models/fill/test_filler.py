"""Compare each adapter for fill models with a simple implementation on a tiny model of its family."""

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.fill.bart import AlignedFiller
from gistmeter.models.fill.load import load_filler
from gistmeter.models.fill.masked_lm import MaskedFiller
from gistmeter.models.fill.paths import may_become
from gistmeter.models.fill.protocol import Fill, Filler, Query
from gistmeter.models.fill.t5 import Seq2SeqFiller
from gistmeter.models.run.runtime import Runtime
from tests import tiny_fillers

SAVERS = {
    "t5": tiny_fillers.save_t5,
    "bert": tiny_fillers.save_bert_mlm,
    "roberta": tiny_fillers.save_roberta_mlm,
    "distilbert": tiny_fillers.save_distilbert_mlm,
    "bart": tiny_fillers.save_bart,
}
TEXTS = [
    "The mayor closed the old bridge at noon.",
    "Rain is expected; the Ferry won't stop.",
    "A good day for 12 farmers in the hills, she said.",
    "Passengers",
]
CPU = Runtime(device="cpu")
Adapter = MaskedFiller | AlignedFiller | Seq2SeqFiller


def loaded(folder: Path, runtime: Runtime = CPU) -> Adapter:
    filler = load_filler(str(folder), runtime)
    assert isinstance(filler, Adapter)
    return filler


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: save(tmp_path_factory.mktemp(name)) for name, save in SAVERS.items()}


@pytest.fixture(params=SAVERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def filler(name: str, folders: dict[str, Path]) -> Adapter:
    return loaded(folders[name])


def queries_of(filler: Filler) -> list[Query]:
    """Single words, several blanks at once, with and without context, in both orders."""
    texts = [tokens.ids for tokens in filler.tokenize(TEXTS)]
    queries: list[Query] = []
    for text, context in zip(texts, [*texts[1:], ()], strict=True):
        single = [((at, at + 1),) for at in range(0, len(text), 4)]
        several = [((0, 1), (2, 4), (len(text) - 1, len(text)))] if len(text) > 5 else []
        for blanks in (*single, *several):
            queries.append(Query(text, blanks, context, context_first=len(queries) % 2 == 0))
    return queries


def assert_close(ours: Sequence[Fill], theirs: Sequence[Fill], tolerance: float = 1e-5) -> None:
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert (one.predicted, one.matches, one.complete) == (other.predicted, other.matches, other.complete)
        assert one.gold_ranks == other.gold_ranks
        assert one.predicted_probabilities == pytest.approx(other.predicted_probabilities, abs=tolerance)
        assert one.gold_probabilities == pytest.approx(other.gold_probabilities, abs=tolerance)


def read(logits: torch.Tensor, filler: Filler, gold: tuple[int, ...]) -> Fill:
    """Read one blank off logits of shape (tokens of the blank, vocabulary), each token by itself."""
    probabilities = logits.float().log_softmax(dim=-1).exp()
    best = probabilities.argmax(dim=-1)
    order = logits.argsort(dim=-1, descending=True).tolist()
    return Fill(
        predicted=tuple(best.tolist()),
        matches=filler.decode(best.tolist()).lower() == filler.decode(gold).lower(),
        predicted_probabilities=tuple(probabilities.amax(dim=-1).tolist()),
        gold_probabilities=tuple(row[token].item() for row, token in zip(probabilities, gold, strict=True)),
        gold_ranks=tuple(row.index(token) + 1 for row, token in zip(order, gold, strict=True)),
    )


@torch.no_grad()
def masked_straight(filler: MaskedFiller, query: Query) -> list[Fill]:
    """One query, one pass of the whole model, logits everywhere."""
    tokenizer = filler.vocabulary.tokenizer
    mask, start, end = tokenizer.mask_token_id, [tokenizer.cls_token_id], [tokenizer.sep_token_id]
    hidden = {at for first, last in query.blanks for at in range(first, last)}
    text = [mask if at in hidden else token for at, token in enumerate(query.text)]
    between = end * (2 if tokenizer.mask_token == "<mask>" else 1)
    context = list(query.context)
    if not context:
        first, second = [*start, *text, *end], []
    elif query.context_first:
        first, second = [*start, *context, *between], [*text, *end]
    else:
        first, second = [*start, *text, *between], [*context, *end]
    inputs = {"input_ids": torch.tensor([first + second])}
    if filler.model.config.model_type == "bert":
        inputs["token_type_ids"] = torch.tensor([[0] * len(first) + [1] * len(second)])
    logits = filler.model(**inputs).logits[0]
    places = [at for at, token in enumerate(first + second) if token == mask]
    fills = []
    for begin, after in query.blanks:
        here, places = places[: after - begin], places[after - begin :]
        fills.append(read(logits[here], filler, query.text[begin:after]))
    return fills


@torch.no_grad()
def aligned_straight(filler: AlignedFiller, query: Query) -> list[Fill]:
    """One query, one pass of encoder and decoder, logits everywhere."""
    tokenizer = filler.vocabulary.tokenizer
    hidden = {at for first, last in query.blanks for at in range(first, last)}
    text = [tokenizer.mask_token_id if at in hidden else token for at, token in enumerate(query.text)]
    start, end = tokenizer.bos_token_id, tokenizer.eos_token_id
    logits = filler.model(
        input_ids=torch.tensor([[start, *query.context, end]]),
        decoder_input_ids=torch.tensor([[start, *text, end]]),
    ).logits[0]
    return [
        read(logits[1 + first : 1 + last], filler, query.text[first:last]) for first, last in query.blanks
    ]


@pytest.mark.parametrize("name", ["bert", "roberta", "distilbert", "bart"])
def test_masks_are_filled_as_by_a_straight_line_implementation(
    filler: MaskedFiller | AlignedFiller,
) -> None:
    queries = queries_of(filler)
    answers = filler.fill(queries)
    predicted = {fill.predicted for answer in answers for fill in answer}
    assert len(predicted) > 5, "a model that always says the same would hide mistakes"
    for query, answer in zip(queries, answers, strict=True):
        if isinstance(filler, AlignedFiller):
            assert_close(answer, aligned_straight(filler, query))
        else:
            assert_close(answer, masked_straight(filler, query))


@pytest.mark.parametrize("name", ["t5"])
@torch.no_grad()
def test_gold_tokens_are_read_as_in_training(filler: Seq2SeqFiller) -> None:
    """The probabilities of the gold text are those that the loss of `labels` is made of."""
    ids = filler.vocabulary.id
    for query in queries_of(filler):
        text: list[int] = []
        target: list[int] = []
        end = 0
        for at, (first, last) in enumerate(query.blanks):
            text += [*query.text[end:first], ids(f"<extra_id_{at}>")]
            target += [ids(f"<extra_id_{at}>"), *query.text[first:last]]
            end = last
        text += query.text[end:]
        target += [ids(f"<extra_id_{len(query.blanks)}>")]
        parts = (list(query.context), text) if query.context_first else (text, list(query.context))
        source = [*parts[0], ids("<sep>"), *parts[1], ids("</s>")]
        logits = filler.model(input_ids=torch.tensor([source]), labels=torch.tensor([target])).logits[0]
        (answer,) = filler.fill([query])
        at = 0
        for (first, last), fill in zip(query.blanks, answer, strict=True):
            expected = read(logits[at + 1 : at + 1 + last - first], filler, query.text[first:last])
            assert fill.gold_ranks == expected.gold_ranks
            assert fill.gold_probabilities == pytest.approx(expected.gold_probabilities, abs=1e-5)
            at += 1 + last - first


def test_no_batch_size_changes_a_fill(filler: Adapter, folders: dict[str, Path], name: str) -> None:
    queries = queries_of(filler)
    wanted = filler.fill(queries)
    for budget in (1, 50, 100_000):
        other = loaded(folders[name], replace(CPU, batch_tokens=budget))
        assert other.identity == filler.identity, "a batch size is no part of a signature"
        for one, two in zip(other.fill(queries), wanted, strict=True):
            assert_close(one, two)
    backwards = filler.fill(queries[::-1])[::-1]
    for one, two in zip(backwards, wanted, strict=True):
        assert_close(one, two)


def test_equal_queries_and_equal_contexts_run_once(filler: Adapter, name: str) -> None:
    whole = filler.model.base_model
    module = whole.encoder if filler.model.config.is_encoder_decoder else whole
    if name == "t5":
        module = module.final_layer_norm  # the layers run one by one, not the encoder as a whole
    rows: list[int] = []
    # What the library calls puts out states in a tuple's first place; a layer, the states.
    module.register_forward_hook(lambda *call: rows.append(len(call[-1] if name == "t5" else call[-1][0])))
    text, other, context, _ = (tokens.ids for tokens in filler.tokenize(TEXTS))
    queries = [Query(t, ((at, at + 1),), context) for t in (text, other) for at in (0, 1, 2)]
    wanted = filler.fill(queries)
    assert sum(rows) == (1 if name == "bart" else 6), "BART reads a context once for all its texts"
    rows.clear()
    for one, two in zip(filler.fill(queries * 3), wanted * 3, strict=True):
        assert_close(one, two)
    assert sum(rows) == (1 if name == "bart" else 6)


def test_gold_probabilities_sum_to_one_and_ranks_count_all_tokens(filler: Adapter) -> None:
    text, context, *_ = (tokens.ids for tokens in filler.tokenize(TEXTS))
    size = filler.model.get_input_embeddings().num_embeddings
    queries = [Query((*text[:2], gold, *text[3:]), ((2, 3),), context) for gold in range(size)]
    fills = [answer[0] for answer in filler.fill(queries)]
    assert sum(fill.gold_probabilities[0] for fill in fills) == pytest.approx(1, abs=1e-4)
    assert sorted(fill.gold_ranks[0] for fill in fills) == list(range(1, size + 1))


def test_bf16_is_near_and_says_so(filler: Adapter, folders: dict[str, Path], name: str) -> None:
    queries = queries_of(filler)[:20]
    half = loaded(folders[name], Runtime(device="cpu", dtype="bf16"))
    assert half.identity.endswith("/bf16")
    assert filler.identity.endswith("/fp32")
    for one, two in zip(half.fill(queries), filler.fill(queries), strict=True):
        assert one[0].gold_probabilities == pytest.approx(two[0].gold_probabilities, rel=0.3, abs=1e-3)


def test_a_pickled_filler_fills_alike(filler: Adapter) -> None:
    queries = queries_of(filler)[:5]
    copy = pickle.loads(pickle.dumps(filler))
    assert copy.identity == filler.identity
    for one, two in zip(copy.fill(queries), filler.fill(queries), strict=True):
        assert_close(one, two)


def test_texts_are_tokenized_whole_and_without_special_tokens(filler: Adapter) -> None:
    long = "the bridge " * 401
    texts = [TEXTS[0], "", long, "She said </s> <mask> [SEP] <extra_id_0> <sep> twice."]
    first, empty, whole, odd = filler.tokenize(texts)
    assert filler.decode(first.ids).lower() == texts[0].lower()
    assert empty.ids == ()
    assert whole.total == len(whole.ids) > 800
    assert not whole.special.any()
    assert not set(odd.ids) & (filler.vocabulary.special - {filler.vocabulary.tokenizer.unk_token_id})
    assert [texts[0][a:b].strip() for a, b in first.offsets[:2]] == ["The", "mayor"] or len(first.ids) > 8


def test_no_queries_need_no_model(filler: Adapter) -> None:
    assert filler.fill([]) == []


@pytest.mark.parametrize("name", ["bert", "roberta", "bart"])
def test_a_query_beyond_the_window_is_refused(filler: Adapter) -> None:
    (tokens,) = filler.tokenize(["the bridge " * 100])
    assert filler.window is not None
    fitting = filler.window - filler.overhead(1)
    assert len(filler.fill([Query(tokens.ids[:fitting], ((3, 4),))])) == 1
    with pytest.raises(UsageError, match=f"window of {filler.window}"):
        filler.fill([Query(tokens.ids[: filler.window], ((3, 4),))])


def test_families_refuse_each_other(folders: dict[str, Path]) -> None:
    for adapter, wrong in ((MaskedFiller, "bart"), (AlignedFiller, "bert"), (AlignedFiller, "t5")):
        with pytest.raises(BadModel):
            adapter.load(str(folders[wrong]))
    for wrong in ("bart", "bert"):
        with pytest.raises(BadModel):
            Seq2SeqFiller.load(str(folders[wrong]))


@pytest.mark.parametrize("name", ["roberta"])
def test_parts_of_characters_match_only_themselves(filler: MaskedFiller) -> None:
    """Two different bytes both decode to U+FFFD."""
    (tokens,) = filler.tokenize(["a 日"])
    assert filler.decode(tokens.ids[-1:]) == "\ufffd"
    (answer,) = filler.fill([Query(tokens.ids, ((len(tokens.ids) - 1, len(tokens.ids)),))])
    assert answer[0].predicted != tokens.ids[-1:]
    assert not answer[0].matches


@pytest.mark.parametrize("name", ["bert"])
def test_unknown_words_match_only_themselves(filler: MaskedFiller) -> None:
    (tokens,) = filler.tokenize(["日本"])
    assert filler.decode(tokens.ids) == ""
    bias = filler.model.cls.predictions.decoder.bias.data
    for token, matches in ((filler.vocabulary.id("[SEP]"), False), (tokens.ids[0], True)):
        bias.zero_()[token] = 1_000
        (answer,) = filler.fill([Query(tokens.ids[:1], ((0, 1),))])
        assert answer[0].predicted == (token,)
        assert answer[0].matches is matches


def test_the_separator_is_added_the_same_way_every_time() -> None:
    tokenizer = tiny_fillers.sentinel_unigram()
    rows = len(tokenizer)
    for spare in (0, 28):
        model = tiny_fillers.t5(rows + spare)
        table = model.shared.weight[:rows].clone()
        one = Seq2SeqFiller(model, tokenizer, identity="tiny", runtime=CPU)
        assert len(tokenizer) == rows, "the caller's tokenizer is left alone"
        assert one.separator == rows
        vectors = one.model.get_input_embeddings().weight
        assert torch.allclose(vectors[rows], table.mean(dim=0), atol=1e-6)
        assert torch.equal(vectors[:rows], table)
        two = Seq2SeqFiller(model, tokenizer, identity="tiny", runtime=CPU)
        assert two.identity == one.identity == "tiny/sentinels-new-sep/512/fp32"
        assert torch.equal(two.model.get_input_embeddings().weight, vectors)


def test_a_separator_of_the_models_own_is_used(tmp_path: Path) -> None:
    before = Seq2SeqFiller.load(str(tiny_fillers.save_t5(tmp_path / "plain")), CPU)
    before.model.get_input_embeddings().weight.data[before.separator] += 1
    before.model.save_pretrained(tmp_path / "tuned")
    before.vocabulary.tokenizer.save_pretrained(tmp_path / "tuned")
    after = Seq2SeqFiller.load(str(tmp_path / "tuned"), CPU)
    assert "/sentinels/" in after.identity
    queries = queries_of(after)
    for one, two in zip(after.fill(queries), before.fill(queries), strict=True):
        assert_close(one, two)


@pytest.mark.parametrize("name", ["t5"])
def test_more_blanks_than_sentinels_are_refused(filler: Seq2SeqFiller) -> None:
    (tokens,) = filler.tokenize(["the bridge " * 110])
    blanks = tuple((at, at + 1) for at in range(0, 200, 2))
    assert len(filler.fill([Query(tokens.ids, blanks[:99])])[0]) == 99
    with pytest.raises(UsageError, match="at most 99 blanks"):
        filler.fill([Query(tokens.ids, blanks)])


@pytest.mark.parametrize(
    ("part", "target", "possible"),
    [
        ("", "the", True),
        ("THE", "the", True),
        ("the ", "the", False),
        ("İ", "i̇stanbul", True),
        ("ΟΔΟΣ", "οδοσήμανση", True),
        ("ΟΔΟΣ", "ΟΔΟΣ", True),
        ("caf\ufffd", "café", True),
        ("caf\ufffd ", "café", False),
    ],
)
def test_what_a_text_may_become(part: str, target: str, possible: bool) -> None:
    assert may_become(part, target) is possible
