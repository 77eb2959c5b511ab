"""Test the cache of scores."""

import math
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from gistmeter.bench.suites.caching_filler import CachingFiller, share_filler
from gistmeter.catalog import build
from gistmeter.core.errors import DataError, UsageError
from gistmeter.core.example import Example, Need
from gistmeter.core.language import ANY, Languages
from gistmeter.core.score import Flag, Score, Span
from gistmeter.core.signature import Signature
from gistmeter.io import cache as caches
from gistmeter.io import kept
from gistmeter.io.cache import Entry, ScoreCache
from gistmeter.io.kept import Kept
from gistmeter.models.fill.protocol import Fill, Query
from tests.laws.test_laws import assert_same, assert_sound
from tests.laws.variants import ODD_TEXTS, ORDINARY

keys = st.text("abc", min_size=1, max_size=2)
entries = st.builds(Entry, st.binary(max_size=20), st.binary(max_size=40))
EXAMPLES = [Example(str(at), f"The ferry left {at} times.", "It left.", ("It sailed.",)) for at in range(7)]


@dataclass
class Noting:
    """A metric that notes what it scored, and whose scores hold everything that a score can hold."""

    version: int = 1
    fails_at: int = 10**9
    seen: list[str] = field(default_factory=list)
    name = "noting"
    needs: tuple[Need, ...] = ()
    languages: Languages = ANY

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
    assert repr(Kept(Noting(), ScoreCache(tmp_path)).score(EXAMPLES)) == repr(fresh)
    unused = Noting()
    assert repr(Kept(unused, ScoreCache(tmp_path)).score(EXAMPLES)) == repr(fresh)
    assert unused.seen == []


def test_without_spans_all_else_is_the_same_and_they_stay_on_disk(tmp_path: Path) -> None:
    metric = Noting()
    bare = Kept(metric, ScoreCache(tmp_path), spans=False).score(EXAMPLES)
    assert repr(bare) == repr([replace(score, spans=()) for score in Noting().score(EXAMPLES)])
    assert repr(Kept(metric, ScoreCache(tmp_path)).score(EXAMPLES)) == repr(Noting().score(EXAMPLES))
    assert len(metric.seen) == len(EXAMPLES)


def test_equal_texts_are_scored_once_and_keep_their_own_ids(tmp_path: Path) -> None:
    metric = Noting()
    twins = [EXAMPLES[0], replace(EXAMPLES[0], id="other", system="s", doc_id="d")]
    scores = Kept(metric, ScoreCache(tmp_path)).score(twins)
    assert [score.id for score in scores] == ["0", "other"]
    assert len(metric.seen) == 1
    for changed in ({"source": None}, {"references": ("It sailed.", "")}, {"candidate": "Rain."}):
        Kept(metric, ScoreCache(tmp_path)).score([replace(EXAMPLES[0], **changed)])
    assert len(metric.seen) == 4


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "CHUNK", 2)
    stopped = Noting(fails_at=5)
    with pytest.raises(KeyboardInterrupt):
        Kept(stopped, ScoreCache(tmp_path)).score(EXAMPLES)
    assert len(stopped.seen) == 4
    rest = Noting()
    assert repr(Kept(rest, ScoreCache(tmp_path)).score(EXAMPLES)) == repr(Noting().score(EXAMPLES))
    assert sorted(stopped.seen + rest.seen) == sorted(example.candidate for example in EXAMPLES)


@pytest.mark.parametrize("damage", ["cut", "head", "text", "folder of another"])
def test_a_damaged_file_is_set_aside_with_a_note(damage: str, tmp_path: Path) -> None:
    path, said = tmp_path / caches.NAME, list[str]()
    first = ScoreCache(tmp_path)
    Kept(Noting(), first).score(EXAMPLES)
    first.close()
    whole = path.read_bytes()
    path.write_bytes(
        {
            "cut": whole[:5000],
            "head": bytes(100) + whole[100:],
            "text": b"nothing of the kind" * 500,
            "folder of another": whole[:4096] + b"\xff" * (len(whole) - 4096),
        }[damage]
    )
    damaged = path.read_bytes()
    again = Noting()
    assert repr(Kept(again, ScoreCache(tmp_path, note=said.append)).score(EXAMPLES)) == repr(
        Noting().score(EXAMPLES)
    )
    assert len(again.seen) == len(EXAMPLES)
    assert (tmp_path / f"{caches.NAME}.damaged-1").read_bytes()[100:] == damaged[100:]
    assert len(said) == 1 and "renamed to scores.sqlite.damaged-1, started a new one" in said[0]
    assert Kept(Noting(fails_at=0), ScoreCache(tmp_path)).score(EXAMPLES)


def test_a_flipped_byte_in_a_score_is_noticed(tmp_path: Path) -> None:
    cache = ScoreCache(tmp_path)
    Kept(Noting(), cache).score(EXAMPLES)
    cache.close()
    path = tmp_path / caches.NAME
    data = bytearray(path.read_bytes())
    data[data.rindex(b'"value": 0.1') + 10] ^= 1
    path.write_bytes(data)
    again, cache = Noting(), ScoreCache(tmp_path)
    assert repr(Kept(again, cache).score(EXAMPLES)) == repr(Noting().score(EXAMPLES))
    assert (cache.damaged, len(again.seen)) == (1, 1)


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "rows.jsonl"
    mine.write_text('{"id": "1"}\n' * 100)
    theirs = tmp_path / "other.sqlite"
    with sqlite3.connect(theirs) as base:
        base.execute("PRAGMA application_id = 7")
        base.execute("CREATE TABLE a (b)")
    base.close()
    for path in (mine, theirs):
        before = path.read_bytes()
        with pytest.raises(UsageError, match="is not a cache of gistmeter"):
            ScoreCache(path)
        assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["other.sqlite", "rows.jsonl"]


