"""Frequency tables: counting, saving, recipes, the shipped tables, and token weights."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from gistmeter import Example, load
from gistmeter.app.cli import main
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.options import options_from
from gistmeter.metrics.simplicity.options import SimplicityOptions
from gistmeter.metrics.simplicity.presets import load_tables
from gistmeter.metrics.simplicity.training.frequencies import train_frequencies
from gistmeter.metrics.simplicity.units import count_units
from gistmeter.metrics.simplicity.weights import FrequencyWeighter, damped, weighter_from
from gistmeter.models.run.tokens import tokenize
from gistmeter.text.frequencies import Frequencies, count_words, load_frequencies, save_frequencies
from tests.tiny_models import as_roberta

SIMPLE = Frequencies({"the": 50, "ferry": 5, "ferries": 1}, "sentences", 100, 1000)
COMPLEX = Frequencies({"the": 60, "ferry": 15, "vessel": 9}, "sentences", 100, 1000)


def weighter(tokenizer: PreTrainedTokenizerBase, **options: object) -> FrequencyWeighter:
    return weighter_from(
        {"simple": SIMPLE, "complex": COMPLEX}, tokenizer, options_from(SimplicityOptions, options)
    )


def test_tokens_fall_on_sentences_at_random() -> None:
    table = Frequencies({"the": 120, "cat": 1}, "tokens", 100, 1500)
    assert table.share(120) == pytest.approx(1 - math.exp(-1.2))
    assert table.share(1) == 0.01, "never below 1/M"
    with pytest.raises(DataError, match="has no sentence count"):
        Frequencies({"the": 1}, "tokens", 0, 10).share(1)


def test_a_table_reads_back_and_equal_tables_are_equal_bytes(tmp_path: Path) -> None:
    tables = [
        Frequencies(dict(order), "tokens", 7, 90) for order in ((("a", 3), ("ä", 3)), (("ä", 3), ("a", 3)))
    ]
    for number, table in enumerate(tables):
        save_frequencies(table, tmp_path / "x" / f"{number}.txt.gz")
        assert load_frequencies(tmp_path / "x" / f"{number}.txt.gz") == table
    first, second = sorted((tmp_path / "x").iterdir())
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        gzip.compress(b"{}\n3 the", mtime=0),
        gzip.compress(b'{"counted": 1}\nx the', mtime=0),
    ],
)
def test_a_damaged_table_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "simple.txt.gz").write_bytes(content)
    with pytest.raises(DataError, match=r"simple.txt.gz is not a valid frequency table"):
        load_frequencies(tmp_path / "simple.txt.gz")


def test_counting_needs_words_and_leaves_rare_ones_out() -> None:
    table = count_words(["Rain fell. Rain stopped."], least=2)
    assert table == Frequencies({"rain": 2, ".": 2}, "sentences", 2, 6)
    with pytest.raises(DataError, match="contain no words"):
        count_words(["  "])


def test_subwords_sum_the_counts_of_the_words_that_hold_them(tiny_bert: Path) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_bert)
    counts = {"ferryrr": 3, "ferry": 5, "harbourr": 2}
    assert tokenizer.tokenize(" ".join(counts)) == ["ferry", "##r", "##r", "ferry", "harbour", "##r"]
    units = count_units(counts, "subword", tokenizer)
    pieces = {("ferry", False): 8, ("r", True): 5, ("harbour", False): 2}
    whole = {("ferryrr", False): 3, ("harbourr", False): 2}
    assert units == pieces | whole, "twice in a word is once"
    assert count_units(counts, "word", tokenizer) == {(word, False): n for word, n in counts.items()}


def test_the_leading_space_of_a_tokenizer_is_no_difference(tiny_roberta: Path) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_roberta)
    text = "ferry, the the"
    [tokens] = tokenize(tokenizer, [text], None)
    assert tokenizer.convert_ids_to_tokens(tokens.ids)[-3:-1] == ["Ġthe", "Ġthe"]
    weights = weighter(tokenizer).weigh(text, tokens)
    assert weights[[0, -1]].tolist() == [0, 0], "special tokens weigh nothing"
    assert weights[-4:-1].tolist() == [0.01, 0.5, 0.5]


def cased(words: str) -> PreTrainedTokenizerBase:
    """Return a byte-level BPE tokenizer with one token for each of the words after a space, and all bytes."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=1000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), min_frequency=1
    )
    tokenizer.train_from_iterator([f" {words}"], trainer)
    return as_roberta(tokenizer, "Ċ")


def test_a_cased_token_has_the_count_of_its_word() -> None:
    """Equation 4 on a cased tokenizer: " France" is one token, " france" is several."""
    tokenizer = cased("France in September NASA")
    counts = {"france": 30, "in": 40, "september": 20, "nasa": 10, "frank": 5}
    table = Frequencies(counts, "sentences", 100, 1000)
    found = weighter_from({"simple": table}, tokenizer, SimplicityOptions())
    text = "a In France in September at NASA Xq"
    [tokens] = tokenize(tokenizer, [text], None)
    by_token: dict[str, float] = {}
    for (start, end), weight in zip(tokens.offsets.tolist(), found.weigh(text, tokens), strict=True):
        by_token[text[start:end].strip()] = float(weight)
    assert {word: by_token[word] for word in ("France", "in", "September", "NASA")} == {
        "France": 0.3,
        "in": 0.4,
        "September": 0.2,
        "NASA": 0.1,
    }
    assert by_token["q"] == 0.01, "other tokens keep the floor"


