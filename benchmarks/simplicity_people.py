"""Correlate `simplicity` with human judgements: all variants, the ablations, and cross-validated selection.

    python benchmarks/simplicity_people.py --data FOLDER
    python benchmarks/simplicity_people.py --data FOLDER --tuned gistmeter/simple
    python benchmarks/simplicity_people.py --data FOLDER --tuned gistmeter/similar

FOLDER contains asset_human_ratings, simplicity_da.dev and structural_simplicity (.jsonl.gz). Ratings are
standardized per rater where raters are known, as in the paper. Correlations are Pearson's r; 95 % intervals
resample sources. The encoder is MiniLM as it is; `--tuned` adds a trained one.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gistmeter import Example, catalog
from gistmeter.bench.stats.correlate import correlate
from gistmeter.bench.suites.analyses.simplicity import TABLE_4, ablations
from gistmeter.core.bootstrap import RESAMPLES, group_weights
from gistmeter.core.score import Score
from gistmeter.models.run.runtime import Runtime
from gistmeter.training.texts import read_rows

Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]
QUALITIES = ("meaning", "fluency", "simplicity")
ELSEWHERE = {"fluency": "grammaticality"}
WEIGHTS: dict[str, dict[str, object]] = {
    "plain BERTScore": {"weight": "uniform"},
    "weight=frequency": {"weight": "frequency", "unit": "subword"},
    "weight=frequency,unit=word": {"weight": "frequency", "unit": "word"},
    "weight=frequency,damp=true": {"weight": "frequency", "unit": "subword", "damp": True},
    "weight=frequency,damp=true,unit=word": {"weight": "frequency", "unit": "word", "damp": True},
    "weight=ratio,unit=word": {"weight": "ratio", "unit": "word"},
    "weight=zipf,unit=word": {"weight": "zipf", "unit": "word"},
}
PLAIN, ZIPF = "plain BERTScore", "weight=zipf,unit=word"
MINILM, LAYERS, LAYER = "minilm", (1, 2, 3, 4, 5, 6), 3
"""The encoder that the variants are compared on, the layers to choose from, and the one of the tables."""
CONTRASTS = (0.0, 0.2, 0.3, 0.4, 0.5)
BLENDS = (0.0, 0.1, 0.2, 0.4)
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Rated:
    """Rated outputs: examples, and human ratings by quality."""

    name: str
    examples: list[Example]
    human: dict[str, Floats]

    @property
    def sources(self) -> list[str]:
        """Source of each row, the unit of resampling and folds."""
        return [example.source or "" for example in self.examples]

    def where(self, wanted: Callable[[str], bool]) -> Rows:
        """Return a mask of the rows whose source satisfies a condition."""
        return np.array([wanted(source) for source in self.sources])


def read_set(path: Path, name: str, references: str = "references") -> Rated:
    """Read rated outputs."""
    rows = list(read_rows(path))
    examples = [
        Example(str(at), row["candidate"], row["source"], tuple(row[references]))
        for at, row in enumerate(rows)
    ]
    return Rated(name, examples, {quality: ratings(rows, quality) for quality in QUALITIES})


def ratings(rows: Sequence[Mapping[str, Any]], quality: str) -> Floats:
    """Return the ratings of a quality, standardized per rater where the raters are known."""
    own = quality if quality in rows[0]["scores"] else ELSEWHERE[quality]
    if rows[0].get("scores_z"):
        return np.array([row["scores_z"][own] for row in rows])
    votes = [(row.get("raw") or {}).get(own) for row in rows]
    if not isinstance(votes[0], list) or not isinstance(votes[0][0], list):
        return np.array([row["scores"][own] for row in rows])
    by_rater: dict[int, list[float]] = {}
    for rater, vote in (pair for row in votes for pair in row or ()):
        by_rater.setdefault(rater, []).append(vote)
    scale = {rater: (np.mean(given), np.std(given) or 1.0) for rater, given in by_rater.items()}
    return np.array([np.mean([(v - scale[r][0]) / scale[r][1] for r, v in row or ()]) for row in votes])


def score(rated: Rated, model: str, options: Mapping[str, object]) -> list[Score]:
    """Score a data set; encodings of the same texts and layer are cached in memory."""
    runtime = Runtime(cache_mb=2_000)
    wanted = {"layer": LAYER if model == MINILM else None, **options}
    return catalog.build("simplicity", model=model, runtime=runtime, options=wanted).score(rated.examples)


def parts(scores: Sequence[Score]) -> dict[str, Floats]:
    """Return the components of scores as columns."""
    return {name: np.array([score.parts[name] for score in scores]) for name in scores[0].parts}


def table(rated: Rated, encoders: Mapping[str, str]) -> None:
    """Print the correlation of every variant with human judgements."""
    print(f"\n{rated.name}, n = {len(rated.examples)}: meaning, fluency, simplicity")
    for (label, model), (name, options) in product(encoders.items(), WEIGHTS.items()):
        found = parts(score(rated, model, options))
        shown = {part: found[part] for part in ("f1", "f_half", "precision")}
        shown["rel_f1, clip=true"] = np.maximum(0, found["rel_f1"])
        if name in (PLAIN, ZIPF):
            shown["f1, contrast=0.4"] = found["f1"] - 0.4 * found["kept"]
        if name == PLAIN:
            shown |= {"p_simple": found["p_simple"]} if "p_simple" in found else {}
        for part, values in shown.items():
            print(f"{f'{label}, {name}':<32} {part:<18}", *(cell(values, rated, own) for own in QUALITIES))


def cell(values: Floats, rated: Rated, quality: str) -> str:
    """Return a correlation and its interval."""
    nobody = [None] * len(values)
    found = correlate(values, rated.human[quality], documents=rated.sources, systems=nobody, level="pooled")
    return f"{found.pearson:.3f} [{found.low:.2f}, {found.high:.2f}]"


def print_ablations(rated: Rated, tuned: str) -> None:
    """Print table 4 with the best of precision, recall and F1, selected on the test data as in the paper."""
    runs = {
        name: score(rated, tuned if row.preset == "tuned" else MINILM, row.options)
        for name, row in TABLE_4.items()
    }
    print(f"\nTable 4, {rated.name}: best component of each variant")
    for name, cells in ablations(runs, {name: list(column) for name, column in rated.human.items()}).items():
        print(f"{name:<22}", *(f"{found.pearson:.3f} ({found.part})" for found in cells.values()))


def choices(rated: Rated, encoders: Mapping[str, str]) -> Iterator[tuple[str, Floats]]:
    """Yield all configurations of layer, weights, contrast and share of p_simple, with their values."""
    for (label, model), name in product(encoders.items(), (PLAIN, ZIPF)):
        for layer in LAYERS if model == MINILM else (None,):
            found = parts(score(rated, model, {**WEIGHTS[name], "layer": layer}))
            blends = BLENDS if "p_simple" in found else (0.0,)
            for contrast, blend in product(CONTRASTS, blends):
                value = (1 - blend) * (found["f1"] - contrast * found["kept"])
                said = f"{label}{f' layer {layer}' if layer else ''}, {name}, contrast={contrast}"
                if blend:
                    value, said = value + blend * found["p_simple"], f"{said}, {blend} p_simple"
                yield said, value


def choose(values: Mapping[str, Floats], human: Floats, rows: Rows) -> str:
    """Return the configuration with the highest correlation on some rows."""
    return max(values, key=lambda name: float(np.corrcoef(values[name][rows], human[rows])[0, 1]))


def compare(said: str, chosen: Floats, plain: Floats, rated: Rated, rows: Rows) -> None:
    """Print the correlations of selected and plain values, and the interval of their difference."""
    human, sources = rated.human["simplicity"][rows], np.array(rated.sources)[rows].tolist()
    draws = group_weights(sources, resamples=RESAMPLES, seed=0)
    pair = chosen[rows], plain[rows]
    r, p = (float(np.corrcoef(values, human)[0, 1]) for values in pair)
    drawn = [drawn_pearson(values, human, weights) for weights in draws for values in pair]
    low, high = np.nanquantile(np.array(drawn[::2]) - np.array(drawn[1::2]), [0.025, 0.975])
    print(
        f"{said}, n = {rows.sum()}: {r:.3f}, plain {p:.3f}, difference {r - p:+.3f} [{low:+.3f}, {high:+.3f}]"
    )


def drawn_pearson(left: Floats, right: Floats, times: NDArray[np.int64]) -> float:
    """Return the correlation with rows weighted by how often they were drawn."""
    covariance = np.cov(left, right, fweights=times)
    return float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))


def cross_validate(values: Mapping[str, Floats], plain: Floats, rated: Rated) -> None:
    """Select on four fifths of the sources and test on the rest; standardize each fold by the others."""
    human = rated.human["simplicity"]
    fold = {source: at % FOLDS for at, source in enumerate(sorted(set(rated.sources)))}
    result = np.zeros(len(human))
    for at in range(FOLDS):
        out = np.array([fold[source] == at for source in rated.sources])
        name = choose(values, human, ~out)
        result[out] = (values[name][out] - values[name][~out].mean()) / values[name][~out].std()
        print(f"  fold {at + 1}: {name}")
    compare(f"{rated.name}, cross-validated", result, plain, rated, np.ones(len(human), dtype=bool))


def main() -> None:
    """Print the tables and the results of cross-validated selection."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, type=Path, help="folder with the rated rows")
    parser.add_argument("--tuned", help="a trained encoder to add to MiniLM")
    arguments = parser.parse_args()
    asset, dev, structural = (
        arguments.data / f"{name}.jsonl.gz"
        for name in ("asset_human_ratings", "simplicity_da.dev", "structural_simplicity")
    )
    rated = [read_set(asset, "ASSET ratings"), read_set(dev, "Simplicity-DA, development rows")]
    turk = read_set(asset, "ASSET ratings, TurkCorpus references", "references_turk")
    encoders = {"MiniLM": MINILM}
    encoders |= {"tuned": arguments.tuned} if arguments.tuned else {}
    for one in (rated[0], turk, rated[1]):
        table(one, encoders)
        if arguments.tuned:
            print_ablations(one, arguments.tuned)

    print("\nSelected layer, weights, contrast and p_simple, compared with plain BERTScore at layer 3")
    last = read_set(structural, "Sulem et al.")
    values = {one.name: dict(choices(one, encoders)) for one in (*rated, last)}
    plain = {
        one.name: values[one.name][f"MiniLM layer {LAYER}, {PLAIN}, contrast=0.0"] for one in (*rated, last)
    }
    for one in rated:
        cross_validate(values[one.name], plain[one.name], one)
        name = choose(values[one.name], one.human["simplicity"], np.ones(len(one.examples), dtype=bool))
        print(f"chosen on all of {one.name}: {name}")
        seen = set(one.sources)
        for other in (*(two for two in rated if two is not one), last):
            new = other.where(lambda source, seen=seen: source not in seen)  # type: ignore[misc]
            chosen = values[other.name][name]
            compare(f"  on other sources of {other.name}", chosen, plain[other.name], other, new)


if __name__ == "__main__":
    main()
