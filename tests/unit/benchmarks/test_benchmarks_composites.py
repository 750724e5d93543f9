"""P-ToPSS 6.1: states and transitions are the paper's, statements are judged, one small measurement is right."""

from __future__ import annotations

import gc
import json
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from benchmarks import composite_scale as scale
from benchmarks import composite_statements as statements
from benchmarks import composite_trial, targets
from benchmarks.composite_machines import Fired, Replay, merged
from benchmarks.composite_trial import Figures, Job, Stream
from benchmarks.composite_workload import Chain, Settings, relevant, stream, subscriptions
from benchmarks.measuring import Effort, Spread
from benchmarks.measuring import trial as run_trial
from benchmarks.questions import cases, composites
from benchmarks.ticks import market

LOAD = Settings(count=60, length=4, pool=6)
EFFORT = Effort(market=2_000, warm=0, events=600, repetitions=1, subscriptions=200)


@pytest.fixture(scope="module")
def figures() -> Figures:
    """One process for all: of a fork, of the paper's stream, and of what comes behind it."""
    streams = [
        Stream(name="pool", kind="relevant", cuts=[300, 600], fresh=True),
        Stream(name="paper", kind=composite_trial.PAPER, cuts=[700, 900, 1_800], fresh=False),
        Stream(name="saturated", kind="relevant", cuts=[100], fresh=False),
    ]
    with cases.tick_file(market(50_000), 50_000) as ticks:
        job = Job(ticks=str(ticks), settings=asdict(LOAD), streams=streams)
        found: Figures = run_trial("benchmarks.composite_trial", json.loads(json.dumps(job)))
    return found


def test_figure_6_has_six_states_and_they_fire_one_by_one() -> None:
    chains = [Chain(((0,), (1,), (2,))), Chain(((0,), (1,), (3,))), Chain(((0,),))]
    replay = Replay(Settings(count=3, length=3, pool=4), chains)
    assert replay.states == len(merged(chains).states) == 6
    assert replay.take([1, 2, 4]) == Fired(3, 0, 0)
    assert replay.take([0]) == Fired(1, 2, 1), "both states of `a`, one of which is a match"
    assert replay.take([4, 1, 3, 3]) == Fired(4, 3, 2), "what `;` follows lives on"


def test_a_contiguous_state_lives_until_the_next_event() -> None:
    replay = Replay(Settings(count=1, length=2, pool=2, gaps=0), [Chain(((0, 1),))])
    assert replay.take([0, 2, 1]) == Fired(3, 1, 0)
    assert replay.take([0, 0, 1]) == Fired(3, 3, 1)


@pytest.mark.parametrize(
    "settings", [LOAD, Settings(count=80, pool=4, primitives="gaussian"), Settings(count=40, gaps=9)]
)
def test_a_plain_trie_has_the_merged_states(settings: Settings) -> None:
    chains = subscriptions(settings)
    assert Replay(settings, chains).states == len(merged(chains).states)


def test_the_engine_finds_the_matches_of_the_replay(figures: Figures) -> None:
    chains = subscriptions(LOAD)
    for name, events in (("pool", iter(relevant(LOAD, 600))), ("paper", stream(LOAD, chains))):
        replay = Replay(LOAD, chains)
        taken = figures["courses"][name]["slices"]
        fired = [replay.take(islice(events, each["events"])) for each in taken]
        assert [each["matches"] for each in taken] == [each.matches for each in fired]
        assert sum(each.matches for each in fired) > 100, "a workload without matches would prove nothing"
    [behind] = figures["courses"]["saturated"]["slices"]
    assert behind["matches"] > figures["courses"]["pool"]["slices"][0]["matches"] / 3
    assert behind["last_tuples"] >= behind["last_matches"] > 0


def test_cuts_are_where_they_were_asked_for(figures: Figures) -> None:
    course = figures["courses"]["paper"]
    assert [each["upto"] for each in course["slices"]] == [700, 900, 1_800]
    assert [each["events"] for each in course["slices"]] == [700, 200, 900]
    cost = scale.cost(figures, "paper", (700, 1_800))
    assert cost.seconds == pytest.approx(sum(each["cpu"] for each in course["slices"][1:]) / 1_100)
    assert cost.matches == pytest.approx(sum(each["matches"] for each in course["slices"][1:]) / 1_100)


def test_a_stream_that_ends_is_cut_there() -> None:
    load = Settings(count=2, length=3, pool=3, gaps=0, partial=1, full=1)
    chains = subscriptions(load)
    length = sum(1 for _ in stream(load, chains))
    engine = composite_trial.registered({"q": chains[0].ptopss()})
    asked = Stream(name="paper", kind=composite_trial.PAPER, cuts=[length - 1, length + 500], fresh=False)
    found = composite_trial.forked(engine, load, chains, asked)
    assert [each["upto"] for each in found["slices"]] == [length - 1, length]
    assert engine.now is None, "the fork has taken them, not this process"


def test_full_collections_are_told_apart() -> None:
    full = composite_trial.FullCollections()
    gc.collect(1)
    assert full.seconds == 0
    gc.collect()
    full.stop()
    seconds = full.seconds
    assert seconds > 0
    gc.collect()
    assert full.seconds == seconds


