"""Options of `gistmeter serve`."""

from dataclasses import dataclass

from gistmeter.app.options.common import RuntimeOptions, add_runtime
from gistmeter.app.options.parsing import Commands, above_zero, add_command, not_negative, positive

METRICS = ("check", "cloze", "sumqe")
"""The metrics that are served if none is named: they need a source, or nothing but the candidate."""


@dataclass(frozen=True, kw_only=True)
class ServeOptions(RuntimeOptions):
    """Options of `gistmeter serve`."""

    metrics: tuple[str, ...]
    dimension: str | None
    host: str
    port: int
    token_file: str | None
    max_body_mb: int
    max_rows: int
    max_characters: int
    max_waiting: int
    max_seconds: float
    max_seconds_per_row: float


def add_serve(commands: Commands) -> None:
    """Add the command."""
    serve = add_command(
        commands,
        "serve",
        help="serve a page and an HTTP service that score texts",
        description="Serve a page and an HTTP service that score texts, until interrupted.",
    )
    serve.add_argument(
        "metrics",
        metavar="METRIC",
        nargs="*",
        default=METRICS,
        help=f"a metric; see below (default: {' '.join(METRICS)})",
    )
    access = serve.add_argument_group("access")
    access.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    access.add_argument(
        "--port",
        type=not_negative,
        default=8765,
        metavar="N",
        help="port; 0 for any free one (default: 8765)",
    )
    access.add_argument(
        "--token-file",
        metavar="FILE",
        help="file with the token that clients must send; required if --host lets other machines in",
    )
    limits = serve.add_argument_group("limits")
    for name, default, help in (
        ("body-mb", 16, "megabytes of a request's body"),
        ("rows", 1_000, "rows of a JSON body or a file on the page; NDJSON has no such limit"),
        ("characters", 200_000, "characters of a row's texts"),
        ("waiting", 10_000, "scores that wait, over all requests"),
    ):
        limits.add_argument(
            f"--max-{name}", type=positive, default=default, metavar="N", help=f"{help} (default: {default})"
        )
    for name, default, help in (
        ("seconds", 120, "time limit of a request"),
        ("seconds-per-row", 30, "time limit per row and metric, checked between batches of a model"),
    ):
        limits.add_argument(
            f"--max-{name}",
            type=above_zero,
            default=default,
            metavar="N",
            help=f"{help} (default: {default})",
        )
    common = serve.add_argument_group("common")
    common.add_argument("--dimension", metavar="NAME", help="the quality to score (maskeval, sumqe, quality)")
    add_runtime(common)
    serve.set_defaults(options=ServeOptions, run="gistmeter.app.commands.serve:run")
