"""Finds the multilingual encoder: in the package gistmeter-multilingual, otherwise on the Hub."""

from importlib.util import find_spec
from pathlib import Path

from gistmeter.models.files.packaged import find_packaged

PACKAGE = "gistmeter_multilingual"
HUB = "intfloat/multilingual-e5-small@fd1525a9fd15316a2d503bf26ab031a61d056e98"
LANGUAGES = ("de", "en", "es", "fr", "id", "it", "nl", "pt", "ru", "tr")
"""The languages whose pieces are in the vocabulary of the package."""
SHA256 = {
    "1_Pooling/config.json": "59b17485dfd10b0357a0895542798f37669325f2924052ead0670f69fd05e2f8",
    "config.json": "1afbae59cb78fa45a01d043c9fc81c40aa657a33f015559486b2ec0396aa548b",
    "config_sentence_transformers.json": "077a5a97e302634c92da3fcb2c843f69b75dcab79e1461e4c194c607934cb275",
    "model.safetensors": "d7002c347df34f00cf774cd347a383a141304cb8f87b6f81bea69280c2723e96",
    "special_tokens_map.json": "4ca46f4cfa96f1d98338f6b8cc7a9b2d7c56b22a7cb6669130bcbfdd353acc48",
    "tokenizer.json": "886547ff3ebc28262e1a1956bccb64f552027675c1f8187c3304bca7a872adab",
    "tokenizer_config.json": "c81feaa2386366ed18b1a2fa58992c4d0e821e11c9bcca76a425673b71444dd4",
}
E5_PROMPT = "query: "
"""The start of each text of a symmetric task, as the model card says."""


def is_packaged() -> bool:
    """Return whether the package with the weights is installed."""
    return find_spec(PACKAGE) is not None


def spoken() -> str:
    """Return the value of a metric's option `language` for the encoder: ten languages, or any on the Hub."""
    return "+".join(LANGUAGES) if is_packaged() else "xx"


def packaged_folder(*, fresh: bool = False) -> Path | None:
    """Verify the files of the package and return their folder; None if it is not installed.

    Args:
        fresh: Whether to compute all checksums again instead of using cached ones.

    Raises:
        BadModel: If a file differs from the published one.
    """
    return find_packaged([PACKAGE], SHA256, fresh=fresh)


def identity() -> str:
    """Return the name of the packaged encoder in signatures."""
    return f"multilingual-e5-small-10@{SHA256['model.safetensors'][:12]}"
