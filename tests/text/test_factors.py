"""Test joined texts and the factors found in them."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span

from gistmeter.core.errors import BadModel, ModelNotFound, UsageError
from gistmeter.text.factors import (
    Factor,
    MarkedText,
    Pipeline,
    Selection,
    find_factors,
    group_factors,
    load_pipeline,
)
from gistmeter.text.offsets import rejoin
from tests.tiny_spacy import SENTENCES, tiny_pipeline

SELECTIONS: tuple[Selection, ...] = get_args(Selection)
TEXT = (
    "  Anna Berg sold the red boat in Oslo.  On Monday she sold the old school.\n"
    "The mayor of Oslo opened two new schools on Monday. Karl Lund's sister lives near Bergen. "
    "It didn't rain in the small town."
)
BY_HAND: dict[Selection, list[str]] = {
    "entity": ["0 Anna Berg", "0 Oslo", "1 Monday", "2 Oslo", "2 two", "2 Monday", "3 Karl Lund", "3 Bergen"],
    "noun": [
        *("0 Anna Berg", "0 the red boat", "0 Oslo", "1 Monday", "1 she", "1 the old school"),
        *("2 The mayor", "2 Oslo", "2 two new schools", "2 Monday", "3 Karl Lund's sister", "3 Bergen"),
        *("4 It", "4 the small town"),
    ],
    "entity_first": [
        *("0 Anna Berg", "0 the red boat", "0 Oslo", "1 Monday", "1 she", "1 the old school"),
        *(
            "2 The mayor",
            "2 Oslo",
            "2 two",
            "2 Monday",
            "3 Karl Lund",
            "3 Bergen",
            "4 It",
            "4 the small town",
        ),
    ],
}
BY_HAND["noun_first"] = BY_HAND["noun"]

ODD = st.text(st.sampled_from("ab.!?'\"(7-　 \t\n\u00a0\u200b\u0301é½ﬁ…你。😀👩\u200dאبﷺ"), max_size=40)
FORMS = sorted({word.split("/")[0] for sentence in SENTENCES for word in sentence.split()})
SPACED = st.tuples(st.sampled_from(FORMS), st.sampled_from(["", " ", " ", "  ", "\n"]))
LIKELY = st.lists(SPACED, max_size=25).map(lambda pairs: "".join(word + space for word, space in pairs))
TEXTS = st.one_of(st.text(max_size=60), ODD, LIKELY)


@Language.component("stub", assigns=["doc.ents", "token.dep", "token.pos"])
def stub(doc: Doc) -> Doc:
    """Take every number for an entity and every word of letters for a noun chunk."""
    labels = {"": "GLUED", " ": "FREE"}
    digits = [token for token in doc if token.is_digit]
    doc.set_ents([Span(doc, token.i, token.i + 1, labels[token.whitespace_]) for token in digits])
    for token in doc:
        token.dep_ = "ROOT"
        token.pos_ = "NOUN" if token.is_alpha else "PUNCT"
    return doc


@Language.component("bomb", assigns=["token.lemma"])
def bomb(_: Doc) -> Doc:
    """Fail."""
    raise AssertionError


@pytest.fixture(scope="session")
def pipeline() -> Pipeline:
    """Return the tiny pipeline."""
    return Pipeline(tiny_pipeline(), "tiny")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the tiny pipeline."""
    path = tmp_path_factory.mktemp("spacy") / "tiny"
    tiny_pipeline().to_disk(path)
    return path


def blank(*components: str, language: str = "en") -> Pipeline:
    nlp = spacy.blank(language)
    for component in components:
        nlp.add_pipe(component)
    return Pipeline(nlp, "blank")


def mark(text: str, pipeline: Pipeline, selection: Selection) -> MarkedText:
    return find_factors([text], pipeline, selection)[0]


