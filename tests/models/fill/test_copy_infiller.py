"""Test the included kind of filler on a tiny random model."""

import json
import random
from pathlib import Path

import pytest
import torch

from gistmeter.core.errors import BadModel, UsageError
from gistmeter.models.files.adapters import base_of
from gistmeter.models.files.find import find_model
from gistmeter.models.fill.copy import CopyFiller, _read
from gistmeter.models.fill.copy_files import load_copy_infiller, new_copy_infiller, save_copy_infiller
from gistmeter.models.fill.copy_head import gold_log_probability, matches, mixed_probabilities
from gistmeter.models.fill.copy_submodules import _some
from gistmeter.models.fill.load import load_filler
from gistmeter.models.fill.pair_batch import pair_batch
from gistmeter.models.fill.positions import PositionPredictions
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.run.runtime import Runtime
from tests.tiny_fillers import save_copy_infiller as save_tiny
from tests.tiny_models import save_bert

CPU = Runtime(device="cpu")
TEXTS = [
    "The mayor closed the old bridge at noon.",
    "At noon the mayor closed the museum, she said.",
    "Rain is expected over the hills.",
]


@pytest.fixture
def filler(tiny_copy_infiller: Path) -> CopyFiller:
    found = load_filler(str(tiny_copy_infiller), CPU)
    assert isinstance(found, CopyFiller)
    return found


def queries_of(filler: CopyFiller, number: int = 40) -> list[Query]:
    """Return queries with one to three blanks, some of them touching, and contexts, some of them empty."""
    rng = random.Random(3)
    texts = [found.ids for found in filler.tokenize(TEXTS)]
    queries = []
    for _ in range(number):
        text = rng.choice(texts)
        cuts = sorted(rng.sample(range(len(text) + 1), 2 * rng.randint(1, 3)))
        blanks = tuple(zip(cuts[::2], cuts[1::2], strict=True))
        context = rng.choice([*texts, ()])
        queries.append(Query(text, blanks, context[: rng.choice([4, 99])]))
    return queries


def straight(filler: CopyFiller, query: Query) -> list[Fill]:
    """Answer one query alone, by the whole distribution over the vocabulary."""
    model = filler.model
    device = torch.device("cpu")
    batch = pair_batch([query], mask_id=model.mask, pad_id=filler.pad_id, device=device)
    with torch.inference_mode():
        logits, choices = model(batch)
        probabilities = mixed_probabilities(logits, choices, batch.context[batch.sources])
    rows = iter(probabilities)
    fills = []
    for start, end in query.blanks:
        own = [next(rows) for _ in range(start, end)]
        gold = query.text[start:end]
        predicted = tuple(int(row.argmax()) for row in own)
        fills.append(
            Fill(
                predicted,
                predicted == gold or filler.decode(predicted).lower() == filler.decode(gold).lower() != "",
                tuple(float(row.max()) for row in own),
                tuple(float(row[at]) for row, at in zip(own, gold, strict=True)),
                tuple(int((row > row[at]).sum()) + 1 for row, at in zip(own, gold, strict=True)),
            )
        )
    return fills


def test_sharing_a_context_changes_no_answer(filler: CopyFiller) -> None:
    queries = queries_of(filler)
    copied = 0
    for query, found in zip(queries, filler.fill(queries), strict=True):
        for ours, theirs in zip(found, straight(filler, query), strict=True):
            assert (ours.predicted, ours.matches) == (theirs.predicted, theirs.matches)
            assert ours.gold_ranks == theirs.gold_ranks
            assert ours.predicted_probabilities == pytest.approx(theirs.predicted_probabilities, rel=1e-4)
            assert ours.gold_probabilities == pytest.approx(theirs.gold_probabilities, rel=1e-4)
            copied += sum(at in query.context for at in ours.predicted)
    assert copied, "no answer came from a context: the test says nothing about copies"


def test_a_sure_token_has_rank_1() -> None:
    count, context = 200, 20
    logits = torch.zeros(count, 500)
    logits[:, 400] = torch.linspace(6, 14, count)  # the gold token, which the context does not contain
    choices = torch.full((count, 1 + context), -9.0)
    choices[:, 0] = 0
    nothing = torch.zeros(count, dtype=torch.long)
    batch = _some(context=torch.arange(context)[None], gold=nothing + 400)
    readings = PositionPredictions([], [], [], [])
    _read(readings, logits, choices.log_softmax(dim=1), batch)
    assert set(readings.predicted) == {400}
    assert set(readings.gold_ranks) == {1}