def test_the_tokenizer_decides_whether_an_accent_matters(tiny_bert: Path) -> None:
    """BERT's uncased tokenizer reads "à" as "a", so both have one weight; byte-level BPE keeps them apart."""
    table = {"simple": Frequencies({"a": 50, "à": 2}, "sentences", 100, 1000)}
    for tokenizer, same in ((AutoTokenizer.from_pretrained(tiny_bert), True), (cased("a à"), False)):
        found = weighter_from(table, tokenizer, SimplicityOptions())
        text = "b a à"
        [tokens] = tokenize(tokenizer, [text], None)
        own = np.flatnonzero(~tokens.special)
        weights = found.weigh(text, tokens)[own[-2:]]
        assert (weights[0] == weights[1]) == same
        assert (tokens.ids[own[-2]] == tokens.ids[own[-1]]) == same
        assert weights[0] >= 0.5


def test_a_word_lends_its_weight_to_its_pieces(tiny_bert: Path) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_bert)
    text = "The ferries"
    [tokens] = tokenize(tokenizer, [text], None)
    assert len(tokens.ids) > 4, "ferries is cut"
    assert set(weighter(tokenizer, unit="word").weigh(text, tokens)[2:-1]) == {0.01}
    assert weighter(tokenizer, unit="word").weigh(text, tokens)[1] == 0.5


def test_ratio_damping_and_zipf(tiny_bert: Path) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_bert)
    ratio = weighter(tokenizer, weight="ratio", unit="word")
    assert ratio.weights["ferry", False] == pytest.approx(5 / 20, abs=1e-4)
    assert ratio.weights["vessel", False] == pytest.approx(0, abs=1e-3)
    assert ratio.unseen == 0.5
    held = weighter(tokenizer, damp=True, unit="word").weights
    assert held["the", False] == damped(0.5) == pytest.approx(0.5 / 0.501)
    assert held["the", False] / held["ferry", False] < 1.02
    zipf = weighter(tokenizer, weight="zipf", unit="word")
    assert zipf.weights["the", False] == pytest.approx(math.log10(0.05 * 1e9))
    assert zipf.unseen == pytest.approx(6), "once in a thousand tokens, all there are"


def rows(path: Path, content: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")


def test_a_recipe_counts_texts_and_takes_counts_over(
    tmp_path: Path, tiny_bert: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(
        tmp_path / "texts.jsonl",
        [
            {"easy": text, "split": split}
            for text, split in (("Rain fell.", "a"), ("Rain.", "a"), ("No.", "b"))
        ],
    )
    rows(
        tmp_path / "words.jsonl",
        [
            {"w": "The", "n": 4, "z": 7.0},
            {"w": "the", "n": 2},
            {"w": "-lrb-", "n": 3},
            {"w": "a b", "n": 9},
            {"w": ".", "n": 5},
        ],
    )
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'task = "frequencies"\n'
        '[[tables]]\nname = "simple"\nfile = "texts.jsonl"\ntexts = "easy"\nwhere = { split = ["a"] }\n'
        '[[tables]]\nname = "complex"\nfile = "words.jsonl"\nword = "w"\ncount = "n"\n'
        'sentences = "."\nleast = 4\n'
        '[[tables]]\nname = "general"\nfile = "words.jsonl"\nword = "w"\nzipf = "z"\n'
    )
    output = tmp_path / "tables"
    assert main(["train", str(recipe), "--data", str(tmp_path), "--output", str(output), "--quiet"]) == 0
    assert "simple_words" in capsys.readouterr().out
    tables, identity = load_tables(str(output), ("simple", "complex", "general"))
    assert tables["simple"] == Frequencies({"rain": 2, "fell": 1, ".": 2}, "sentences", 2, 5)
    assert tables["complex"] == Frequencies({"the": 6, ".": 5}, "tokens", 5, 14)
    assert tables["general"] == Frequencies({"the": 10**7}, "tokens", 0, 10**9)
    assert "simple(sentences,floor=1/2)" in identity
    metric = load("simplicity", model=str(tiny_bert), frequencies=str(output))
    assert metric.score([Example("1", "Rain.", references=["Rain fell."])])[0].problem is None
    assert main(["train", str(recipe), "--steps", "3", "--quiet"]) == 2


@pytest.mark.parametrize(
    "recipe",
    [
        {},
        {"tables": [{"name": "simple"}]},
        {"tables": [{"name": "x", "file": "y", "texts": "a", "word": "b"}]},
        {"table": []},
    ],
)
def test_an_incomplete_recipe_is_refused(recipe: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        train_frequencies({"task": "frequencies", **recipe}, tmp_path, tmp_path)


def test_the_tables_that_ship_know_simple_words() -> None:
    tables, identity = load_tables("gistmeter/frequencies", ("simple", "complex", "general"))
    assert identity.startswith("gistmeter/frequencies@")
    simple, other = tables["simple"], tables["complex"]
    for easy, hard in (("use", "utilize"), ("begin", "commence"), ("people", "individuals"), ("(", "{")):
        assert simple.share(simple.counts.get(easy, 0)) > simple.share(simple.counts.get(hard, 0))
        assert tables["general"].zipf(tables["general"].counts.get(easy, 0)) >= 1
    assert simple.counts["people"] / simple.tokens > 2 * other.counts["people"] / other.tokens
    shares = np.array([simple.share(count) for count in simple.counts.values()])
    assert shares.min() >= 1 / simple.sentences
    assert shares.max() == simple.share(simple.counts["the"]) < 1
