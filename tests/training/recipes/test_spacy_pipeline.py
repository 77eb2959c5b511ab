"""Test the English pipeline: data, training on made-up rows, and the included pipeline."""

import gzip
import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from thinc.api import Config

from gistmeter.core.errors import BadModel, DataError, ModelNotFound, UsageError
from gistmeter.text.factors import BUNDLE, find_factors, load_pipeline
from gistmeter.training.recipes import spacy_pipeline as training
from gistmeter.training.recipes.silver import Silver, held_out, read_silver
from gistmeter.training.recipes.spacy_pipeline import PARTS, train_pipeline
from gistmeter.training.recipes.spacy_quality import chunks, entities, f1, measure

# word/tag/head counted from 0/dependency, and /entity where the word is part of one
SENTENCES = (
    "Anna/NNP/1/compound/B-PERSON Berg/NNP/2/nsubj/I-PERSON sold/VBD/2/ROOT the/DT/5/det red/JJ/5/amod "
    "boat/NN/2/dobj in/IN/2/prep Oslo/NNP/6/pobj/B-GPE ././2/punct",
    "The/DT/1/det mayor/NN/2/nsubj thanked/VBD/2/ROOT her/PRP$/4/poss brother/NN/2/dobj ././2/punct",
    "She/PRP/1/nsubj lives/VBZ/1/ROOT near/IN/1/prep Bergen/NNP/2/pobj/B-GPE ././1/punct",
)
CHUNKS = ({(0, 2), (3, 6), (7, 8)}, {(0, 2), (3, 5)}, {(0, 1), (3, 4)})
TEXT = "Anna Berg sold the red boat in Oslo. She lives near Bergen."
ROWS = 60
BLANK = spacy.blank("en")


def row(name: str, sentences: tuple[int, ...], domain: str = "news") -> dict[str, Any]:
    """Return a text of these sentences as a silver row."""
    made: dict[str, Any] = {"id": name, "domain": domain, "sent_start": [], "ents": [], "noun_chunks": []}
    made |= {key: [] for key in ("tokens", "tag", "head", "dep")}
    for number in sentences:
        at = len(made["tokens"])
        words = [[*word.rsplit("/", 3 + ("/B-" in word or "/I-" in word)), "O"] for word in split(number)]
        made["sent_start"].append(at)
        for form, tag, head, dep, *_ in words:
            for key, value in zip(
                ("tokens", "tag", "head", "dep"), (form, tag, int(head) + at, dep), strict=True
            ):
                made[key].append(value)
        made["ents"] += [[start + at, end + at, label] for start, end, label in spans([w[4] for w in words])]
        made["noun_chunks"] += [[start + at, end + at] for start, end in sorted(CHUNKS[number])]
    made["spaces"] = [int(after != ".") for after in [*made["tokens"][1:], "."]]
    made["text"] = "".join(
        form + " " * space for form, space in zip(made["tokens"], made["spaces"], strict=True)
    )
    return made


def split(number: int) -> list[str]:
    return SENTENCES[number].split()


def spans(bio: list[str]) -> Iterator[tuple[int, int, str]]:
    for at, label in enumerate(bio):
        if label.startswith("B-"):
            end = at + 1
            while end < len(bio) and bio[end].startswith("I-"):
                end += 1
            yield at, end, label[2:]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in rows)
    return path


@pytest.fixture(scope="module")
def silver_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [row(f"r{at}", ((0, 1, 2), (1, 0), (2,))[at % 3]) for at in range(ROWS)]
    return write(tmp_path_factory.mktemp("silver") / "rows.jsonl.gz", rows)


@pytest.fixture
def recipe(silver_file: Path) -> dict[str, Any]:
    """Return the shipped recipe, on made-up rows and with a tiny model."""
    known = tomllib.loads((Path(__file__).parents[3] / "recipes" / "en.toml").read_text(encoding="utf-8"))
    data = {**known["data"], "silver": str(silver_file), "skip_texts": "", "sentences": 2, "watched": 10}
    size = {"rows": {"NORM": 200, "SHAPE": 100}, "width": 32, "layers": 1, "pieces": 2, "hidden": 16}
    training = {**known["training"], "learning_rate": 0.01, "warmup": 5, "validate_every": 20}
    assert len(known["model"]["stages"]) > 1
    model = {**known["model"], "syntax": size, "entities": size}
    return {**known, "data": data, "training": training, "model": model}


