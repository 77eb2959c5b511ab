"""Training data of SUM-QE: synthetic corruptions, and DUC in NIST's layout."""

import json
import random
from pathlib import Path

import pytest

from gistmeter.core.errors import DataError
from gistmeter.metrics.sumqe.qualities import QUALITIES
from gistmeter.metrics.sumqe.training.corrupt import DOSES, Base, corrupt, system_style
from gistmeter.metrics.sumqe.training.corrupt_words import broken, mentions_of, pronoun_for
from gistmeter.metrics.sumqe.training.duc import read_duc
from gistmeter.metrics.sumqe.training.rows import Rated, read_set
from gistmeter.metrics.sumqe.training.synthetic import HIDES, Clean, read_clean, synthetic_row, synthetic_rows

TEXT = (
    "Anna Berg opened the new bridge in May.",
    "The mayor was proud of it.",
    "Engineers had found cracks in the old one.",
    "It will carry 900 cars a day.",
    "Trucks must take the ferry.",
)
OTHER = ("Rain fell on the hills.", "Farmers were glad.")


def base(sentences: tuple[str, ...] = TEXT, document: str = "bridge") -> Base:
    return Base(document, sentences, tuple(map(mentions_of, sentences)))


CLEAN = [Clean(base(), frozenset()), Clean(base(OTHER, "rain"), frozenset({"coherence"}))]


def other(rng: random.Random) -> str:
    return rng.choice(OTHER)


@pytest.mark.parametrize("quality", QUALITIES)
def test_more_damage_with_the_dose(quality: str) -> None:
    shares = []
    for dose in range(DOSES + 1):
        found = [corrupt(base(), quality, dose, other, random.Random(seed)) for seed in range(40)]
        assert all(one is not None for one in found)
        texts = [one.sentences for one in found if one is not None]
        assert all((list(text) == list(TEXT)) == (dose == 0) for text in texts), "the damage shows"
        shares.append(sum(one.share for one in found if one is not None) / 40)
    assert shares[0] == 0 and shares == sorted(shares) and shares[-1] > 0.6
    again = corrupt(base(), quality, 3, other, random.Random(5))
    assert again == corrupt(base(), quality, 3, other, random.Random(5))


def test_each_damage_is_of_its_own_kind() -> None:
    for seed in range(30):
        rng = random.Random(seed)
        shuffled = corrupt(base(), "coherence", 4, other, rng)
        assert shuffled is not None and sorted(shuffled.sentences) == sorted(TEXT)
        assert all(ours != theirs for ours, theirs in zip(shuffled.sentences, TEXT, strict=True))
        unfocused = corrupt(base(), "focus", 2, other, rng)
        assert unfocused is not None and unfocused.sentences[0] == TEXT[0], "the subject is still named"
        assert set(unfocused.sentences) & set(OTHER) and set(unfocused.sentences) <= set(TEXT + OTHER)
        repeated = corrupt(base(), "non_redundancy", 4, other, rng)
        assert repeated is not None
        assert set(" ".join(repeated.sentences).split()) <= {*" ".join(TEXT).split(), "and", ","}
        unclear = corrupt(base(), "referential_clarity", 4, other, rng)
        assert unclear is not None and "Anna Berg" not in " ".join(unclear.sentences)


def test_short_texts_cannot_be_broken_every_way() -> None:
    one = base(("Rain fell.",))
    rng = random.Random(1)
    assert [corrupt(one, name, 2, other, rng) is None for name in QUALITIES] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert corrupt(base(TEXT[:2]), "coherence", 2, other, rng) is None


def test_mentions_and_pronouns() -> None:
    sentence = "Police said Anna Berg's brother left the old house with a dog."
    found = [sentence[one.start : one.end] for one in mentions_of(sentence)]
    assert found == ["Anna Berg", "the old house", "a dog"]
    said = pronoun_for(sentence, mentions_of(sentence)[0], random.Random(2))
    assert said in {
        f"Police said {word} brother left the old house with a dog." for word in ("his", "her", "their")
    }
    assert mentions_of("Yesterday was fine.") == (), "the first word may be any"
    first = mentions_of("The mayor spoke.")
    assert first == () or pronoun_for("The mayor spoke.", first[0], random.Random(0))[0].isupper()


def test_broken_sentences_stay_sentences() -> None:
    sentence = "The mayor has opened the new bridge over the river."
    seen = {broken(sentence, random.Random(seed)) for seed in range(200)}
    assert len(seen) > 40 and all(text and text != sentence for text in seen - {sentence})
    assert broken("No way.", random.Random(1)) == "No way."


