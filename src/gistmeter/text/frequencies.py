"""Word frequency tables: count, save and load them."""

import gzip
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from gistmeter.core.errors import DataError
from gistmeter.text.sentences import split_sentences
from gistmeter.text.words import word_spans

Counted = Literal["sentences", "tokens"]
SUFFIX = ".txt.gz"


@dataclass(frozen=True, slots=True)
class Frequencies:
    """The frequency of each word in a corpus.

    Args:
        counts: The count of each lower-cased word; at least 1.
        counted: `sentences` if counts are the number of sentences that contain the word, as in equation 4 of
            the simplicity paper; `tokens` if they are the number of occurrences.
        sentences: M, the number of sentences in the corpus; 0 if unknown.
        tokens: The number of words in the corpus, including words that are not in the table.
    """

    counts: Mapping[str, int]
    counted: Counted
    sentences: int
    tokens: int

    def share(self, count: int) -> float:
        """Return tf(w): the share of sentences that contain a word (equation 4), at least 1/M.

        If the table counts tokens, the share is estimated: a word that occurs c times, at random positions,
        is in a share 1 - exp(-c/M) of M sentences.

        Args:
            count: The word's count in this table; 0 for a word that is not in it.

        >>> table = Frequencies({"the": 3, "cat": 1}, "sentences", 4, 9)
        >>> table.share(table.counts["the"]), table.share(0)
        (0.75, 0.25)
        """
        if not self.sentences:
            raise DataError("the frequency table has no sentence count; make a new table: gistmeter train")
        expected = count / self.sentences
        found = -math.expm1(-expected) if self.counted == "tokens" else min(1.0, expected)
        return max(found, 1 / self.sentences)

    def zipf(self, count: int) -> float:
        """Return the Zipf value: log10 of the count per billion words, at least 1 (van Heuven et al., 2014).

        >>> Frequencies({"the": 50}, "tokens", 0, 1000).zipf(50)
        7.698...
        """
        return max(1.0, math.log10(max(count, 1) / self.tokens * 1e9))


def count_words(texts: Iterable[str], *, language: str = "en", least: int = 1) -> Frequencies:
    """Count the number of sentences that contain each word.

    Args:
        texts: Texts of any length; they are split into sentences and words.
        language: The language code of the tokenizer; see `word_spans`.
        least: The minimum count; rarer words are dropped to keep the table small.

    Raises:
        DataError: If the texts contain no word.

    >>> table = count_words(["The cat sat. The dog saw the cat."])
    >>> table.counts["the"], table.counts["cat"], table.counts["dog"], table.sentences
    (2, 2, 1, 2)
    """
    counts: Counter[str] = Counter()
    sentences = tokens = 0
    for text in texts:
        for start, end in split_sentences(text):
            sentence = text[start:end]
            words = [sentence[first:last].lower() for first, last in word_spans(sentence, language)]
            counts.update({word for word in words if not any(letter.isspace() for letter in word)})
            sentences += 1
            tokens += len(words)
    if not counts:
        raise DataError("the texts contain no words; check the input")
    return Frequencies(_frequent(counts, least), "sentences", sentences, tokens)


def save_frequencies(table: Frequencies, path: Path) -> None:
    """Write a table as a JSON header line, then one line per count with its words.

    The output is deterministic: equal tables give equal bytes.

    Args:
        table: The table to write.
        path: A path that ends with `.txt.gz`.
    """
    groups: dict[int, list[str]] = {}
    for word, count in table.counts.items():
        groups.setdefault(count, []).append(word)
    facts = {"counted": table.counted, "sentences": table.sentences, "tokens": table.tokens}
    lines = [json.dumps(facts)]
    lines += [f"{count} {' '.join(sorted(groups[count]))}" for count in sorted(groups, reverse=True)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))


def load_frequencies(path: Path) -> Frequencies:
    """Read a table.

    Raises:
        DataError: If it is missing or damaged.
    """
    try:
        first, *lines = gzip.decompress(path.read_bytes()).decode().split("\n")
        facts = json.loads(first)
        counts: dict[str, int] = {}
        for line in lines:
            count, *words = line.split(" ")
            counts.update(dict.fromkeys(words, int(count)))
        table = Frequencies(counts, facts["counted"], int(facts["sentences"]), int(facts["tokens"]))
    except FileNotFoundError as error:
        raise DataError(f"there is no frequency table at {path}; make one: gistmeter train") from error
    except (OSError, EOFError, ValueError, TypeError, KeyError, zlib.error) as error:
        raise DataError(f"{path} is not a valid frequency table: {error}") from error
    if table.counted not in get_args(Counted) or table.tokens < 1 or min(counts.values(), default=0) < 1:
        raise DataError(f"{path} is not a valid frequency table: the header or a count is out of range")
    return table


def _frequent(counts: Mapping[str, int], least: int) -> dict[str, int]:
    return {word: count for word, count in counts.items() if count >= least}