def test_a_new_file_that_another_process_writes_to_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / caches.NAME, isolation_level=None, check_same_thread=False)
    other.execute(f"PRAGMA application_id = {caches.APPLICATION}")
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.2, lambda: other.execute("COMMIT"))
    release.start()
    cache = ScoreCache(tmp_path)
    release.join()
    other.close()
    cache.put("s", {"a": caches.Entry(b"head", b"spans")})
    assert len(cache.get("s", ["a"])) == 1


def test_several_processes_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from gistmeter.io.cache import Entry, ScoreCache\n"
        "cache = ScoreCache(sys.argv[1])\n"
        "for n in range(100):\n"
        "    cache.put('s', {f'{(n + int(sys.argv[2]) * 50) % 200}': Entry(b'head', b'spans' * 50)})"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program, tmp_path, str(n)]) for n in range(3)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0, 0]
    assert len(ScoreCache(tmp_path).get("s", map(str, range(200)))) == 200


def test_a_full_disk_ends_the_keeping_not_the_scoring(tmp_path: Path) -> None:
    said = list[str]()
    cache = ScoreCache(tmp_path, note=said.append)
    pages = cache._base.execute("PRAGMA page_count").fetchone()[0]
    cache._base.execute(f"PRAGMA max_page_count = {pages}")
    many = [Example(str(at), f"Ferry {at} " * 50) for at in range(400)]
    assert repr(Kept(Noting(), cache).score(many)) == repr(Noting().score(many))
    assert len(said) == 1 and "no further scores are stored" in said[0] and "full" in said[0]


class Cache(RuleBasedStateMachine):
    """The cache against a dictionary: what comes back is what was put there, or nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.known: dict[tuple[str, str], Entry] = {}
        self.lossy = False
        self.open = [ScoreCache(self.folder.name), ScoreCache(self.folder.name)]

    @rule(which=st.integers(0, 1), signature=keys, texts=st.dictionaries(keys, entries, max_size=4))
    def put(self, which: int, signature: str, texts: dict[str, Entry]) -> None:
        self.open[which].put(signature, texts)
        for text, entry in texts.items():
            kept = self.open[which].get(signature, [text]).get(text) if self.lossy else None
            self.known[signature, text] = kept or self.known.get((signature, text), entry)

    @rule(which=st.integers(0, 1), signature=keys, texts=st.lists(keys), spans=st.booleans())
    def get(self, which: int, signature: str, texts: list[str], spans: bool) -> None:
        found = self.open[which].get(signature, texts, spans=spans)
        for text in set(texts):
            entry = self.known.get((signature, text))
            if text in found:
                assert entry is not None and found[text].head == entry.head
                assert found[text].spans == (entry.spans if spans else b"")
            else:
                assert entry is None or self.lossy

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        self.open[which].close()
        self.open[which] = ScoreCache(self.folder.name)

    @rule(at=st.integers(0, 10**6), size=st.integers(1, 300))
    def damage(self, at: int, size: int) -> None:
        for cache in self.open:
            cache.close()
        path = Path(self.folder.name, caches.NAME)
        data = bytearray(path.read_bytes())
        at %= len(data)
        data[at : at + size] = bytes(255 - byte for byte in data[at : at + size])
        path.write_bytes(data)
        self.lossy = True
        self.open = [ScoreCache(self.folder.name), ScoreCache(self.folder.name)]

    @rule()
    def shrink(self) -> None:
        self.open[0]._limit, limit = 40_000, self.open[0]._limit
        self.open[0].put("big", {str(at): Entry(b"x" * 500, b"") for at in range(200)})
        self.open[0]._limit = limit
        self.lossy = True

    def teardown(self) -> None:
        for cache in self.open:
            cache.close()
        self.folder.cleanup()


TestCache = Cache.TestCase
TestCache.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)


def test_another_signature_is_another_metric(tmp_path: Path) -> None:
    Kept(Noting(), ScoreCache(tmp_path)).score(EXAMPLES)
    newer = Noting(version=2)
    Kept(newer, ScoreCache(tmp_path)).score(EXAMPLES)
    assert len(newer.seen) == len(EXAMPLES)


def test_the_time_is_that_of_the_scoring(tmp_path: Path) -> None:
    Kept(Noting(), ScoreCache(tmp_path)).score(EXAMPLES)
    first = Kept(Noting(fails_at=0), ScoreCache(tmp_path)).seconds(EXAMPLES)
    assert 0 < first < 1
    assert Kept(Noting(fails_at=0), ScoreCache(tmp_path)).seconds(EXAMPLES) == first


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(DataError, match="choose another --cache"):
        ScoreCache(tmp_path / "file" / "scores.sqlite")


@pytest.mark.parametrize("name", ["chrf", "rouge", "extractive"])
def test_it_is_a_metric_that_obeys_the_law(name: str, tmp_path: Path) -> None:
    bare, kept = build(name), Kept(build(name), ScoreCache(tmp_path))
    assert (kept.name, kept.needs, kept.signature) == (bare.name, bare.needs, bare.signature)
    whole = bare.score(ORDINARY)
    assert_same(kept.score(ORDINARY[::-1])[::-1], whole, "reversed")
    assert_same(kept.score(ORDINARY[:1]) + kept.score(ORDINARY[1:]), whole, "split")
    assert_same(kept.score(ORDINARY * 2), whole * 2, "doubled")
    assert kept.score([]) == []
    odd = [Example(str(at), text, text, (text,)) for at, text in enumerate(ODD_TEXTS)]
    assert_sound(kept, odd, name)
    assert_sound(Kept(build(name), ScoreCache(tmp_path)), odd, f"{name}, from disk")


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
    known: dict[str, CachingFiller] = {}
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
