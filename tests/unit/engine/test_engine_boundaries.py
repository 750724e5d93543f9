"""Matches at the very end of what a bound allows, and what is equal but not the same: each by hand, at both sides."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from broker.engine import Engine, Options
from broker.events import DefinitionError

Event = tuple[int, str, int]  # time, k, x


def engine_with(**queries: str) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"k": "string", "x": "int"})
    for name, query in queries.items():
        engine.subscribe(name, query=query)
    return engine


def spans(engine: Engine, events: list[Event]) -> list[tuple[int, int]]:
    """Start and end of what comes of them, one batch an event."""
    return [(m.start, m.end) for time, k, x in events for m in engine.publish("S", [time], [(k, x)])]


@pytest.mark.parametrize(
    ("query", "within", "beyond"),
    [
        ("FILTER{DUR < 4}(S NEXT{$1.k = $2.k} S)", 3, 4),
        ("FILTER{DUR <= 4}(S NEXT{} S)", 4, 5),
        ("S NEXT{DUR > 3} S", 4, 3),
        ("S NEXT{DUR >= 3 AND $2.x = 1} S", 3, 2),
    ],
)
def test_a_sequence_may_last_as_long_as_its_bound(query: str, within: int, beyond: int) -> None:
    """DUR counts both ends: from 1 to 3 it is 3."""
    assert spans(engine_with(q=query), [(1, "a", 1), (within, "a", 1)]) == [(1, within)]
    assert spans(engine_with(q=query), [(1, "a", 1), (beyond, "a", 1)]) == []


def test_a_selected_duration_counts_both_ends() -> None:
    engine = engine_with(q="SELECT DUR AS lasts, k FROM S NEXT{} S", each="SELECT DUR AS lasts FROM S")
    found = engine.publish("S", [1, 3], [("a", 1), ("a", 1)])
    assert sorted((m.subscription, m.data["lasts"]) for m in found) == [("each", 1), ("each", 1), ("q", 3)]


@pytest.mark.parametrize("later", range(1, 9))
def test_nothing_is_swept_that_may_still_match(later: int) -> None:
    """The cell is swept when the first run's window has passed; the second run's may end at that very moment."""
    engine = engine_with(q="FILTER{DUR < 9}(S NEXT{$2.x = 1} S)")
    found = spans(engine, [(1, "a", 0), (1 + later, "a", 0), (8 + later, "a", 1), (9 + later, "a", 1)])
    assert found == [(1 + later, 8 + later), (8 + later, 9 + later)]


def test_who_publishes_what_others_began_tells_only_what_began_afterwards() -> None:
    """Its runs are those of an equal subscription that was there before."""
    engine = engine_with(pairs="S NEXT{} S")
    assert spans(engine, [(1, "a", 1)]) == []
    engine.subscribe("published", query="S NEXT{} S PUBLISH P")
    engine.subscribe("reader", query="SELECT * FROM P")
    found = [(m.subscription, m.start, m.end) for m in engine.publish("S", [2, 3], [("a", 1), ("a", 1)])]
    assert [each for each in found if each[0] == "reader"] == [("reader", 2, 3)]


@pytest.mark.parametrize("sizes", [[3], [2, 1], [1, 1, 1], [1, 1, 2, 1]])
def test_equal_results_of_an_epoch_have_ids_of_their_own(sizes: list[int]) -> None:
    """Of the same contributions, however they come in batches; a reader would take the second for a repetition."""
    engine = engine_with(q="S")
    ids = [m.id for n in sizes for m in engine.publish("S", [1] * n, [("a", 1)] * n, ids=[7] * n)]
    assert len(ids) == len(set(ids)) == sum(sizes)


@pytest.mark.parametrize("five", [5_000_000, "5 s", "5 seconds", timedelta(seconds=5)])
def test_durations_of_streams_are_numbers_texts_or_timedeltas(five: Any) -> None:
    engine = Engine()
    engine.add_stream("S", {"v": "int"}, None, "speculate", five, five, five)
    stream = engine.streams["S"]
    assert (stream.lateness, stream.speculation, stream.idle) == (5_000_000,) * 3


def test_a_duration_of_a_stream_that_is_none_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"stream 'S': lateness: expected a duration .* did you mean 'sec'"):
        Engine().add_stream("S", {"v": "int"}, None, "buffer", "5 sek")


@pytest.mark.parametrize(
    "condition",
    [
        "$2.p > $1.p * 1.1",
        "$2.p >= $1.p",
        "$2.p < $1.p AND $2.v != 2",
        "$2.p <= $1.p",
        "$2.v = $1.v",
        "$2.v + 1 > $1.v * $1.p",
        "($2.p > $1.p + 5 OR $2.p < $1.p - 5 OR $2.v = 3)",
        "$2.v IN (1, 3)",
        "DUR > 40 AND $2.v = 1",
        "DUR < 30 AND $2.p > $1.p",
        "$2.t != $1.t",
        "$2.t < $1.t",
    ],
)
@pytest.mark.parametrize("fold", [False, True])
def test_an_index_of_waiting_runs_finds_those_that_an_event_affects(condition: str, fold: bool) -> None:
    """With simultaneous events, nulls, numbers that no float holds, runs that go on, expire or are of somebody who
    leaves, and a snapshot."""
    found: list[Any] = []
    for options in (Options(indexes=False), Options(arcs_few=0), Options()):
        chance = random.Random(7)
        engine = Engine(options)
        engine.add_stream("S", {"k": "string", "p": "float?", "v": "int?", "t": "string"})
        step = f"FOLD{{$2.k = $1.k AND {condition}, $2.v = 3}} S" if fold else f"NEXT{{$2.k = $1.k AND {condition}}} S"
        engine.subscribe("s", query=f"SELECT * FROM S {step}", lineage=True)
        engine.subscribe("pair", query="SELECT * FROM FILTER{p > 9}(S) NEXT{$2.k = $1.k} S")
        engine.subscribe("leaves", query="SELECT * FROM FILTER{v = 2}(S) NEXT{$2.k = $1.k AND $2.p > $1.p} S")
        lines: list[Any] = []
        time = 0
        for number in range(200):
            time += chance.choice((0, 1, 1, 2))
            row = (
                chance.choice("AAAB"),
                chance.choice((None, 1.0, 2.5, 9.5, 11.0)),
                chance.choice((None, 1, 2, 3, 2**53, 2**53 + 1)),
                chance.choice("xyz"),
            )
            lines += [match.line() for match in engine.publish("S", [time], [row])]
            if number == 90:
                engine.unsubscribe("leaves")
            if number == 120:
                engine = Engine.restore(engine.snapshot(), options)
            engine.check_invariants()
        found.append((sorted(lines, key=repr), engine.statistics()["runs"]))
    assert found[0][0]
    assert found[1][0] == found[0][0]  # without an index, runs that are over may stay longer
    assert found[2] == found[1]


@pytest.mark.parametrize("options", [Options(), Options(columns=False)])
@pytest.mark.parametrize("off", [(), ("kleene",), ("groups",)])
@pytest.mark.parametrize("strategy", ["partition_contiguity", "skip_till_any_match"])
def test_of_equal_zeros_the_first_is_the_least_and_the_greatest(
    options: Options, off: tuple[str, ...], strategy: str
) -> None:
    for numbers in product((0.0, -0.0), repeat=3):
        engine = Engine(replace(options, executors_off=off))
        engine.add_stream("S", {"k": "string", "x": "float"})
        engine.add_stream("E", {"k": "string"})
        text = f"PATTERN SEQ(S+ a[], E b) WHERE {strategy}(a[], b) {{[k]}} WITHIN 10 s"
        engine.subscribe("q", "sase", f"{text} RETURN min(a[].x) AS lo, max(a[].x) AS hi")
        engine.publish("S", [1, 2, 3], [("a", number) for number in numbers])
        found = [*engine.publish("E", [4], [("a",)]), *engine.finish()]
        assert found
        for match in found:
            taken = [numbers[number - 1] for number in match.bindings["a"]] if match.bindings else numbers
            assert repr((match.data["lo"], match.data["hi"])) == repr((taken[0], taken[0]))


@pytest.mark.parametrize("query", ["S NEXT{$2.k = $1.k} S", "S NEXT{$2.k = $1.k AND DUR < 9} S", "S NEXT{} S"])
def test_simultaneous_events_each_end_a_sequence(query: str) -> None:
    """The first of them, in one batch with all, does not end the run: its epoch is not over."""
    engine = Engine(Options(batches=False))
    engine.add_stream("S", {"k": "string"})
    engine.subscribe("q", "cayuga", query, lineage=True)
    found = engine.publish("S", [1, 2, 2, 3], [("a",)] * 4, [1, 2, 3, 4])
    assert sorted(match.lineage or [] for match in found) == [[1, 2], [1, 3], [2, 4], [3, 4]]
