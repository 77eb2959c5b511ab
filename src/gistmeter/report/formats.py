"""Formats in which a comparison is printed."""

from typing import Literal

Format = Literal["text", "markdown", "latex", "json", "html"]