def words_of(text: str, marked: MarkedText) -> list[str]:
    """Return the factors' own characters, each with the number of its sentence in front."""
    return [f"{factor.sentence} {text[factor.start : factor.end]}" for factor in marked.factors]


@pytest.mark.parametrize("selection", SELECTIONS)
def test_factors_by_hand(pipeline: Pipeline, selection: Selection) -> None:
    assert words_of(TEXT, mark(TEXT, pipeline, selection)) == BY_HAND[selection]


def test_kinds_and_labels(pipeline: Pipeline) -> None:
    text = "Anna Berg sold the red boat in Oslo."
    found = [(factor.kind, factor.label) for factor in mark(text, pipeline, "entity_first").factors]
    assert found == [("entity", "PERSON"), ("noun", "NP"), ("entity", "GPE")]
    assert {factor.label for factor in mark(text, pipeline, "noun_first").factors} == {"NP"}


def test_touching_is_no_overlap() -> None:
    text = "7pm 8 boats"
    marked = mark(text, blank("stub"), "entity_first")
    assert words_of(text, marked) == ["0 7", "0 pm", "0 8", "0 boats"]
    assert [factor.label for factor in marked.factors] == ["GLUED", "NP", "FREE", "NP"]


def test_the_joined_text_has_single_spaces(pipeline: Pipeline) -> None:
    text = " Karl Lund's  sister lives near Bergen.\nIt didn't rain in the small town."
    marked = mark(text, pipeline, "noun")
    sentences = [marked.joined.text[slice(*place)] for place in marked.sentences]
    assert sentences == ["Karl Lund 's sister lives near Bergen .", "It did n't rain in the small town ."]
    sister = marked.factors[0]
    assert marked.joined.text[sister.joined_start : sister.joined_end] == "Karl Lund 's sister"
    assert text[sister.start : sister.end] == "Karl Lund's  sister"
    assert rejoin(text) == marked.joined


def test_no_factor_crosses_a_sentence() -> None:
    nlp = spacy.blank("en")
    patterns = [{"label": "PLACE", "pattern": pattern} for pattern in ("Oslo. It", "the small town")]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)  # type: ignore[attr-defined]
    text = "She lives in Oslo. It is the small town."
    assert words_of(text, mark(text, Pipeline(nlp, "rules"), "entity")) == ["1 the small town"]


def test_words_end_with_their_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gistmeter.text.factors.split_sentences", lambda _: [(0, 7), (7, 15)])
    marked = mark("rained.the boat", blank("stub"), "noun")
    assert words_of("rained.the boat", marked) == ["0 rained", "1 the", "1 boat"]
    assert marked.joined.text == "rained . the boat"


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, selection=st.sampled_from(SELECTIONS))
def test_factors_are_words_of_the_text(pipeline: Pipeline, text: str, selection: Selection) -> None:
    marked = mark(text, pipeline, selection)
    joined = marked.joined.text
    assert "".join(joined.split()) == "".join(text.split())
    assert " ".join(joined[start:end] for start, end in marked.sentences) == joined
    at = 0
    for factor in marked.factors:
        own, there = text[factor.start : factor.end], joined[factor.joined_start : factor.joined_end]
        assert own == own.strip()
        assert own.split()
        assert "".join(own.split()) == "".join(there.split())
        assert marked.joined.to_original(factor.joined_start, factor.joined_end) == (factor.start, factor.end)
        low, high = marked.sentences[factor.sentence]
        assert low <= factor.joined_start < factor.joined_end <= high
        assert at <= factor.start
        at = factor.end


@settings(max_examples=30, deadline=None)
@given(texts=st.lists(TEXTS, max_size=5), selection=st.sampled_from(SELECTIONS))
def test_texts_do_not_change_each_other(pipeline: Pipeline, texts: list[str], selection: Selection) -> None:
    together = find_factors(texts, pipeline, selection)
    assert together == [mark(text, pipeline, selection) for text in texts]


