"""Test the loaders of published formats on small files with the same layout."""

import json
import math
from pathlib import Path
from zipfile import ZipFile

import pytest

from gistmeter.bench.datasets.loaders import LOADERS
from gistmeter.core.errors import DataError
from gistmeter.core.row import Row

VOTE = {"coherence": 2, "consistency": 5, "fluency": 4, "relevance": 3}
SUMMEVAL = {
    "id": "cnn-test-1",
    "decoded": "a goat ate the hat .",
    "expert_annotations": [VOTE, VOTE | {"coherence": 3}, VOTE | {"coherence": 4}],
    "turker_annotations": [VOTE | {"coherence": 1}] * 5,
    "references": ["The hat is gone.", "A goat ate it."],
    "model_id": "M8",
    "filepath": "cnn/stories/1.story",
}
FRANK_ERRORS = ("Semantic_Frame_Errors", "Discourse_Errors", "Content_Verifiability_Errors", "RelE", "EntE",
                "CircE", "OutE", "GramE", "CorefE", "LinkE", "Other")  # fmt: skip


def test_summeval_takes_the_experts_means(tmp_path: Path) -> None:
    plain = _lines(tmp_path / "plain.jsonl", SUMMEVAL)
    paired = _lines(tmp_path / "paired.jsonl", SUMMEVAL | {"text": "Yesterday a goat ate a hat."})
    (row,) = _read("summeval", plain)
    assert row.scores == {"coherence": 3, "consistency": 5, "fluency": 4, "relevance": 3}
    assert (row.example.id, row.example.doc_id, row.example.system) == ("1|M8", "1", "M8")
    assert row.example.references == ("The hat is gone.", "A goat ate it.")
    assert row.example.source is None
    assert _read("summeval", paired)[0].example.source == "Yesterday a goat ate a hat."
    assert _read("summeval", plain, paired)[0].example.source == "Yesterday a goat ate a hat."
    other = _lines(tmp_path / "other.jsonl", SUMMEVAL | {"id": "cnn-test-2", "text": "Rain fell."})
    assert _read("summeval", plain, other)[0].example.source is None


def test_qags_takes_the_majority_of_each_sentence(tmp_path: Path) -> None:
    def sentence(text: str, *votes: str) -> dict[str, object]:
        return {"sentence": text, "responses": [{"worker_id": 1, "response": vote} for vote in votes]}

    record = {
        "article": "A goat ate a hat.",
        "summary_sentences": [
            sentence("A goat ate. ", "yes", "yes", "no"),
            sentence("The hat was red.", "no", "no", "yes"),
        ],
    }
    first, second = _read("qags", _lines(tmp_path / "mturk_xsum.jsonl", record, record))
    assert first.scores == {"consistency": 0.5, "consistency_mean_vote": pytest.approx(0.5)}
    assert first.example.candidate == "A goat ate. The hat was red."
    assert (first.example.id, second.example.id) == ("mturk_xsum_0", "mturk_xsum_1")
    assert first.example.doc_id is None and first.example.source == "A goat ate a hat."


def test_frank_joins_texts_and_judgements_of_one_half(tmp_path: Path) -> None:
    keys = [("a1", "bart", "cnndm", 0.5), ("a1", "pgn", "cnndm", 1.0), ("77", "PtGen", "bbc", 0.0)]
    judged = [
        {"hash": at, "model_name": model, "dataset": half, "Factuality": value, "split": "valid"}
        | dict.fromkeys(FRANK_ERRORS, 1.0)
        for at, model, half, value in keys
    ]
    texts = [
        {
            "hash": at,
            "model_name": model,
            "article": "An article.",
            "summary": f"By {model}.",
            "reference": "R.",
        }
        for at, model, _, _ in keys
    ]
    files = [
        _json(tmp_path / "benchmark_data.json", texts),
        _json(tmp_path / "human_annotations.json", judged),
    ]
    found = {row.example.id: row for row in _read("frank_cnndm", *files)}
    assert {id: row.scores["Factuality"] for id, row in found.items()} == {"a1|bart": 0.5, "a1|pgn": 1.0}
    assert set(found["a1|bart"].scores) == {"Factuality", *FRANK_ERRORS}
    example = found["a1|pgn"].example
    assert (example.candidate, example.source, example.references) == ("By pgn.", "An article.", ("R.",))
    assert [row.example.id for row in _read("frank_xsum", *files)] == ["77|PtGen"]
    _json(files[0], texts[1:])
    with pytest.raises(DataError, match=r"lacks 1 summaries that human_annotations.json judges"):
        _read("frank_cnndm", *files)