def test_a_fork_that_fails_is_an_error() -> None:
    engine = composite_trial.registered({})
    asked = Stream(name="gone", kind="relevant", cuts=[], fresh=True)
    with pytest.raises(ChildProcessError, match="gone"):
        composite_trial.forked(engine, LOAD, [], asked)


def test_lines_are_judged_as_they_go() -> None:
    line = [(1.0, 1.0), (2.0, 2.0), (3.0, 3.05)]
    assert statements.linear("9a", "", {"x": line}).holds
    assert not statements.linear("9a", "", {"x": line, "y": [(1.0, 1.0), (2.0, 2.0), (3.0, 3.5)]}).holds
    assert statements.monotone("9e", "", {"x": line}, True).holds
    assert not statements.monotone("9e", "", {"x": line}, False).holds
    dented = [(1.0, 1.0), (2.0, 0.95), (3.0, 2.0)]
    assert not statements.monotone("9e", "", {"x": dented}, True).holds
    assert statements.monotone("9b", "", {"x": dented}, True, statements.NOISE).holds
    assert not statements.monotone("9b", "", {"x": [(1.0, 1.0), (2.0, 0.95)]}, True, statements.NOISE).holds
    higher = [(x, 2 * y) for x, y in line]
    assert statements.below("9e", "", [("x", line, "y", higher)]).holds
    assert not statements.below("9e", "", [("y", higher, "x", line)]).holds
    assert statements.exponent([(1.0, 3.0), (10.0, 30.0), (100.0, 300.0)]) == pytest.approx(1)


def test_every_figure_has_points_and_every_statement_its_lines() -> None:
    found: list[dict[str, Any]] = [
        {"figure": point.figure, "line": point.line, "at": point.at, "found": asdict(Spread(1, 1, 1))}
        for point in composites.points(1_000)
    ]
    said = statements.statements(composites._lines(found))
    assert {each.figure for each in said} == {case["figure"] for case in found} == {f"9{x}" for x in "abcdef"}
    assert len(said) == 12
    assert not any(each.holds for each in said if each.figure != "9a" or "linear" not in each.says)
    assert [each.says for each in said if "around the middle" in each.reason] == [statements.FEWER_TRANSITIONS]
    names = [point.name for point in composites.points(1_000)]
    assert len(set(names)) == len(names)


def test_scale_is_judged_at_its_own_counts_only(figures: Figures) -> None:
    load, effort = Settings(count=30), EFFORT
    slices = [
        {"upto": n, "events": 1, "cpu": 1e-6, "collecting": 5e-7, "matches": 1, "last_matches": 1, "last_tuples": 5.0}
        for n in (450, 600, 1_200, 50_000)
    ]
    same: Any = {
        **figures,
        "unit": 1e-6,
        "courses": {name: {"slices": slices} for name in ("paper", "pool", "saturated")},
    }
    rows = list(scale.rows_of(load, effort, [same]))
    assert [row["stream"] for row in rows] == list(scale.STREAMS)
    assert [row["reached"] for row in rows] == ["-"] * 4
    [big, *_] = scale.rows_of(Settings(count=10_000), Effort(0, 0, 100, 1, 1), [_at(same, 200_000)])
    assert big["found"]["median"] == 1.0
    assert big["in_full_collections"]["median"] == 0.5
    assert big["reached"] == "aim"
    assert big["must"] == targets.COMPOSITES[10_000].must


def _at(figures: Any, upto: int) -> Any:
    """The same figures, with one slice for each window."""
    [one, *_] = figures["courses"]["paper"]["slices"]
    slices = [{**one, "upto": n} for n in (200, 50_000, upto)]
    return {**figures, "courses": {name: {"slices": slices} for name in figures["courses"]}}


def test_an_answer_becomes_a_table_and_pictures(tmp_path: Path) -> None:
    spread = asdict(Spread(1, 2, 3))
    found: list[dict[str, Any]] = [
        {"figure": point.figure, "line": point.line, "at": point.at, "found": spread}
        for point in composites.points(1_000)
    ]
    row = {
        "found": spread,
        "in_full_collections": spread,
        "matches_per_event": 1.0,
        "tuples_per_match_at_the_end": 2.0,
        "reached": "-",
    }
    answer: dict[str, Any] = {
        "machine": {"cpu": "a CPU"},
        "versions": {"python": "CPython 3.11"},
        "commit": None,
        "date": "2026-01-01",
        "compiled": False,
        "cases": found,
        "statements": [asdict(each) for each in statements.statements(composites._lines(found))],
        "scale": [{"stream": key, "count": n, **row} for key in scale.STREAMS for n in scale.COUNTS],
        "growth": [{"stream": key, "exponent": 0.5, "reached": "aim"} for key in scale.STREAMS],
        "memory": [
            {"count": 10, "terms": 5, "subscribe_seconds": spread}
            | dict.fromkeys(("loaded", "pool", "paper", "saturated"), spread)
        ],
    }
    assert composites.table(answer).row_count == 12 + 12 + 4 + 5
    names = {path.name for path in composites.plot(answer, tmp_path)}
    assert names == {f"composites-{name}.svg" for name in ("9a", "9b", "9c", "9d", "9e", "9f", "scale")}
