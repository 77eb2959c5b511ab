"""Options of `gistmeter data`."""

from dataclasses import dataclass

from gistmeter.app.options.common import add_output
from gistmeter.app.options.parsing import Commands


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """Options of `gistmeter data`."""

    action: str
    names: tuple[str, ...]


def add_data(commands: Commands) -> None:
    """Add the command."""
    data = commands.add_parser(
        "data",
        help="list or fetch data sets of human judgements",
        description="List the known data sets of human judgements, or download them from their authors.",
    )
    data.add_argument("action", nargs="?", choices=["list", "fetch"], default="list", help="list (default)")
    data.add_argument("names", nargs="*", metavar="NAME", help="data sets to fetch")
    add_output(data, quiet="show no notes")
    data.set_defaults(options=DataOptions, run="gistmeter.app.commands.data:run")
