"""Correlate SUM-QE and its baselines with human judgements, and test it on graded corruptions.

    gistmeter train recipes/sumqe-folds.toml --data DATA
    python benchmarks/sumqe_people.py --data DATA --predictions out/sumqe-folds/predictions.jsonl
    python benchmarks/sumqe_people.py --data DATA --model gistmeter/sumqe

With `--predictions`, cross-validated predictions and baselines are correlated with human judgements; the
baselines' parameters (k, the version of ROUGE) are selected on the other folds. With `--model`, one regressor
is evaluated on data sets that it was not trained on, then on texts that are corrupted in one quality at a
time: a table of five kinds of corruption by five qualities.

Predictions can be those of `recipes/sumqe-duc.toml`: each year is then one fold, and the references of ROUGE
are the human summaries in the folders of DATA that are named as the sets.
"""

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

from gistmeter.bench.stats.correlate import correlate
from gistmeter.core.example import Example
from gistmeter.metrics.sumqe import QUALITIES, SumQE, build
from gistmeter.metrics.sumqe.baselines import best_k, best_version, masked_log2, rouge_versions
from gistmeter.metrics.sumqe.baselines.perplexity import worst_mean
from gistmeter.metrics.sumqe.training.corrupt import DOSES
from gistmeter.metrics.sumqe.training.duc import read_duc
from gistmeter.metrics.sumqe.training.synthetic import read_clean, synthetic_row
from gistmeter.models.fill.load import load_filler
from gistmeter.models.run.runtime import Runtime
from gistmeter.training.texts import read_rows

FILES = {"chaganty": "chaganty_lq.dev", "summeval": "summeval.dev"}
UNSEEN = {
    "newsroom": ("newsroom_human", {"fluency": "grammaticality", "coherence": "coherence"}),
    "dialsummeval": ("dialsummeval", {"fluency": "grammaticality", "coherence": "coherence"}),
    "ffci": ("ffci", {"coherence": "coherence"}),
    "tmu-gfm": ("tmu_gfm", {"grammaticality": "grammaticality"}),
}
CLEAN = {"file": "training/bbc_news_summary.jsonl.gz", "column": "source", "most": 8}
"""News texts that no included regressor was trained on."""
Line = dict[str, Any]
Values = dict[str, np.ndarray[Any, np.dtype[np.float64]]]
HEAD = ("set", "quality", "metric", "level", "n", "Pearson", "95 %", "Spearman", "Kendall")


def main() -> None:
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with benchmarks/ and training/")
    parser.add_argument("--predictions", type=Path, help="predictions of the folds")
    parser.add_argument("--bigru", type=Path, help="predictions of a BiGRU for the same folds")
    parser.add_argument("--filler", default="gistmeter/fill", help="for the perplexity of masked tokens")
    parser.add_argument("--apart", type=int, default=7, help="distance in tokens between masked tokens")
    parser.add_argument("--model", help="a regressor")
    parser.add_argument("--texts", type=int, default=120, help="number of texts to corrupt")
    arguments = parser.parse_args()
    if arguments.predictions:
        print_people(arguments)
    if arguments.model:
        metric = build("mini", arguments.model, Runtime(), {})
        print_unseen(arguments.data, metric)
        print_doses(arguments.data, metric, arguments.texts)


def print_people(arguments: argparse.Namespace) -> None:
    """Print the correlations of regressors and baselines on held-out documents."""
    lines = read_lines(arguments.predictions)
    others = read_lines(arguments.bigru) if arguments.bigru else []
    tokens = masked_log2(load_filler(arguments.filler, Runtime()), arguments.apart)(
        [line["candidate"] for line in lines]
    )
    rouge = rouge_of(lines, arguments.data)
    table = []
    for name in dict.fromkeys(line["set"] for line in lines):
        own = [at for at, line in enumerate(lines) if line["set"] == name]
        said = {line["candidate"]: line["said"] for line in others if line["set"] == name}
        for quality in dict.fromkeys(quality for at in own for quality in lines[at]["people"]):
            # A set that is one fold (a year of DUC) takes its parameters from the other sets.
            alone = len({lines[at]["fold"] for at in own}) == 1
            rated = [at for at, line in enumerate(lines) if quality in line["people"]]
            used = rated if alone else [at for at in rated if lines[at]["set"] == name]
            values = columns(
                [lines[at] for at in used], quality, [tokens[at] for at in used], [rouge[at] for at in used]
            )
            if said:
                found = [said.get(lines[at]["candidate"], {}).get(quality, np.nan) for at in used]
                values["BiGRU"] = np.array(found, dtype=float)
            shown = [place for place, at in enumerate(used) if lines[at]["set"] == name]
            rows = [lines[used[place]] for place in shown]
            people = np.array([line["people"][quality] for line in rows])
            kept = {metric: column[shown] for metric, column in values.items()}
            table += figures(name, quality, kept, people, rows)
    print(tabulate(table, HEAD, "github", disable_numparse=True))


def columns(lines: Sequence[Line], quality: str, tokens: Sequence[Any], rouge: Sequence[Any]) -> Values:
    """Return the values of SUM-QE and of the baselines for each line."""
    people = np.array([line["people"][quality] for line in lines])
    values: Values = {"sumqe": np.array([line["said"][quality] for line in lines])}
    values["perplexity, k worst masked tokens"] = learned(lines, people, tokens, best_k, worst_mean)
    if all(rouge):
        values["best ROUGE"] = learned(lines, people, rouge, best_version, lambda one, version: one[version])
    values["length in words"] = np.array([float(len(line["candidate"].split())) for line in lines])
    return values


