"""Gates that a run of scores passes or fails: as text, and as JUnit XML for build servers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from gistmeter.report.plain import plain

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition on the scores of a metric.

    Args:
        name: What must be true, such as "cloze >= 0.4".
        passed: Whether it is.
        said: What was measured, in one line.
        worst: With a failed gate, a line a row: those that pulled it down most.
    """

    name: str
    passed: bool
    said: str
    worst: tuple[str, ...] = ()


def gates_text(gates: Sequence[Gate]) -> str:
    r"""Lay out gates: a line each, and the worst rows of those that failed.

    >>> print(gates_text([Gate("cloze >= 0.4", False, "mean 0.312 of 2 rows", ("0.1  a",))]), end="")
    gate failed: cloze >= 0.4: mean 0.312 of 2 rows
      0.1  a
    """
    lines = []
    for gate in gates:
        lines.append(f"gate {'passed' if gate.passed else 'failed'}: {plain(gate.name)}: {plain(gate.said)}")
        lines += [f"  {plain(row, 110)}" for row in gate.worst]
    return "\n".join(lines) + "\n"


def junit_xml(gates: Sequence[Gate]) -> bytes:
    """Return gates as a JUnit file: a test case a gate."""
    failures = sum(not gate.passed for gate in gates)
    counts = {"tests": str(len(gates)), "failures": str(failures), "errors": "0"}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "gistmeter", **counts})
    for gate in gates:
        case = {"classname": "gistmeter.gates", "name": _clean(gate.name)}
        element = ElementTree.SubElement(suite, "testcase", case)
        if gate.passed:
            ElementTree.SubElement(element, "system-out").text = _clean(gate.said)
        else:
            failure = ElementTree.SubElement(element, "failure", {"message": _clean(gate.said)})
            failure.text = "\n".join(map(_clean, gate.worst))
    ElementTree.indent(suites)
    written: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _clean(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)
