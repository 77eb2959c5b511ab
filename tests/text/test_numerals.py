"""English numbers in digits and in words have one value."""

import re

import pytest

from gistmeter.text.numerals import NUMBER, number_of

FOUND = re.compile(NUMBER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,500 of 2.50", ["1500", "2.5"]),
        ("Twenty-five, thirty six and nineteen", ["25", "36", "19"]),
        ("two hundred and six, three hundred thousand two hundred", ["206", "300200"]),
        ("£2m, $ 5million, 3 million, 4bn and 5k", ["2000000", "5000000", "3000000", "4000000000", "5000"]),
        ("5 m away at 7.30pm on 12.05.2018", ["5", "7.3", "12052018"]),
        ("two three-year-olds, two and three", ["2", "3", "2", "3"]),
        ("seventeenth, someone, often, the ninetyish", []),
        ("18th of the 1980s", ["18", "1980"]),
        ("000 and 0.0", ["0", "0"]),
    ],
)
def test_numbers_are_found_and_read(text: str, expected: list[str]) -> None:
    assert [number_of(match.group()) for match in FOUND.finditer(text)] == expected
