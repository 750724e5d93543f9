"""The reference behind the form that hosts know: who is told what and when, what is kept, limits, and snapshots."""

from __future__ import annotations

from collections.abc import Sequence

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import composite_subscriptions, sase

from broker.algebra.sase.semantics import Event
from broker.automaton.automaton import Automaton, Report
from broker.automaton.constructions.composite import automaton_of, decompose
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.engine import Engine, Options
from broker.engine.executors.contract import Member
from broker.engine.executors.reference.machine import Reference
from broker.engine.matches.completions import Completions
from broker.engine.matches.sources import Matched, MatchSource
from broker.engine.program.account import UNLIMITED, Account, Exhausted
from broker.engine.program.target import Outcome, Target
from broker.engine.reasons.rerun import OTHERS
from broker.events.schema import Row

MEMBER = Member(Target(Outcome((), ()), None))

TRAILING = "PATTERN SEQ(S a, ~(T n)) WHERE skip_till_any_match(a) { a.ty = 'A' } WITHIN 3"
ANY = "PATTERN SEQ(S+ a[], S b) WHERE skip_till_any_match(a[], b) { [k] AND b.ty = 'B' } WITHIN 20"
PAIR = "FROM S\na: ty = 'A' AND k = $x\nb: ty = 'B' AND k = $x\nMATCH a ; b"


class Host:
    """Hands the reference the events of its streams."""

    def __init__(self, automaton: Automaton, most: int = UNLIMITED) -> None:
        self.automaton = automaton
        self.most = most
        self.machine = Reference(automaton, Account(most, most))
        self.number = 0

    def take(self, stream: str, time: int, *row: object) -> list[MatchSource]:
        """What an event completes, and what the time before it does."""
        found = self.completions()
        if self.machine.alarm < time:
            self.machine.advance(time, found)
        if stream in self.automaton.streams():
            mask = 1 << self.automaton.streams().index(stream)
            values: Row = tuple(row)  # type: ignore[arg-type]
            self.machine.take(mask, values, time, 0, 0, 0, self.number, found)
        self.machine.check_invariants()
        self.number += 1
        return found.since(0, (), time, 0)

    def play(self, history: Sequence[Event]) -> list[Matched]:
        return [match for each in history for source in self.take(each[0], each[1], *each[2]) for match in source.all()]

    def rest(self) -> list[Matched]:
        """What only time completes."""
        found = self.completions()
        self.machine.advance(99, found)
        return [match for source in found.since(0, (), 99, 0) for match in source.all()]

    def completions(self) -> Completions:
        found = Completions()
        found.serve(self.machine.audience())
        return found

    def reborn(self) -> None:
        """Go on with what was written and read."""
        saved = msgpack.unpackb(msgpack.packb(self.machine.dump()))
        self.machine = Reference(self.automaton, Account(self.most, self.most))
        self.machine.load(saved)
        assert msgpack.packb(self.machine.dump()) == msgpack.packb(saved)


def pattern(text: str, most: int = UNLIMITED) -> Host:
    return Host(automaton_of_pattern(sase.lowered(text)), most)


def test_time_completes_what_waits_for_it() -> None:
    host = pattern(TRAILING)
    assert host.take("S", 1, "A", 0, 0.0, 0.0) == []
    assert (host.machine.alarm, host.machine.statistics()["reference_waiting"]) == (4, 1)
    assert host.take("S", 4, "C", 0, 0.0, 0.0) == []
    (source,) = host.take("S", 5, "C", 0, 0.0, 0.0)
    found = source.one()
    assert (source.amount(), found.assigned, found.start, found.end, found.values) == (1, [(0, 0, 1)], 1, 1, ())
    assert host.machine.alarm > 99


def test_completions_are_told_by_their_values() -> None:
    composite = composite_subscriptions.lowered(PAIR)
    each, completions = (Host(automaton_of(decompose(composite), r)) for r in (Report.EACH, Report.COMPLETIONS))
    for host in (each, completions):
        for time, k in enumerate((0, 0, 1)):
            host.take("S", time, "A", k, 0.0)
    (found,) = completions.take("S", 3, "B", 0, 0.0)
    assert (found.amount(), found.one().values, found.arbitrary()) == (2, (0,), True)
    (found,) = each.take("S", 3, "B", 0, 0.0)
    assert [m.assigned for m in found.all()] == [[(0, 0, 0), (1, 3, 3)], [(0, 1, 1), (1, 3, 3)]]
    assert not found.arbitrary()


def test_what_is_kept_is_told_and_goes_with_the_window() -> None:
    host = pattern(ANY)
    host.play([("S", 1, ("A", 0, 0.0, 0.0)), ("S", 2, ("A", 0, 0.0, 0.0)), ("S", 3, ("A", 1, 0.0, 0.0))])
    figures = {"references": 1, "reference_keys": 2, "reference_runs": 4, "reference_waiting": 0, "reference_log": 0}
    assert host.machine.statistics() == figures
    assert host.machine.partitions() == {(0,), (1,)}
    runs = list(host.machine.waiting_runs(MEMBER, 4, 0, {}) or ())
    assert [0, 1] in [[item for _, item, _ in run.assigned] for run in runs]
    assert len(list(host.machine.waiting_runs(MEMBER, 22, 0, {}) or ())) == 2
    assert host.machine.forget(23, 0, {}) > 0
    assert host.machine.forget(24, 0, {}) == 0
    assert host.machine.statistics()["reference_runs"] == 0


def test_an_account_bounds_what_an_event_may_cost() -> None:
    host = pattern(ANY, 50)
    with pytest.raises(Exhausted):
        host.play([("S", time, ("A", 0, 0.0, 0.0)) for time in range(10)])
    host.machine.clear()
    assert host.machine.forget(10, 0, {}) == 0


moments = st.integers(0, 8)


@given(sase.queries(), sase.histories(), moments, st.booleans())
def test_a_pattern_goes_on_where_it_was_saved(text: str, history: list[Event], at: int, swept: bool) -> None:
    whole, parts = pattern(text), pattern(text)
    expected = whole.play(history) + whole.rest()
    found = parts.play(history[:at])
    parts.reborn()
    if swept and history[:at]:
        parts.machine.forget(history[:at][-1][1], 0, {})
    assert found + parts.play(history[at:]) + parts.rest() == expected


@pytest.mark.parametrize("executors", [(), OTHERS])
def test_a_repetition_takes_what_it_can_behind_an_event_that_it_lets_pass(executors: tuple[str, ...]) -> None:
    engine = Engine(Options(executors_off=executors))
    engine.add_stream("S", {"x": "int"})
    query = "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { a[1].x = 1 AND a[i].x = 1 AND b.x = 2 }"
    engine.subscribe("q", "sase", query + " WITHIN 9", lineage=True)
    found = engine.publish("S", [1, 2, 3, 4], [(1,), (0,), (1,), (2,)], [1, 2, 3, 4])
    assert sorted(match.lineage or [] for match in found) == [[1, 3, 4], [3, 4]]
