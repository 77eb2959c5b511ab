"""The command `gistmeter check`."""

import sys
from dataclasses import fields, replace

from gistmeter import catalog
from gistmeter.app.commands import score
from gistmeter.app.gates import Gates
from gistmeter.app.options.check import CheckOptions
from gistmeter.app.options.score import ScoreOptions
from gistmeter.app.pair import pair_of
from gistmeter.app.specs import runtime_of
from gistmeter.core.errors import UsageError
from gistmeter.core.row import Row
from gistmeter.io.scored import Scored
from gistmeter.report.check import check_text

METRIC = "check"


def run(options: CheckOptions) -> int:
    """Check one pair and print the answer, or check rows as `gistmeter score check` does.

    Returns:
        0; 3 if there is no answer; 5 if the gate fails.
    """
    if options.input is not None or options.junit is not None:
        return score.run(_as_score(options))
    pair = pair_of(options)
    if pair is None:
        raise UsageError("give one pair with --source FILE --candidate FILE, or rows with -i FILE")
    if options.output is not None:
        raise UsageError("-o is for rows; give rows with -i FILE, or omit -o")
    metric = catalog.build(METRIC, preset=options.preset, model=options.model, runtime=runtime_of(options))
    found = metric.score([pair])[0]
    sys.stdout.write(check_text(found, pair))
    if found.problem is not None:
        return score.BAD_DATA
    passed = Gates.of(_as_score(options)).passed([(METRIC, metric)], [Scored(Row(pair), (found,))])
    return 0 if passed else score.GATE_FAILED


def _as_score(options: CheckOptions) -> ScoreOptions:
    gates = () if options.least is None else (f"{METRIC}={options.least!r}",)
    own = {field.name: getattr(options, field.name) for field in fields(ScoreOptions)}
    return replace(ScoreOptions(**own), fail_under=gates)
