"""Compare T5's exact matches with the library's greedy generation."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from gistmeter.models.fill.paths import MORE
from gistmeter.models.fill.protocol import Fill, Query
from gistmeter.models.fill.t5 import Seq2SeqFiller
from gistmeter.models.run.batching import mask, pad
from gistmeter.models.run.runtime import Runtime
from tests.tiny_fillers import sentinel_unigram, t5
from tests.tiny_models import SENTENCES, Fast

Ids = tuple[int, ...]
CPU = Runtime(device="cpu")
KINDS = ("same tokens", "same text", "another text", "left the gold text")
LONGEST = 5
"""Tokens of a gold text that is made from a prediction."""


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Thousands of tiny products are slower in several threads than in one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def schooled(tokenizer: PreTrainedTokenizerFast, rows: int, steps: int, batch: int = 32) -> Seq2SeqFiller:
    """Return a tiny T5 that has seen some blanks: it keeps to the format, and knows a few of the words."""
    model = t5(rows)
    filler = Seq2SeqFiller(model, tokenizer, identity="schooled", runtime=CPU)
    rng = Random(4)
    queries = blanks_of(filler, 300)
    adam = torch.optim.Adam(model.parameters(), lr=0.01)
    model.train()
    for _ in range(steps):
        chosen = rng.sample(queries, batch)
        rows_in = [filler._input(query) for query in chosen]
        labels = pad([filler._target(query) for query in chosen], -100, filler.device)
        ids, attention = pad(rows_in, 0, filler.device), mask(rows_in, filler.device)
        loss = model(input_ids=ids, attention_mask=attention, labels=labels).loss
        adam.zero_grad()
        loss.backward()
        adam.step()
    model.train(False)
    return filler


def blanks_of(filler: Seq2SeqFiller, number: int) -> list[Query]:
    """Return blanks of one to three words in sentences of mixed case, whose context is mostly the answer."""
    rng = Random(5)
    queries: dict[Query, None] = {}
    while len(queries) < number:
        words = [rng.choice((str, str.lower, str.upper))(word) for word in rng.choice(SENTENCES).split()]
        first = rng.randrange(len(words) - 3)
        last = first + rng.randint(1, 3)
        pieces = (words[max(0, first - 2) : first], words[first:last], words[last : last + 2])
        before, gold, after = (tokens.ids for tokens in filler.tokenize([" ".join(part) for part in pieces]))
        blank = (len(before), len(before) + len(gold))
        queries[Query((*before, *gold, *after), (blank,), gold, context_first=rng.random() < 0.5)] = None
    return list(queries)


def generated(filler: Seq2SeqFiller, queries: list[Query]) -> list[Ids]:
    """Let the library generate; keep what lies between the leading sentinel and the next special token."""
    texts = []
    for query in queries:
        ((first, last),) = query.blanks
        text = [*query.text[:first], filler.sentinels[0], *query.text[last:]]
        parts = (query.context, text) if query.context_first else (text, query.context)
        row = torch.tensor([[*parts[0], filler.separator, *parts[1], filler.end]])
        output = filler.model.generate(
            row,
            attention_mask=torch.ones_like(row),
            max_new_tokens=LONGEST + MORE + 2,
            do_sample=False,
            num_beams=1,
            pad_token_id=0,
            eos_token_id=filler.end,
        )[0, 1:].tolist()
        output = output[output[:1] == [filler.sentinels[0]] :]
        stops = [at for at, token in enumerate(output) if token in filler.rules.stops]
        texts.append(tuple(output[: stops[0]]) if stops else (*output, -1))
    return texts


def golds_of(filler: Seq2SeqFiller, prediction: Ids, rng: Random) -> set[Ids]:
    """Return gold texts near a prediction: in other cases and sub-words, shorter, longer, one token off."""
    known = tuple(token for token in prediction if 0 <= token < len(filler.vocabulary.tokenizer))
    text = filler.decode(known)
    variants = [text, text.lower(), text.upper(), text.title(), text.swapcase(), text.capitalize()]
    golds = {tokens.ids for tokens in filler.tokenize(variants)}
    golds |= {known, known[:-1], (*known, rng.randrange(3, 150)), (rng.randrange(3, 150), *known[1:])}
    return {gold for gold in golds if 0 < len(gold) <= LONGEST and filler.decode(gold)}


def assert_greedy(filler: Seq2SeqFiller, number: int) -> Counter[str]:
    """Compare decisions for blanks whose gold texts lie near what the model says; count the kinds."""
    plain = blanks_of(filler, number)
    rng = Random(6)
    queries, expected = [], []
    for query, prediction in zip(plain, generated(filler, plain), strict=True):
        ((first, last),) = query.blanks
        for gold in sorted(golds_of(filler, prediction, rng)):
            text = (*query.text[:first], *gold, *query.text[last:])
            queries.append(Query(text, ((first, first + len(gold)),), query.context, query.context_first))
            expected.append(prediction)
    kinds: Counter[str] = Counter()
    for query, prediction, (fill,) in zip(queries, expected, filler.fill(queries), strict=True):
        ((first, last),) = query.blanks
        gold = query.text[first:last]
        ended = prediction[-1:] != (-1,)
        matches = ended and filler.decode(prediction).lower() == filler.decode(gold).lower()
        assert fill.matches is matches, (query, prediction, fill)
        assert fill.predicted == prediction[: len(fill.predicted)]
        if fill.complete:
            assert fill.predicted == prediction
        kinds[kind_of(fill, gold)] += 1
    return kinds


def kind_of(fill: Fill, gold: Ids) -> str:
    """Name what decided a blank."""
    if fill.matches:
        return "same tokens" if fill.predicted == gold else "same text"
    return "another text" if fill.complete else "left the gold text"


def test_matches_are_those_of_greedy_generation() -> None:
    tokenizer = sentinel_unigram()
    kinds = assert_greedy(schooled(tokenizer, len(tokenizer) + 1, steps=120), 150)
    assert min(kinds[kind] for kind in KINDS) > 20, kinds


@pytest.mark.shared
@pytest.mark.slow
def test_matches_are_those_of_greedy_generation_with_the_real_tokenizer(shared_data: Path) -> None:
    tokenizer = Fast(
        tokenizer_file=str(shared_data / "tokenizers" / "t5-base" / "tokenizer.json"),
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    )
    kinds = assert_greedy(schooled(tokenizer, 32_128, steps=120, batch=16), 450)
    assert kinds.total() > 2_000
    assert min(kinds[kind] for kind in KINDS) > 200, kinds


def test_of_several_blanks_each_is_greedy_given_the_gold_text_before_it() -> None:
    tokenizer = sentinel_unigram()
    filler = schooled(tokenizer, len(tokenizer) + 1, steps=60)
    for query in blanks_of(filler, 40):
        ((first, last),) = query.blanks
        blanks = ((first, last), (last + 1, min(last + 3, len(query.text))))
        if last + 1 >= len(query.text):
            continue
        two = Query(query.text, blanks, query.context, query.context_first)
        (fills,) = filler.fill([two])
        one, other = filler.sentinels[:2]
        text = [*query.text[:first], one, query.text[last], other, *query.text[blanks[1][1] :]]
        parts = (query.context, text) if query.context_first else (text, query.context)
        prefix = [0, one, *query.text[first:last], other]
        output = filler.model.generate(
            torch.tensor([[*parts[0], filler.separator, *parts[1], filler.end]]),
            decoder_input_ids=torch.tensor([prefix]),
            max_new_tokens=12,
            do_sample=False,
        )[0, len(prefix) :].tolist()
        stop = next((at for at, token in enumerate(output) if token in filler.rules.stops), len(output))
        assert fills[1].predicted == tuple(output[:stop])[: len(fills[1].predicted)]
        gold = query.text[slice(*blanks[1])]
        assert fills[1].matches is (filler.decode(output[:stop]).lower() == filler.decode(gold).lower())
