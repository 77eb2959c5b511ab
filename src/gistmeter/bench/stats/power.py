"""How large a difference a paired test over documents finds, and how many documents it takes.

The figures are those of the paired t-test, which the permutation test follows closely from about ten
documents on (Cohen 1988, chapter 2; Card et al. 2020, https://aclanthology.org/2020.emnlp-main.745, on power
in NLP).
"""

import math

ALPHA, POWER = 0.05, 0.8
MOST_DOCUMENTS = 10**9


def power(difference: float, spread: float, documents: int, *, alpha: float = ALPHA) -> float:
    """Return the chance that a two-sided test finds a difference.

    Args:
        difference: The true mean difference.
        spread: Standard deviation of the documents' differences.
        documents: How many documents are compared.
        alpha: The level of the test.

    >>> round(power(0.5, 1.0, 34), 2)
    0.81
    """
    if documents < 2 or not spread > 0:
        return math.nan
    from scipy.special import nctdtr, stdtrit

    far = abs(difference) / spread * math.sqrt(documents)
    edge = stdtrit(documents - 1, 1 - alpha / 2)
    return float(1 - nctdtr(documents - 1, far, edge))


def detectable(spread: float, documents: int, *, chance: float = POWER, alpha: float = ALPHA) -> float:
    """Return the smallest true difference that a two-sided test finds with a chance of 80 %.

    Args:
        spread: Standard deviation of the documents' differences.
        documents: How many documents are compared.
        chance: The power.
        alpha: The level of the test.

    >>> round(detectable(1.0, 34), 3)
    0.495
    """
    if documents < 2 or not spread > 0:
        return math.nan
    from scipy.special import nctdtrinc, stdtrit

    edge = stdtrit(documents - 1, 1 - alpha / 2)
    return float(nctdtrinc(documents - 1, 1 - chance, edge) * spread / math.sqrt(documents))


def documents_needed(difference: float, spread: float, *, chance: float = POWER) -> int | None:
    """Return with how many documents a true difference is found in 80 % of tests; None if no number does.

    >>> documents_needed(0.5, 1.0)
    34
    """
    if not (difference and spread > 0):
        return None
    low, high = 1, 2
    while not power(difference, spread, high) >= chance:
        low, high = high, 2 * high
        if high > MOST_DOCUMENTS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(difference, spread, middle) >= chance else (middle, high)
    return high
