"""Log likelihood of a text given another text, as in BARTScore and PRISM."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.errors import ModelNotFound
from gistmeter.core.example import Example, Need, Side
from gistmeter.core.language import ENGLISH, Languages, check_spoken, languages_of
from gistmeter.core.metric import score_sound
from gistmeter.core.options import options_from, options_text, preset_from
from gistmeter.core.score import Score, Span
from gistmeter.core.signature import Signature
from gistmeter.metrics.baselines.common import reading
from gistmeter.metrics.baselines.word_spans import word_spans
from gistmeter.text.language import CHECKED

if TYPE_CHECKING:
    from gistmeter.models.run.runtime import Runtime

Ids = tuple[int, ...]
FloatArray = NDArray[np.float64]
PRESETS: dict[str, str | None] = {
    "mini": None,
    "base": None,
    "paper": "facebook/bart-large-cnn@37f520fa929c961707657b28798b30c003dd100b",
}


class Text(Protocol):
    """A tokenized text; see `models.rate.seq2seq.TargetText`."""

    @property
    def ids(self) -> Ids:
        """Token ids, special tokens included."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Start and end character of each token."""

    @property
    def kept(self) -> int:
        """Number of tokens after truncation, without special tokens."""

    @property
    def total(self) -> int:
        """Number of tokens of the whole text, without special tokens."""


class PairModel(Protocol):
    """Computes log p(text | other text); see `models.rate.seq2seq.ConditionalModel`."""

    @property
    def identity(self) -> str:
        """Name of the model in signatures."""

    def read(self, texts: Sequence[str]) -> Sequence[Text]:
        """Tokenize texts."""

    def log_probabilities(self, pairs: Sequence[tuple[Ids, Ids]]) -> Sequence[FloatArray]:
        """Return log p of each token of the second text, given the first."""


@dataclass(frozen=True, slots=True)
class LikelihoodOptions:
    """Options of the log likelihood.

    Args:
        against: The other text.
        direction: `forward` is log p(candidate | other text), `backward` log p(other text | candidate), and
            `both` their mean.
        prefix: Token that every decoded text begins with and that does not count, such as the language tag
            of a translation model: `<en>` for PRISM's.
        language: Language of the model, or several as `de+en`; rows in another language have no value. `xx`
            for a model of any language.
    """

    against: Literal["source", "references"] = "source"
    direction: Literal["forward", "backward", "both"] = "forward"
    prefix: str = ""
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Likelihood:
    """Mean log probability of the tokens of a text, given another text.

    With several references, each direction is the mean over the references.

    Args:
        model: Encoder-decoder that reads one text and predicts the other.
        options: See `LikelihoodOptions`.
    """

    model: PairModel
    options: LikelihoodOptions = field(default_factory=LikelihoodOptions)

    name = "likelihood"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Required fields: the source, or the references."""
        return (self.options.against,)

    @property
    def languages(self) -> Languages:
        """The languages of the model, as the options name them."""
        return languages_of(self.options.language)

    @property
    def signature(self) -> Signature:
        """Model and options: everything that determines the score."""
        options = options_text(self.options)
        if options["language"] == CHECKED:
            del options["language"]
        return Signature.of("likelihood", version=1, model=self.model.identity, **options)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by how probable it makes the other text, or the other text makes it."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        texts = list(dict.fromkeys(text for example in examples for text in self._texts(example)))
        read = dict(zip(texts, self.model.read(texts), strict=True))
        tokenized = [[read[text] for text in self._texts(example)] for example in examples]
        plans = [self._plan(row) for row in tokenized]
        found = iter(self.model.log_probabilities([pair for plan in plans for pair in plan]))
        return [
            self._score_one(example, row, [next(found) for _ in plan])
            for example, row, plan in zip(examples, tokenized, plans, strict=True)
        ]

    def _texts(self, example: Example) -> tuple[str, ...]:
        """Return the candidate and the texts to compare with."""
        return tuple(text for *_, text in example.compared(self.options.against))

    @property
    def _directions(self) -> tuple[str, ...]:
        chosen = self.options.direction
        return ("forward", "backward") if chosen == "both" else (chosen,)

    def _plan(self, row: Sequence[Text]) -> list[tuple[Ids, Ids]]:
        """Return the pairs (given, decoded) of an example: all of one direction, then of the other."""
        ours, others = row[0], [text for text in row[1:] if text.kept]
        if not ours.kept:
            return []
        pairs = {
            "forward": [(other.ids, ours.ids) for other in others],
            "backward": [(ours.ids, other.ids) for other in others],
        }
        return [pair for direction in self._directions for pair in pairs[direction]]

    def _score_one(self, example: Example, row: Sequence[Text], found: Sequence[FloatArray]) -> Score:
        texts = example.compared(self.options.against)
        flags, problem = reading(texts, [(text.kept, text.total) for text in row], self.options.language)
        if problem:
            return Score.undefined(example.id, problem, flags)
        parts, spans = {}, []
        others = [(text, read) for text, read in zip(texts[1:], row[1:], strict=True) if read.kept]
        for at, direction in enumerate(self._directions):
            logs = found[at * len(others) : (at + 1) * len(others)]
            parts[direction] = float(np.mean([values.mean() for values in logs]))
            if direction == "forward":
                spans += _spans(example.candidate, "candidate", row[0], np.mean(logs, axis=0))
            else:
                for ((side, index, text), other), values in zip(others, logs, strict=True):
                    spans += _spans(text, side, other, values, index)
        return Score(example.id, float(np.mean(list(parts.values()))), parts, tuple(spans), flags)


def build(preset: str, model: str | None, runtime: "Runtime", options: Mapping[str, object]) -> Likelihood:
    """Build the log likelihood.

    Args:
        preset: `paper` (BART, fine-tuned on CNN/DailyMail, as BARTScore uses it). No encoder-decoder ships.
        model: Encoder-decoder that replaces the preset's.
        runtime: Device, data type, and batch size.
        options: See `LikelihoodOptions`.

    Raises:
        ModelNotFound: If the preset has no model, or the model does not exist.
    """
    chosen = options_from(LikelihoodOptions, options)
    if model is None:
        check_spoken(chosen.language, ENGLISH, preset)
    name = model or preset_from("likelihood", PRESETS, preset)
    if name is None:
        raise ModelNotFound(
            f"likelihood has no model in the preset {preset}; use --preset paper, or give an encoder-decoder "
            "with --model"
        )
    from gistmeter.models.rate.seq2seq import ConditionalModel

    return Likelihood(ConditionalModel.load(name, runtime, prefix=chosen.prefix), chosen)


def _spans(text: str, side: Side, tokens: Text, values: FloatArray, index: int = 0) -> list[Span]:
    """Return one span per word with the mean of its tokens; special tokens count for the closest word."""
    ends = np.minimum(tokens.offsets, len(text.rstrip()))  # white space at the end belongs to the last word
    found = word_spans(text, side, ends, values, [""] * len(values))
    return [replace(span, weight=span.weight / len(values), index=index) for span in found]