def test_texts_without_words_have_no_factors(pipeline: Pipeline) -> None:
    for marked in find_factors(["", " \n "], pipeline, "entity_first"):
        assert marked == MarkedText(rejoin(""), (), ())


@pytest.mark.parametrize(
    "text", ["Anna Berg sold the red boat in Oslo. " * 1650, "!" * 60_000, "boat" * 15_000]
)
def test_long_texts(pipeline: Pipeline, text: str) -> None:
    marked = mark(text, pipeline, "entity")
    assert "".join(marked.joined.text.split()) == "".join(text.split())
    assert text[0] != "A" or len(marked.factors) == 3300


def test_groups_by_hand() -> None:
    factors = [Factor(at, at + 1, at, at + 1, "noun", "NP", sentence=at // 3) for at in range(5)]
    a, b, c, d, e = factors
    assert group_factors(factors, 1) == [(a,), (b,), (c,), (d,), (e,)]
    assert group_factors(factors, 2) == [(a, b), (c,), (d, e)]
    assert group_factors(factors, 2, "summary") == [(a, b), (c, d), (e,)]
    assert group_factors(factors, 9, "summary") == [(a, b, c, d, e)]
    assert group_factors([], 2) == []


@pytest.mark.parametrize("k", [0, -1])
def test_groups_hold_at_least_one(k: int) -> None:
    with pytest.raises(UsageError, match=f"k={k}"):
        group_factors([], k)


@pytest.mark.parametrize(
    ("components", "selection", "says"),
    [
        ([], "entity", "blank has no ner; choose"),
        (["parser", "tagger"], "noun", "has no morphologizer or attribute_ruler;"),
        (["ner", "morphologizer"], "noun_first", "has no parser;"),
        ([], "entity_first", "has no ner and no parser and no morphologizer or attribute_ruler;"),
        (["sentencizer", "morphologizer", "parser"], "entity_first", "has no ner;"),
    ],
)
def test_missing_components_are_named(components: list[str], selection: Selection, says: str) -> None:
    with pytest.raises(BadModel, match=says):
        find_factors([], blank(*components), selection)


def test_a_language_without_noun_chunks_is_refused() -> None:
    chinese = blank("ner", "morphologizer", "parser", language="zh")
    chinese.require("entity")
    with pytest.raises(BadModel, match="no noun chunks in language 'zh'"):
        chinese.require("noun")


def test_an_unknown_selection_is_refused(pipeline: Pipeline) -> None:
    with pytest.raises(
        UsageError, match="selection=verb: choose one of entity, noun, entity_first, noun_first"
    ):
        find_factors([], pipeline, "verb")  # type: ignore[arg-type]


def test_only_what_is_needed_runs(pipeline: Pipeline) -> None:
    assert pipeline.idle("entity") == ["tagger", "attribute_ruler", "parser"]
    assert pipeline.idle("noun") == ["ner"]
    assert pipeline.idle("entity_first") == []
    assert blank("tok2vec", "sentencizer", "ner").idle("entity_first") == ["sentencizer"]
    assert len(mark("7pm", blank("bomb", "stub"), "entity_first").factors) == 2


def test_a_folder_is_loaded_and_named_by_its_weights(
    pipeline: Pipeline, folder: Path, tmp_path: Path
) -> None:
    loaded = load_pipeline(folder)
    assert find_factors([TEXT], loaded, "noun") == find_factors([TEXT], pipeline, "noun")
    assert loaded.identity.startswith("en_pipeline@")
    assert load_pipeline(str(folder)).identity == loaded.identity
    other = spacy.load(folder)
    recogniser: Any = other.get_pipe("ner")
    layer = recogniser.model.get_ref("lower")
    layer.set_param("b", layer.get_param("b") + 1)
    other.to_disk(tmp_path)
    assert load_pipeline(tmp_path).identity != loaded.identity


def test_an_installed_pipeline_is_named_by_its_version(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xx_installed-1.0.dist-info").mkdir()
    (tmp_path / "xx_installed-1.0.dist-info" / "METADATA").write_text("Name: xx_installed\nVersion: 1.0\n")
    code = f"import spacy\ndef load(**settings):\n    return spacy.load({str(folder)!r}, **settings)\n"
    (tmp_path / "xx_installed.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    assert load_pipeline("xx_installed").identity == "en_pipeline-0.0.0"


def test_a_missing_pipeline_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"'en_no_such'.*; run: python -m spacy download en_no_such$"):
        load_pipeline("en_no_such")
    with pytest.raises(BadModel, match="cannot load spaCy pipeline"):
        load_pipeline(tmp_path)
    with pytest.raises(BadModel, match="cannot load spaCy pipeline"):
        load_pipeline("pytest")


def test_a_loaded_pipeline_must_serve_its_selection(folder: Path, tmp_path: Path) -> None:
    nlp = spacy.load(folder, exclude=["ner"])
    nlp.to_disk(tmp_path)
    load_pipeline(tmp_path, selection="noun")
    with pytest.raises(BadModel, match="has no ner"):
        load_pipeline(tmp_path)


def test_a_pickled_pipeline_finds_the_same(pipeline: Pipeline) -> None:
    revived = pickle.loads(pickle.dumps(pipeline))
    assert revived.identity == "tiny"
    assert find_factors([TEXT], revived, "noun_first") == find_factors([TEXT], pipeline, "noun_first")


def test_threads_wait_for_each_other(pipeline: Pipeline) -> None:
    with ThreadPoolExecutor(1) as pool:
        with pipeline.session():
            found = pool.submit(find_factors, [TEXT], pipeline, "noun")
            with pytest.raises(TimeoutError):
                found.result(timeout=0.1)
        assert found.result() == find_factors([TEXT], pipeline, "noun")


def test_rejoined_texts_by_hand() -> None:
    text = "  It isn't\n\nso, says\u00a0Bo. "
    joined = rejoin(text)
    assert joined.text == "It is n't so , says Bo ."
    places = {
        "is n't": "isn't",
        "n't so": "n't\n\nso",
        ", says Bo": ", says\u00a0Bo",
        "ay": "ay",
        " so ": "so",
    }
    for there, here in places.items():
        start, end = joined.to_original(joined.text.index(there), joined.text.index(there) + len(there))
        assert text[start:end] == here
    assert joined.to_original(2, 3) == (5, 5)  # only the space before "is"
    assert joined.to_original(24, 24) == (24, 24)
    assert joined.to_joined(0, len(text)) == (0, len(joined.text))
    assert joined.to_joined(10, 12) == (10, 10)  # only the two line breaks


@pytest.mark.parametrize("text", ["", " \n "])
def test_nothing_rejoins_to_nothing(text: str) -> None:
    joined = rejoin(text)
    assert joined.text == ""
    assert joined.to_original(0, 0) == joined.to_joined(0, len(text)) == (0, 0)


@pytest.mark.parametrize("place", [(-1, 1), (2, 1), (0, 3)])
def test_places_outside_a_rejoined_text_are_refused(place: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="lies outside"):
        rejoin("ab").to_original(*place)


def test_places_before_a_text_are_refused() -> None:
    with pytest.raises(ValueError, match="not a span"):
        rejoin("ab").to_joined(-1, 1)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, data=st.data())
def test_rejoined_places_hold_the_same_characters(text: str, data: st.DataObject) -> None:
    joined = rejoin(text)
    assert "".join(joined.text.split()) == "".join(text.split())
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(joined.text))] * 2)))
    original = joined.to_original(start, end)
    assert "".join(text[slice(*original)].split()) == "".join(joined.text[start:end].split())
    assert text[slice(*original)] == text[slice(*original)].strip()
    back = joined.to_joined(*original)
    assert joined.text[slice(*back)] == joined.text[start:end].strip()
    assert joined.to_original(*back) == original
