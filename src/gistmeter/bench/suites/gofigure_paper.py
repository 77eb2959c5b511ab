"""Figures of ClozE's tables 3 (CNN/DM) and 4 (XSum)."""

from gistmeter.bench.suites.analyses.gofigure import FAMILIES, Family

STATES = ("upper bound", "level 1", "level 2", "level 3", "lower bound")
WORDS: dict[Family, str] = {"entity": "entity errors", "other": "other errors"}
# Entity errors, other errors: upper bound, levels 1 to 3, lower bound in hundredths, and the correlation.
Column = tuple[float, float, float, float, float, float]
FIGURES: dict[str, dict[str, tuple[Column, Column]]] = {
    "cnndm": {
        "FactCC": ((44.04, 36.44, 32.30, 29.58, 22.29, -0.99), (44.04, 38.71, 33.80, 28.89, 22.29, -1.00)),
        "SUMMAC": ((27.14, 16.07, 10.70, 2.99, -18.87, -0.99), (27.14, 11.28, 0.30, -9.99, -18.87, -1.00)),
        "SummaQA": ((10.87, 9.58, 8.53, 7.54, 0.12, -1.00), (10.87, 10.63, 10.38, 10.26, 0.12, -0.98)),
        "FEQA": ((37.56, 33.35, 28.46, 25.12, 0.58, -0.99), (37.56, 36.64, 36.13, 35.63, 0.58, -1.00)),
        "QUALS": (
            (-75.55, -86.26, -99.83, -107.22, -373.01, -0.98),
            (-75.55, -82.43, -87.86, -92.61, -373.01, -1.00),
        ),
        "QuestEval": ((34.63, 31.92, 30.41, 28.45, 0.68, -1.00), (34.63, 32.31, 30.67, 29.21, 0.68, -1.00)),
        "QAFactEval": ((46.63, 37.27, 31.66, 27.34, 0.01, -0.99), (46.63, 37.70, 32.07, 25.79, 0.01, -0.99)),
        "ClozE-R": ((70.10, 64.80, 61.00, 57.16, 18.77, -1.00), (70.10, 69.28, 69.05, 68.40, 18.77, -0.96)),
        "ClozE-B": ((48.90, 45.58, 43.14, 40.38, 7.38, -1.00), (48.90, 48.44, 47.97, 47.60, 7.38, -1.00)),
    },
    "xsum": {
        "FactCC": ((22.40, 15.59, 11.97, 11.34, 23.68, -0.92), (22.40, 13.96, 7.86, 5.67, 23.68, -0.96)),
        "SUMMAC": (
            (-33.35, -35.70, -37.13, -38.96, -43.16, -1.00),
            (-33.35, -43.58, -49.84, -54.28, -43.16, -1.00),
        ),
        "SummaQA": ((4.48, 3.80, 3.40, 3.13, 0.26, -0.99), (4.48, 4.31, 4.22, 4.14, 0.26, -1.00)),
        "FEQA": ((27.87, 23.20, 20.05, 15.81, 1.18, -1.00), (27.87, 26.94, 26.55, 26.06, 1.18, -0.99)),
        "QUALS": (
            (-141.69, -153.31, -163.81, -176.09, -330.03, -0.99),
            (-141.69, -150.59, -155.65, -159.92, -330.03, -0.99),
        ),
        "QuestEval": ((19.95, 18.14, 16.78, 14.84, 0.23, -0.99), (19.95, 17.47, 16.01, 14.44, 0.23, -1.00)),
        "QAFactEval": ((14.70, 9.79, 7.15, 5.11, 0.00, -0.99), (14.70, 9.48, 7.15, 5.11, 0.00, -0.99)),
        "ClozE-R": ((65.00, 57.94, 51.63, 47.55, 35.95, -0.99), (65.00, 64.43, 63.97, 63.09, 35.95, -0.98)),
        "ClozE-B": ((44.13, 45.58, 43.14, 40.38, 10.70, -1.00), (44.13, 48.44, 47.97, 47.60, 10.70, -1.00)),
    },
}


def paper_figures(name: str, label: str) -> dict[str, float]:
    """Return the published figures of a metric by dimension; empty for a metric that is not in the paper.

    Args:
        name: `cnndm` or `xsum`.
        label: The paper's name of the metric.
    """
    known: dict[str, float] = {}
    for family, column in zip(FAMILIES, FIGURES[name].get(label, ()), strict=False):
        for state, value in zip(STATES, column, strict=False):
            known[f"{WORDS[family]}: {state}"] = value / 100
        known[f"{WORDS[family]}: correlation"] = column[-1]
    return known
