"""Test synthetic pairs for the entailment model: each kind, with the included pipeline."""

import json
import random
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from gistmeter.core.errors import DataError, UsageError
from gistmeter.text.factors import Pipeline, load_pipeline
from gistmeter.training.recipes.entailment import edits, syntax
from gistmeter.training.recipes.entailment.edits import Case, Edit, Edited
from gistmeter.training.recipes.entailment.filled import filled
from gistmeter.training.recipes.entailment.made import KINDS, claims_of, covered, make
from gistmeter.training.recipes.entailment.parsed import Document, Sentence, content, parse_pairs
from gistmeter.training.recipes.entailment.reported import ASSERTED, DENIED, OPEN, asserted, unasserted
from gistmeter.training.recipes.entailment.rows import Labelled
from gistmeter.training.recipes.entailment.synthetic import SyntheticData, make_rows, read_synthetic
from gistmeter.training.texts import TextPair
from tests.listed_filler import Listed

BRIDGE = TextPair(
    "The city council closed the old bridge in Hamburg on Monday. Engineers found 14 cracks in its northern "
    "pillar. Anna Keller, the mayor, criticised Peter Braun after the meeting in Bremen. The repairs may "
    "cost several million euros. The ferry will not run before April. Peter Braun left the hall in silence.",
    "The city council closed the bridge in Hamburg. Engineers found 14 cracks in a pillar. The mayor moved "
    "to Vienna in 1987.",
)
HARVEST = TextPair(
    "Farmers in Portugal lost a third of the olive harvest in 2019. The drought lasted five months. Maria "
    "Costa praised John Miller during the debate in Lisbon.",
    "The drought in Portugal lasted five months.",
)


@cache
def english() -> Pipeline:
    return load_pipeline()


@cache
def _parsed() -> tuple[Document, ...]:
    return tuple(parse_pairs([BRIDGE, HARVEST], english()))


@pytest.fixture
def bridge() -> Document:
    return _parsed()[0]


@pytest.fixture
def harvest() -> Document:
    return _parsed()[1]


def parsed(text: str) -> Sentence:
    (document,) = parse_pairs([TextPair(text, "")], english())
    return document.sentences[0]


def edited(edit: Edit, text: str, document: Document, other: Document, seed: int = 1) -> Edited | None:
    return edit(Case(parsed(text), document, other), random.Random(seed))


def all_texts(edit: Edit, text: str, document: Document, other: Document) -> set[str]:
    """Return everything an edit makes of a sentence."""
    found = (edited(edit, text, document, other, seed) for seed in range(12))
    return {one.text for one in found if one is not None}


def test_a_claim_counts_as_supported_only_with_its_names_and_numbers(bridge: Document) -> None:
    assert [claim.text for claim in claims_of(bridge)] == [
        "The city council closed the bridge in Hamburg.",
        "Engineers found 14 cracks in a pillar.",
    ]  # who moved to Vienna in 1987, the source does not say


def test_a_number_that_no_entity_holds_must_be_in_the_premise() -> None:
    claim = parsed("Interstate 85 is a highway in the western states.")
    assert covered(claim, "Interstate 85 is one highway in those western states.")
    assert not covered(claim, "Interstate 84 is one highway in those western states.")


@pytest.mark.parametrize("said", ["deal - to -", "of the", "- deal", "Ma"])
def test_what_a_filler_cannot_say_in_words_is_left_out(said: str, bridge: Document) -> None:
    names = ("Hamburg", "AnnaKeller", "PeterBraun", "theoldbridge", "themayor", "themeeting", "Bremen")
    filler = Listed(said={"source": dict.fromkeys(names, said)})
    rows = [row for seed in range(6) for row in filled([bridge], filler, random.Random(seed))]
    assert rows == []


def test_a_part_is_replaced_by_one_of_its_group_from_the_same_document(
    bridge: Document, harvest: Document
) -> None:
    text = "Anna Keller, the mayor, spoke to the press in Hamburg."
    found = all_texts(edits.same_document, text, bridge, harvest)
    assert any("Bremen" in one or "Peter Braun" in one for one in found)
    assert not any("Lisbon" in one or "Miller" in one for one in found)
    assert text not in found


def test_a_part_is_replaced_by_one_that_the_document_does_not_name(
    bridge: Document, harvest: Document
) -> None:
    text = "Anna Keller spoke to the press in Hamburg."
    found = all_texts(edits.other_document, text, bridge, harvest)
    assert any("Lisbon" in one or "Portugal" in one or "Maria Costa" in one for one in found)
    assert not any("Bremen" in one or "Braun" in one for one in found)


def test_a_number_becomes_one_that_the_source_does_not_say(bridge: Document, harvest: Document) -> None:
    found = all_texts(edits.number, "Engineers found 14 cracks in a pillar.", bridge, harvest)
    assert len(found) > 2
    for text in found:
        assert text.startswith("Engineers found ")
        assert content(text) - bridge.stems == {text.split()[2]}


