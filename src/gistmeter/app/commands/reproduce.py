"""The command `gistmeter reproduce`: measure the results in the papers' tables."""

import logging
import sys
import time
from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path

from gistmeter import __version__, catalog
from gistmeter.app.options.reproduce import ReproduceOptions
from gistmeter.app.specs import runtime_of
from gistmeter.bench.datasets.dataset import for_file, stem_of
from gistmeter.bench.suites.context import BenchmarkContext, Build
from gistmeter.bench.suites.figures import draw
from gistmeter.bench.suites.registry import SUITES
from gistmeter.bench.suites.render import document, markdown, to_json
from gistmeter.bench.suites.suite import Suite
from gistmeter.bench.suites.tables import Data
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.metric import Metric
from gistmeter.core.row import Row, with_language
from gistmeter.io.cache import ScoreCache, default_folder
from gistmeter.io.files import check_output, locked, write_whole
from gistmeter.io.formats import SUFFIXES, files_in
from gistmeter.io.rows import read_rows
from gistmeter.report.plain import plain

LOG = logging.getLogger("gistmeter")
ALL = "all"
OUTPUT = Path("out", "benchmarks")


def run(options: ReproduceOptions) -> int:
    """Run suites; write the JSON, Markdown and plots of each suite when it is complete."""
    suites = _suites(options.suite)
    only = [spec for spec in options.metrics if spec != ALL]
    for spec in only:
        catalog.parse_spec(spec)
    output = Path(options.output or OUTPUT)
    rows, absent = _read([data for suite in suites for data in suite.data], options)
    if not rows:
        raise DataError(f"{options.data} has no data for {options.suite}: {_listed(absent)}")
    bench = BenchmarkContext(
        rows,
        absent,
        _builder(options),
        _cache(options),
        only=only,
        every=catalog.names(),
        models=options.model.split(",") if options.model else (),
        seed=options.seed,
        note=LOG.info,
    )
    _make(output)
    for suite in suites:
        made = output / f"{suite.name}.json"
        check_output(made, inputs=_files(options.data))
        with locked(made):
            _run_one(suite, bench, output, options)
    return 0


def _cache(options: ReproduceOptions) -> ScoreCache:
    place = options.cache or default_folder()
    return ScoreCache(place, megabytes=options.cache_size, note=LOG.info)


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


def _run_one(suite: Suite, bench: BenchmarkContext, output: Path, options: ReproduceOptions) -> None:
    start = time.perf_counter()
    result = suite.run(bench)
    pictures = [path for figure in result.figures for path in draw(figure, output, suite.name)]
    drawn = {path.stem for path in pictures}
    facts = {
        "command": _command(suite, options),
        "gistmeter": __version__,
        "preset": options.preset,
        "limit": options.limit,
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
    LOG.info(f"{suite.name}: {time.perf_counter() - start:.1f} s in all")


def _command(suite: Suite, options: ReproduceOptions) -> str:
    """Return the command line without local paths."""
    words = [f"gistmeter reproduce {suite.name}", *options.metrics, "--data FOLDER"]
    if options.preset != "mini":
        words.append(f"--preset {options.preset}")
    if options.model:
        words.append("--model MODEL")
    if options.limit:
        words.append(f"--limit {options.limit}")
    return " ".join(words)


def _read(wanted: Iterable[Data], options: ReproduceOptions) -> tuple[dict[str, list[Row]], dict[str, str]]:
    """Read the data of suites; return the rows by key, and the reason for each missing one."""
    tasks = {data.key: data for data in wanted}
    places = _places(options.data, {data.task for data in tasks.values()})
    rows: dict[str, list[Row]] = {}
    absent: dict[str, str] = {}
    for data in tasks.values():
        if data.task not in places:
            absent[data.key] = f"no file of {data.task} in the data"
            continue
        try:
            every = read_rows(places[data.task], fields=data.fields)
            spoken = with_language(every, for_file(places[data.task]).language)
            read = list(islice(spoken, options.limit))
        except DataError as error:
            absent[data.key] = str(error).replace(str(places[data.task]), places[data.task].name)
            continue
        rows[data.key] = [row for row in read if row.problem is None]
        if len(rows[data.key]) < len(read):
            lost = len(read) - len(rows[data.key])
            LOG.info(f"{places[data.task]}: skipped {lost} unreadable rows")
    return rows, absent


def _places(data: str, wanted: Collection[str]) -> dict[str, Path]:
    """Return the file of each task; raise UsageError if a wanted task has two."""
    places: dict[str, Path] = {}
    for path in _files(data):
        for name in {for_file(path).name, stem_of(path).partition(".")[0]}:
            other = places.setdefault(name, path)
            if other != path and name in wanted:
                raise UsageError(
                    f"{other.name} and {path.name} are both files of {name}; keep one of them in {data}"
                )
    return places


def _files(data: str) -> list[Path]:
    return sorted(file for file in files_in(data) if file.name.endswith(SUFFIXES))


def _builder(options: ReproduceOptions) -> Build:
    def build(spec: str, model: str | None) -> Metric:
        if spec.partition(":")[0] not in catalog.names():
            raise UsageError(f"no metric {spec.partition(':')[0]!r} is installed")
        runtime = runtime_of(options)
        return catalog.load(spec, preset=options.preset, model=model or options.model, runtime=runtime)

    return build


def _listed(absent: dict[str, str]) -> str:
    return "; ".join(dict.fromkeys(absent.values()))
