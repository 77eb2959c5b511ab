import gzip
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from gistmeter.bench import store
from gistmeter.bench.fills import Remembering, share_filler
from gistmeter.bench.store import Kept
from gistmeter.catalog import build
from gistmeter.core.errors import DataError
from gistmeter.core.example import Example, Need
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.models.filler import Fill, Query
from tests.laws.test_laws import assert_same, assert_sound
from tests.laws.variants import ODD_TEXTS, ORDINARY

EXAMPLES = [Example(str(at), f"The ferry left {at} times.", "It left.", ("It sailed.",)) for at in range(7)]


@dataclass
class Noting:
    """A metric that notes what it scored, and whose scores hold everything that a score can hold."""

    version: int = 1
    fails_at: int = 10**9
    seen: list[str] = field(default_factory=list)
    name = "noting"
    needs: tuple[Need, ...] = ()

    @property
    def signature(self) -> Signature:
        return Signature.of("noting", version=self.version)

    def score(self, examples: Sequence[Example], /) -> list[Score]:
        if len(self.seen) + len(examples) > self.fails_at:
            raise KeyboardInterrupt
        self.seen += [example.candidate for example in examples]
        return [_score(example) for example in examples]


def _score(example: Example) -> Score:
    if "3" in example.candidate:
        return Score.undefined(example.id, "three\tis too \ud800 odd", (Flag("empty_side", "source"),))
    spans = (
        Span("candidate", 0, 3, math.nan, 0.0, 'note with\ttab,\nline and "quotes" — ünïcode'),
        Span("reference", 1, 2, 0.1 + 0.2, 1 / 3, index=1),
    )
    flags = (Flag("truncated", "reference", 5, 9, 1), Flag("degenerate"))
    value = math.pi / (1 + len(example.candidate))
    return Score(example.id, value, {"a": math.nan, "b": -0.0, "c": 1e-300}, spans, flags)


def test_a_kept_score_equals_a_fresh_one_in_everything(tmp_path: Path) -> None:
    fresh = Noting().score(EXAMPLES)
    assert repr(Kept(Noting(), tmp_path).score(EXAMPLES)) == repr(fresh)
    unused = Noting()
    assert repr(Kept(unused, tmp_path).score(EXAMPLES)) == repr(fresh)
    assert unused.seen == []


def test_without_spans_all_else_is_the_same_and_they_stay_on_disk(tmp_path: Path) -> None:
    metric = Noting()
    bare = Kept(metric, tmp_path, spans=False).score(EXAMPLES)
    assert repr(bare) == repr([replace(score, spans=()) for score in Noting().score(EXAMPLES)])
    assert repr(Kept(metric, tmp_path).score(EXAMPLES)) == repr(Noting().score(EXAMPLES))
    assert len(metric.seen) == len(EXAMPLES)


def test_equal_texts_are_scored_once_and_keep_their_own_ids(tmp_path: Path) -> None:
    metric = Noting()
    twins = [EXAMPLES[0], replace(EXAMPLES[0], id="other", system="s", doc_id="d")]
    scores = Kept(metric, tmp_path).score(twins)
    assert [score.id for score in scores] == ["0", "other"]
    assert len(metric.seen) == 1
    for changed in ({"source": None}, {"references": ("It sailed.", "")}, {"candidate": "Rain."}):
        Kept(metric, tmp_path).score([replace(EXAMPLES[0], **changed)])
    assert len(metric.seen) == 4


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "CHUNK", 2)
    stopped = Noting(fails_at=5)
    with pytest.raises(KeyboardInterrupt):
        Kept(stopped, tmp_path).score(EXAMPLES)
    assert len(stopped.seen) == 4
    rest = Noting()
    assert repr(Kept(rest, tmp_path).score(EXAMPLES)) == repr(Noting().score(EXAMPLES))
    assert sorted(stopped.seen + rest.seen) == sorted(example.candidate for example in EXAMPLES)


