"""Test which sentences the source denies, on pairs written for it."""

import pytest

from gistmeter.core.example import Example
from gistmeter.metrics.baselines.denials import Denials
from gistmeter.text.factors import load_pipeline

METRIC = Denials(load_pipeline("en", selection="noun"))
# A source, a sentence that it denies, and one that it supports.
PAIRS = [
    ("Officials denied on Monday that the steel plant in Torvik will close next year. The union had asked.",
     "The steel plant in Torvik will close next year.",
     "Officials said the steel plant in Torvik will not close next year."),
    ("The minister rejected claims that she had taken money from the company.",
     "The minister took money from the company.",
     "The minister denies having taken money from the company."),
    ("Rumours that the singer Mara Lind had cancelled her tour are false, her agent said. It begins in June.",
     "The singer Mara Lind has cancelled her tour.",
     "Mara Lind's tour will begin in June as planned."),
    ("The court did not find that the driver was drunk. He was fined for speeding.",
     "The court found that the driver was drunk.",
     "The driver was fined for speeding."),
    ("The council failed to repair the bridge before winter. Traffic uses the northern road.",
     "The council repaired the bridge before winter.",
     "The council did not repair the bridge before winter."),
    ("There is no sign that the virus has spread to other farms, vets said on Tuesday.",
     "The virus has spread to other farms.",
     "Vets see no sign of the virus on other farms."),
    ("The ministry ruled out raising the retirement age before the election.",
     "The ministry will raise the retirement age before the election.",
     "The ministry will leave the retirement age alone before the election."),
    ("Nobody was injured when the crane fell on the market.",
     "People were injured when the crane fell on the market.",
     "The crane fell on the market without injuring anyone."),
    ("Neither the coach nor the captain attended the press conference.",
     "The coach attended the press conference.",
     "The coach missed the press conference."),
    ("The bridge, which was not damaged by the flood, will reopen to traffic tomorrow.",
     "The bridge was damaged by the flood.",
     "The bridge will reopen to traffic tomorrow."),
    ("He is unlikely to play on Saturday, the doctor said.",
     "He will play on Saturday.",
     "He will probably miss Saturday's game."),
    ("The committee decided to extend the lease.",
     "The committee decided not to extend the lease.",
     "The committee extended the lease."),
]  # fmt: skip
# A source, and a sentence that it does not deny, or not certainly.
NOT_DENIED = [
    ("The festival will not take place in July but in August.", "The festival will take place in August."),
    ("The new rules do not only affect drivers.", "The new rules affect drivers."),
    ("The mayor did not resign because of the scandal.", "The mayor resigned."),
    ("The guard did not know that the bank had closed.", "The bank had closed."),
    ("He did not see the man who won the race.", "The man won the race."),
    ("There is no doubt that the bridge will close.", "The bridge will close."),
    ("Officials denied that the pool will close. On Friday the council voted that the pool will close.",
     "The pool will close."),
    ("Critics asked whether or not the modified food was safe.", "The modified food was safe."),
    ("No, she said, the pool will close.", "The pool will close."),
    ("The pool will not close.", "The pool will not close."),
]  # fmt: skip


def value(source: str, candidate: str) -> float:
    return METRIC.score([Example("1", candidate, source=source)])[0].value


@pytest.mark.parametrize(("source", "denied", "supported"), PAIRS)
def test_a_denied_sentence_is_told_from_a_supported_one(source: str, denied: str, supported: str) -> None:
    assert (value(source, denied), value(source, supported)) == (0.0, 1.0)


@pytest.mark.parametrize(("source", "candidate"), NOT_DENIED)
def test_what_may_be_true_is_not_denied(source: str, candidate: str) -> None:
    assert value(source, candidate) == 1.0


def test_the_note_names_the_words_and_the_sentence() -> None:
    source = "Rain fell. Officials denied that the ferry sank off Malta."
    [score] = METRIC.score([Example("1", "Rain fell. The ferry sank off Malta.", source=source)])
    assert score.value == 0.5 and score.parts == {"sentences": 2.0, "denied": 1.0}
    first, second = score.spans
    assert not first.note
    assert second.note == (
        "“sank” is denied in the source (“denied”): Officials denied that the ferry sank off Malta."
    )
    [back] = METRIC.score(
        [Example("1", "The ferry never sank off Malta.", "The ferry sank off Malta on Friday.")]
    )
    assert back.spans[0].note.startswith("“sank” is not denied in the source: ")
