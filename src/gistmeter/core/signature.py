"""Everything that decides a number, in one line, so that two papers can be compared."""

import hashlib
from dataclasses import dataclass
from urllib.parse import quote, unquote


@dataclass(frozen=True, slots=True)
class Signature:
    """What decides a metric's numbers, and nothing else: no device, no batch size.

    Args:
        metric: The metric's name.
        version: Raised whenever the same input would get another number.
        settings: (name, value) pairs: models with their revision or SHA-256, options, tokenizer,
            splitter, truncation, precision.

    >>> signature = Signature.of("speed", version=1, model="minilm@53aa5117", match="greedy")
    >>> signature.text
    'speed|version=1|model=minilm@53aa5117|match=greedy'
    >>> signature.hash
    'cd912f065f216bf2'
    """

    metric: str
    version: str
    settings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, metric: str, *, version: int, **settings: object) -> "Signature":
        """Make a signature from settings of any type, in the order given."""
        return cls(metric, str(version), tuple((name, str(value)) for name, value in settings.items()))

    @classmethod
    def parse(cls, text: str) -> "Signature":
        """Read back what `text` prints.

        >>> Signature.parse("speed|version=1|match=greedy")
        Signature(metric='speed', version='1', settings=(('match', 'greedy'),))
        """
        metric, *pairs = text.split("|")
        settings = [(name, unquote(value)) for name, _, value in (pair.partition("=") for pair in pairs)]
        version = next((value for name, value in settings[:1] if name == "version"), "")
        return cls(metric, version, tuple(settings[1:] if version else settings))

    @property
    def text(self) -> str:
        """The printed form; a vertical bar inside a value is percent-encoded."""
        pairs = [("version", self.version), *self.settings]
        return "|".join([self.metric, *(f"{name}={quote(value, safe=SAFE)}" for name, value in pairs)])

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits of the text's SHA-256: the cache key."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


SAFE = "".join(chr(code) for code in range(32, 127) if chr(code) not in "|%")
