"""Baselines of SUM-QE, compared with values computed by hand."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForNextSentencePrediction,
    GPT2Config,
    GPT2LMHeadModel,
)

from gistmeter.core.errors import BadModel
from gistmeter.core.example import Example
from gistmeter.metrics.sumqe.baselines import (
    BestRouge,
    NextSentence,
    Perplexity,
    best_k,
    best_version,
    masked_log2,
    rouge_versions,
)
from gistmeter.models.fill.load import load_filler
from gistmeter.models.rate.language_model import NextSentenceModel, TokenModel
from gistmeter.models.run.runtime import Runtime
from tests.listed_filler import Listed
from tests.tiny_models import SEED, SENTENCES, SIZE, byte_level, wordpiece

RUNTIME = Runtime(device="cpu", batch_tokens=80)


def save_gpt2(folder: Path) -> Path:
    tokenizer = byte_level()
    torch.manual_seed(SEED)
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=40, n_embd=16, n_layer=1, n_head=2)
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_bert_head(folder: Path, kind: type) -> Path:
    tokenizer = wordpiece()
    torch.manual_seed(SEED)
    kind(BertConfig(vocab_size=len(tokenizer), **SIZE)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_gpt2_reads_each_token_after_those_before_it(tmp_path: Path) -> None:
    model = TokenModel.load(str(save_gpt2(tmp_path)), "causal", RUNTIME)
    found = model.log2([SENTENCES[0], "Rain.", ""])
    ids = model.vocabulary.tokenize([SENTENCES[0]])[0].ids
    with torch.no_grad():
        for at in (0, 3, len(ids) - 1):
            logits = model.model(input_ids=torch.tensor([[model.start, *ids[:at]]])).logits[0, -1]
            expected = float(logits.log_softmax(-1)[ids[at]]) / math.log(2)
            assert found[0][at] == pytest.approx(expected, rel=1e-4)
    assert len(found[0]) == len(ids) and len(found[2]) == 0
    long = model.log2([" ".join(SENTENCES)])[0]
    assert len(long) == 39, "a long text is cut"


def test_perplexity_flags_a_text_that_was_cut(tmp_path: Path) -> None:
    model = TokenModel.load(str(save_gpt2(tmp_path)), "causal", RUNTIME)
    metric = Perplexity(model.log2, model.identity, count=model.count)
    long, short = metric.score([Example("1", " ".join(SENTENCES)), Example("2", "Rain.")])
    [flag] = long.flags
    assert (flag.name, flag.side, flag.kept) == ("truncated", "candidate", 39)
    assert flag.total == len(model.vocabulary.tokenize([" ".join(SENTENCES)])[0].ids)
    assert short.flags == ()


def test_the_authors_code_masks_nothing(tmp_path: Path) -> None:
    folder = save_bert_head(tmp_path, BertForMaskedLM)
    model = TokenModel.load(str(folder), "unmasked", RUNTIME)
    ids = model.vocabulary.tokenize([SENTENCES[0]])[0].ids
    with torch.no_grad():
        logits = model.model(input_ids=torch.tensor([[model.start, *ids, *model.end]])).logits[0]
    expected = logits.log_softmax(-1)[range(1, len(ids) + 1), list(ids)].numpy() / np.log(2)
    np.testing.assert_allclose(model.log2([SENTENCES[0]])[0], expected, rtol=1e-4)


@pytest.mark.parametrize("name", ["tiny_roberta_lm", "tiny_copy_infiller"])
def test_every_token_is_masked_once(name: str, request: pytest.FixtureRequest) -> None:
    filler = load_filler(str(request.getfixturevalue(name)), RUNTIME)
    texts = [SENTENCES[0], " ".join(SENTENCES), ""]
    alone, together = masked_log2(filler)(texts), masked_log2(filler, apart=7)(texts)
    for one, other, text in zip(alone, together, texts, strict=True):
        assert len(one) == len(other) == len(filler.tokenize([text])[0].ids)
        assert (one < 0).all() and (other < 0).all()
    apart = np.abs(alone[0] - together[0]).max()
    assert apart > 1e-5, "masks that share a sequence are seen by each other"


def test_masked_probabilities_by_hand() -> None:
    filler = Listed(probabilities={"candidate": {"rain": [0.25], "fell": [0.5]}})
    [found] = masked_log2(filler)(["rain fell"])
    assert found.tolist() == [-2.0, -1.0]
    assert [query.blanks for query in filler.asked] == [((0, 1),), ((1, 2),)]
    assert all(not query.context for query in filler.asked)
    short = Listed(window=5)
    [stretches] = masked_log2(short, apart=1)(["a b c d e"])
    assert len(stretches) == 5 and all(len(query.text) <= 2 for query in short.asked)


def test_the_worst_tokens_count() -> None:
    metric = Perplexity(lambda texts: [np.array([-1.0, -5.0, -3.0]) for _ in texts], "x", worst=2)
    found = metric.score([Example("1", "a b c"), Example("2", " ")])
    assert found[0].value == -4.0 and found[0].parts["perplexity"] == 16.0
    assert found[1].problem == "the candidate is empty"
    nothing = Perplexity(lambda texts: [np.zeros(0) for _ in texts], "x").score([Example("1", "\u200b.")])
    assert nothing[0].problem is not None
    assert metric.signature.text == "perplexity|version=1|model=x|worst=2"


def test_k_is_chosen_on_training_rows() -> None:
    rng = np.random.default_rng(1)
    tokens = [rng.normal(-3, 1, 12) for _ in range(60)]
    people = [float(np.sort(one)[:3].mean()) for one in tokens]
    assert best_k(tokens, people) == 3
    assert best_k(tokens, [1.0] * 60) == 1, "nothing to choose by"


def test_next_sentences_by_hand(tmp_path: Path) -> None:
    model = NextSentenceModel.load(str(save_bert_head(tmp_path, BertForNextSentencePrediction)), RUNTIME)
    text = " ".join(SENTENCES[:3])
    [found, single] = NextSentence(model).score([Example("1", text), Example("2", SENTENCES[0])])
    said = model.log2([(SENTENCES[0], SENTENCES[1]), (SENTENCES[1], SENTENCES[2])])
    assert found.value == pytest.approx(said.sum() / 3), "equation 5 divides by n, not n - 1"
    assert found.parts["perplexity"] == pytest.approx(2 ** (-said.sum() / 3))
    assert single.value == 0 and single.parts["perplexity"] == 1
    joined = model.vocabulary.tokenizer(SENTENCES[0], SENTENCES[1], return_tensors="pt")
    ends = joined["input_ids"][0] == model.vocabulary.tokenizer.sep_token_id
    second = (ends.cumsum(0) - ends.long() > 0).long()[None]  # the tokenizer returns no segments
    with torch.no_grad():
        logits = model.model(**joined, token_type_ids=second).logits[0]
    assert said[0] == pytest.approx(float(logits.log_softmax(-1)[0]) / math.log(2), rel=1e-5)


def test_models_of_another_kind(tiny_bert: Path) -> None:
    with pytest.raises(BadModel, match="more weights are missing"):
        TokenModel.load(str(tiny_bert), "unmasked", RUNTIME)
    with pytest.raises(BadModel, match="more weights are missing"):
        NextSentenceModel.load(str(tiny_bert), RUNTIME)


def test_best_rouge() -> None:
    examples = [
        Example(str(at), text, references=["Rain fell on the hills."])
        for at, text in enumerate(
            ["Rain fell on the hills.", "Rain fell.", "The hills on fell rain.", "Snow."]
        )
    ]
    scores = [rouge_versions(example) for example in examples]
    assert scores[1]["rouge1-precision"] == 1 and scores[1]["rouge1-recall"] == pytest.approx(0.4)
    people = [one["rouge2-recall"] for one in scores]
    version = best_version(scores, people)
    assert np.corrcoef([one[version] for one in scores], people)[0, 1] == pytest.approx(1)
    found = BestRouge("rouge1-recall").score(examples)
    assert [score.value for score in found] == pytest.approx([1, 0.4, 1, 0])
    assert BestRouge().score([Example("1", "a")])[0].problem == "the row has no references"
