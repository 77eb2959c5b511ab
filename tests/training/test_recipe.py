"""Test recipes: the included ones, and error messages for invalid ones."""

import gzip
import json
from pathlib import Path

import pytest

from gistmeter.catalog import TASKS, WITHOUT_LOOP
from gistmeter.core.errors import DataError, UsageError
from gistmeter.text.words import tokenizer_name
from gistmeter.training.batches import Batches, LengthBatches
from gistmeter.training.recipe import Recipe, Settings, check_keys, claim, read_recipe, read_toml
from gistmeter.training.texts import TextPair, read_pairs

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))
GOOD = 'task = "cloze"\n[training]\nsteps = 40\nlearning_rate = 1e-4\n'


def recipe(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_can_be_read(path: Path) -> None:
    task = read_toml(path)["task"]
    assert task in TASKS
    if task in WITHOUT_LOOP:
        return
    found = read_recipe(path)
    assert found.name == path.stem
    assert found.training.seed >= 0
    assert found.data
    assert all({"name", "licence"} <= set(data) for data in found.notes.get("data", []))
    short = found.shortened(3)
    assert (short.counted(99).steps, short.counted(99).validate_every) == (3, 3)
    assert short.training.warmup <= 2


def test_a_recipe_has_what_the_one_that_it_extends_has_except_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "first.toml").write_text(
        'task = "fill"\n[model]\nbase = "minilm"\nlayers = 3\n[data]\nsets = [{ file = "a" }]\n'
    )
    (tmp_path / "second.toml").write_text('extends = "first.toml"\n[model]\nlayers = 6\n')
    third = recipe(tmp_path, 'extends = "second.toml"\n[data]\nsets = [{ file = "c" }]\n')
    assert read_toml(third) == {
        "task": "fill",
        "model": {"base": "minilm", "layers": 6},
        "data": {"sets": [{"file": "c"}]},
    }


def test_a_key_with_a_plus_sign_adds_to_a_list(tmp_path: Path) -> None:
    first = '[data]\nsets = [{ file = "a" }]\n[data.made]\nsets = [{ file = "b" }]\n'
    (tmp_path / "first.toml").write_text('task = "fill"\n' + first)
    (tmp_path / "second.toml").write_text('extends = "first.toml"\n[[data."+sets"]]\nfile = "c"\n')
    third = recipe(tmp_path, 'extends = "second.toml"\n[[data.made."+sets"]]\nfile = "d"\n')
    data = read_toml(third)["data"]
    assert data["sets"] == [{"file": "a"}, {"file": "c"}]
    assert data["made"]["sets"] == [{"file": "b"}, {"file": "d"}]
    wrong = recipe(tmp_path, 'extends = "first.toml"\n[[data."+set"]]\nfile = "c"\n')
    with pytest.raises(UsageError, match=r"\+set: there is no such list"):
        read_toml(wrong)


def test_a_recipe_that_extends_none_or_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read the recipe .*none\.toml"):
        read_toml(recipe(tmp_path, 'extends = "none.toml"\n'))
    (tmp_path / "other.toml").write_text('extends = "mine.toml"\n')
    with pytest.raises(UsageError, match=r"mine\.toml extends itself"):
        read_toml(recipe(tmp_path, 'extends = "other.toml"\n'))


def test_there_is_a_recipe_for_what_the_papers_trained() -> None:
    names = {path.stem for path in RECIPES}
    assert {"maskeval-mlm", "maskeval-weigher-paper", "maskeval-weighers", "cloze-paper"} <= names


def test_the_multilingual_recipe_names_the_language_of_each_set() -> None:
    found = read_recipe(next(path for path in RECIPES if path.stem == "maskeval-mlm-multilingual"))
    mlm = read_recipe(next(path for path in RECIPES if path.stem == "maskeval-mlm"))
    assert (found.training, found.task) == (mlm.training, mlm.task)
    languages = [chosen["language"] for chosen in found.data["sets"]]
    assert sorted(languages) == sorted(["en", "id", "zh", "fr", "tr", "ru", "de", "es"])
    assert all(tokenizer_name(language).endswith(language) for language in languages)


def test_the_papers_numbers() -> None:
    by_name = {path.stem: path for path in RECIPES}
    names = ("maskeval-mlm", "maskeval-weigher-paper", "cloze-paper")
    mlm, weigher, cloze = (read_recipe(by_name[name]) for name in names)
    counted = mlm.counted(100)
    assert (counted.steps, counted.validate_every, counted.learning_rate) == (300, 100, 1e-5)
    assert (counted.optimizer, counted.schedule, mlm.data["batch"], mlm.data["parts"]) == (
        "adamw",
        "constant",
        8,
        5,
    )
    assert (weigher.counted(512).steps, weigher.training.optimizer) == (51_200, "adam")
    assert (weigher.data["split"], weigher.data["target"]) == ("example", "range")
    assert (cloze.training.warmup, cloze.training.learning_rate, cloze.data["batch"]) == (8000, 1e-4, 96)


