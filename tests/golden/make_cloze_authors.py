"""Write cloze_authors.json: what the authors' code of ClozE fills in and scores, on a tiny model.

Run `git clone https://github.com/Mr-KenLee/ClozE FOLDER` (the golden file is from commit e4088ca), then
`python -m tests.golden.make_cloze_authors FOLDER`. The code runs unchanged, except that its spaCy pipeline
gets the sentence boundaries of gistmeter, and that transformers 5 has no `encode_plus`.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from gistmeter.text.factors import Pipeline, _cut, _doc
from tests.metrics.cloze.authors import EXAMPLES, GOLDEN, cloze_pipeline, read_examples, save_model


class Boundaries:
    """A spaCy pipeline that reads texts as gistmeter does: with its tokens and sentence boundaries."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.nlp = pipeline.nlp
        self.documents: set[str] = set()

    def __call__(self, text: str) -> Any:  # noqa: ANN401 - a spaCy document
        if text in self.documents:
            return self.nlp.make_doc(text)
        return next(self.nlp.pipe([_doc(self.nlp, *_cut(self.nlp, text))]))


def main(folder: str) -> None:
    """Run the authors' code and write the golden file."""
    sys.path.insert(0, folder)
    authors: Any = import_module("metric").ClozEMetric
    from transformers import PreTrainedTokenizerBase

    base: Any = PreTrainedTokenizerBase
    base.encode_plus = base.__call__
    authors.__init__.__globals__["FactualFactorExtractor"] = _Extractor
    examples = read_examples()
    with tempfile.TemporaryDirectory() as model:
        save_model(Path(model))
        metric = authors(model, use_gpu=False)
    seen = _record(metric)
    sources, candidates = [e.source or "" for e in examples], [e.candidate for e in examples]
    metric.extractor.nlp.documents.update(" ".join(filter(None, text.split(" "))) for text in sources)
    results = metric.score(sources, candidates, eval_batch_size=1, use_tqdm=False)
    rows = [
        _row(e.id, result, seen[0][at]) for at, (e, result) in enumerate(zip(examples, results, strict=True))
    ]
    facts = {
        "provenance": f"the authors' code on the rows of {EXAMPLES.name}; see {Path(__file__).name}",
        "columns": ["factor", "answer", "confidence", "score"],
        "rows": rows,
    }
    lines = json.dumps(facts, ensure_ascii=False, indent=None).replace('{"id"', '\n{"id"')
    GOLDEN.write_text(lines + "\n", encoding="utf-8")
    print(sum(len(row["factors"]) for row in rows), "factors")  # noqa: T201


class _Extractor:
    """Builds the authors' extractor around the pipeline of the test."""

    def __new__(cls, *_: object) -> Any:  # noqa: ANN401 - the authors' class
        made = object.__new__(import_module("extractor").FactualFactorExtractor)
        made.nlp = Boundaries(cloze_pipeline())
        return made


def _record(metric: Any) -> list[Any]:  # noqa: ANN401 - the authors' class
    """Keep the probabilities, which the authors' results leave out."""
    seen: list[Any] = []
    evaluate = metric.scorer.evaluate

    def keep(results: Any, *rest: Any) -> Any:  # noqa: ANN401
        seen.append(results)
        return evaluate(results, *rest)

    metric.scorer.evaluate = keep
    return seen


def _row(id: str, result: Any, seen: Any) -> dict[str, Any]:  # noqa: ANN401 - the authors' dictionaries
    factors: list[Sequence[Any]] = []
    for at, sentence in enumerate(result["infos"]["summary"]):
        for compared, sure in zip(sentence["comparision"], seen["summary"][at]["probabilities"], strict=True):
            confidence = round(sum(sure) / len(sure), 6)
            factors.append([compared["factor"], compared["answer"], confidence, round(compared["score"], 9)])
    return {"id": id, "value": round(result["score"], 9), "factors": factors}


if __name__ == "__main__":
    main(sys.argv[1])