def read(recipe: dict[str, Any]) -> dict[str, Silver]:
    return dict(read_silver(recipe["data"]))


def test_a_trained_pipeline_is_saved_and_finds_factors(
    recipe: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    figures = train_pipeline(recipe, tmp_path / "en", steps=60, progress=False)
    assert capfd.readouterr() == ("", ""), "spaCy's table is progress"
    assert json.loads((tmp_path / "en" / "measured.json").read_text()) == figures
    assert min(figures[f"{what}_f1{how}"] for what in ("entity", "chunk") for how in ("", "_lower")) > 0.9
    assert figures["words_per_second"] > 100
    pipeline = load_pipeline(tmp_path / "en")
    for text in (TEXT, "anna berg sold the red boat in oslo . she lives near bergen ."):
        [marked] = find_factors([text], pipeline, "entity_first")
        found = [text[factor.start : factor.end].lower() for factor in marked.factors]
        assert found == ["anna berg", "the red boat", "oslo", "she", "bergen"]
    labels = [(factor.kind, factor.label) for factor in marked.factors]
    assert labels[:3] == [("entity", "PERSON"), ("noun", "NP"), ("entity", "GPE")]
    assert not (tmp_path / "en.work").exists()
    saved = [path.read_bytes() for path in (tmp_path / "en").rglob("*") if path.is_file()]
    assert not any(str(tmp_path).encode() in content or b"Bergen" in content for content in saved)


def test_a_killed_training_goes_on(
    recipe: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Exception):
        pass

    steps: list[int] = []

    def update(self: Language, *args: object, **settings: object) -> object:
        steps.append(len(steps))
        if len(steps) == 31:
            raise Killed
        return plain(self, *args, **settings)  # type: ignore[arg-type]

    plain = Language.update
    monkeypatch.setattr(Language, "update", update)
    with pytest.raises(Killed):
        train_pipeline(recipe, tmp_path / "en", steps=40)
    done, last = training._last(tmp_path / "en.work")
    assert done == 31, "the step under way counts"
    assert last is not None
    before = spacy.load(last).to_bytes(exclude=["config", "meta"])
    with pytest.raises(UsageError, match="another recipe"):
        train_pipeline(recipe, tmp_path / "en", steps=50)
    starts: list[bytes] = []

    def start(config: Config, last: Path | None) -> Language:
        nlp = begin(config, last)
        starts.append(nlp.to_bytes(exclude=["config", "meta"]))
        return nlp

    begin = training._start
    monkeypatch.setattr(training, "_start", start)
    train_pipeline(recipe, tmp_path / "en", steps=40)
    assert starts[0] == before
    assert len(steps) - 31 == 40 - 31 + 1, "spaCy takes one step more than it is asked"
    load_pipeline(tmp_path / "en")


def test_a_damaged_work_folder_is_said(recipe: dict[str, Any], tmp_path: Path) -> None:
    run = tmp_path / "en.work" / "from-0000000" / "model-last"
    run.mkdir(parents=True)
    (run / "meta.json").write_text('{"steps": 5, "lang": "en"}')
    with pytest.raises(BadModel, match="model-last is damaged"):
        train_pipeline(recipe, tmp_path / "en", steps=9)
    (run / "meta.json").write_text("{")
    with pytest.raises(BadModel, match="delete it"):
        train_pipeline(recipe, tmp_path / "en", steps=9)


def test_rows_are_read_as_they_are(recipe: dict[str, Any]) -> None:
    texts = read(recipe)
    assert len(texts) == ROWS
    whole = texts["r0"]
    assert whole.starts == (0, 9, 15)
    assert whole.entities == ((0, 2, "PERSON"), (7, 8, "GPE"), (18, 19, "GPE"))
    doc = whole.gold(BLANK.vocab)
    assert doc.text.startswith("Anna Berg sold the red boat in Oslo. The mayor")
    assert [sentence.start for sentence in doc.sents] == [0, 9, 15]
    assert entities(doc) == set(whole.entities)
    for token in doc:
        token.pos_ = next(part for part, tags in PARTS.items() if token.tag_ in tags.split())
    assert chunks(doc) == set(whole.chunks)
    bare = whole.bare(doc.vocab)
    assert [token.is_sent_start for token in bare] == [token.is_sent_start for token in doc]
    assert not bare.has_annotation("DEP")
    assert not bare.ents


@given(sentences=st.lists(st.integers(0, 2), min_size=1, max_size=7), size=st.integers(1, 4))
def test_groups_and_lower_case_keep_labels_in_place(sentences: list[int], size: int) -> None:
    made = row("x", tuple(sentences))
    text = Silver.from_row(made)
    forms = text.words
    groups = text.groups(size)
    assert [len(group.starts) for group in groups] == [
        len(sentences[at : at + size]) for at in range(0, len(sentences), size)
    ]
    assert sum((group.words for group in groups), ()) == forms
    named = [(" ".join(forms[start:end]), label) for start, end, label in text.entities]
    phrases = [" ".join(forms[start:end]) for start, end in text.chunks]
    found, parts, heads = [], [], []
    for group in (group.lower() for group in groups):
        doc = group.gold(BLANK.vocab)
        assert doc.text == " ".join(group.words) + " "
        found += [(span.text, span.label_) for span in doc.ents]
        parts += [" ".join(group.words[start:end]) for start, end in group.chunks]
        heads += [(token.text, token.tag_, token.dep_, token.head.text) for token in doc]
    assert found == [(form.lower(), label) for form, label in named]
    assert parts == [phrase.lower() for phrase in phrases]
    expected = zip(forms, text.tags, text.deps, text.heads, strict=True)
    assert heads == [(form.lower(), tag, dep, forms[head].lower()) for form, tag, dep, head in expected]


@given(st.text(max_size=20))
def test_a_text_stays_on_its_side(name: str) -> None:
    assert held_out(name, 0.1) == held_out(name, 0.1)
    assert not held_out(name, 0.0)
    assert held_out(name, 1.0)
    assert held_out(name, 0.1) <= held_out(name, 0.5)


def test_a_tenth_is_held_out() -> None:
    assert 900 < sum(held_out(f"text {at}", 0.1) for at in range(10_000)) < 1100


def test_unwanted_rows_are_left_out(tmp_path: Path) -> None:
    rows = [row("a", (0, 1)), row("b", (1,), domain="mail"), row("c", (2, 1)), row("d", (2,))]
    pairs = [
        {
            "dataset": "talk",
            "source": "  " + rows[0]["text"].replace(" ", "\n"),
            "candidate": rows[3]["text"],
        },
        {"dataset": "news", "source": rows[2]["text"], "candidate": "-"},
    ]
    data = {
        "silver": str(write(tmp_path / "rows", rows)),
        "skip_domains": ["mail"],
        "skip_texts": str(write(tmp_path / "pairs", pairs)),
        "skip_datasets": ["talk"],
    }
    assert [name for name, _ in read_silver(data)] == ["c"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tag": ["NN"]}, "row 1: .*unequal lengths"),
        ({"ents": [[0, 1]]}, "row 1: "),
        ({"head": [99] * 9}, "row 1: .*outside"),
        (
            {
                "tokens": ["a", "b"],
                **{key: [0, 0] for key in ("spaces", "tag", "dep", "head")},
                "sent_start": [0, 1],
            },
            "row 1: .*outside",
        ),
        ({"ents": [[0, 99, "GPE"]]}, "row 1: .*outside"),
        ({"sent_start": [2]}, "row 1: .*outside"),
    ],
)
def test_bad_rows_are_said(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    path = write(tmp_path / "rows", [row("a", (0,)) | change])
    with pytest.raises(DataError, match=says):
        list(read_silver({"silver": str(path)}))


def test_a_missing_file_is_said(recipe: dict[str, Any], tmp_path: Path) -> None:
    recipe["data"]["silver"] = str(tmp_path / "none.gz")
    with pytest.raises(DataError, match=r"none\.gz .*complete copy"):
        train_pipeline(recipe, tmp_path / "en")
    recipe["data"]["silver"] = str(write(tmp_path / "none.gz", []))
    with pytest.raises(DataError, match="no texts for training"):
        train_pipeline(recipe, tmp_path / "en")
    with pytest.raises(UsageError, match="steps=0"):
        train_pipeline(recipe, tmp_path / "en", steps=0)


def test_f1_by_hand() -> None:
    assert f1([{1, 2}, {3}], [{1}, {3, 4}]) == pytest.approx(2 / 3)
    assert f1([set()], [set()]) == 1.0
    assert f1([{1}], [set()]) == 0.0


def test_a_missing_bundle_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gistmeter.text.factors.BUNDLE", tmp_path / "en")
    with pytest.raises(ModelNotFound, match=r"'en'.*; run: pip install --force-reinstall gistmeter"):
        load_pipeline("en")


@pytest.mark.parametrize("name", ["config.cfg", "ner/model", "meta.json"])
def test_a_shipped_pipeline_that_was_changed_is_not_loaded(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copytree(BUNDLE, tmp_path / "en"))
    shutil.copy(BUNDLE.parent / "manifest.json", tmp_path)
    monkeypatch.setattr("gistmeter.text.factors.BUNDLE", copy)
    load_pipeline("en")
    stat, data = (copy / name).stat(), bytearray((copy / name).read_bytes())
    data[-2] ^= 1
    (copy / name).write_bytes(data)
    os.utime(copy / name, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(BadModel, match=rf"{name} is missing or differs from the published file; run: pip"):
        load_pipeline("en")


# The pipeline that ships.

SHIPPED = (
    "Maria Jensen told reporters in Berlin on Tuesday that the new bridge had cost $4 million.",
    "The old teacher bought three paintings from Google after a long trip to Canada.",
)
EXPECTED = (
    [
        "Maria Jensen PERSON",
        "reporters NP",
        "Berlin GPE",
        "Tuesday DATE",
        "the new bridge NP",
        "$4 million MONEY",
    ],
    ["The old teacher NP", "three CARDINAL", "Google ORG", "a long trip NP", "Canada GPE"],
)


@pytest.mark.slow
@pytest.mark.parametrize("lower", [False, True])
def test_the_shipped_pipeline_finds_what_it_should(lower: bool) -> None:
    pipeline = load_pipeline()
    assert re.fullmatch(r"en_gistmeter@[0-9a-f]{16}", pipeline.identity)
    for text, expected in zip(SHIPPED, EXPECTED, strict=True):
        given_text, wanted = text, expected
        if lower:
            given_text = pipeline.spaced(text).lower()
            phrases = [phrase.rsplit(" ", 1) for phrase in expected]
            wanted = [f"{form.lower().replace('$4', '$ 4')} {label}" for form, label in phrases]
        [marked] = find_factors([given_text], pipeline, "entity_first")
        found = [f"{given_text[factor.start : factor.end]} {factor.label}" for factor in marked.factors]
        assert found == wanted


@pytest.mark.slow
def test_the_shipped_pipeline_is_small_and_holds_no_path() -> None:
    files = [path for path in BUNDLE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 8_000_000
    config = (BUNDLE / "config.cfg").read_text(encoding="utf-8")
    assert not re.search(r'"/|\.\./|\.spacy"', config)


@pytest.mark.slow
@pytest.mark.shared
def test_the_shipped_pipeline_reaches_its_figures(shared_data: Path) -> None:
    known = tomllib.loads((Path(__file__).parents[3] / "recipes" / "en.toml").read_text(encoding="utf-8"))[
        "data"
    ]
    paths = {
        "silver": str(shared_data / "silver" / "en.jsonl.gz"),
        "skip_texts": str(shared_data / "training" / "news_pairs.jsonl.gz"),
    }
    rows = read_silver(known | paths)
    unseen = (text for name, text in rows if held_out(name, known["held_out"]))
    figures = measure(load_pipeline().nlp, list(islice(unseen, 0, None, 5)))
    written = json.loads((BUNDLE / "measured.json").read_text(encoding="utf-8"))
    least = {"entity_f1": 0.80, "chunk_f1": 0.88, "entity_f1_lower": 0.65, "chunk_f1_lower": 0.85}
    for name, value in least.items():
        assert written[name] >= value
        assert figures[name] == pytest.approx(written[name], abs=0.02), (
            "a fifth of the texts differs this much"
        )
    assert written["words_per_second"] >= 10_000
    assert figures["words_per_second"] >= 2_000, "a slow machine may make less, but not so much less"