def test_epochs_count_validations_too(tmp_path: Path) -> None:
    text = 'task = "cloze"\n[training]\nepochs = 4\nlearning_rate = 1\nvalidate_every = 2\nwarmup = 5\n'
    found = read_recipe(recipe(tmp_path, text))
    wanted = Settings(steps=28, learning_rate=1, validate_every=14, checkpoint_every=7, warmup=5)
    assert found.counted(7) == wanted
    assert found.shortened(6).counted(7).steps == 6
    assert read_recipe(recipe(tmp_path, GOOD)).counted(7).steps == 40


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("steps = [", "is not valid TOML"),
        ("[training]\nsteps = 1", "has no task; add task"),
        (GOOD + "[date]\n", "unknown key 'date'; choose from: task, training"),
        ('data = "here"\n' + GOOD, r"data is not a table; write it as \[data\]"),
        (GOOD + "rate = 1\n", "unknown key training.rate; choose from: epochs, steps"),
        (GOOD + "epochs = 3\n", "has both steps and epochs"),
        (GOOD.replace("steps = 40\n", ""), r"needs steps \(or epochs\) and learning_rate"),
        (GOOD.replace("40", "0"), "training.steps=0: give at least 1"),
        (GOOD.replace("40", '"40"'), "training.steps='40' must be of type int"),
        (GOOD.replace("40", "true"), "training.steps=True must be of type int"),
        (GOOD.replace("1e-4", "0"), "learning_rate=0: give a number above 0"),
        (GOOD + 'schedule = "cosine"\n', "training.schedule=cosine: choose one of constant, linear"),
        (GOOD.replace("1e-4", "nan"), "training.learning_rate=nan: give a finite number"),
        (GOOD + "warmup = -1\n", "training.warmup=-1: give 0 or more"),
        (GOOD + "[data]\nmix = 5\n", "data.mix=5 is not a table"),
        (GOOD + "[data]\nmix = { source = inf }\n", "data.mix.source=inf: give a finite number"),
        (GOOD + "[data]\nsets = 5\n", "data.sets=5 is not a list"),
        (GOOD + '[data]\nsets = ["a.jsonl"]\n', "data.sets 1='a.jsonl' is not a table"),
        (GOOD + "[[data.sets]]\nfile = 5\n", "data.sets 1.file=5 is not a string"),
        (GOOD + "[[data.sets]]\nwhere = 5\n", "data.sets 1.where=5 is not a table"),
        (GOOD + '[[data.sets]]\nwhere = { level = "a" }\n', "data.sets 1.where.level='a' is not a list"),
        (GOOD + '[[data.sets]]\nlimit = "x"\n', "data.sets 1.limit='x' is not an integer"),
        (GOOD + "[[data.sets]]\nrepeat = 0\n", "data.sets 1.repeat=0: give at least 1"),
        (GOOD + "[[data.made.sets]]\nlimit = true\n", "data.made.sets 1.limit=True is not an integer"),
        (GOOD + "[data]\nsynthetic = 5\n", "data.synthetic=5 is not a table"),
        (GOOD + "[data.synthetic]\nsets = 5\n", "data.synthetic.sets=5 is not a list"),
        (
            GOOD + "[[data.synthetic.sets]]\nlimit = true\n",
            "data.synthetic.sets 1.limit=True is not an integer",
        ),
        (GOOD + '[model]\nlayers = "x"\n', "model.layers='x' is not an integer"),
    ],
)
def test_what_is_wrong_with_a_recipe(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises((UsageError, DataError), match=said):
        read_recipe(recipe(tmp_path, text))


def test_recipes_that_are_not_there_or_not_asked_for(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read the recipe .*none\.toml: No such file"):
        read_recipe(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="steps=0: give at least 1"):
        read_recipe(recipe(tmp_path, GOOD)).shortened(0)
    with pytest.raises(UsageError, match="mine: unknown key 'b'; choose from: a"):
        check_keys({"a": 1, "b": 2}, ["a"], "mine")


def test_a_folder_belongs_to_one_recipe(tmp_path: Path) -> None:
    found: Recipe = read_recipe(recipe(tmp_path, GOOD + "[data]\nsplit = 1\n"))
    claim(tmp_path / "out", found)
    claim(
        tmp_path / "out",
        read_recipe(recipe(tmp_path, "# again\n" + GOOD + "checkpoint_every = 3\n[data]\nsplit = 1\n")),
    )
    (tmp_path / "out" / "checkpoint.pt").touch()
    for other in (GOOD, GOOD + "[data]\nsplit = 2\n", GOOD + "seed = 2\n[data]\nsplit = 1\n"):
        with pytest.raises(UsageError, match="contains a run of another recipe; choose another --output"):
            claim(tmp_path / "out", read_recipe(recipe(tmp_path, other)))


def test_a_mended_typo_is_not_another_recipe(tmp_path: Path) -> None:
    claim(tmp_path / "out", read_recipe(recipe(tmp_path, GOOD + '[data]\nfolder = "hree"\n')))
    mended = read_recipe(recipe(tmp_path, GOOD + '[data]\nfolder = "here"\n'))
    claim(tmp_path / "out", mended)
    note = tmp_path / "out" / "recipe.json"
    assert json.loads(note.read_text(encoding="utf-8"))["data"] == {"folder": "here"}
    note.write_text('{"data": {', encoding="utf-8")
    claim(tmp_path / "out", mended)
    assert json.loads(note.read_text(encoding="utf-8"))["data"] == {"folder": "here"}, (
        "half a note binds nobody"
    )
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["recipe.json"]


def test_batches_hold_every_row_once_an_epoch() -> None:
    plan = Batches(rows=11, size=4, seed=5)
    epochs = [[row for step in range(at, at + 3) for row in plan.rows_of(step)] for at in (0, 3)]
    assert [sorted(rows) for rows in epochs] == [list(range(11))] * 2
    assert epochs[0] != epochs[1] != list(range(11))
    assert Batches(11, 4, 6).rows_of(0) != plan.rows_of(0)


def test_pairs_of_a_document_stay_on_one_side(tmp_path: Path) -> None:
    rows = [{"article": f"Report {at // 3}.", "highlights": f"Part {at}."} for at in range(150)]
    with gzip.open(tmp_path / "mine.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    columns = {"file": "mine.jsonl.gz", "source": "article", "candidate": "highlights"}
    learned, held = read_pairs(tmp_path, [columns], parts=5)
    assert len(learned) + len(held) == 150
    assert {pair.source for pair in learned}.isdisjoint(pair.source for pair in held)
    assert 0.1 < len(held) / 150 < 0.35
    assert TextPair("Report 0.", "Part 2.") in learned + held
    assert len(read_pairs(tmp_path, [columns])[1]) < len(held)
    with pytest.raises(DataError, match="has no matching row"):
        read_pairs(tmp_path, [{**columns, "source": "text"}])
    whole = (tmp_path / "mine.jsonl.gz").read_bytes()
    (tmp_path / "mine.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="cannot read"):
        read_pairs(tmp_path, [columns])


def test_pools_are_sorted_by_length_and_served_in_random_order() -> None:
    lengths = (5, 1, 4, 4, 9, 2, 7, 3, 8, 6, 1)
    pooled = LengthBatches(lengths, size=2, pool=3, seed=7)
    # The rows that earlier versions drew: a recipe must go on to reproduce its model.
    assert [pooled.rows_of(step) for step in range(6)] == [[7, 2], [3, 6], [8, 4], [1, 5], [0, 9], [10]]
    assert len(pooled) == 6
    unsorted = LengthBatches(lengths, size=4, pool=1, seed=7)
    assert [unsorted.rows_of(step) for step in range(3)] == [[8, 2, 6, 3], [4, 7, 10, 1], [0, 9, 5]]
    small = LengthBatches((3, 1), size=4, pool=8, seed=7)
    assert [sorted(small.rows_of(step)) for step in range(8)] == [[0, 1]] * 8


@pytest.mark.parametrize(("rows", "steps"), [(257, 33), (256, 32), (255, 32), (1, 1), (520, 65)])
def test_the_last_pool_has_as_many_batches_as_its_rows_fill(rows: int, steps: int) -> None:
    plan = LengthBatches([5] * rows, size=8, pool=32, seed=1)
    assert len(plan) == steps
    for epoch in range(2):
        batches = [plan.rows_of(epoch * steps + step) for step in range(steps)]
        assert sorted(row for batch in batches for row in batch) == list(range(rows))
        assert all(batches)


def test_texts_of_benchmarks_are_left_out(tmp_path: Path) -> None:
    words = [f"w{at}" for at in range(60)]
    known = " ".join(words)
    sources = {
        "the same": known,
        "lower case, punctuation": known.upper().replace(" ", ", "),
        "a third of it": " ".join(words[:20] + [f"x{at}" for at in range(20)]),
        "a few words of it": " ".join(words[:13] + [f"y{at}" for at in range(60)]),
        "short": "w1 w2",
    }
    lines = (json.dumps({"source": text, "candidate": name}) + "\n" for name, text in sources.items())
    (tmp_path / "texts.jsonl").write_text("".join(lines))
    (tmp_path / "benchmark.jsonl").write_text(json.dumps({"source": known}) + "\n")
    chosen = {"file": "texts.jsonl", "leave_out": ["benchmark.jsonl"]}

    def left(**more: object) -> list[str]:
        return sorted(pair.candidate for both in read_pairs(tmp_path, [{**chosen, **more}]) for pair in both)

    assert left() == ["a few words of it", "short"] == left(limit=2)
    assert left(leave_out=[]) == sorted(sources)
