"""Test where evidence is found: by its position or quotation in a note, otherwise by shared words."""

import pytest

from gistmeter.core.example import Example
from gistmeter.core.score import Span
from gistmeter.report.check import DOUBT
from gistmeter.report.evidence import Evidence

EXAMPLE = Example(
    candidate="Rain fell on Oslo in 1968, not in Bergen.",
    source="In Oslo it rained. Oslo, 1968. Oslolo. OSLO again. Oslo once more.",
    references=["Wet.", "It rained in Oslo."],
)


def found(start: int, end: int, note: str, side: str = "candidate", index: int = 0) -> list[str]:
    span = Span(side, start, end, 0.1, 1.0, note, index)  # type: ignore[arg-type]  # of a parameter
    texts = {(side, index): text for side, index, text in EXAMPLE.texts()}
    return [
        f"{place.side} {place.index} {place.start} {texts[place.side, place.index][place.start : place.end]}"
        for place in Evidence(EXAMPLE).of(span)
    ]


@pytest.mark.parametrize(
    ("note", "places"),
    [
        ("source 3:7", ["source 0 3 Oslo"]),
        ("source 3:700", []),
        ("reference 1 3:9", ["reference 1 3 rained"]),
        ("reference 7 3:9", []),
        ("reference 0: Wet.", ["reference 0 0 Wet."]),
        ("source: It never rained.", []),
        (f"source: In Oslo it rained.{DOUBT}“1968”, filled in: 1969", ["source 0 0 In Oslo it rained."]),
        (
            "→ Oslo (confidence .83)",
            ["source 0 3 Oslo", "source 0 19 Oslo", "source 0 39 OSLO", "reference 1 13 Oslo"],
        ),
        ("1968", ["source 0 25 1968"]),
        ("it", ["source 0 25 1968"]),  # too short to tell anything: the span's own words are looked for
        ("nobody", ["source 0 25 1968"]),
    ],
)  # fmt: skip
def test_a_note_leads_to_its_evidence(note: str, places: list[str]) -> None:
    assert found(21, 25, note) == places


def test_words_of_the_source_are_looked_for_in_the_candidate() -> None:
    assert found(3, 7, "", side="source") == ["candidate 0 13 Oslo"]
    assert found(34, 40, "") == [], "Bergen is in no other text"


def test_a_text_whose_lower_case_is_longer_keeps_its_offsets() -> None:
    example = Example(candidate="Oslo.", source="İİİ Oslo.")
    assert [place.start for place in Evidence(example).of(Span("candidate", 0, 4, 0.1))] in ([], [4])
