"""How often words occur: tables counted in any texts, kept in small files."""

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
    """How often each word occurs in some texts.

    Args:
        counts: By word, lower-cased, at least 1.
        counted: `sentences`: in how many sentences the word occurs, as equation 4 of the simplicity paper
            counts. `tokens`: how often it occurs.
        sentences: M, the number of all sentences; 0 where it is not known.
        tokens: The number of all words, those that the table leaves out included.
    """

    counts: Mapping[str, int]
    counted: Counted
    sentences: int
    tokens: int

    def share(self, count: int) -> float:
        """Return tf(w): the share of sentences that hold a word (equation 4), at least 1/M.

        Where the table counts tokens, a word that occurs c times falls on 1 - exp(-c/M) of M sentences,
        if it falls on them at random.

        Args:
            count: Of the word, in this table.

        >>> table = Frequencies({"the": 3, "cat": 1}, "sentences", 4, 9)
        >>> table.share(table.counts["the"]), table.share(0)
        (0.75, 0.25)
        """
        if not self.sentences:
            raise DataError("this frequency table does not say how many sentences were counted")
        expected = count / self.sentences
        found = -math.expm1(-expected) if self.counted == "tokens" else min(1.0, expected)
        return max(found, 1 / self.sentences)

    def zipf(self, count: int) -> float:
        """Return log10 of the occurrences in a billion words, never below 1 (van Heuven et al., 2014).

        >>> Frequencies({"the": 50}, "tokens", 0, 1000).zipf(50)
        7.698...
        """
        return max(1.0, math.log10(max(count, 1) / self.tokens * 1e9))


def count_words(texts: Iterable[str], *, language: str = "en", least: int = 1) -> Frequencies:
    """Count in how many sentences each word occurs.

    Args:
        texts: Any simple texts, of any length; they are cut into sentences and words.
        language: Whose words; see `word_spans`.
        least: Rarer words are left out, so that the table stays small.

    Raises:
        DataError: If there is no word in them.

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
        raise DataError("no word to count in these texts")
    return Frequencies(_frequent(counts, least), "sentences", sentences, tokens)


def save_frequencies(table: Frequencies, path: Path) -> None:
    """Write a table: a line of facts, then a line for each count with its words. Equal tables, equal bytes.

    Args:
        table: What to write.
        path: Ends with `.txt.gz`.
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
        raise DataError(f"no frequency table at {path}; make one with: gistmeter train") from error
    except (OSError, EOFError, ValueError, TypeError, KeyError, zlib.error) as error:
        raise DataError(f"{path} is no frequency table: {error}") from error
    if table.counted not in get_args(Counted) or table.tokens < 1 or min(counts.values(), default=0) < 1:
        raise DataError(f"{path} is no frequency table: its facts or counts are out of range")
    return table


def _frequent(counts: Mapping[str, int], least: int) -> dict[str, int]:
    return {word: count for word, count in counts.items() if count >= least}