def test_labels_of_broken_texts() -> None:
    rows = synthetic_rows(CLEAN, 400, 3)
    assert rows == synthetic_rows(CLEAN, 400, 3)
    assert 0.3 < sum(row.text.islower() for row in rows) / len(rows) < 0.7, "half as systems write"
    for row in rows:
        quality = row.set.removeprefix("made ")
        low = [name for name, label in row.labels.items() if label < 1]
        assert low in ([], [quality]), "one quality is broken, and no other"
        if low:
            assert not set(HIDES[quality]) & row.labels.keys(), "what may be harmed too is not known"
            assert 0.09 < row.labels[quality] < 1
    assert all(
        "coherence" not in row.labels or row.labels["coherence"] < 1 for row in rows if row.document == "rain"
    )


def test_short_texts_have_no_label_for_what_they_cannot_show() -> None:
    for sentences, shown in ((TEXT[:1], QUALITIES[:3]), (TEXT[:2], QUALITIES[:4]), (TEXT[:3], QUALITIES)):
        short = Clean(base(sentences), frozenset())
        row = synthetic_row(short, "grammaticality", 0, CLEAN, random.Random(1))
        assert row is not None and set(row.labels) == set(shown)
        disordered = synthetic_row(short, "coherence", 4, CLEAN, random.Random(1))
        assert (disordered is None) == (len(sentences) < 3), "else short texts are always coherent"


def test_clean_texts_are_read(tmp_path: Path) -> None:
    rows = [
        {"id": "n1", "kind": "a", "text": " ".join(TEXT)},
        {"id": "n2", "kind": "b", "text": "x"},
        {"id": "m"},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = {"file": "rows.jsonl", "column": "text", "where": {"kind": ["a"]}, "prefix": "n", "most": 2}
    [clean] = read_clean(tmp_path, [given], 1)
    assert clean.base.sentences in (TEXT[:1], TEXT[:2])
    assert clean.base.document == " ".join(TEXT)
    with pytest.raises(DataError, match="no text that matches the recipe"):
        read_clean(tmp_path, [{**given, "prefix": "z"}], 1)


def test_system_style() -> None:
    assert system_style("Dr. No's plan (of 1,000 pages) didn't work, he said. Why?") == (
        "dr. no 's plan -lrb- of 1,000 pages -rrb- did n't work , he said . why ?"
    )


TABLE = """
Linguistic quality of peers
Docset  Type Length Peer Question Score
D0601A M 250 1 1 4
D0601A M 250 1 5 2
D0601A M 250 A 1 5
D0602B M 250 01 1 1
D0602B M 250 23 2 3
"""


def duc_folder(folder: Path, table: str = TABLE) -> Path:
    for name, text in {
        "D0601A.M.250.A.1": "Rain fell.\nRoads closed.\n",
        "D0601A.M.250.A.A": "What a person wrote.",
        "D0602B.M.250.C.1": "Caf\xe9s closed.",
        "D0602B.M.250.C.23": " \n",
    }.items():
        path = folder / "ROUGE" / "peers" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("latin-1"))
    (folder / "manual").mkdir()
    (folder / "manual" / "linguistic_quality.table").write_text(table)
    return folder


def test_duc_is_read(tmp_path: Path) -> None:
    found = read_duc(duc_folder(tmp_path))
    assert [(one.docset, one.peer, one.text) for one in found] == [
        ("D0601A", "1", "Rain fell.\nRoads closed."),
        ("D0602B", "1", "Cafés closed."),
    ], "people's summaries and empty ones are left out"
    assert found[0].scores == {"grammaticality": 4.0, "coherence": 2.0}
    [first, second] = read_set(tmp_path.parent, {"name": "duc06", "duc": tmp_path.name})
    assert first == Rated(found[0].text, {"grammaticality": 0.75, "coherence": 0.25}, "duc06", "D0601A", "1")
    assert second.labels == {"grammaticality": 0.0}


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (TABLE + "D0603C M 250 4 1 2\n", "lacks the summary D0603C.M.250.A.4"),
        (TABLE + "D0601A M 250 1 2 7\n", "line 9: the score '7' is not between 1 and 5"),
        (TABLE + "D0601A M 250 1 2 x\n", "'x' is not between"),
        ("Nothing here\n", "has no line like"),
    ],
)
def test_duc_tables_that_do_not_fit(tmp_path: Path, table: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_duc(duc_folder(tmp_path, table))


def test_duc_files_that_are_missing_or_differ(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"contains no linguistic_quality\.table"):
        read_duc(tmp_path)
    duc_folder(tmp_path)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "D0601A.M.250.A.1").write_text("Something else.")
    with pytest.raises(DataError, match="differs from another file of the same name"):
        read_duc(tmp_path)
