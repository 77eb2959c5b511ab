"""Test that a metric never scores a row in a language that it does not know."""

import hashlib
import json
import math
from pathlib import Path

import pytest

import gistmeter as gm
from gistmeter import catalog
from gistmeter.app.cli import main
from gistmeter.core.errors import UsageError
from gistmeter.core.language import PROBLEM, UNSPACED, Languages, primary, unspaced_language
from gistmeter.io.cache import ScoreCache
from gistmeter.io.kept import Kept, content_key
from gistmeter.metrics.baselines import Bleu, BleuOptions, Chrf, Novelty, Rouge, RougeOptions
from tests.laws.variants import FIXTURES, build

FRENCH = "Nous n'avons toujours pas reçu les réponses que nous attendions depuis longtemps."
ROW = {"candidate": FRENCH, "source": FRENCH, "references": [FRENCH], "language": "fr-CA"}
UNFLAGGED = ("check",)
ENGLISH_ONLY = (
    *UNFLAGGED,
    "rouge",
    "moverscore",
    "sms",
    "meteor",
    "maskeval",
    "cloze",
    "simplicity",
    "speed",
    "sumqe",
    "bertscore",
    "likelihood",
    "content",
    "names",
    "denials",
    "centroid",
)


@pytest.mark.parametrize("name", catalog.METRICS)
def test_a_row_in_another_language_has_a_problem_or_a_value_of_a_metric_that_scores_it(
    name: str, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(FIXTURES.get(name, ["tiny_bert"])[0])
    metric = build(name, model)
    (french,) = metric.score([gm.Example("1", FRENCH, FRENCH, [FRENCH], language="fr")])
    (unsaid,) = metric.score([gm.Example("1", FRENCH, FRENCH, [FRENCH])])
    if name in ENGLISH_ONLY:
        assert french.problem == f"{PROBLEM}the row is in fr, and the metric scores only en"
        assert math.isnan(french.value)
        assert "fr" not in metric.languages
        assert name in UNFLAGGED or "unknown_language" in [flag.name for flag in unsaid.flags]
    elif name != "quality":  # its languages are those of its members
        assert french.value == unsaid.value
        assert "fr" in metric.languages


def test_the_language_of_an_example_is_its_primary_subtag() -> None:
    assert [primary(tag) for tag in ("fr", "pt-BR", "zh_Hant_TW", "fil", "und", "EN")] == [
        "fr",
        "pt",
        "zh",
        "fil",
        None,
        "en",
    ]
    assert gm.Example("1", "Oui.", language="fr-CA").language == "fr"
    with pytest.raises(ValueError, match="BCP 47 tag such as fr or pt-BR, not 'French'"):
        gm.Example("1", "Oui.", language="French")


def test_a_column_of_languages_is_read_and_a_name_of_a_language_is_not() -> None:
    rows = [ROW, {**ROW, "language": "en"}, {**ROW, "language": None}, {**ROW, "language": "French"}]
    report = gm.score("rouge", rows)
    problems = [score.problem for score in report.scores]
    assert problems[0] is not None and problems[0].startswith(PROBLEM)
    assert problems[1:3] == [None, None]
    assert problems[3] == "language must be a BCP 47 tag such as fr or pt-BR, not 'French'"
    columns = gm.score("rouge", candidates=["Oui."] * 2, references=["Oui."] * 2, languages=["fr", None])
    assert [score.problem is None for score in columns.scores] == [False, True]


def test_the_default_language_is_that_of_rows_without_one() -> None:
    rows = [{**ROW, "language": None}, {**ROW, "language": "en"}]
    scores = gm.score("rouge", rows, language="fr").scores
    assert [score.problem is None for score in scores] == [False, True]
    with pytest.raises(UsageError, match="BCP 47"):
        gm.score("rouge", rows, language="French")


def test_the_command_ends_with_0_and_one_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, output = tmp_path / "rows.jsonl", tmp_path / "scores.jsonl"
    rows.write_text("".join(json.dumps({**ROW, "language": tag}) + "\n" for tag in ("fr", "es", None)))
    assert main(["score", "rouge", "chrf", "-i", str(rows), "-o", str(output), "--language", "fr"]) == 0
    found = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(row["metric"], row["value"] is None) for row in found] == [("rouge", True), ("chrf", False)] * 3
    assert (
        "gistmeter: rouge scores en; rows in other languages, without a value: 3\n" in capsys.readouterr().err
    )


def test_the_command_rejects_a_name_of_a_language(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["score", "rouge", "-i", "rows.jsonl", "--language", "French"])
    assert "not 'French'" in capsys.readouterr().err


