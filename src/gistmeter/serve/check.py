"""`POST /v1/check`: facts that contradict the source, as the pytest fixture `gistmeter_check` finds them."""

import json

from starlette.requests import Request
from starlette.responses import Response

from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.serve.bodies import JSON, json_rows, media_type, read_text
from gistmeter.serve.problems import Problem
from gistmeter.serve.query import Query
from gistmeter.serve.score import score_together
from gistmeter.serve.service import Service

METRIC = "cloze"
CONFIDENCE = 0.9


async def check(request: Request) -> Response:
    """List, for each row, the facts for which the model that reads the source is sure of other words."""
    service: Service = request.app.state.service
    confidence = _confidence(request)
    service.chosen(())  # the metrics are ready
    label = next((label for label, metric in service.metrics.items() if metric.name == METRIC), None)
    if label is None:
        raise Problem("not-found", f"/v1/check needs the metric {METRIC}; start: gistmeter serve {METRIC}")
    if media_type(request) != JSON:
        raise Problem("unsupported-type", f"send the rows as {JSON}")
    rows = json_rows(await read_text(request, service.limits))
    scored = await score_together(request, Query(service, (label,), None), rows)
    found = {
        "metric": label,
        "signature": service.signatures[label].text,
        "confidence": confidence,
        "checks": [_checked(row, scores[0], confidence) for row, scores in zip(rows, scored, strict=True)],
    }
    return Response(json.dumps(found, allow_nan=False) + "\n", media_type=JSON)


def _checked(row: Row, score: Score, confidence: float) -> dict[str, object]:
    from gistmeter.metrics.cloze.explain import corrections

    text = row.example.candidate
    return {
        "id": score.id,
        "value": None if score.problem else float(score.value),
        "problem": score.problem,
        "unsupported": [
            {
                "start": span.start,
                "end": span.end,
                "text": text[span.start : span.end],
                "answer": answer.text,
                "confidence": answer.confidence,
            }
            for span, answer in corrections(score, confidence)
        ],
    }


def _confidence(request: Request) -> float:
    for name in request.query_params:
        if name != "confidence":
            raise Problem("bad-request", f"no parameter {name!r}; there is: confidence")
    text = request.query_params.get("confidence", str(CONFIDENCE))
    try:
        confidence = float(text)
    except ValueError:
        confidence = -1.0
    if not 0 <= confidence <= 1:
        raise Problem("bad-request", f"confidence={text[:20]}: give a number from 0 to 1")
    return confidence
