"""Cases of SPEED's tables 1 to 8 (Akula and Garibay, 2022)."""

from gistmeter.bench.suites.tables import Case, figures

ORDER = "coherence consistency fluency relevance"
SYSTEMS = {
    1: ("11-references", "11 references"),
    2: ("1-reference", "1 reference"),
    4: ("abstractive", "Abstractive systems, 11 references"),
    5: ("extractive", "Extractive systems, 11 references"),
}
"""Table number → variant of SummEval, and title."""
LINES: dict[str, tuple[str, str]] = {
    "BERTScore-p": ("bertscore", "precision"),
    "BERTScore-r": ("bertscore", "recall"),
    "BERTScore-f": ("bertscore", "f1"),
    "BLEU": ("bleu", "value"),
    "ROUGE-1": ("rouge", "rouge1_f1"),
    "ROUGE-2": ("rouge", "rouge2_f1"),
    "ROUGE-3": ("rouge", "rouge3_f1"),
    "METEOR": ("meteor:synonyms=wordnet", "value"),
    "METEOR without synonyms": ("meteor", "value"),
    "MoverScore": ("moverscore", "value"),
    "SMS": ("sms", "value"),
    "SPEED": ("speed", "value"),
    "SPEED, best reference": ("speed:references=max", "value"),
}
FIGURES: dict[int, dict[str, tuple[float, float, float, float]]] = {
    1: {
        "BERTScore-p": (0.14, 0.15, 0.20, 0.19),
        "BERTScore-r": (0.17, 0.21, 0.16, 0.35),
        "BERTScore-f": (0.18, 0.20, 0.21, 0.32),
        "BLEU": (0.22, 0.17, 0.14, 0.35),
        "ROUGE-1": (0.20, 0.18, 0.15, 0.35),
        "ROUGE-2": (0.15, 0.16, 0.10, 0.27),
        "ROUGE-3": (0.16, 0.16, 0.09, 0.26),
        "ROUGE-we-1": (0.20, 0.18, 0.15, 0.35),
        "ROUGE-we-2": (0.15, 0.13, 0.09, 0.29),
        "ROUGE-we-3": (0.13, 0.10, 0.05, 0.26),
        "S3-pyr": (0.16, 0.16, 0.08, 0.34),
        "S3-resp": (0.16, 0.16, 0.08, 0.32),
        "METEOR": (0.03, 0.03, 0.07, -0.01),
        "MoverScore": (0.21, 0.19, 0.20, 0.31),
        "SMS": (0.18, 0.18, 0.17, 0.27),
        "SPEED": (0.23, 0.25, 0.27, 0.32),
    },
    2: {
        "BERTScore-p": (0.11, 0.11, 0.15, 0.21),
        "BERTScore-r": (0.17, 0.18, 0.14, 0.33),
        "BERTScore-f": (0.15, 0.16, 0.16, 0.30),
        "BLEU": (0.03, 0.05, 0.06, 0.04),
        "ROUGE-1": (0.19, 0.18, 0.13, 0.33),
        "ROUGE-2": (0.14, 0.14, 0.10, 0.24),
        "ROUGE-3": (0.13, 0.12, 0.08, 0.21),
        "ROUGE-we-1": (0.18, 0.18, 0.13, 0.33),
        "ROUGE-we-2": (0.14, 0.12, 0.10, 0.26),
        "ROUGE-we-3": (0.13, 0.10, 0.08, 0.24),
        "S3-pyr": (0.15, 0.17, 0.10, 0.32),
        "S3-resp": (0.15, 0.16, 0.09, 0.29),
        "METEOR": (0.15, 0.18, 0.11, 0.33),
        "MoverScore": (0.14, 0.16, 0.13, 0.28),
        "SMS": (0.16, 0.17, 0.14, 0.24),
        "SPEED": (0.17, 0.24, 0.26, 0.29),
    },
    4: {
        "BERTScore-p": (0.21, 0.22, 0.27, 0.24),
        "BERTScore-r": (0.13, 0.19, 0.14, 0.34),
        "BERTScore-f": (0.20, 0.23, 0.24, 0.33),
        "BLEU": (0.22, 0.17, 0.13, 0.36),
        "ROUGE-1": (0.21, 0.19, 0.15, 0.37),
        "ROUGE-2": (0.16, 0.16, 0.10, 0.27),
        "ROUGE-3": (0.17, 0.16, 0.09, 0.26),
        "ROUGE-we-1": (0.21, 0.19, 0.16, 0.37),
        "ROUGE-we-2": (0.15, 0.13, 0.08, 0.29),
        "ROUGE-we-3": (0.13, 0.10, 0.05, 0.26),
        "S3-pyr": (0.12, 0.12, 0.02, 0.33),
        "S3-resp": (0.12, 0.12, 0.03, 0.31),
        "METEOR": (0.08, 0.10, 0.14, 0.05),
        "MoverScore": (0.23, 0.23, 0.24, 0.34),
        "SMS": (0.20, 0.21, 0.20, 0.30),
        "SPEED": (0.24, 0.25, 0.27, 0.31),
    },
    5: {
        "BERTScore-p": (-0.01, 0.04, 0.02, 0.17),
        "BERTScore-r": (0.25, 0.00, 0.06, 0.25),
        "BERTScore-f": (0.10, 0.03, 0.02, 0.25),
        "BLEU": (0.16, -0.01, 0.07, 0.24),
        "ROUGE-1": (0.14, -0.03, 0.03, 0.23),
        "ROUGE-2": (0.09, -0.07, -0.01, 0.18),
        "ROUGE-3": (0.09, -0.07, -0.02, 0.19),
        "ROUGE-we-1": (0.14, -0.03, 0.02, 0.23),
        "ROUGE-we-2": (0.12, -0.06, 0.00, 0.22),
        "ROUGE-we-3": (0.08, -0.09, -0.01, 0.20),
        "S3-pyr": (0.20, -0.05, 0.07, 0.28),
        "S3-resp": (0.18, -0.05, 0.05, 0.25),
        "METEOR": (-0.07, -0.01, -0.07, -0.10),
        "MoverScore": (0.15, 0.04, 0.04, 0.24),
        "SMS": (0.10, 0.00, 0.02, 0.19),
        "SPEED": (0.12, 0.10, 0.19, 0.30),
    },
}
ONE_MODEL = "one small model (MiniLM) in place of four large ones"
WORD_MODELS = {
    "bert-base-uncased": (0.02, 0.11, 0.15, -0.02),
    "roberta-base": (0.01, 0.05, 0.19, 0.07),
    "roberta-large": (-0.05, 0.03, 0.06, 0.01),
    "distilroberta-base": (-0.01, -0.06, 0.12, -0.01),
    "xlm-roberta-base": (0.06, -0.04, -0.01, 0.03),
    "dslim/bert-base-NER-uncased": (-0.01, 0.08, 0.13, 0.04),
}
SENTENCE_MODELS = {
    "sentence-transformers/paraphrase-xlm-r-multilingual-v1": (0.15, 0.16, 0.12, 0.23),
    "sentence-transformers/paraphrase-distilroberta-base-v1": (0.16, 0.15, 0.12, 0.23),
    "cross-encoder/stsb-roberta-large": (0.12, 0.18, 0.35, 0.17),
    "cross-encoder/stsb-distilroberta-base": (0.10, 0.15, 0.25, 0.16),
    "sentence-transformers/nli-roberta-large": (0.23, 0.20, 0.15, 0.30),
    "sentence-transformers/bert-base-nli-max-tokens": (0.22, 0.18, 0.12, 0.30),
    "cross-encoder/ms-marco-TinyBERT-L-2": (0.15, 0.21, 0.22, 0.23),
    "sentence-transformers/msmarco-roberta-base-v2": (0.11, 0.14, 0.12, 0.17),
}
BEST = ",".join(name for at, name in enumerate(SENTENCE_MODELS) if at in (1, 2, 4, 6))
"""One model per task: those in bold in table 6."""
PAIRS = {
    "Ensemble-PD": ((0, 1), (0.16, 0.16, 0.12, 0.23)),
    "Ensemble-STS": ((2, 3), (0.12, 0.19, 0.35, 0.19)),
    "Ensemble-NLI": ((4, 5), (0.24, 0.19, 0.14, 0.31)),
    "Ensemble-PR": ((6, 7), (0.12, 0.17, 0.14, 0.19)),
}