def test_a_number_that_is_a_bound_stays(bridge: Document, harvest: Document) -> None:
    assert not all_texts(edits.number, "Engineers found more than 14 cracks in it.", bridge, harvest)


@pytest.mark.parametrize("text", ["1,200", "3.5", "in 1987", "two", "the second", "40 million"])
def test_other_numbers_look_alike_and_differ(text: str) -> None:
    for seed in range(20):
        found = edits.other_number(text, random.Random(seed))
        assert found is not None
        assert found != text
        assert ("." in found) == ("." in text)
    assert edits.other_number("nobody", random.Random(1)) is None


def test_a_modal_and_a_quantifier_grow_stronger(bridge: Document, harvest: Document) -> None:
    found = all_texts(edits.quantity, "The repairs may cost several million euros.", bridge, harvest)
    assert "The repairs will cost several million euros." in found
    assert not all_texts(edits.quantity, "The repairs will cost money this year.", bridge, harvest)


def test_a_word_becomes_its_opposite(bridge: Document, harvest: Document) -> None:
    found = all_texts(edits.antonym, "The council closed the bridge in Hamburg.", bridge, harvest)
    assert found == {"The council opened the bridge in Hamburg."}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The ferry will run in April.", "The ferry will not run in April."),
        ("The ferry will not run in April.", "The ferry will run in April."),
        ("The ferry won't run in April.", "The ferry will run in April."),
        ("the ferry ca n't run in april .", "the ferry can run in april ."),
        ("The council closed the old bridge.", "The council did not close the old bridge."),
        ("The mayor criticised Peter Braun.", "The mayor never criticised Peter Braun."),
        ("The bridge is old.", "The bridge is not old."),
    ],
)
def test_negation_is_added_or_removed(bridge: Document, harvest: Document, text: str, wanted: str) -> None:
    found = edited(syntax.negation, text, bridge, harvest)
    assert found is not None
    assert found.text == wanted
    assert found.opposite


def test_what_negation_would_deny_must_be_clear(bridge: Document, harvest: Document) -> None:
    assert edited(syntax.negation, "The council only closed the bridge.", bridge, harvest) is None


def test_two_sentences_are_spliced(bridge: Document, harvest: Document) -> None:
    assert all_texts(syntax.splice, "Peter Braun sold the company last year.", bridge, harvest) == {
        "Anna Keller, the mayor, sold the company last year."
    }


def test_roles_are_exchanged(bridge: Document, harvest: Document) -> None:
    text = "Maria Costa praised John Miller during the debate in Lisbon."
    found = edited(syntax.roles, text, bridge, harvest)
    assert found is not None
    assert found.text == "John Miller praised Maria Costa during the debate in Lisbon."
    assert edited(syntax.roles, "Maria Costa met John Miller during the debate.", bridge, harvest) is None


def test_a_sentence_is_reduced(bridge: Document, harvest: Document) -> None:
    found = edited(syntax.reduced, "In March, the council closed the old bridge.", bridge, harvest)
    assert found is not None
    assert found.text == "The council closed the old bridge."


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "filler"])
def test_each_kind_is_made_with_its_label(kind: str, bridge: Document, harvest: Document) -> None:
    found = [*made(kind, bridge, harvest), *made(kind, harvest, bridge)]
    assert found
    right = kind in ("supported", "copied", "reduced", "echoed", "asserted")
    for row in found:
        assert (row.allowed == (0, 1, 2)) == (kind == "unlabeled")
        assert row.set == f"synthetic/{kind}"
        assert (row.allowed == (0,)) == right
        assert row.allowed == (2,) or kind != "negation"


def test_summary_sentences_without_a_label_are_made_on_request() -> None:
    options = SyntheticData(rows=5, other_rows={"copied": 2})
    assert options.wanted(options.rows, options.other_rows)["unlabeled"] == 0
    assert options.wanted(5, {"unlabeled": 7, "asserted": 3}) == {
        **dict.fromkeys([kind for kind in KINDS if kind not in ("filler", "unasserted")], 5),
        "unlabeled": 7,
        "asserted": 3,
        "unasserted": 0,
    }


def made(kind: str, document: Document, other: Document) -> list[Labelled]:
    rows = (make(kind, document, other, random.Random(seed)) for seed in range(15))
    return [row for row in rows if row is not None]


SAID = "The council said that the old bridge will close in the summer."
CLAIM = "The old bridge will close in the summer."