def test_xsumfaith_counts_workers_and_characters(tmp_path: Path) -> None:
    spans = tmp_path / "hallucination_annotations_xsum_summaries.csv"
    text = r"the goat\'s hat"  # 14 characters without the backslash
    spans.write_text(
        "bbcid,system,summary,hallucination_type,hallucinated_span,hallucinated_span_start,"
        "hallucinated_span_end,worker_id\n"
        f"5,PtGen,{text},NULL,NULL,-1,-1,wid_0\n"
        rf"5,PtGen,{text},extrinsic,goat\'s,5,11,wid_1" + "\n"
        f"5,PtGen,{text},intrinsic,hat,12,15,wid_1\n"
        rf"5,PtGen,{text},intrinsic,\nthe,0,4,wid_2" + "\n"
        "5,Gold,a reference,NULL,NULL,-1,-1,wid_0\n"
        "6,PtGen,asked of nobody,NULL,NULL,-1,-1,wid_0\n",
        encoding="utf-8",
    )
    votes = tmp_path / "factuality_annotations_xsum_summaries.csv"
    votes.write_text(
        f"bbcid,system,summary,is_factual,worker_id\n5,PtGen,{text},yes,wid_0\n5,PtGen,{text},no,wid_1\n",
        encoding="utf-8",
    )
    first, second = _read("xsumfaith", spans, votes)
    assert first.example.candidate == "the goat's hat"
    assert first.example.references == ("a reference",)
    assert (first.example.id, first.example.doc_id, first.example.system) == ("5|PtGen", "5", "PtGen")
    assert first.scores == {
        "faithful_workers": pytest.approx(1 / 3),
        "faithful_char_share": pytest.approx(1 - (0 + 9 / 14 + 3 / 14) / 3),
        "factual_workers": 0.5,
    }
    assert second.example.references == ()
    assert second.scores == {"faithful_workers": 1, "faithful_char_share": 1, "factual_workers": 1}
    spans.write_text(spans.read_text().replace("intrinsic,hat,", "intrinsic,cap,"))
    with pytest.raises(DataError, match=r"line 4: the span 'cap' is not in its summary"):
        _read("xsumfaith", spans, votes)


def test_asset_standardises_each_worker(tmp_path: Path) -> None:
    ratings = tmp_path / "human_ratings.csv"
    lines = ["original,simplification,original_sentence_id,aspect,worker_id,rating"]
    # Worker 1 gives 20 and 60: mean 40, deviation 20. Worker 2 always says the same.
    for number, one, two in (("1", 20, 50), ("0", 60, 50)):
        original = '"A goat, it seems, ate."' if number == "1" else "The Hat is red."
        lines += [
            f"{original},Short {number}.,{number},simplicity,1,{one}",
            f"{original},Short {number}.,{number},simplicity,2,{two}",
            f"{original},Short {number}.,{number},meaning,1,{one}",
        ]
    ratings.write_text("\n".join(lines) + "\n", encoding="utf-8")
    originals = tmp_path / "asset.test.orig"
    originals.write_text("The hat is red.\nA goat, it seems, ate.\nA third.\n", encoding="utf-8")
    references = [tmp_path / f"asset.test.simp.{at}" for at in range(2)]
    for at, path in enumerate(references):
        path.write_text(f"Red hat {at}.\nA goat ate {at}.\nThird {at}.\n", encoding="utf-8")
    first, second = _read("asset", ratings, originals, *references)
    assert first.scores == pytest.approx(
        {"simplicity": 35, "simplicity_z": -0.5, "meaning": 20, "meaning_z": -1}
    )
    assert second.scores == pytest.approx(
        {"simplicity": 55, "simplicity_z": 0.5, "meaning": 60, "meaning_z": 1}
    )
    assert first.example.references == ("A goat ate 0.", "A goat ate 1.")
    assert (first.example.source, first.example.doc_id) == ("A goat, it seems, ate.", "1")
    assert second.example.references == ("Red hat 0.", "Red hat 1.")  # the case of the original differs
    references[1].write_text("Red hat.\n")
    with pytest.raises(DataError, match="has 1 lines, but"):
        _read("asset", ratings, originals, *references)
    originals.write_text("Another.\nSentence.\nHere.\n")
    with pytest.raises(DataError, match="line 2: the sentence is not number 1 of ASSET's test split"):
        _read("asset", ratings, originals)