def rouge_of(lines: Sequence[Line], data: Path) -> list[dict[str, float]]:
    """Return all versions of ROUGE of each line; an empty mapping without references."""
    references = {name: references_of(name, data) for name in dict.fromkeys(line["set"] for line in lines)}
    found = []
    for line in lines:
        texts = tuple(references[line["set"]].get(line["doc_id"], ()))
        found.append(rouge_versions(Example("", line["candidate"], references=texts)) if texts else {})
    return found


def learned(
    lines: Sequence[Line],
    people: np.ndarray[Any, Any],
    facts: Sequence[Any],
    choose: Callable[[Any, Any], Any],
    value: Callable[[Any, Any], float],
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Score each fold with the parameter selected on the other folds."""
    folds = np.array([line["fold"] for line in lines])
    found = np.zeros(len(lines))
    for fold in np.unique(folds):
        rest = np.flatnonzero(folds != fold)
        chosen = choose([facts[at] for at in rest.tolist()], people[rest])
        for at in np.flatnonzero(folds == fold).tolist():
            found[at] = value(facts[at], chosen)
    return found


def figures(
    name: str, quality: str, values: Values, people: np.ndarray[Any, Any], lines: Sequence[Line]
) -> list[list[str]]:
    """Return table rows of correlations at pooled and system level."""
    documents, systems = ([line[key] or None for line in lines] for key in ("doc_id", "system"))
    table = []
    for metric, column in values.items():
        for level in ("pooled", "system") if len(set(systems)) > 2 else ("pooled",):
            found = correlate(column, people, documents=documents, systems=systems, level=level)
            interval = f"{found.low:.3f} to {found.high:.3f}"
            said = [f"{x:.3f}" for x in (found.pearson, found.spearman, found.kendall)]
            table.append([name, quality, metric, level, str(found.n), said[0], interval, *said[1:]])
    return table


def print_unseen(data: Path, metric: SumQE) -> None:
    """Print the correlations on data sets that were not used for training."""
    table = []
    for name, (file, scores) in UNSEEN.items():
        rows = [
            row
            for row in read_rows(data / "benchmarks" / f"{file}.jsonl.gz")
            if row["scores"].keys() & scores.keys()
        ]
        lines = [{"doc_id": row.get("doc_id"), "system": row.get("system")} for row in rows]
        started = time.perf_counter()
        found = metric.score([Example(str(row["id"]), row["candidate"]) for row in rows])
        seconds = time.perf_counter() - started
        print(f"{name}: {len(rows)} rows in {seconds:.1f} s", flush=True)
        for asked, quality in scores.items():
            people = np.array([row["scores"][asked] for row in rows])
            values = {"sumqe": np.array([score.parts.get(quality, np.nan) for score in found])}
            table += figures(name, f"{asked} ~ {quality}", values, people, lines)
    print(tabulate(table, HEAD, "github", disable_numparse=True))


def print_doses(data: Path, metric: SumQE, texts: int) -> None:
    """Print the mean score by dose for each kind of corruption and each quality."""
    clean = [one for one in read_clean(data, [CLEAN], 7) if len(one.base.sentences) >= 4][:texts]
    table = []
    for kind in QUALITIES:
        means = defaultdict(list)
        for dose in range(DOSES + 1):
            rngs = [random.Random(f"{kind}/{dose}/{at}") for at in range(len(clean))]
            made = [synthetic_row(one, kind, dose, clean, rng) for one, rng in zip(clean, rngs, strict=True)]
            found = metric.score([Example(str(at), row.text) for at, row in enumerate(made) if row])
            for quality in QUALITIES:
                means[quality].append(float(np.mean([score.parts[quality] for score in found])))
        for quality in QUALITIES:
            row = means[quality]
            falls = all(a > b for a, b in pairwise(row))
            own = quality == kind
            most = own and all(row[0] - row[-1] > means[o][0] - means[o][-1] for o in QUALITIES if o != kind)
            marks = []
            if own:
                marks.append("falls with every dose" if falls else "not monotone")
            if most:
                marks.append("largest fall")
            doses = [f"{x:.2f}" for x in row]
            table.append([kind, quality, *doses, f"{row[0] - row[-1]:.2f}", ", ".join(marks)])
    head = ("corruption", "quality", *(f"dose {dose}" for dose in range(DOSES + 1)), "fall", "")
    print(f"\n{len(clean)} texts of BBC news, each corrupted at every dose")
    print(tabulate(table, head, "github", disable_numparse=True))


def read_lines(path: Path) -> list[Line]:
    """Read the predictions of folds."""
    return list(read_rows(path))


def references_of(name: str, data: Path) -> Mapping[str, Sequence[str]]:
    """Return the references of each document of a set; none if the data has no references of the set."""
    if name in FILES:
        path = data / "benchmarks" / f"{FILES[name]}.jsonl.gz"
        return {str(row["doc_id"]): row["references"] for row in read_rows(path) if row["references"]}
    if not (data / name).exists():
        return {}
    return {one.docset: one.references for one in read_duc(data / name)}


if __name__ == "__main__":
    main()
