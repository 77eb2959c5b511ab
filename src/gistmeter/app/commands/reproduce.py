"""`gistmeter reproduce`: the papers' tables beside what is measured."""

import argparse
import sys
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from gistmeter import __version__, catalog
from gistmeter.app.specs import note, runtime_of
from gistmeter.bench.datasets.dataset import for_file, stem_of
from gistmeter.bench.suites.context import BenchmarkContext, Build
from gistmeter.bench.suites.figures import draw
from gistmeter.bench.suites.registry import SUITES
from gistmeter.bench.suites.render import document, markdown, to_json
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Data
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row
from gistmeter.io.cache import ScoreCache, default_folder
from gistmeter.io.files import check_output, locked, write_whole
from gistmeter.io.formats import SUFFIXES, files_in
from gistmeter.io.rows import read_rows
from gistmeter.report.plain import plain

ALL = "all"
OUTPUT = Path("out", "benchmarks")


def run(arguments: argparse.Namespace) -> int:
    """Run suites; write JSON, Markdown and pictures of each as soon as it is done."""
    suites = _suites(arguments.suite)
    if arguments.fields or arguments.dimension:
        raise UsageError("--fields and --dimension are not for reproduce; leave them out")
    only = [spec for spec in arguments.metrics if spec != ALL]
    for spec in only:
        catalog.parse_spec(spec)
    output = Path(arguments.output or OUTPUT)
    rows, absent = _read([data for suite in suites for data in suite.data], arguments)
    if not rows:
        raise DataError(f"{arguments.data} holds nothing that {arguments.suite} needs: {_listed(absent)}")
    bench = BenchmarkContext(
        rows,
        absent,
        _builder(arguments),
        _cache(arguments),
        only=only,
        every=catalog.names(),
        seed=arguments.seed,
        note=lambda text: note(arguments, text),
    )
    _make(output)
    for suite in suites:
        made = output / f"{suite.name}.json"
        check_output(made, inputs=_files(arguments.data))
        with locked(made):
            _run_one(suite, bench, output, arguments)
    return 0


def _cache(arguments: argparse.Namespace) -> ScoreCache:
    place = arguments.cache or default_folder()
    return ScoreCache(place, megabytes=arguments.cache_size, note=lambda text: note(arguments, text))


def _make(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot write {output}: {error.strerror or error}") from error


def _suites(name: str) -> list[Suite]:
    if name == ALL:
        return list(SUITES.values())
    if name not in SUITES:
        raise UsageError(f"no suite {name!r}; there are: {', '.join(SUITES)}, {ALL}")
    return [SUITES[name]]


def _run_one(suite: Suite, bench: BenchmarkContext, output: Path, arguments: argparse.Namespace) -> None:
    start = time.perf_counter()
    result = suite.run(bench)
    pictures = [path for figure in result.figures for path in draw(figure, output, suite.name)]
    drawn = {path.stem for path in pictures}
    facts = {
        "command": _command(suite, arguments),
        "gistmeter": __version__,
        "preset": arguments.preset,
        "limit": arguments.limit,
        "data": {
            data.key: {"rows": len(bench.rows.get(data.key, ())), "reason": bench.absent.get(data.key, "")}
            for data in suite.data
        },
    }
    made = document(suite, result, facts, drawn)
    for name, text in ((f"{suite.name}.json", to_json(made)), (f"{suite.name}.md", markdown(made))):
        write_whole(output / name, text.encode())
    said = "".join(f"- {plain(sentence)}\n" for sentence in result.says)
    sys.stdout.write(f"{suite.name}: {plain(str(output / f'{suite.name}.md'))}\n{said}")
    note(arguments, f"{suite.name}: {time.perf_counter() - start:.1f} s in all")


def _command(suite: Suite, arguments: argparse.Namespace) -> str:
    """Return the command without the folders of this machine."""
    words = [f"gistmeter reproduce {suite.name}", *arguments.metrics, "--data FOLDER"]
    if arguments.preset != "mini":
        words.append(f"--preset {arguments.preset}")
    if arguments.model:
        words.append("--model MODEL")
    if arguments.limit:
        words.append(f"--limit {arguments.limit}")
    return " ".join(words)


def _read(
    wanted: Iterable[Data], arguments: argparse.Namespace
) -> tuple[dict[str, list[Row]], dict[str, str]]:
    """Read what suites need from the files that are there."""
    places: dict[str, Path] = {}
    for path in _files(arguments.data):
        for name in (for_file(path).name, stem_of(path).partition(".")[0]):
            places.setdefault(name, path)
    rows: dict[str, list[Row]] = {}
    absent: dict[str, str] = {}
    for data in {data.key: data for data in wanted}.values():
        if data.task not in places:
            absent[data.key] = f"no file of {data.task} in the data"
            continue
        try:
            read = list(islice(read_rows(places[data.task], fields=data.fields), arguments.limit))
        except DataError as error:
            absent[data.key] = str(error).replace(str(places[data.task]), places[data.task].name)
            continue
        rows[data.key] = [row for row in read if row.problem is None]
        if len(rows[data.key]) < len(read):
            lost = len(read) - len(rows[data.key])
            note(arguments, f"{places[data.task]}: {lost} rows could not be read and are left out")
    return rows, absent


def _files(data: str) -> list[Path]:
    return sorted(file for file in files_in(data) if file.name.endswith(SUFFIXES))


def _builder(arguments: argparse.Namespace) -> Build:
    def build(spec: str, model: str | None) -> Metric:
        if spec.partition(":")[0] not in catalog.names():
            raise UsageError(f"no metric {spec.partition(':')[0]!r} is installed here")
        runtime = runtime_of(arguments)
        return catalog.load(spec, preset=arguments.preset, model=model or arguments.model, runtime=runtime)

    return build


def _listed(absent: dict[str, str]) -> str:
    return "; ".join(dict.fromkeys(absent.values()))