def test_what_a_sentence_reports_is_supported_and_a_denied_report_is_not() -> None:
    sentence = parsed(SAID)
    found = {asserted(sentence, random.Random(seed)) for seed in range(40)}
    assert {(one.claim, one.label) for one in found if one and one.evidence == SAID} == {(CLAIM, "supported")}
    swapped = [unasserted(sentence, random.Random(seed)) for seed in range(60)]
    reports = {one.evidence: one.label for one in swapped if one is not None and one.claim == CLAIM}
    assert reports["The council denied that the old bridge will close in the summer."] == "refuted"
    assert (
        reports["The council refused to say whether the old bridge will close in the summer."]
        == "not_supported"
    )
    assert len(reports) == 7


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The old bridge will close in the summer, the council said.", CLAIM),
        ("The council has said that the old bridge will close in the summer.", None),
        ("The council never said that the old bridge will close in the summer.", None),
        ("The council said so in a short letter.", None),
    ],
)
def test_a_report_is_read_only_where_it_asserts(text: str, claim: str | None) -> None:
    found = (asserted(parsed(text), random.Random(seed)) for seed in range(12))
    assert {one.claim for one in found if one is not None} == {text, claim} - {None}
    denied = (unasserted(parsed(text), random.Random(seed)) for seed in range(12))
    assert {one.claim for one in denied if one is not None} == {text}


def test_frames_read_well(bridge: Document) -> None:
    sentence = bridge.sentences[1]
    texts = [one for seed in range(200) if (one := asserted(sentence, random.Random(seed))) is not None]
    texts += [one for seed in range(200) if (one := unasserted(sentence, random.Random(seed))) is not None]
    evidence = {one.evidence for one in texts}
    assert any(
        one.endswith(" said that engineers found 14 cracks in its northern pillar.") for one in evidence
    )
    assert "Reports that engineers found 14 cracks in its northern pillar are false." in evidence
    assert any(re.fullmatch("If engineers found .* pillar, [a-z ]+ will respond.", one) for one in evidence)
    assert all(one[0].isupper() and one.count(".") == 1 for one in evidence)
    assert all("{it}" in frame for frame in (*ASSERTED, *DENIED, *OPEN))


@pytest.mark.parametrize(
    "text", ["And the old bridge will close soon.", "However, the bridge is closed now."]
)
def test_a_sentence_that_continues_another_is_not_reported(text: str) -> None:
    assert asserted(parsed(text), random.Random(1)) is None
    assert unasserted(parsed(text), random.Random(1)) is None


def test_removed_evidence_is_gone(bridge: Document, harvest: Document) -> None:
    for row in made("removed", bridge, harvest):
        assert len(content(row.hypothesis) & content(row.premise)) < 0.6 * len(content(row.hypothesis))


def test_reversed_pairs_edit_the_evidence_and_echoed_ones_both(bridge: Document, harvest: Document) -> None:
    for row in made("reversed", bridge, harvest):
        assert row.hypothesis in BRIDGE.source
        assert row.hypothesis not in row.premise
    for row in made("echoed", bridge, harvest):
        assert row.hypothesis not in BRIDGE.source
        assert row.hypothesis in row.premise


def test_a_filler_that_has_not_read_the_document(bridge: Document) -> None:
    filler = Listed(said={"source": {"Hamburg": "Madrid", "AnnaKeller": "Bremen", "PeterBraun": "of the"}})
    rows = [row for seed in range(20) for row in filled([bridge], filler, random.Random(seed))]
    assert rows
    for row in rows:
        assert row.set == "synthetic/filler"
        assert row.allowed == (1, 2)
        assert "Madrid" in row.hypothesis  # the document says Bremen elsewhere, and "of the" says nothing


def test_rows_repeat_with_a_seed_and_come_in_the_number_asked_for() -> None:
    wanted = {"copied": 2, "same-document": 1}
    rows = make_rows([BRIDGE, HARVEST], wanted, english(), seed=3)
    assert Counter(row.set for row in rows) == {"synthetic/copied": 2, "synthetic/same-document": 1}
    assert rows == make_rows([BRIDGE, HARVEST], wanted, english(), seed=3)


def test_a_kind_that_the_texts_do_not_offer_is_an_error() -> None:
    with pytest.raises(DataError, match="of the kind roles"):
        make_rows([TextPair("It rains.", "It rains.")], {"roles": 1}, english())


def test_a_recipe_asks_for_kinds(tmp_path: Path) -> None:
    """Documents are held out by a hash of their text; each side has its own."""
    pairs = [TextPair(f"{BRIDGE.source} It was day {at}.", BRIDGE.candidate) for at in range(8)]
    rows = [json.dumps({"source": pair.source, "candidate": pair.candidate}) for pair in pairs]
    (tmp_path / "pairs.jsonl").write_text("\n".join(rows), encoding="utf-8")
    none = dict.fromkeys(KINDS, 0)
    given = {"sets": [{"file": "pairs.jsonl"}], "other_rows": {**none, "copied": 3}, "held_out": 0}
    training, validation = read_synthetic(tmp_path, given, parts=2)
    assert [row.set for row in training] == ["synthetic/copied"] * 3
    assert validation == []
    with pytest.raises(UsageError, match="unknown kind 'lies'"):
        read_synthetic(tmp_path, {**given, "other_rows": {"lies": 1}}, parts=2)
    with pytest.raises(UsageError, match="rows=-1"):
        read_synthetic(tmp_path, {**given, "rows": -1}, parts=2)
