"""Options of `gistmeter train`."""

from dataclasses import dataclass

from gistmeter.app.options.common import add_output
from gistmeter.app.options.parsing import Commands, positive
from gistmeter.catalog import TASKS


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """Options of `gistmeter train`."""

    recipe: str
    data: str | None
    output: str | None
    steps: int | None
    quiet: bool
    debug: bool


def add_train(commands: Commands) -> None:
    """Add the command."""
    train = commands.add_parser(
        "train",
        help="train a model by a recipe",
        description="Train a model by a recipe. To resume an interrupted run, run the same command again.",
        epilog=f"tasks of recipes: {', '.join(TASKS)}",
    )
    train.add_argument("recipe", metavar="RECIPE.toml", help="a recipe; see the folder recipes")
    train.add_argument(
        "--data", metavar="FOLDER", help="folder of the data files (default: data.folder in the recipe)"
    )
    train.add_argument("--output", metavar="FOLDER", help="folder for the results (default: out/RECIPE)")
    train.add_argument("--steps", type=positive, metavar="N", help="number of steps, for a trial run")
    add_output(train, quiet="no progress bars and no notes")
    train.set_defaults(options=TrainOptions, run="gistmeter.app.commands.train:run")
