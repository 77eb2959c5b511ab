"""Tiny frequency tables of the sentences that the tiny models know."""

from pathlib import Path

from gistmeter.text.frequencies import SUFFIX, Frequencies, count_words, save_frequencies
from tests.tiny_models import SENTENCES

GENERAL = {"the": 50_000_000, ".": 30_000_000, "rain": 40_000, "ferry": 6_000, "engineers": 20_000}


def save_tables(folder: Path) -> Path:
    """Save one table of each name, and return the folder."""
    save_frequencies(count_words(SENTENCES[1:]), folder / f"simple{SUFFIX}")
    save_frequencies(count_words(SENTENCES[:3]), folder / f"complex{SUFFIX}")
    save_frequencies(Frequencies(GENERAL, "tokens", 0, 10**9), folder / f"general{SUFFIX}")
    return folder
