"""Groups of patterns that wait = each member alone: skip-till, next match, negations, items, unlike keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from doubles.group_runs import (
    NEXT,
    SKIP,
    Action,
    Condition,
    Event,
    Host,
    Join,
    Leave,
    Member,
    Save,
    Step,
    Tick,
    alone,
    every,
    satisfied,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.group_scripts import THRESHOLDS, WINDOWS, scripts

from broker.automaton.analyses.coordinates import turned
from broker.engine.executors.groups.any_match import AnyMatchCell, AnyMatchTemplate
from broker.engine.executors.groups.any_template import AnyTemplate
from broker.engine.executors.groups.cell import GroupCell
from broker.engine.executors.groups.coordinates import ATTRIBUTE, CoordinateBound
from broker.engine.executors.groups.late_pairs import LatePairsCell
from broker.engine.executors.groups.members import Members
from broker.engine.executors.groups.next_match import NextMatchCell
from broker.engine.executors.groups.next_match_template import NextMatchTemplate
from broker.engine.executors.groups.steps import StepClause
from broker.engine.executors.groups.text_chain import TextChainCell, TextChainTemplate

MANY = settings(max_examples=6 * settings().max_examples)
PRICE, VOLUME = 0, 1
WITHIN = 4


def least(literal: int, attribute: int = PRICE) -> Condition:
    return Condition(literal, "attribute", ">", attribute)


def most(literal: int, attribute: int = PRICE) -> Condition:
    return Condition(literal, "attribute", "<=", attribute)


def clause(*conditions: tuple[int, Condition]) -> StepClause:
    """Bounds by coordinate."""
    return StepClause(
        [CoordinateBound(at, ATTRIBUTE, c.attribute, 1.0 if c.operator == ">" else -1.0) for at, c in conditions]
    )


def turning(*operators: str) -> Callable[[Sequence[float]], list[float]]:
    """A point of literals by their operators, `within` and `dur` among them."""

    def turn(literals: Sequence[float]) -> list[float]:
        found = []
        for operator, literal in zip(operators, literals):
            if operator == "within":
                found.append(-literal)
            elif operator == "dur":
                found.append(math.nextafter(-literal, math.inf))
            else:
                value = turned(operator, literal)
                assert value is not None
                found.append(value)
        return found

    return turn


def compare(
    script: list[Action], make: Callable[[], Any], turn: Callable[[Sequence[float]], list[float]],
    expected: Callable[[list[Event], tuple[float, ...]], list[tuple[int, ...]]],
) -> None:  # fmt: skip
    host = Host(make, turn)
    host.play(script)
    for member in host.members:
        assert member.found == expected(host.seen(member), member.literals)


def by_start(paths: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """By the last event, then by the first one."""
    return sorted(paths, key=lambda path: (path[-1], path[0]))


# --- next matches ---------------------------------------------------------------------------------------------------


class Knowing:
    """A cell, and the members of its key, which its template knows."""

    def __init__(self, template: Any, make: Callable[[Any, Members], GroupCell]) -> None:
        self.template = template
        self.members = Members(D)
        self.cell = make(template, self.members)
        self.check_invariants, self.forget = self.cell.check_invariants, self.cell.forget
        self.dump, self.load = self.cell.dump, self.cell.load
        self.began = self.item = 0

    def joined(self, handle: int, point: list[float], since: int) -> None:
        self.template.joined(handle, point, since, ())

    def left(self, handle: int, point: list[float]) -> None:
        self.template.left(handle, point)

    def take(self, row: tuple[float, ...], time: int, event: int, out: Any) -> None:
        self.cell.began = self.began
        self.cell.take(row, time, event, out)


D = 5  # a coordinate for each literal, the last one for a window
KINDS = ["two", "two numbers", "any second", "forbidden", "three", "four"]
LITERALS = [THRESHOLDS, THRESHOLDS, THRESHOLDS, THRESHOLDS, WINDOWS]


@MANY
@given(scripts(LITERALS, steps=60), st.sampled_from(KINDS), st.booleans(), st.booleans(), st.booleans())
def test_next_matches(script: list[Action], kind: str, window: bool, epochs: bool, parted: bool) -> None:
    """`price > a`, skip till `price <= b` and so on, of one partition or of several that share nothing."""
    window = window or kind in ("three", "four")
    epochs = epochs and not window and not parted and kind != "forbidden"
    start, second = [least(1)], [most(0)]
    begin, end = clause((1, least(1))), clause((0, most(0)))
    if kind == "two numbers":
        start, begin = [least(1), least(2, VOLUME)], clause((1, least(1)), (2, least(2, VOLUME)))
        second, end = [most(0), least(3, VOLUME)], clause((0, most(0)), (3, least(3, VOLUME)))
    elif kind == "any second":
        second, end = [], clause()
    kills = [[least(2, VOLUME)]] if kind == "forbidden" else []
    further = {"three": 1, "four": 2}.get(kind, 0)
    span = [Condition(4, "span", "<=")] if window else []
    steps = [Step(NEXT, [start]), Step(SKIP, [[*second, *span]], kills)]
    steps += [Step(SKIP, [[least(2), *span]]), Step(SKIP, [[least(3, VOLUME), *span]])][:further]
    made = [begin, end, *[clause((2, least(2))), clause((3, least(3, VOLUME)))][:further]]
    forbidden = [(1, clause((2, least(2, VOLUME))))] if kills else []

    def cell() -> Knowing:
        at, texts = 4 if window else -1, [-1] * (len(made) + len(forbidden))
        template = NextMatchTemplate(D, made, texts, at, forbidden, epochs=epochs, parted=parted)
        return Knowing(template, NextMatchCell)

    compare(
        script, cell, turning("<=", ">", ">", ">", "within"),
        lambda events, own: by_start(alone(steps, events, own, not epochs)),
    )  # fmt: skip


@MANY
@given(scripts([THRESHOLDS, THRESHOLDS, THRESHOLDS, WINDOWS], steps=24, long=False), st.integers(2, 4), st.booleans())
def test_any_match(script: list[Action], length: int, parted: bool) -> None:
    steps = [[[least(0)]], [[most(1)]], [[least(2, VOLUME)]], [[least(0), most(1, VOLUME)]]][:length]
    clauses = [
        clause((0, least(0))), clause((1, most(1))), clause((2, least(2, VOLUME))),
        clause((0, least(0)), (4, most(1, VOLUME))),
    ][:length]  # fmt: skip
    def turn(own: Sequence[float]) -> list[float]:
        return turning(">", "<=", ">", "within", "<=")([*own, own[1]])

    host = Host(lambda: any_match(clauses, None, parted), turn)
    host.play(script)
    for member in host.members:
        assert member.found == every(steps, host.seen(member), member.literals, int(member.literals[3]))


def any_match(clauses: list[StepClause], orders: list[list[int]] | None, parted: bool) -> Knowing:
    steps = AnyTemplate(D, [[each] for each in clauses], orders, window=3)
    return Knowing(AnyMatchTemplate(steps, [-1] * len(clauses), None, parted), AnyMatchCell)


ORDERS = (
    [[0, 1], [1, 0]], [[0], [1]], [[0, 2], [1, 2]], [[2, 0, 1], [2, 1, 0]], [[0, 1, 2], [1, 0, 2], [2]],
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]],
)  # fmt: skip


@MANY
@given(scripts([THRESHOLDS, THRESHOLDS, THRESHOLDS, WINDOWS], steps=24, long=False), st.sampled_from(ORDERS))
def test_any_match_in_several_orders(script: list[Action], orders: list[list[int]]) -> None:
    """A match is one in one of the orders; an event is never two steps of it."""
    steps = [[[least(0)]], [[most(1)]], [[least(2, VOLUME)]]]
    clauses = [clause((0, least(0))), clause((1, most(1))), clause((2, least(2, VOLUME)))]
    host = Host(lambda: any_match(clauses, orders, False), lambda own: [*turning(">", "<=", ">", "within")(own), 0.0])
    host.play(script)
    for member in host.members:
        within, expected = int(member.literals[3]), []
        for order in orders:
            expected += every([steps[step] for step in order], host.seen(member), member.literals, within)
        assert sorted(member.found) == sorted(expected)


# --- the end --------------------------------------------------------------------------------------------------------


@MANY
@given(scripts([THRESHOLDS] * 3, steps=60))
def test_negation_at_the_end(script: list[Action]) -> None:
    """`a: price > A, c: price <= C, ~n: volume > B` within 4 of a."""
    steps = [clause((1, least(1))), clause((0, most(0)))]
    kills = [(2, clause((2, least(2, VOLUME))))]

    def cell() -> Knowing:
        return Knowing(NextMatchTemplate(D, steps, [-1] * 3, 4, kills, within=WITHIN), LatePairsCell)

    def turn(own: Sequence[float]) -> list[float]:
        return turning("<=", ">", ">", ">", "within")([*own, 0.0, WITHIN])

    host = Host(cell, turn)
    host.play(script)
    asked = [Step(NEXT, [[least(1)]]), Step(SKIP, [[most(0), Condition(3, "span", "<=")]])]
    for member in host.members:
        events = host.seen(member)
        expected = []
        for path in by_start(alone(asked, events, (*member.literals, WITHIN), True)):
            start, pair = host.events[path[0]], host.events[path[1]]
            deadline = start.time + WITHIN
            told = next((e for e in events if e.time > deadline), None)
            meanwhile = [e for e in events if pair.time < e.time <= deadline]
            if told and not any(satisfied([[least(2, VOLUME)]], e, (), member.literals) for e in meanwhile):
                expected.append((told.number, path))
        assert member.found == [path for _, path in sorted(expected, key=lambda each: (each[0], each[1][0]))]


# --- unlike keys ----------------------------------------------------------------------------------------------------


@MANY
@given(scripts([THRESHOLDS, THRESHOLDS, [0.0, 1.0, 2.0]], steps=60))
def test_unlike_keys(script: list[Action]) -> None:
    """`key = X AND price > a`, then the next of Y, if it has `price <= b`."""
    template, everybody = TextChainTemplate(2, [clause((0, least(0))), clause((1, most(1)))], [2, 2]), Members(2)
    cell = TextChainCell(template, everybody)
    host = Host(lambda: None, turning(">", "<="))
    for action in script:
        match action:
            case Join(key, literals):
                member = Member(len(host.members), key, literals, host.turn(literals[:2]), len(host.events))
                host.members.append(member)
                everybody.put(member.handle, member.point, member.joined)
                template.joined(member.handle, member.point, member.joined, (key, "XYZ"[int(literals[2])]))
            case Leave(which):
                here = [member for member in host.members if member.left == 1 << 60]
                if here:
                    member = here[which % len(here)]
                    member.left = len(host.events)
                    everybody.remove(member.handle, member.point)
                    template.left(member.handle, member.point)
            case Tick(key, after, row):
                host.time += after
                event = Event(len(host.events), host.time, key, row)
                host.events.append(event)
                host.out.event = event.number
                cell.began = event.time
                cell.take((*row, key), event.time, event.number, host.out)
                host.read()
            case Save():
                cell.check_invariants()
                saved = cell.dump()
                cell = TextChainCell(template, everybody)
                cell.load(saved)
    for member in host.members:
        end = "XYZ"[int(member.literals[2])]
        runs: list[tuple[Event, int | None]] = []
        expected = []
        for event in host.events[member.joined : member.left]:
            if event.key == end:
                runs = [(start, gone) for start, gone in runs if gone is None or gone == event.time]
                for i, (start, _) in enumerate(runs):
                    if start.time < event.time:
                        runs[i] = (start, event.time)
                        if satisfied([[most(1)]], event, (), member.literals):
                            expected.append((start.number, event.number))
            if event.key == member.key and satisfied([[least(0)]], event, (), member.literals):
                runs.append((event, None))
        assert member.found == expected
