"""Compare the model's answers with the factors, and compute the confidence (equations 1 to 3)."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from gistmeter.metrics.cloze.options import ClozeOptions
from gistmeter.models.fill.protocol import Fill, Filler

Ids = Sequence[int]
SMALLEST = 1e-6
"""Lower bound of factors in geometric means, so that a single one does not decide the mean."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result for one factor.

    Args:
        value: Score; from 0 to 1, or −1 to 1 with `prior=subtract`.
        confidence: Equation 3, from 0 to 1.
        answer: The model's prediction.
        same: Whether the prediction equals the factor, ignoring case.
        complete: Whether the whole prediction is known; False if generation stopped at a mismatch.
    """

    value: float
    confidence: float
    answer: str
    same: bool
    complete: bool = True


COPIED = Verdict(1.0, 1.0, "", same=True)
"""Of a factor in a text that is copied from the document."""


def judge(
    golds: Sequence[Ids],
    fills: Sequence[Fill],
    filler: Filler,
    options: ClozeOptions,
    priors: Sequence[Fill] | None = None,
) -> Iterator[Verdict]:
    """Score each answer (the D of equation 1) and apply the rule of section 3.6.

    Args:
        golds: Tokens of the factors.
        fills: Predictions of the model.
        filler: Model whose tokenizer decodes and encodes the answers.
        options: Comparison criterion and thresholds.
        priors: Predictions without the document, for `prior=subtract`.
    """
    wanted = [filler.decode(gold).strip() for gold in golds]
    answers = [filler.decode(fill.predicted).strip() for fill in fills]
    ids = _encode([*wanted, *answers], filler)
    for at, (gold, answer, fill) in enumerate(zip(wanted, answers, fills, strict=True)):
        same = gold.lower() == answer.lower() if fill.complete else fill.matches
        match options.criterion:
            case "exact":
                value = float(same)
            case "soft" | "geometric":
                value = likelihood(fill, options.criterion)
                value -= likelihood(priors[at], options.criterion) if priors else 0.0
            case "bag":
                value = bag_f1(ids[gold], ids[answer])
            case _:
                value = membership_f1(ids[gold], ids[answer])
        sure = confidence(fill.predicted_probabilities)
        yield Verdict(trusted(value, sure, options), sure, answer, same, fill.complete)


def likelihood(fill: Fill, criterion: str) -> float:
    """Return the mean (`soft`) or the geometric mean of the probabilities of a factor's tokens."""
    mean = fmean if criterion == "soft" else geometric
    return mean(fill.gold_probabilities)


def geometric(values: Sequence[float]) -> float:
    """Return the geometric mean of values from 0 to 1; values below 10⁻⁶ count as 10⁻⁶.

    >>> geometric([0.25, 1.0])
    0.5
    """
    return math.exp(fmean(math.log(max(value, SMALLEST)) for value in values))


def membership_f1(gold: Ids, predicted: Ids) -> float:
    """Return the token F1 of equation 2 by set membership, as in the authors' code.

    A token counts as found if it occurs in the other text, however often it is repeated.

    >>> round(membership_f1([1, 1], [1, 2]), 3)
    0.667
    """
    found = sum(token in set(predicted) for token in gold)
    right = sum(token in set(gold) for token in predicted)
    return _f1(found, right, gold, predicted)


def bag_f1(gold: Ids, predicted: Ids) -> float:
    """Return the token F1 of two multisets, as in SQuAD.

    >>> bag_f1([1, 1], [1, 2])
    0.5
    """
    common = (Counter(gold) & Counter(predicted)).total()
    return _f1(common, common, gold, predicted)


def confidence(probabilities: Sequence[float]) -> float:
    """Return the mean probability of the predicted tokens (equation 3), or 0 without predicted tokens."""
    return fmean(probabilities) if probabilities else 0.0


def trusted(value: float, sure: float, options: ClozeOptions) -> float:
    """Return 0 if the score is low and its confidence is below α (section 3.6), otherwise the score.

    A score is low if it is below β. With `definition=authors`, an F1 equal to β is low, too.
    """
    equal = options.definition == "authors" and options.criterion == "f1" and value == options.beta
    if options.distrusts and (value < options.beta or equal) and sure < options.alpha:
        return 0.0
    return value


def _f1(found: int, right: int, gold: Ids, predicted: Ids) -> float:
    if not gold or not predicted:
        return float(not gold and not predicted)
    # 2pr / (p + r) with a single division, so that one half is exactly one half.
    total = found * len(predicted) + right * len(gold)
    return 2 * found * right / total if total else 0.0


def _encode(texts: Sequence[str], filler: Filler) -> dict[str, tuple[int, ...]]:
    """Tokenize lower-cased texts after a space, so that case and position do not affect the tokens."""
    unique = [text for text in dict.fromkeys(texts) if text]
    encoded = filler.tokenize([f" {text.lower()}" for text in unique])
    return {"": (), **{text: tokens.ids for text, tokens in zip(unique, encoded, strict=True)}}
