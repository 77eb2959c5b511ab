"""Options of `gistmeter models`."""

from dataclasses import dataclass
from typing import get_args

from gistmeter.app.options.common import add_backend, add_output
from gistmeter.app.options.parsing import Commands
from gistmeter.models.run.runtime import Backend, Dtype


@dataclass(frozen=True, kw_only=True)
class ModelsOptions:
    """Options of `gistmeter models`."""

    action: str
    name: str | None
    origin: str | None
    dtype: Dtype | None
    backend: Backend


def add_models(commands: Commands) -> None:
    """Add the command."""
    models = commands.add_parser(
        "models",
        help="list, verify or fetch models",
        description="List the available models, verify their files, or download the model of a preset.",
    )
    models.add_argument(
        "action", nargs="?", choices=["list", "verify", "fetch"], default="list", help="list (default)"
    )
    models.add_argument("name", nargs="?", metavar="PRESET", help="with fetch: the preset, base")
    models.add_argument(
        "--from",
        dest="origin",
        metavar="FOLDER_OR_URL",
        help="with fetch: the source of the files (default: the Hugging Face Hub)",
    )
    models.add_argument(
        "--dtype",
        choices=get_args(Dtype)[1:],
        help="with verify: also print the share of predictions that this precision changes",
    )
    add_backend(models)
    add_output(models, quiet="no notes")
    models.set_defaults(options=ModelsOptions, run="gistmeter.app.commands.models:run")