def test_the_cache_tells_languages_apart_and_keeps_the_keys_of_rows_without_one(tmp_path: Path) -> None:
    plain, french = gm.Example("1", "Oui.", "Oui."), gm.Example("1", "Oui.", "Oui.", language="fr")
    known = hashlib.sha256(json.dumps(["Oui.", "Oui.", []]).encode()).hexdigest()[:32]
    assert (content_key(plain), content_key(french) == known) == (known, False)
    kept = Kept(Rouge(RougeOptions()), ScoreCache(tmp_path))
    (first,) = kept.score([gm.Example("1", "Oui oui.", references=["Oui oui."])])
    (second,) = kept.score([gm.Example("1", "Oui oui.", references=["Oui oui."], language="fr")])
    assert (first.value, second.problem is None) == (1.0, False)


def test_baselines_score_the_languages_of_their_tokenizers() -> None:
    assert [str(metric.languages) for metric in (Rouge(), Chrf())] == ["en", "any language"]
    assert "zh" not in Bleu().languages and "zh" in Bleu(BleuOptions(tokenizer="zh")).languages
    assert "th" in Bleu(BleuOptions(tokenizer="char")).languages
    assert "ja" in Novelty().languages and "th" not in Novelty().languages
    words = Rouge(RougeOptions(stemmer=False, tokenizer="words"))
    assert "ru" in words.languages and "th" not in words.languages
    example = gm.Example("1", "Был тёплый день.", references=["Был холодный день."], language="ru")
    assert words.score([example])[0].parts["rouge1_f1"] == pytest.approx(2 / 3)
    assert "tokenizer=words-1" in words.signature.text
    assert Rouge().signature.text == (
        "rouge|version=2|value=rougeL_f1|references=max|stemmer=True|tokenizer=rouge_score"
    )


def test_a_preset_rejects_a_language_that_its_model_does_not_know() -> None:
    for name in ("maskeval", "simplicity", "sumqe", "speed", "bertscore", "likelihood"):
        with pytest.raises(UsageError, match="the model of the preset mini is for en"):
            catalog.load(f"{name}:language=fr")


def test_the_multilingual_preset_of_maskeval_is_for_any_language() -> None:
    assert str(catalog.languages_by_preset("maskeval")["multilingual"]) == "any language"
    assert str(catalog.languages_by_preset("maskeval")["mini"]) == "en"


def test_languages_are_printed_for_people() -> None:
    assert str(Languages(but=("th",))) == "any language but th"
    assert Languages(("en",)).problem(None) is None


def test_rows_of_a_french_data_set_are_french_unless_they_say_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "muss_fr.jsonl", tmp_path / "out.json"
    candidates = ["Oui.", "Oui, oui.", "Non, il pleut."]
    data.write_text(
        "".join(
            json.dumps({"candidate": text, "references": ["Oui, il pleut."], "scores": {"adequacy": at}})
            + "\n"
            for at, text in enumerate(candidates)
        )
    )
    assert main(["benchmark", "rouge", "chrf", "--data", str(data), "--json", str(out)]) == 0
    found = {row["metric"]: row for row in json.loads(out.read_text()) if row["part"] == "value"}
    assert (found["rouge"]["n"], found["chrf"]["n"]) == (0, 3)
    assert (
        main(
            ["benchmark", "rouge", "--data", str(data), "--language", "en", "--json", str(out), "--overwrite"]
        )
        == 0
    )
    assert json.loads(out.read_text())[0]["n"] == 3
    capsys.readouterr()


@pytest.mark.parametrize(
    ("name", "said"), [("chrf", "any language"), ("rouge", "en"), ("speed", "en"), ("sumqe", "en")]
)
def test_the_command_metrics_prints_the_languages_of_a_metric(
    name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["metrics", name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"languages {said}" in lines
    assert any(line.endswith("(preset multilingual)") for line in lines) == (name == "speed")


@pytest.mark.parametrize(
    "text",
    [
        "船は正午に港に着いた。",
        "船中午到达港口。",
        "เรือมาถึงท่าเรือตอนเที่ยง",
        "ເຮືອມາຮອດ",
        "ទូកមកដល់",
        "လှေရောက်သည်",
        "གྲུ་འབྱོར་",
    ],
)
def test_a_script_without_spaces_names_its_language_to_metrics_that_count_words(text: str) -> None:
    language = unspaced_language(text)
    assert language in UNSPACED
    row = gm.Example("1", text, references=[text + text])
    (bleu,) = Bleu().score([row])
    assert bleu.problem is not None and bleu.problem.startswith(f"{PROBLEM}the row is in {language}, ")
    (named,) = Bleu().score([gm.Example("1", text, references=[text + text], language="fr")])
    assert named.problem is None, "what the row says counts"
    assert Bleu(BleuOptions(tokenizer="char")).score([row])[0].value > 0


def test_a_text_in_another_script_or_with_a_foreign_name_has_no_language_by_its_script() -> None:
    assert [
        unspaced_language(text) for text in ("", "12 €", "Был день.", "여객선이 떠났다.", "The city of 北京.")
    ] == [None] * 5