def test_equal_queries_have_equal_answers(filler: CopyFiller) -> None:
    queries = queries_of(filler, 5)
    twice = filler.fill([*queries, *queries])
    assert twice[:5] == twice[5:]
    assert filler.fill([]) == []


def test_too_long_a_text_or_context_is_refused(filler: CopyFiller) -> None:
    long = filler.tokenize([TEXTS[0] * 20])[0].ids
    assert filler.separate_windows
    room = filler.window - filler.overhead(1) // 2
    fits = Query(long[:room], ((0, 1),), long[:room])
    assert len(filler.fill([fits])) == 1
    for query in (Query(long, ((0, 1),), long[:5]), Query(long[:5], ((0, 1),), long)):
        with pytest.raises(UsageError, match="exceeds the window"):
            filler.fill([query])


def test_neighbours_that_match_are_told_by_hand() -> None:
    # text: a b [x y] c; context: b p q c, of which p stands after b and q before c.
    a, b, c, x, y, p, q = range(10, 17)
    query = Query((a, b, x, y, c), ((2, 4),), (b, p, q, c))
    batch = pair_batch([query], mask_id=1, pad_id=0, device=torch.device("cpu"))
    assert batch.neighbours.tolist() == [[b, a, c, -1]] * 2
    assert batch.distances.tolist() == [[-1, -2, 2, 3], [-2, -3, 1, 2]]
    found = matches(batch)  # before, two before, after, two after, both sides
    assert found[0].int().tolist() == [[0] * 5, [1, 0, 1, 0, 1], [0] * 5, [0] * 5]
    assert found[1].int().tolist() == [[0] * 5, [0] * 5, [1, 0, 1, 0, 1], [0] * 5]


def test_log_probability_of_gold_is_that_of_the_mixture(filler: CopyFiller) -> None:
    queries = queries_of(filler, 10)
    batch = pair_batch(queries, mask_id=filler.model.mask, pad_id=filler.pad_id, device=torch.device("cpu"))
    with torch.inference_mode():
        logits, choices = filler.model(batch)
        whole = mixed_probabilities(logits, choices, batch.context[batch.sources])
        gold = gold_log_probability(logits, choices, batch)
    torch.testing.assert_close(whole.sum(dim=1), torch.ones(len(whole)))
    torch.testing.assert_close(whole.gather(1, batch.gold[:, None])[:, 0].log(), gold, rtol=1e-4, atol=1e-4)


def test_training_reaches_every_new_weight_and_no_other(tiny_bert: Path) -> None:
    infiller, tokenizer = new_copy_infiller(str(tiny_bert), 2)
    ids = tuple(tokenizer.encode("the mayor closed the old bridge", add_special_tokens=False))
    batch = pair_batch(
        [Query(ids, ((1, 2), (3, 5)), ids)], mask_id=infiller.mask, pad_id=0, device=torch.device("cpu")
    )
    logits, choices = infiller(batch)
    (-gold_log_probability(logits, choices, batch).mean()).backward()  # type: ignore[no-untyped-call]
    without = [
        name for name, weight in infiller.named_parameters() if weight.requires_grad and weight.grad is None
    ]
    frozen = [name for name, weight in infiller.named_parameters() if not weight.requires_grad]
    assert without == []
    assert {name.split(".")[0] for name in frozen} == {"embeddings", "encoder"}


def test_saved_and_loaded_again(tiny_copy_infiller: Path, tmp_path: Path) -> None:
    infiller, _ = load_copy_infiller(find_model(str(tiny_copy_infiller)))
    save_copy_infiller(infiller, base_of(find_model(str(tiny_copy_infiller))), tmp_path)
    again, _ = load_copy_infiller(find_model(str(tmp_path)))
    for ours, theirs in zip(infiller.parameters(), again.parameters(), strict=True):
        assert torch.equal(ours, theirs), "float16 twice is float16 once"


def test_another_encoder_than_it_was_trained_on(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "reader")
    (folder / "base" / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadModel, match="was trained on"):
        load_filler(str(folder), CPU)


def test_damaged_files(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "reader")
    facts = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(facts | {"layers": 1}), encoding="utf-8")
    with pytest.raises(BadModel, match="do not match its config"):
        load_filler(str(folder), CPU)
    del facts["layers"]
    (folder / "config.json").write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(BadModel, match=r"is not valid \('layers'\); save"):
        load_filler(str(folder), CPU)


def test_only_a_bert_can_be_read_from(tiny_roberta: Path, tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="cannot be the encoder of a copy infiller; give a BERT"):
        new_copy_infiller(str(tiny_roberta), 2)
    with pytest.raises(BadModel, match="with 9 or more layers"):
        new_copy_infiller(str(save_bert(tmp_path)), 9)
