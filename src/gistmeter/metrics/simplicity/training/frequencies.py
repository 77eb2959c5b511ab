"""Build frequency tables from a recipe: count words in texts, or import published counts."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gistmeter.core.errors import DataError, UsageError
from gistmeter.text.frequencies import SUFFIX, Frequencies, count_words, save_frequencies
from gistmeter.training.recipe import check_keys
from gistmeter.training.texts import read_rows

# Penn Treebank escapes of brackets and quotation marks.
ESCAPES = {
    "-lrb-": "(",
    "-rrb-": ")",
    "-lsb-": "[",
    "-rsb-": "]",
    "-lcb-": "{",
    "-rcb-": "}",
    "``": '"',
    "''": '"',
}
KEYS = ("name", "file", "texts", "language", "where", "word", "count", "zipf", "sentences", "least")


def train_frequencies(recipe: Mapping[str, Any], data: Path, output: Path) -> dict[str, float]:
    """Build the tables of a recipe.

    Args:
        recipe: Recipe such as `recipes/frequencies.toml`: `tables`, each with a `name` (simple, complex or
            general), a `file` of rows and either `texts` (column of texts to count) or `word` (column of
            words) with `count` (column of counts) or `zipf` (column of Zipf values).
        data: Folder of the input files.
        output: Folder for the tables.

    Returns:
        Number of words, sentences and bytes of each table.

    Raises:
        UsageError: If a table of the recipe is incomplete.
        DataError: If a file cannot be read or contains no words.
    """
    check_keys(recipe, ("task", "tables", "notes"), "the recipe")
    figures: dict[str, float] = {}
    for wanted in recipe.get("tables", []):
        check_keys(wanted, KEYS, "tables")
        if not {"name", "file"} <= wanted.keys() or len({"texts", "word"} & wanted.keys()) != 1:
            raise UsageError("tables: add a name, a file, and either texts or word to each table")
        table = _count(wanted, data) if "texts" in wanted else _copy(wanted, data)
        path = output / f"{wanted['name']}{SUFFIX}"
        save_frequencies(table, path)
        figures[f"{wanted['name']}_words"] = len(table.counts)
        figures[f"{wanted['name']}_sentences"] = table.sentences
        figures[f"{wanted['name']}_bytes"] = path.stat().st_size
    if not figures:
        raise UsageError("the recipe has no tables; add [[tables]]")
    return figures


def _count(wanted: Mapping[str, Any], data: Path) -> Frequencies:
    where, column = wanted.get("where", {}), wanted["texts"]
    texts = (
        str(row[column])
        for row in read_rows(data / wanted["file"])
        if row.get(column) and all(row.get(name) in allowed for name, allowed in where.items())
    )
    return count_words(
        dict.fromkeys(texts), language=wanted.get("language", "en"), least=wanted.get("least", 1)
    )


def _copy(wanted: Mapping[str, Any], data: Path) -> Frequencies:
    """Import published counts; counts of different spellings of a word are summed."""
    counts: dict[str, int] = {}
    for row in read_rows(data / wanted["file"]):
        count = _occurrences(row, wanted)
        word = str(row[wanted["word"]]).lower()
        word = ESCAPES.get(word, word)
        if count and word and not re.search(r"\s", word):
            counts[word] = counts.get(word, 0) + count
    if not counts:
        raise DataError(
            f"{data / wanted['file']} has no word counts in the recipe's columns; correct their names"
        )
    tokens = sum(counts.values()) if "count" in wanted else 10**9
    # Published counts have no number of sentences: estimate it by the count of the full stop.
    sentences = counts.get(str(wanted["sentences"]), 0) if "sentences" in wanted else 0
    least = wanted.get("least", 1)
    kept = {word: count for word, count in counts.items() if count >= least}
    return Frequencies(kept, "tokens", sentences, tokens)


def _occurrences(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> int:
    if "count" in wanted:
        return int(row.get(wanted["count"]) or 0)
    zipf = row.get(wanted["zipf"])
    return round(10 ** float(zipf)) if zipf is not None else 0
