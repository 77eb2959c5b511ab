"""Learned token weights: a frozen pair encoder with one linear layer per quality."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from gistmeter.core.errors import BadModel, ModelNotFound
from gistmeter.models.encode.pair import Ids, PairEncoder
from gistmeter.models.files.adapters import name_from, name_in

FloatArray = NDArray[np.float32]

OWN = "filler"
"""The name in saved weights that stands for the encoder of the model that fills the blanks."""


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A linear layer without bias, trained for one quality (MaskEval, equation 6).

    Args:
        dimension: The quality: consistency, coherence, fluency or relevance.
        encoder: The name of the model with d-dimensional states, as in `find_model`, or `filler` for the
            model that fills the blanks.
        weight: W, shape (d,).
        candidate_share: The weight of the candidate side, from 0 to 1; the source side has the rest. The
            paper uses 0.5.
        fall: How fast the weights of the source's words fall with their position, at least 0; see
            `falling`. The paper uses 0.
    """

    dimension: str
    encoder: str
    weight: FloatArray
    candidate_share: float = 0.5
    fall: float = 0.0

    @property
    def identity(self) -> str:
        """The quality and a prefix of the SHA-256 of W, with share and fall unless they are the paper's."""
        share = [] if self.candidate_share == 0.5 and not self.fall else [self.candidate_share]
        fall = [self.fall] if self.fall else []
        weight = np.array([*self.weight, *share, *fall], dtype="<f4")
        return f"{self.dimension}@{hashlib.sha256(weight.tobytes()).hexdigest()[:12]}"

    def save(self, folder: Path) -> None:
        """Save the head as `DIMENSION.safetensors` and `DIMENSION.json` in a folder."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        save_file({"weight": self.weight[None].astype(np.float32)}, _path(folder, self.dimension))
        facts = {
            "dimension": self.dimension,
            "encoder": self.encoder if self.encoder == OWN else name_from(folder, self.encoder),
            "width": len(self.weight),
            "candidate_share": self.candidate_share,
            "fall": self.fall,
        }
        _path(folder, self.dimension).with_suffix(".json").write_text(
            json.dumps(facts, indent=1) + "\n", encoding="utf-8"
        )

    @classmethod
    def load(cls, folder: Path, dimension: str) -> "Head":
        """Load the head for a quality from a folder.

        Raises:
            ModelNotFound: If the folder has no head for the quality.
            BadModel: If its files are damaged or contradict each other.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        path = _path(folder, dimension)
        if not path.is_file():
            raise ModelNotFound(
                f"no weights for dimension={dimension}: {path} does not exist; train them with gistmeter "
                "train, give a folder with weigher=FOLDER, or use dimension=none"
            )
        if not path.with_suffix(".json").is_file():  # reading a pipe may not end
            raise BadModel(f"{path.with_suffix('.json')} is missing; save the weights again")
        try:
            facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            weight, share = load_file(path)["weight"].reshape(-1), float(facts.get("candidate_share", 0.5))
            encoder = name_in(folder, str(facts["encoder"]))
            head = cls(str(facts["dimension"]), encoder, weight, share, float(facts.get("fall", 0.0)))
            wanted = (dimension, int(facts["width"]))
        except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
            raise BadModel(f"{path} or its .json file is damaged; replace both: {error}") from error
        if (head.dimension, len(head.weight)) != wanted or not (
            np.isfinite(head.weight).all() and 0 <= head.candidate_share <= 1 and 0 <= head.fall < np.inf
        ):
            raise BadModel(
                f"{path} does not match its .json file ({wanted[1]} weights for {wanted[0]}); replace both"
            )
        return head


def falling(count: int, fall: float) -> FloatArray:
    """Return −fall · log n for n = 1 … count: added to logits, it divides the n-th weight by n^fall.

    News says the most important things first, so the words at its beginning count more for relevance.

    >>> [round(float(weight), 2) for weight in np.exp(falling(4, 0.5))]
    [1.0, 0.71, 0.58, 0.5]
    """
    return (-fall * np.log(np.arange(1, count + 1))).astype(np.float32)


class TokenWeighter:
    """Computes a logit for every sub-word of a pair; the softmax of the logits gives the token weights.

    Args:
        encoder: The frozen encoder of the pairs.
        head: A head that was trained on the states of that encoder.

    Raises:
        BadModel: If the width of the head differs from that of the encoder.
    """

    def __init__(self, encoder: PairEncoder, head: Head) -> None:
        if len(head.weight) != encoder.width:
            raise BadModel(
                f"the weights for {head.dimension} need states of width {len(head.weight)}, but "
                f"{encoder.identity} has width {encoder.width}; use the encoder they were trained on"
            )
        self.encoder = encoder
        self.head = head
        self.identity = f"{head.identity}/{encoder.identity}"

    def logits(self, pairs: Sequence[tuple[Ids, Ids]]) -> list[tuple[FloatArray, FloatArray]]:
        """Return W·e for each sub-word of the candidate, and W·e − fall · log n for the n-th of the source.

        Args:
            pairs: Token ids of (candidate, source) from the tokenizer of the encoder, without special tokens.

        Returns:
            For each pair, arrays of shape (candidate tokens,) and (source tokens,).
        """
        weight = torch.from_numpy(self.head.weight.astype(np.float32)).to(self.encoder.device)

        def read(states: torch.Tensor) -> torch.Tensor:
            return states @ weight

        found = self.encoder.read(pairs, read)
        return [(ours, theirs + falling(len(theirs), self.head.fall)) for ours, theirs in found]


def _path(folder: Path, dimension: str) -> Path:
    return folder / f"{dimension}.safetensors"