def test_simplicity_da_has_means_and_z_scores(tmp_path: Path) -> None:
    ratings = tmp_path / "simplicity_DA.csv"
    ratings.write_text(
        "sent_id,sys_name,orig_sent,simp_sent,sys_type,fluency,fluency_zscore,meaning,meaning_zscore,"
        "simplicity,simplicity_zscore\n"
        "2,ACCESS,A goat ate the hat.,The hat was eaten.,NeuralSeq2Seq,77.5,0.5,70,-0.25,60.25,1e-3\n"
    )
    originals = tmp_path / "asset.test.orig"
    originals.write_text("First.\nA goat ate the hat.\n")
    reference = tmp_path / "asset.test.simp.0"
    reference.write_text("One.\nTwo.\n")
    (row,) = _read("simplicity_da", ratings, originals, reference)
    assert row.scores == {
        "fluency": 77.5, "meaning": 70, "simplicity": 60.25,
        "fluency_z": 0.5, "meaning_z": -0.25, "simplicity_z": 0.001,
    }  # fmt: skip
    assert (row.example.id, row.example.system, row.example.doc_id) == ("simpDA_2|ACCESS", "ACCESS", "1")
    assert row.example.references == ("Two.",)


def test_dialsummeval_takes_the_students_means(tmp_path: Path) -> None:
    record = {"id": "9", "dialogue": "| Ann: Hi", "summary": "ann greets .", "model_id": "B",
              "annotations": [VOTE, VOTE | {"coherence": 5}]}  # fmt: skip
    (row,) = _read("dialsummeval", _lines(tmp_path / "human_judgment.jsonl", record))
    assert row.scores["coherence"] == 3.5
    assert (row.example.id, row.example.source, row.example.references) == ("9|B", "| Ann: Hi", ())


@pytest.mark.parametrize(
    ("reader", "content", "says"),
    [
        (
            "summeval",
            json.dumps(SUMMEVAL | {"decoded": None}),
            "line 1: 'decoded' must be a string, not NoneType",
        ),
        (
            "summeval",
            json.dumps({"id": "1"}),
            "line 1 has no 'model_id'; check that it is the published file",
        ),
        ("summeval", json.dumps(SUMMEVAL | {"expert_annotations": []}), "expert_annotations is empty"),
        (
            "summeval",
            json.dumps(SUMMEVAL | {"expert_annotations": [{"coherence": "x"}]}),
            "a number, not 'x'",
        ),
        (
            "summeval",
            json.dumps(SUMMEVAL | {"expert_annotations": [VOTE | {"fluency": math.nan}]}),
            "not nan",
        ),
        ("summeval", json.dumps(SUMMEVAL | {"references": "One."}), "references must be a list of strings"),
        ("summeval", "\n{", "line 2 is not JSON"),
        ("summeval", "[1]", "line 1 must be a JSON object"),
        ("summeval", b"\xff", "not UTF-8 text at byte 1"),
        (
            "qags",
            '{"article": "A.", "summary_sentences": {}}',
            "'summary_sentences' must be a list of objects",
        ),
        (
            "qags",
            '{"article": "", "summary_sentences": [{"sentence": "", "responses": [{"response": "maybe"}]}]}',
            "line 1: summary_sentences 1: responses must be a non-empty list of yes and no",
        ),
        ("simplicity_da", "sent_id,sys_name\n1,A\n", "has no column 'orig_sent'"),
        ("frank_xsum", '{"a": 1}', "must be one JSON list"),
        ("frank_xsum", "[]", "has no judgement with dataset 'bbc'"),
        ("frank_xsum", None, "cannot read .*No such file"),
    ],
)
def test_what_is_not_of_the_format_is_named(
    reader: str, content: str | bytes | None, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    paths = [path] if reader in ("summeval", "qags") else [path, path]
    with pytest.raises(DataError, match=says) as caught:
        _read(reader, *paths)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def _read(reader: str, *paths: Path) -> list[Row]:
    return list(LOADERS[reader](*paths))


def _lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def _json(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_multi_summeval_is_read_from_an_archive(tmp_path: Path) -> None:
    archive = tmp_path / "Multi_SummEval.zip"
    with ZipFile(archive, "w") as made:
        for name, text in {
            "x-1/resulting_data/ZH/gold/000002": "船到了。\n",
            "x-1/resulting_data/ZH/pred_PG/000002": "船来了。",
            "x-1/resulting_data/DE/gold/7": "Ein Boot.",
            "x-1/resulting_data/ZH/score.csv": "id,model,focus,coverage\n2,PG,0.5,-1.25\n",
        }.items():
            made.writestr(name, text)
    (row,) = LOADERS["multi_summeval_zh"](archive)
    example = row.example
    assert (example.id, example.candidate, example.references) == ("zh_2|PG", "船来了。", ("船到了。",))
    assert (example.language, example.system, example.doc_id) == ("zh", "PG", "zh_2")
    assert row.scores == {"focus": 0.5, "coverage": -1.25}
    with pytest.raises(DataError, match=r"no resulting_data/DE/score\.csv"):
        list(LOADERS["multi_summeval_de"](archive))
    archive.write_bytes(b"<html>")
    with pytest.raises(DataError, match=r"cannot read .* as a zip archive"):
        list(LOADERS["multi_summeval_zh"](archive))
