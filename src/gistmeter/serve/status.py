"""The state of the service: `/healthz`, `/readyz`, `/metrics` and `/v1/metrics`."""

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from gistmeter.described.describe import question_of
from gistmeter.serve import counters
from gistmeter.serve.problems import Problem
from gistmeter.serve.service import SOON, Service


async def healthz(request: Request) -> Response:
    """Answer while the process lives."""
    return PlainTextResponse("ok\n")


async def readyz(request: Request) -> Response:
    """Answer 200 once all metrics are loaded."""
    if not _service(request).ready:
        raise Problem("not-ready", "the metrics are loading; try again in a few seconds", SOON)
    return PlainTextResponse("ready\n")


async def prometheus(request: Request) -> Response:
    """Return counts for Prometheus."""
    service = _service(request)
    return Response(service.counters.text(service.gauges()), media_type=counters.MEDIA_TYPE)


async def metrics(request: Request) -> Response:
    """List the metrics that are served."""
    service = _service(request)
    found = [
        {
            "metric": label,
            "question": question_of(label.partition(":")[0]),
            "ready": label in service.metrics,
            "needs": list(service.metrics[label].needs) if label in service.metrics else None,
            "signature": service.signatures[label].text if label in service.metrics else None,
        }
        for label in service.labels
    ]
    limits = service.limits
    bounds = {"rows": limits.rows, "characters": limits.characters, "body": limits.body}
    return JSONResponse({"ready": service.ready, "metrics": found, "limits": bounds})


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service
