"""`POST /v1/check`: which sentences have no support in the source, as `gistmeter check` answers."""

import json

from starlette.requests import Request
from starlette.responses import Response

from gistmeter.core.row import Row
from gistmeter.core.score import Score
from gistmeter.report.check import CheckedSentence, checked_sentences
from gistmeter.serve.bodies import JSON, json_rows, media_type, read_text
from gistmeter.serve.problems import Problem
from gistmeter.serve.query import Query
from gistmeter.serve.score import score_together
from gistmeter.serve.service import Service

METRIC = "check"


async def check(request: Request) -> Response:
    """Check the sentences of each row."""
    service: Service = request.app.state.service
    for name in request.query_params:
        raise Problem("bad-request", f"no parameter {name!r}; there is none")
    if METRIC not in service.labels:
        raise Problem("not-found", f"/v1/check needs the metric {METRIC}; start: gistmeter serve {METRIC}")
    labels = service.chosen((METRIC,))
    if media_type(request) != JSON:
        raise Problem("unsupported-type", f"send the rows as {JSON}")
    rows = json_rows(await read_text(request, service.limits), service.limits)
    scored = await score_together(request, Query(service, labels, None), rows)
    found = {
        "metric": METRIC,
        "signature": service.signatures[METRIC].text,
        "checks": [_checked(row, scores[0]) for row, scores in zip(rows, scored, strict=True)],
    }
    return Response(json.dumps(found, allow_nan=False) + "\n", media_type=JSON)


def _checked(row: Row, score: Score) -> dict[str, object]:
    return {
        "id": score.id,
        "value": None if score.problem else float(score.value),
        "problem": score.problem,
        "flags": [str(flag) for flag in score.flags],
        "sentences": [_sentence(one, row.example.candidate) for one in checked_sentences(score)],
    }


def _sentence(sentence: CheckedSentence, text: str) -> dict[str, object]:
    return {
        "start": sentence.start,
        "end": sentence.end,
        "text": text[sentence.start : sentence.end],
        "value": float(sentence.value),
        "unsupported": sentence.unsupported,
        "evidence": sentence.evidence,
        "doubt": sentence.doubt,
    }
