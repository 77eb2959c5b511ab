"""Compare words, weights and scores with those in a log of the authors (`tests/golden/maskeval_log.json`)."""

import json
import os
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gistmeter.core.example import Example
from gistmeter.metrics.maskeval.metric import MaskEval
from gistmeter.metrics.maskeval.tokenized import TokenizedText, cut_texts
from gistmeter.metrics.maskeval.training.rows import RatedPair, SideStates
from gistmeter.metrics.maskeval.training.weights import WeighTask
from gistmeter.metrics.maskeval.weights import Learned, word_weights
from gistmeter.models.run.tokens import Tokens
from gistmeter.models.run.vocabulary import Vocabulary
from gistmeter.text.words import Segment
from tests.golden.make_maskeval_log import SIDES, segments_digest
from tests.listed_filler import Listed
from tests.tiny_fillers import sentinel_unigram
from tests.tiny_models import Fast

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "maskeval_log.json").read_text(encoding="utf-8"))
LOG = "GISTMETER_MASKEVAL_LOG"
"""Environment variable with the path of the log, which has no licence and is not part of the project."""


class Tokenizing(Listed):
    """A fake filler with a real vocabulary."""

    vocabulary: Vocabulary

    def tokenize(self, texts: Any) -> Any:  # noqa: ANN401 - as its base class
        return self.vocabulary.tokenize(texts)

    def decode(self, ids: Any) -> str:  # noqa: ANN401 - as its base class
        return self.vocabulary.decode(ids)


def tokenizing(tokenizer: Any) -> Tokenizing:  # noqa: ANN401 - tokenizers have no types
    filler = Tokenizing()
    filler.vocabulary = Vocabulary(tokenizer)
    return filler


def words_of(side: dict[str, Any]) -> TokenizedText:
    """Return words with the lengths of the log; their IDs and places in the text do not matter here."""
    ends = list(accumulate(side["sub_words"]))
    words = [Segment(end - n, end - 1, end - n, end) for n, end in zip(side["sub_words"], ends, strict=True)]
    return TokenizedText(tuple(range(ends[-1])), tuple(words))


@pytest.mark.parametrize("side", SIDES)
def test_weights_are_those_of_the_log(side: str) -> None:
    known = GOLDEN[side]
    ours = word_weights(words_of(known), np.array(known["logits"]))
    np.testing.assert_allclose(ours, known["weights"], atol=1e-6)


def test_the_training_computes_the_score_of_the_log() -> None:
    sides, expected = [], []
    for side in SIDES:
        known = GOLDEN[side]
        values = np.repeat(np.array(known["exact_match"], np.float32), known["sub_words"])
        sides.append(SideStates(np.array(known["logits"], np.float32)[:, None], values))
        expected.append(float(np.dot(known["weights"], known["exact_match"])))
    pair = RatedPair("1", "d", (sides[0], sides[1]), 0.5, {})
    task = WeighTask([pair, pair], [1.0, 1.0], [1], batch=1, seed=1, start="zero")
    with torch.no_grad():
        task.model.weight.fill_(1.0)
        assert task.predict([pair]).item() == pytest.approx(sum(expected) / 2, abs=1e-6)


def test_counts_of_the_log() -> None:
    assert [len(GOLDEN[side]["sub_words"]) for side in SIDES] == [91, 403]
    assert [sum(GOLDEN[side]["sub_words"]) for side in SIDES] == [143, 493]
    assert np.mean(GOLDEN["candidate"]["exact_match"]) == pytest.approx(0.9560, abs=5e-5)


TEXT = "The ferry left ` the harbour at noon ~ with forty ` passengers on board."


def test_words_that_the_model_cannot_write_are_left_out() -> None:
    """A backtick is `▁<unk>` for T5: the authors' words without text count neither in N nor in M."""
    filler = tokenizing(sentinel_unigram())
    cut = cut_texts(filler, [TEXT], "en")[TEXT]
    shown = [TEXT[word.start : word.end] for word in cut.words]
    assert shown == TEXT.replace("`", "").replace("~", "").split()
    unknown = filler.vocabulary.tokenizer.unk_token_id
    assert cut.ids.count(unknown) == 3, "they stay in the window of the others"
    assert unknown not in cut.inside_ids
    score = MaskEval(filler).score([Example("1", TEXT, TEXT)])[0]
    assert len(score.spans) == 2 * len(shown)
    assert MaskEval(filler).score([Example("1", "` ~", TEXT)])[0].problem == (
        "the model's tokenizer finds no word in the candidate"
    )


@pytest.mark.parametrize(("text", "first"), [("4-6", 1), ("a", 0), ("46", 0)])
def test_a_space_that_is_a_segment_of_its_own_is_left_out(text: str, first: int) -> None:
    """As in the log: of `▁` and `4-6`, which spaCy cuts after the 4, only `4-6` is a word."""

    class Spaced(Listed):
        def tokenize(self, texts: Any) -> Any:  # noqa: ANN401 - as its base class
            offsets = np.array([(0, 1), (0, len(text))])
            return [Tokens((0, 1), offsets, np.zeros(2, dtype=bool), 2) for _ in texts]

    filler = Spaced(pieces=["", text])
    [word] = cut_texts(filler, [text], "en")[text].words
    assert (word.first, word.last, word.start, word.end) == (first, 1, 0, len(text))


def test_the_weigher_reads_the_sub_words_of_words() -> None:
    filler = tokenizing(sentinel_unigram())
    asked: list[tuple[tuple[int, ...], ...]] = []

    class Noted:
        identity = "noted"

        def logits(self, pairs: Any) -> Any:  # noqa: ANN401 - as the protocol
            asked.extend(pairs)
            return [tuple(np.zeros(len(ids), np.float32) for ids in pair) for pair in pairs]

    MaskEval(filler, Learned(Noted())).score([Example("1", TEXT, "The ferry ` left.")])
    plain = TEXT.replace("` ", "").replace("~ ", "")
    expected = tuple(tokens.ids for tokens in filler.tokenize([plain, "The ferry left."]))
    assert asked == [expected]


@pytest.mark.shared
def test_segments_are_those_of_the_log(shared_data: Path) -> None:
    if LOG not in os.environ:
        pytest.skip(f"set {LOG} to the authors' log; see tests/golden/make_maskeval_log.py")
    log = json.loads(Path(os.environ[LOG]).read_text(encoding="utf-8"))
    file = shared_data / "tokenizers" / "t5-base" / "tokenizer.json"
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    filler = tokenizing(Fast(tokenizer_file=str(file), **names))
    for side, (_, text) in SIDES.items():
        cut = cut_texts(filler, [log[text]], "en")[log[text]]
        ids = [cut.ids[word.first : word.last + 1] for word in cut.words]
        assert segments_digest(ids) == GOLDEN[side]["segments_sha256"]
        assert len(cut.inside_ids) == sum(GOLDEN[side]["sub_words"])
