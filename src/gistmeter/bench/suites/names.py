"""Names of the suites, which help texts list without loading the suites."""

SUITE_NAMES = (
    "summeval",
    "factual",
    "gofigure",
    "simplification",
    "languages",
    "linguistic",
    "selective",
    "k",
    "accuracy",
    "runtime",
    "pos",
)
