"""Build the metrics that a combined metric is made of, and score examples with them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

from gistmeter.catalog import load
from gistmeter.core.errors import BadModel, ModelNotFound
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ANY, Languages
from gistmeter.core.metric import Metric, score_sound
from gistmeter.core.score import Flag, Score
from gistmeter.models.files.digest import sha256
from gistmeter.models.files.find import ModelFiles, find_model, read_config
from gistmeter.models.run.runtime import Runtime
from gistmeter.training.files import write_text

CONFIG = "config.json"
Members = Mapping[str, Metric]
"""Metrics by a name of the combination's own, such as their spec."""


def read_combination(name: str, kind: str) -> tuple[str, Mapping[str, Any]]:
    """Find a combination and read its `config.json`.

    Args:
        name: `gistmeter/NAME` or a folder.
        kind: The `model_type` that it must have.

    Returns:
        The identity of the combination, for signatures, and the content of its configuration.

    Raises:
        ModelNotFound: If it does not exist.
        BadModel: If it is damaged or of another kind.
    """
    if name.startswith("gistmeter/"):
        files = find_model(name)
    else:  # a folder without weights: its configuration decides every number
        folder = Path(name).expanduser()
        if not (folder / CONFIG).is_file():
            raise ModelNotFound(f"{name} has no {CONFIG}; give the folder model that gistmeter train wrote")
        files = ModelFiles(folder, f"sha256:{sha256(folder / CONFIG)[:16]}")
    facts = read_config(files)
    if facts["model_type"] != kind:
        raise BadModel(f"{name} contains a {facts['model_type']}, not a {kind}; give another folder")
    return files.identity, facts


def save_combination(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write the `config.json` of a combination."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / CONFIG, json.dumps(facts, indent=1) + "\n")


def load_members(entries: Mapping[str, Mapping[str, str]], runtime: Runtime) -> dict[str, Metric]:
    """Build the members of a combination.

    Args:
        entries: For each member its `spec`, and optionally its `preset` and `model`.
        runtime: The device, precision and backend of all members.

    Raises:
        ModelError: If a member's model cannot be found or loaded.
    """
    return {
        name: load(
            entry["spec"], preset=entry.get("preset", "mini"), model=entry.get("model"), runtime=runtime
        )
        for name, entry in entries.items()
    }


@dataclass(frozen=True, slots=True)
class Combined(ABC):
    """The base of metrics that combine the scores of others.

    Args:
        members: The metrics, by a name of the combination's own.
    """

    members: Members

    @property
    def needs(self) -> tuple[Need, ...]:
        """The fields that any member requires."""
        return tuple(dict.fromkeys(need for metric in self.members.values() for need in metric.needs))

    @property
    def languages(self) -> Languages:
        """The languages that every member scores."""
        return reduce(and_, (metric.languages for metric in self.members.values()), ANY)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each example with every member, and combine their scores."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        columns = {name: metric.score(examples) for name, metric in self.members.items()}
        return [
            self._combine(example, {name: column[at] for name, column in columns.items()})
            for at, example in enumerate(examples)
        ]

    @abstractmethod
    def _combine(self, example: Example, row: Mapping[str, Score]) -> Score:
        """Return the score of an example, given its scores by the members."""


def signed(members: Members) -> dict[str, str]:
    """Return the hash of each member's signature, for the signature of the combination."""
    return {name: metric.signature.hash for name, metric in members.items()}


def flags_of(scores: Mapping[str, Score]) -> tuple[Flag, ...]:
    """Return the flags of all members, and one for each member that has no value, without repetitions."""
    found = [flag for score in scores.values() for flag in score.flags]
    found += [Flag(f"without_{name}") for name, score in scores.items() if score.problem is not None]
    return tuple(dict.fromkeys(found))
