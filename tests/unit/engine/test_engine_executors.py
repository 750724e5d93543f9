"""The host of executors: which events a machine gets and with which numbers, and what becomes of one that fails."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.read_rows import composed_of
from strategies.composite_subscriptions import lowered

from broker.automaton.constructions.composite import automaton_of, decompose
from broker.engine import Engine
from broker.engine.dispatch.lanes import SWEEP_MIN, Lane
from broker.engine.dispatch.matchers import Clock, Matcher
from broker.engine.executors.contract import ByPlace, Input, Member
from broker.engine.executors.tuple_counts import CountingTables, TupleCounts
from broker.engine.matches.completions import Completions
from broker.engine.program.account import FAILED, NOT_SUSPENDED
from broker.engine.program.target import Outcome, Target
from broker.events.schema import Row

ALWAYS = ((),)
TEXT = "FROM S\na, b: TRUE\nMATCH a{}b"


def matcher(separator: str, by: tuple[int, ...] = (0,)) -> Matcher:
    machine = CountingTables(automaton_of(decompose(lowered(TEXT.format(separator)))))
    inputs = [Input("S", ALWAYS), Input("S", ALWAYS)]
    counts = TupleCounts(machine, (by,) if by else (), inputs)
    counts.member = Member(Target(Outcome((), ()), None))
    return Matcher(counts, "tuple_counts", "S")


def lane(*matchers: Matcher) -> Lane:
    """By the first attribute; symbol 0 is the first input of all machines, symbol 1 the second."""
    made = Lane(("S",), ((0,),), Clock())
    for each in matchers:
        each.symbols = [0, 1]
        made.enter(each)
    return made


def play(made: Lane, *events: tuple[Any, list[int]]) -> list[int]:
    """How many rows of completions each event, a key and its symbols, has made."""
    found: list[int] = []
    for number, (key, symbols) in enumerate(events):
        completions = Completions()
        row: Row = (key,)
        made.take(0, symbols, row, number, number, completions)
        found.append(len(completions.since(0, row, number, number)))
    return found


def test_what_is_adjacent_is_so_within_a_partition() -> None:
    made = lane(matcher(", "))
    assert play(made, (1, [0]), (2, [0]), (1, [1]), (2, []), (2, [1])) == [0, 0, 1, 0, 0]


def test_an_event_without_a_partition_concerns_nobody() -> None:
    made = lane(matcher("; "))
    assert play(made, (None, [0]), (None, [1]), (1, [0]), (1, [1])) == [0, 0, 0, 1]
    assert list(made.places) == [(1,)]


def test_a_partition_is_counted_from_the_first_event_that_concerns_somebody() -> None:
    made = lane(matcher("; "))
    play(made, (1, []), (2, []), (2, [0]), (2, []))
    assert made.places == {(2,): 2}


def test_partitions_that_keep_nothing_are_forgotten() -> None:
    made = lane(matcher(", "))
    play(made, *[(key, [0]) for key in range(20)])
    play(made, *[(key, []) for key in range(20)])
    (each,) = made.matchers
    assert isinstance(each.machine, ByPlace)
    assert each.machine.partitions() == {(key,) for key in range(20)}
    play(made, *[(20, [1])] * (SWEEP_MIN - 19))  # the last of these has the lane look
    assert not each.machine.partitions()
    assert each not in made.busy


def test_a_machine_that_fails_is_given_up_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = matcher("; "), matcher("; ")
    made = lane(bad, good)
    play(made, (1, [0]))
    monkeypatch.setattr(bad.machine, "partitioned", {(1,): "none"})
    completions = Completions()
    made.take(0, [1], (1,), 1, 1, completions)
    assert (bad.suspended, bad.since, good.suspended) == (FAILED, 1, NOT_SUSPENDED)
    assert isinstance(bad.machine, ByPlace)
    assert not bad.machine.partitions()
    ((_, targets, error),) = completions.failures
    assert targets == bad.audience().targets
    assert isinstance(error, AttributeError | TypeError)
    told = [each.suspended for _, each in composed_of(completions, (1,), 1, 1)]
    assert told == [FAILED, NOT_SUSPENDED]


def test_a_machine_that_left_gets_no_events() -> None:
    going, staying = matcher("; "), matcher("; ")
    made = lane(going, staying)
    made.leave(going)
    play(made, (1, [0]))
    assert (going.taken, staying.taken) == (False, True)
    assert not made.empty()
    made.leave(staying)
    assert made.empty()
    assert made.readers == [{}]


def test_a_branch_that_can_never_match_is_left_out() -> None:
    engine = Engine()
    engine.add_stream("S", {"ty": "string"})
    text = "FROM S c, b, a: ty = 'A' MATCH a @(t(c) - t(b) != 0 us) @(t(b) - t(c) >= 0 us) OR b, c"
    for report in ("all", "completions"):
        engine.subscribe(report, "ptopss", text, report=report)
    found = [match.bindings for at in (1, 2) for match in engine.publish("S", [at], [("A",)], [at])]
    assert found == [{"a": [1]}, {"a": [1]}, {"a": [2]}, {"a": [2]}]