def cases_of_table(number: int) -> tuple[Case, ...]:
    """Return the cases of table 1, 2, 4 or 5."""
    known = FIGURES[number]
    ours = [_line(label, known) for label in LINES]
    theirs = [Case(label, None, paper=figures(ORDER, *known[label])) for label in known if label not in LINES]
    return (*theirs, *ours)


def _line(label: str, known: dict[str, tuple[float, float, float, float]]) -> Case:
    metric, part = LINES[label]
    note = ONE_MODEL if label == "SPEED" else ""
    return Case(label, metric, part, figures(ORDER, *known[label]) if label in known else {}, note=note)


def _models(known: dict[str, tuple[float, float, float, float]]) -> tuple[Case, ...]:
    return tuple(
        Case(model.rpartition("/")[2], "speed", paper=figures(ORDER, *values), model=model)
        for model, values in known.items()
    )


def _ensembles() -> tuple[Case, ...]:
    names = list(SENTENCE_MODELS)
    pairs = (
        Case(label, "speed", paper=figures(ORDER, *values), model=",".join(names[at] for at in members))
        for label, (members, values) in PAIRS.items()
    )
    every = Case("Ensemble-ALL", "speed", paper=figures(ORDER, 0.21, 0.23, 0.22, 0.30), model=",".join(names))
    best = Case("Ensemble-BEST", "speed", paper=figures(ORDER, 0.23, 0.25, 0.27, 0.31), model=BEST)
    return (*_models(SENTENCE_MODELS), *pairs, every, best, Case("MiniLM (included)", "speed"))


ENSEMBLES: dict[str, tuple[Case, ...]] = {
    "Word-level models (SPEED, table 3)": _models(WORD_MODELS),
    "Sentence-pair models and ensembles (SPEED, table 6)": _ensembles(),
    "Averaging versus max-voting (SPEED, table 7)": (
        Case("Averaging", "speed", paper=figures(ORDER, 0.23, 0.25, 0.27, 0.31), model=BEST),
        Case("Max-voting", "speed:ensemble=max", paper=figures(ORDER, 0.15, 0.22, 0.36, 0.21), model=BEST),
    ),
    "Maximum versus optimal matching (SPEED, table 8)": (
        Case("Maximum", "speed", paper=figures(ORDER, 0.23, 0.25, 0.27, 0.31), note=ONE_MODEL),
        Case("Optimal", "speed:match=optimal", paper=figures(ORDER, 0.22, 0.20, 0.23, 0.34), note=ONE_MODEL),
        Case(
            "Optimal, over the longer text",
            "speed:match=optimal,norm=max",
            note="SPEED does not specify the denominator",
        ),
    ),
}
