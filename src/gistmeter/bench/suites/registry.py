"""Registry of the suites, one module each."""

from gistmeter.bench.suites import (
    accuracy,
    factual,
    gofigure,
    k,
    languages,
    linguistic,
    pos,
    runtime,
    selective,
    simplification,
    summeval,
)
from gistmeter.bench.suites.suite import Suite

SUITES: dict[str, Suite] = {
    module.SUITE.name: module.SUITE
    for module in (
        summeval,
        factual,
        gofigure,
        simplification,
        languages,
        linguistic,
        selective,
        k,
        accuracy,
        runtime,
        pos,
    )
}
