"""Benchmarks measure what they say: workloads keep their promises, trials agree, targets are judged, pictures drawn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest

from benchmarks import builds, memory_trial, plain_loops, plots, targets, trial, workloads
from benchmarks.groups import queries
from benchmarks.groups.shapes import drawn
from benchmarks.measuring import ROOT, BenchmarkError, Effort, Spread
from benchmarks.measuring import trial as run_trial
from benchmarks.questions import QUESTIONS, ablations, cases, rivals, scaling, shapes, table
from benchmarks.rivals import flink, loop_job
from benchmarks.targets import Target
from benchmarks.ticks import ATTRIBUTES, Market, from_csv, market, to_csv
from broker.engine import Engine

TICKS = 3_000
EFFORT = Effort(market=TICKS, warm=1_000, events=2_000, repetitions=1, subscriptions=200)


@pytest.fixture(scope="module")
def stocks() -> Market:
    return market(TICKS)


@pytest.fixture(scope="module")
def ticks(stocks: Market, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("ticks") / "ticks.csv"
    to_csv(file, stocks.ticks)
    return file


def measured(case: cases.Case, ticks: Path) -> trial.Figures:
    return trial.measure(case.job(ticks, cases.warm_batches(EFFORT)))


def test_ticks_come_back_from_csv_to_the_last_bit(stocks: Market, ticks: Path) -> None:
    assert from_csv(ticks) == stocks.ticks


def test_rare_subscriptions_match_about_as_often_however_many() -> None:
    stocks = market(50_000)  # so long that prices have gone far, beside a step

    def matches(count: int) -> tuple[int, int]:
        pairs, boxes = workloads.w4_rare(stocks, count, 500), workloads.w5_rare(stocks, count, 500)
        return plain_loops.w4(stocks.ticks[:5_000], pairs), plain_loops.w5(stocks.ticks[:5_000], boxes)

    few, many = matches(500), matches(10_000)
    for less, more in zip(few, many):
        assert less > 20, "a workload without matches would prove nothing"
        assert less / 2 < more < less * 2, "and not twenty times as many"


def test_skew_gives_the_first_symbols_the_most_subscriptions(stocks: Market) -> None:
    first = stocks.symbols[0].name

    def share(skew: float) -> float:
        drawn = workloads.w4_skewed(stocks, 1_000, skew)
        return sum(s.symbol == first for s in drawn) / len(drawn)

    assert share(0.0) < 0.03 < 0.1 < share(1.0) < share(2.0)


def test_the_engine_finds_the_chains_and_jumps_of_the_plain_loops(stocks: Market, ticks: Path) -> None:
    for length in (1, 2, 5):
        chains = workloads.chains(stocks, 60, length)
        expected = plain_loops.chains(stocks.ticks, chains)
        assert 0 < expected == measured(cases.Case(workloads.texts(chains), expected), ticks)["matches"]
    jumps = workloads.jumps(stocks, 60)
    expected = plain_loops.jumps(stocks.ticks, jumps)
    assert 0 < expected == measured(cases.Case(workloads.texts(jumps), expected), ticks)["matches"]


def test_plain_chains_and_jumps_on_ticks_counted_by_hand() -> None:
    walk = [("A", price, 1) for price in (1.0, 3.0, 2.0, 5.0)]
    assert plain_loops.chains(walk, [workloads.Chain("A", (0.5, 2.5))]) == 2, "1 and 3, 2 and 5; not 3 and 2"
    assert plain_loops.jumps(walk, [workloads.Jump(2.0), workloads.Jump(2.6)]) == 3, "3 from 1 twice, 5 from 2 once"


def test_switches_change_no_match(stocks: Market, ticks: Path) -> None:
    off = dict.fromkeys(ablations.SWITCHES, False)
    read = 0
    for case in ablations.cases(stocks, EFFORT).values():
        switched = cases.Case(case.subscriptions, case.matches, options=off)
        on, without = measured(case, ticks), measured(switched, ticks)
        assert on["digest"] == without["digest"]
        read += on["read_matches"]
    assert read > 100, "a workload without matches would prove nothing"


def test_batches_joined_are_the_same_events() -> None:
    batches: list[trial.Columns] = [([1, 2], [("A", 1.0, 1), ("B", 2.0, 2)]), ([3], [("A", 3.0, 3)]), ([4], [])]
    assert trial.joined(batches, 1) == batches
    assert trial.joined(batches, 2) == [([1, 2, 3], [("A", 1.0, 1), ("B", 2.0, 2), ("A", 3.0, 3)]), ([4], [])]


def test_a_target_is_judged_by_the_median() -> None:
    assert [Target(4, 1.5).reached(Spread(0, median, 9)) for median in (1.5, 1.6, 4.1)] == ["aim", "must", "no"]
    share = Target(1 / 3, 1 / 2, "of it", at_least=True)
    assert [share.reached(Spread(0, median, 9)) for median in (0.6, 0.4, 0.3)] == ["aim", "must", "no"]
    assert Target(4, 1.5).uncompiled() == Target(40, 12.0)


def test_every_embedded_target_has_its_case_and_small_ones_are_not_judged(stocks: Market) -> None:
    assert list(table.embedded(stocks, EFFORT)) == list(targets.EMBEDDED)
    row = table.Row("W4 N=10,000", "compiled", EFFORT.subscriptions, Spread(1, 1, 1), Target(5, 2), 10_000)
    assert row.told()["reached"] == "-"


def test_the_loop_finds_what_the_plain_loops_find(stocks: Market, ticks: Path) -> None:
    for contest in rivals.contests(stocks, TICKS).values():
        assert loop_job.measure(contest.loop_job(ticks))["matches"] == contest.case.matches


def test_flink_is_asked_for_the_same_patterns(stocks: Market) -> None:
    [pair] = workloads.w4(stocks, 1)
    [query] = flink.w4([pair])
    assert f"WHERE name = '{pair.symbol}'" in query
    assert f"DEFINE A AS A.price > {pair.above:.4f}E0, B AS B.price < {pair.below:.4f}E0\n" in query
    assert "PATTERN (A B{4,} C)" in flink.W2[0]
    ticks = [("A", price, 0) for price in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]
    assert (plain_loops.w2(ticks), plain_loops.w2_open(ticks)) == (3, 3)
    assert plain_loops.w2_open([*ticks, ("B", 1.0, 0), ("A", 0.5, 0)]) == 0


def test_flink_is_told_only_where_it_can_be_seen(stocks: Market) -> None:
    contest = rivals.contests(stocks, TICKS)["W1"]
    told = {"events": 100, "matches": contest.case.matches, "reading": [2.0, 1.0]}
    found = [{**told, "whole": [4.0, 3.0]}]
    cold, warm = rivals._flink_rows("W1", contest, found)
    assert cold["whole_events_per_second"]["median"] == 25.0
    assert "events_per_second" not in cold, "the reading paid for the start"
    assert warm["events_per_second"]["median"] == 50.0
    found = [{**told, "whole": [4.0, 1.05]}]
    _, warm = rivals._flink_rows("W1", contest, found)
    assert "events_per_second" not in warm, "a twentieth of the reading"
    assert warm["whole_events_per_second"]["median"] == 95.24


def test_memory_is_that_of_runs_outside_cohorts() -> None:
    assert memory_trial.resident() > 1 << 20
    occupied = memory_trial.runs(5_000)
    assert occupied["count"] == 4_000, "the first batch comes before the first look"
    assert memory_trial.keys(5_000)["count"] == 5_000


def test_parquet_goes_to_the_engine_as_columns(stocks: Market, ticks: Path) -> None:
    found = run_trial("benchmarks.parquet_trial", {"ticks": str(ticks), "query": workloads.W1})
    assert (found["events"], found["matches"], found["rows"]) == (TICKS, plain_loops.w1(stocks.ticks), 0)
    assert 0 < min(found["reading"]) < min(found["matching"])


@pytest.mark.parametrize("columns", [False, True])
def test_events_go_through_broker_and_client(stocks: Market, ticks: Path, columns: bool) -> None:
    matches = plain_loops.w1(stocks.ticks)
    job = {"ticks": str(ticks), "warm": 10, "batches": 10, "query": workloads.W1, "matches": matches}
    job["columns"] = columns
    found = run_trial("benchmarks.broker_trial", job)
    assert found["matches"] == matches
    assert found["events"] == TICKS - 1_000
    assert found["wall"] > 0


def test_the_uncompiled_form_has_no_extension_module(tmp_path: Path) -> None:
    folder = builds._copied(tmp_path / "pure")
    assert (folder / "broker" / "engine" / "engine.py").exists()
    assert not [path for path in folder.rglob("*") if path.name.endswith(tuple(EXTENSION_SUFFIXES))]


def answer(found: list[Mapping[str, Any]]) -> dict[str, Any]:
    machine = {"cpu": "a CPU", "cores": 2, "load": 0.1}
    head = {"machine": machine, "versions": {"python": "CPython 3.11"}, "commit": None, "date": "2026-01-01"}
    return {**head, "compiled": False, "cases": found}


def test_pictures_follow_from_the_numbers(tmp_path: Path) -> None:
    found: list[Mapping[str, Any]] = [
        {"axis": axis, "line": line, "at": at, "microseconds_per_event": asdict(Spread(at, at + 1.0, at + 3.0))}
        for axis in ("N", "length", "skew")
        for line in ("W4", "W5")
        for at in (1.0, 10.0)
    ]
    first = scaling.plot(answer(found), tmp_path / "first")
    again = plots.draw(answer(found), tmp_path / "again")
    assert [path.name for path in first] == ["scaling-N.svg", "scaling-length.svg", "scaling-skew.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert "subscriptions" in first[0].read_text(encoding="utf-8")


def test_every_question_is_in_the_readme() -> None:
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert [name for name in QUESTIONS if f"`{name}`" not in text] == []


def test_jobs_travel_as_json(stocks: Market, ticks: Path) -> None:
    for case in (*table.embedded(stocks, EFFORT).values(), *ablations.cases(stocks, EFFORT).values()):
        job = case.job(ticks, 1)
        assert json.loads(json.dumps(job)) == job


SOME_SHAPES = (
    "CEL: three steps, published and read", "AFA: two states", "SASE+: next match, two streams", queries.MIXED,
)  # fmt: skip


def test_shapes_are_measured_with_groups_and_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shapes, "NAMES", SOME_SHAPES)
    monkeypatch.setattr(shapes, "COUNTS", (20,))
    answer = shapes.ask(EFFORT, lambda doing: None)
    assert [(case["shape"], case["groups"]) for case in answer["cases"]] == [
        (name, groups) for name in SOME_SHAPES for groups in (True, False)
    ]
    mixed = answer["cases"][-2]
    assert mixed["groups_made"] > 5
    assert answer["cases"][-1]["groups_made"] == 0
    assert mixed["matches_per_event"] == answer["cases"][-1]["matches_per_event"] > 0
    assert mixed["microseconds in worst"]["median"] >= mixed["microseconds in mean"]["median"] > 0
    assert shapes.table(answer).row_count == len(SOME_SHAPES)


def test_shapes_that_differ_without_groups_are_no_result() -> None:
    point = shapes.Point("CEL: two steps", 20, True)
    found: dict[str, Any] = {point.name: [{"counts": [1, 4, 9]}]}
    shapes.check(point, found | {"CEL: two steps, N=20, no groups": [{"counts": [1, 4]}]})
    with pytest.raises(BenchmarkError, match="another run"):
        shapes.check(point, found | {"CEL: two steps, N=20, no groups": [{"counts": [1, 5]}]})


@pytest.mark.parametrize("name", queries.NAMES)
def test_each_shape_is_a_subscription(name: str, stocks: Market) -> None:
    engine = Engine()
    for stream in queries.streams(name):
        engine.add_stream(stream, ATTRIBUTES, key="name")
    for subscription, query in queries.subscriptions(name, drawn(stocks, 10)):
        engine.subscribe(subscription, query.language, query.text, **query.options)
    assert len(engine.subscriptions) >= 10
