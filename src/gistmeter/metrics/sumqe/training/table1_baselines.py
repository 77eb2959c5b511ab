"""Values of SUM-QE's baselines (section 4.2) for table 1, with parameters chosen on the other years."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gistmeter.core.correlation import pearson
from gistmeter.core.example import Example
from gistmeter.metrics.sumqe.baselines import NextSentence, best_k, masked_log2
from gistmeter.metrics.sumqe.baselines.perplexity import Log2, worst_mean
from gistmeter.metrics.sumqe.baselines.rouge import VERSIONS, rouge_versions
from gistmeter.metrics.sumqe.qualities import QUALITIES
from gistmeter.metrics.sumqe.training.rows import Rated
from gistmeter.metrics.sumqe.training.table1_tables import FloatArray, people_of, system_means
from gistmeter.models.fill.load import load_filler
from gistmeter.models.rate.language_model import NextSentenceModel, TokenModel
from gistmeter.models.run.runtime import Runtime

GRAMMAR = QUALITIES[0]
LATER = QUALITIES[2:]
"""Qualities that the paper estimates with next-sentence prediction."""
Values = dict[str, FloatArray]
Chosen = dict[str, object]
"""Parameter by year."""


def perplexities(rated: Sequence[Rated], log2: Log2) -> tuple[Values, Chosen]:
    """Return the mean log2 probability of each text's k worst tokens, for grammaticality, and k by year."""
    tokens = log2([row.text for row in rated])
    people = people_of(rated, GRAMMAR)
    values, chosen = np.full(len(rated), np.nan), Chosen()
    for year, own, rest in _years(rated):
        usable = [at for at in rest if len(tokens[at]) and np.isfinite(people[at])]
        k = best_k([tokens[at] for at in usable], people[usable].tolist())
        chosen[year] = k
        for at in own:
            if len(tokens[at]):
                values[at] = worst_mean(tokens[at], k)
    return {GRAMMAR: values}, chosen


def next_sentences(rated: Sequence[Rated], model: NextSentenceModel) -> Values:
    """Return the sentence-level score of equation 5 for referential clarity, focus and coherence."""
    examples = [Example(str(at), row.text) for at, row in enumerate(rated)]
    values = np.array([score.value for score in NextSentence(model).score(examples)])
    return dict.fromkeys(LATER, values)


def best_rouge(
    rated: Sequence[Rated], references: Sequence[Sequence[str]], *, own_year: bool
) -> tuple[Values, Chosen]:
    """Return the values of the best of 30 ROUGE versions, one version per year.

    Args:
        rated: Rows.
        references: Human summaries for each row.
        own_year: Whether to choose the version on the year itself, as the paper does, or on the others.
    """
    found = [
        rouge_versions(Example("", row.text, references=tuple(texts))) if texts else {}
        for row, texts in zip(rated, references, strict=True)
    ]
    table = {version: np.array([one.get(version, np.nan) for one in found]) for version in VERSIONS}
    values, chosen = np.full(len(rated), np.nan), Chosen()
    for year, own, rest in _years(rated):
        version = _best(rated, table, own if own_year else rest)
        chosen[year] = version
        values[own] = table[version][own]
    return dict.fromkeys(QUALITIES, values), chosen


def language_models(names: Mapping[str, str], runtime: Runtime) -> dict[str, Callable[[], Log2]]:
    """Return functions that load the language models of the paper's rows.

    Args:
        names: `gpt2` and `masked`, each the name of a model; an empty name leaves the row out.
        runtime: Device, data type, and batch size.
    """
    makers: dict[str, Callable[[], Log2]] = {}
    if names.get("gpt2"):
        makers["GPT-2"] = lambda: TokenModel.load(names["gpt2"], "causal", runtime).log2
    if names.get("masked"):
        makers["BERT-FR-LM"] = lambda: masked_log2(load_filler(names["masked"], runtime))
    return makers


def _best(rated: Sequence[Rated], table: Mapping[str, FloatArray], places: Sequence[int]) -> str:
    """Return the version with the highest mean correlation over years and qualities, at system level."""
    years = []
    for year in dict.fromkeys(rated[at].set for at in places):
        own = [at for at in places if rated[at].set == year]
        rows = [rated[at] for at in own]
        years.append((own, rows, [system_means(rows, people_of(rows, quality)) for quality in QUALITIES]))

    def height(version: str) -> float:
        each = []
        for own, rows, people in years:
            said = system_means(rows, table[version][own])
            each += [pearson(said, human) for human in people]
        known = [r for r in each if np.isfinite(r)]
        return float(np.mean(known)) if known else -np.inf

    return max(VERSIONS, key=height)


def _years(rated: Sequence[Rated]) -> list[tuple[str, list[int], list[int]]]:
    """Return each year with the places of its rows and of the other years' rows."""
    names = [row.set for row in rated]
    return [
        (
            year,
            [at for at, name in enumerate(names) if name == year],
            [at for at, name in enumerate(names) if name != year],
        )
        for year in dict.fromkeys(names)
    ]