@pytest.mark.parametrize("damage", ["cut", "flipped", "not packed", "line without a tab"])
def test_a_damaged_chunk_is_noticed_and_scored_again(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "CHUNK", 3)
    Kept(Noting(), tmp_path).score(EXAMPLES)
    path = sorted(tmp_path.glob("*/*.gz"))[0]
    whole = path.read_bytes()
    lines = len(gzip.decompress(whole).splitlines())
    middle = len(whole) // 2
    path.write_bytes(
        {
            "cut": whole[:-9],
            "flipped": whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :],
            "not packed": b"nothing of the kind",
            "line without a tab": gzip.compress(b"half a li\n"),
        }[damage]
    )
    again = Noting()
    kept = Kept(again, tmp_path)
    assert repr(kept.score(EXAMPLES)) == repr(Noting().score(EXAMPLES))
    assert (kept.damaged, len(again.seen)) == (1, lines)
    assert Kept(Noting(fails_at=0), tmp_path).score(EXAMPLES)


def test_half_a_chunk_is_never_read(tmp_path: Path) -> None:
    kept = Kept(Noting(), tmp_path)
    kept.score(EXAMPLES)
    (tmp_path / kept.signature.hash / "0123456789abcdef.77.part").write_bytes(b"\x1f\x8b half")
    assert Kept(Noting(fails_at=0), tmp_path).score(EXAMPLES)
    assert (tmp_path / kept.signature.hash / "signature.txt").read_text() == "noting|version=1\n"


def test_another_signature_is_another_metric(tmp_path: Path) -> None:
    Kept(Noting(), tmp_path).score(EXAMPLES)
    newer = Noting(version=2)
    Kept(newer, tmp_path).score(EXAMPLES)
    assert len(newer.seen) == len(EXAMPLES)


def test_the_time_is_that_of_the_scoring(tmp_path: Path) -> None:
    Kept(Noting(), tmp_path).score(EXAMPLES)
    first = Kept(Noting(fails_at=0), tmp_path).seconds(EXAMPLES)
    assert 0 < first < 1
    assert Kept(Noting(fails_at=0), tmp_path).seconds(EXAMPLES) == first


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(DataError, match="choose another folder"):
        Kept(Noting(), tmp_path / "file").score(EXAMPLES)


@pytest.mark.parametrize("name", ["chrf", "rouge", "extractive"])
def test_it_is_a_metric_that_obeys_the_law(name: str, tmp_path: Path) -> None:
    bare, kept = build(name), Kept(build(name), tmp_path)
    assert (kept.name, kept.needs, kept.signature) == (bare.name, bare.needs, bare.signature)
    whole = bare.score(ORDINARY)
    assert_same(kept.score(ORDINARY[::-1])[::-1], whole, "reversed")
    assert_same(kept.score(ORDINARY[:1]) + kept.score(ORDINARY[1:]), whole, "split")
    assert_same(kept.score(ORDINARY * 2), whole * 2, "doubled")
    assert kept.score([]) == []
    odd = [Example(str(at), text, text, (text,)) for at, text in enumerate(ODD_TEXTS) if len(text) < 1000]
    assert_sound(kept, odd, name)
    assert_sound(Kept(build(name), tmp_path), odd, f"{name}, from disk")


@dataclass
class CountingFiller:
    identity: str = "tiny"
    asked: int = 0

    def fill(self, queries: Sequence[Query]) -> list[list[Fill]]:
        self.asked += len(queries)
        return [[Fill(query.text, True, (), (), ())] for query in queries]


@dataclass
class WithFiller(Noting):
    filler: object = None


def test_metrics_with_the_same_filler_share_what_it_filled() -> None:
    one, two, other = CountingFiller(), CountingFiller(), CountingFiller("large")
    known: dict[str, Remembering] = {}
    metrics = [share_filler(WithFiller(filler=filler), known) for filler in (one, two, other)]
    fillers = [metric.filler for metric in metrics]  # type: ignore[attr-defined]
    assert fillers[0] is fillers[1] is not fillers[2]
    queries = [Query((1, 2), ((0, 1),)), Query((3,), ((0, 1),)), Query((1, 2), ((0, 1),))]
    answers = fillers[0].fill(queries)
    assert answers == fillers[1].fill(queries) == CountingFiller().fill(queries)
    assert (one.asked, two.asked, other.asked) == (2, 0, 0)
    fillers[0].forget()
    fillers[0].fill(queries[:1])
    assert one.asked == 3
    plain = Noting()
    assert share_filler(plain, known) is plain
