"""JSON schemas of what goes in and comes out; `tests/serve` checks real answers against them."""

from typing import Any

from gistmeter.report.check import UNSUPPORTED

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": ["number", "null"]}
LABEL: Schema = {"type": ["string", "number", "null"]}
OPTIONAL_TEXT: Schema = {"type": ["string", "null"]}
OFFSET: Schema = {"type": "integer", "minimum": 0}


def ref(name: str) -> Schema:
    """Return a reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def some(schema: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def record(properties: dict[str, Schema], *, required: tuple[str, ...] | None = None) -> Schema:
    """Return the schema of an object; all its members are required unless told otherwise."""
    needed = list(properties if required is None else required)
    return {"type": "object", "properties": properties, "required": needed}


SCHEMAS: dict[str, Schema] = {
    "Row": record(
        {
            "id": LABEL | {"description": "Returned with the scores; by default, the number of the row."},
            "candidate": TEXT | {"description": "The summary or simplification to score."},
            "source": OPTIONAL_TEXT | {"description": "The text that the candidate is made from."},
            "references": {
                "type": ["array", "string", "null"],
                "items": TEXT,
                "description": "Summaries or simplifications that people wrote.",
            },
            "system": LABEL,
            "doc_id": LABEL,
            "language": OPTIONAL_TEXT
            | {"description": "A tag such as fr; a metric that does not score it returns a problem."},
        },
        required=("candidate",),
    ),
    "Span": record(
        {
            "side": {"enum": ["candidate", "source", "reference"]},
            "start": OFFSET | {"description": "Offset of the first character (Unicode code point)."},
            "end": OFFSET | {"description": "Offset after the last character."},
            "value": NUMBER,
            "weight": NUMBER,
            "note": TEXT | {"description": "What the metric says of the span."},
            "index": OFFSET | {"description": "Which reference, counted from 0."},
        },
        required=("side", "start", "end", "value", "weight", "note"),
    ),
    "Flag": record(
        {"name": TEXT, "side": TEXT, "kept": OFFSET, "total": OFFSET, "index": OFFSET}, required=("name",)
    ),
    "Score": record(
        {
            "id": TEXT,
            "metric": TEXT,
            "value": NUMBER | {"description": "null exactly when there is a problem"},
            "parts": {"type": "object", "additionalProperties": NUMBER},
            "spans": some(ref("Span")),
            "flags": some(ref("Flag")),
            "problem": OPTIONAL_TEXT | {"description": "Why there is no value."},
            "signature": TEXT | {"description": "What decides the number: compare only equal signatures."},
            "system": OPTIONAL_TEXT,
            "doc_id": OPTIONAL_TEXT,
        }
    ),
    "Scores": record({"scores": some(ref("Score"))}),
    "Check": record(
        {
            "id": TEXT,
            "value": NUMBER
            | {"description": "The support of the text, from 0 to 1: the geometric mean of its sentences."},
            "problem": OPTIONAL_TEXT | {"description": "Why there is no value."},
            "flags": some(TEXT),
            "sentences": some(ref("Sentence")),
        }
    ),
    "Sentence": record(
        {
            "start": OFFSET | {"description": "Offset of the first character (Unicode code point)."},
            "end": OFFSET | {"description": "Offset after the last character."},
            "text": TEXT,
            "value": {
                "type": "number",
                "description": "The support of the sentence, from 0 to 1; an unsupported one is below 0.5.",
            },
            "unsupported": {"type": "boolean", "description": f"Whether the value is below {UNSUPPORTED}."},
            "evidence": TEXT | {"description": "The closest sentence of the source."},
            "doubt": OPTIONAL_TEXT | {"description": "The fact that is most in doubt, if it has no support."},
        }
    ),
    "Checks": record({"metric": TEXT, "signature": TEXT, "checks": some(ref("Check"))}),
    "Metrics": record(
        {
            "ready": {"type": "boolean"},
            "metrics": some(
                record(
                    {
                        "metric": TEXT,
                        "question": OPTIONAL_TEXT,
                        "ready": {"type": "boolean"},
                        "needs": {"type": ["array", "null"], "items": TEXT},
                        "signature": OPTIONAL_TEXT,
                    }
                )
            ),
            "limits": record(dict.fromkeys(("rows", "characters", "body"), OFFSET)),
        }
    ),
    "Problem": record({"type": TEXT, "title": TEXT, "status": {"type": "integer"}, "detail": TEXT}),
}
