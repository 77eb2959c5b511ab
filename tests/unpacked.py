"""Read the data of an HTML report."""

import base64
import gzip
import json
from typing import Any


def unpacked(text: str) -> dict[str, Any]:
    """Return the data that a report holds as Base64 of compressed JSON."""
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text)))
    return found
