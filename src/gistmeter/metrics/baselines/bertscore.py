"""BERTScore (Zhang et al., 2020): greedy matching of token vectors with references or the source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gistmeter.core.example import Example, Need
from gistmeter.core.language import Languages, languages_of
from gistmeter.core.metric import score_sound
from gistmeter.core.options import Preset, encoder_from, options_text, spoken_options
from gistmeter.core.score import Score, Span
from gistmeter.core.signature import Signature
from gistmeter.matching import Matching, f1, greedy, weighted_mean
from gistmeter.metrics.baselines.common import reading
from gistmeter.metrics.baselines.word_spans import word_spans
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.files import multilingual
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.tokens import Tokens
from gistmeter.text.language import CHECKED

FloatArray = NDArray[np.floating[Any]]
Encoded = tuple[Tokens, FloatArray]
# Layer 5 of 6 was selected on the development rows of SummEval; layer 17 of 24 is the default of bert-score.
PRESETS = {
    "mini": Preset("minilm", layer=5),
    "base": Preset("mpnet", layer=7),
    "multilingual": Preset("multilingual", layer=12),
    "paper": Preset("roberta-large@722cf37b1afa9454edce342e7895e588b6ff1d59", layer=17),
}
LANGUAGES = {"multilingual": multilingual.spoken()}
"""Languages of the models, by preset; English if it is not listed."""


@dataclass(frozen=True, slots=True)
class BertScoreOptions:
    """Options of BERTScore.

    Args:
        against: Text that the candidate's tokens are matched with. `source` requires no references.
        value: Component reported as the value.
        layer: Encoder layer, counted from 1. The default is the preset's layer; with a model and without a
            preset, the model's last layer.
        language: Language of the model, or several as `de+en`; rows in another language have no value. `xx`
            for a model of any language.
    """

    against: Literal["references", "source"] = "references"
    value: Literal["precision", "recall", "f1"] = "f1"
    layer: int | None = None
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Match:
    """Match of a candidate with one other text.

    Args:
        forward: Match of each candidate token.
        backward: Match of each token of the other text.
        parts: Components `precision`, `recall` and `f1`.
    """

    forward: Matching
    backward: Matching
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class BertScore:
    """BERTScore without IDF weights and without rescaling.

    As in the authors' package, special tokens can be matched but have weight 0, and with several references
    each component is the maximum over them.

    Args:
        encoder: Encodes tokens as vectors; must stop at `options.layer`.
        options: See `BertScoreOptions`.
    """

    encoder: Encoder
    options: BertScoreOptions = field(default_factory=BertScoreOptions)

    name = "bertscore"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Required fields: the references, or the source."""
        return (self.options.against,)

    @property
    def languages(self) -> Languages:
        """The languages of the model, as the options name them."""
        return languages_of(self.options.language)

    @property
    def signature(self) -> Signature:
        """Model, layer, and options: everything that determines the score."""
        options = options_text(self.options)
        del options["layer"]  # part of the encoder's identity
        if options["language"] == CHECKED:
            del options["language"]
        return Signature.of("bertscore", version=1, model=self.encoder.identity, **options)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        """Score each candidate by the similarity of matched tokens."""
        return score_sound(examples, self.needs, self._score, self.languages)

    def _score(self, examples: Sequence[Example]) -> list[Score]:
        texts = list(dict.fromkeys(text for e in examples for *_, text in e.compared(self.options.against)))
        encoded = dict(zip(texts, self.encoder.embed_tokens(texts), strict=True))
        return [self._score_one(example, encoded) for example in examples]

    def _score_one(self, example: Example, encoded: Mapping[str, Encoded]) -> Score:
        texts = example.compared(self.options.against)
        counts = [(tokens.kept, tokens.total) for tokens, _ in (encoded[text] for *_, text in texts)]
        flags, problem = reading(texts, counts, self.options.language)
        if problem:
            return Score.undefined(example.id, problem, flags)
        _, *read = [text for *_, text in texts if encoded[text][0].kept]
        ours, *others = [encoded[text] for text in (example.candidate, *read)]
        matches = [match_tokens(ours, other) for other in others]
        parts = {name: max(match.parts[name] for match in matches) for name in matches[0].parts}
        # The spans explain the precision, so they show the reference with the highest precision.
        best = int(np.argmax([match.parts["precision"] for match in matches]))
        spans = _spans(example.candidate, read[best], ours[0], others[best][0], matches[best].forward)
        return Score(example.id, parts[self.options.value], parts, spans, flags)


def match_tokens(ours: Encoded, theirs: Encoded) -> Match:
    """Match tokens greedily in both directions (Zhang et al., section 3)."""
    (our_tokens, our_vectors), (their_tokens, their_vectors) = ours, theirs
    similarity = our_vectors @ their_vectors.T
    forward, backward = greedy(similarity), greedy(similarity.T)
    precision = weighted_mean(forward.similarity, 1.0 - our_tokens.special)
    recall = weighted_mean(backward.similarity, 1.0 - their_tokens.special)
    return Match(forward, backward, {"precision": precision, "recall": recall, "f1": f1(precision, recall)})


def build(preset: str, model: str | None, runtime: Runtime, options: Mapping[str, object]) -> BertScore:
    """Build BERTScore.

    Args:
        preset: `mini` (MiniLM), `base` (MPNet-base), `multilingual` (multilingual-e5-small), or `paper`
            (roberta-large).
        model: Encoder that replaces the preset's; see `core.options.encoder_from` for its layer.
        runtime: Device, data type, and batch size.
        options: See `BertScoreOptions`.
    """
    chosen = spoken_options(BertScoreOptions, options, LANGUAGES, preset, model)
    name, layer = encoder_from("bertscore", PRESETS, preset, model)
    return BertScore(Encoder.load(name, runtime, layers=chosen.layer or layer), chosen)


def _spans(
    ours: str, theirs: str, our_tokens: Tokens, their_tokens: Tokens, match: Matching
) -> tuple[Span, ...]:
    """Return one span per candidate word, with its similarity and the matched words."""
    own = ~our_tokens.special
    partners = their_tokens.offsets[match.partner[own]].tolist()
    notes = [theirs[start:end].strip() for start, end in partners]
    return word_spans(ours, "candidate", our_tokens.offsets[own], match.similarity[own], notes)
