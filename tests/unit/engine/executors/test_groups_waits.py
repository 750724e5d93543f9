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
from broker.engine.executors.groups.any_match import AnyCell
from broker.engine.executors.groups.any_template import AnyTemplate
from broker.engine.executors.groups.coordinates import ATTRIBUTE, CoordinateBound
from broker.engine.executors.groups.history import HistoryCell, HistoryTemplate
from broker.engine.executors.groups.items import ItemsCell, ItemsTemplate
from broker.engine.executors.groups.members import Members
from broker.engine.executors.groups.steps import StepClause
from broker.engine.executors.groups.text_chain import TextChainCell, TextChainTemplate
from broker.engine.executors.groups.trailing import TrailingCell, TrailingTemplate
from broker.engine.executors.groups.wait import WaitCell
from broker.engine.executors.groups.wait_template import WaitTemplate

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


FIXED = Condition(2, "span", "<=")  # the common window is a literal of all: the last one


# --- waits ----------------------------------------------------------------------------------------------------------


@MANY
@given(scripts([THRESHOLDS] * 3, steps=60), st.booleans(), st.booleans())
def test_waits(script: list[Action], arrival: bool, second: bool) -> None:
    """`price > a [AND volume > c]`, skip till `price <= b`."""
    start = [least(1), least(2, VOLUME)] if second else [least(1)]
    begin = clause((1, least(1)), (2, least(2, VOLUME))) if second else clause((1, least(1)))
    made = WaitTemplate(3, begin, clause((0, most(0))), [], arrival=arrival)
    steps = [Step(NEXT, [start]), Step(SKIP, [[most(0)]])]
    compare(
        script, lambda: WaitCell(made), turning("<=", ">", ">"),
        lambda events, own: by_start(alone(steps, events, own, arrival)),
    )  # fmt: skip


@MANY
@given(scripts([THRESHOLDS, THRESHOLDS, WINDOWS], steps=60), st.booleans(), st.sampled_from(["within", "dur"]))
def test_waits_with_windows_of_their_own(script: list[Action], arrival: bool, kind: str) -> None:
    made = WaitTemplate(
        3, clause((1, least(1))), clause((0, most(0))), [], window=2, extra=int(kind == "dur"), arrival=arrival
    )
    span = Condition(2, "span", "<=") if kind == "within" else Condition(2, "duration", "<")
    steps = [Step(NEXT, [[least(1)]]), Step(SKIP, [[most(0), span]])]
    compare(
        script, lambda: WaitCell(made), turning("<=", ">", kind),
        lambda events, own: alone(steps, events, own, arrival),
    )  # fmt: skip


@MANY
@given(scripts([THRESHOLDS] * 4, attributes=3, steps=60), st.booleans(), st.integers(1, 2))
def test_waits_and_then_chains(script: list[Action], arrival: bool, later: int) -> None:
    """Members of a range go on: `price > a`, skip till `price <= b`, then the next with `volume > c` (and the next)."""
    clauses = [clause((2, least(2, VOLUME))), clause((3, most(3, 2)))][:later]
    made = WaitTemplate(4, clause((1, least(1))), clause((0, most(0))), clauses, arrival=arrival)
    steps = [Step(NEXT, [[least(1)]]), Step(SKIP, [[most(0)]]), Step(NEXT, [[least(2, VOLUME)]])]
    steps = [*steps, Step(NEXT, [[most(3, 2)]])][: 2 + later]
    compare(
        script, lambda: WaitCell(made), turning("<=", ">", ">", "<="),
        lambda events, own: alone(steps, events, own, arrival),
    )  # fmt: skip


@MANY
@given(scripts([THRESHOLDS] * 3, steps=60), st.sampled_from([-1, WITHIN]), st.booleans())
def test_negation_between(script: list[Action], within: int, same: bool) -> None:
    """`a: price > A, ~n: price (or volume) <= B, c: price > C`, next match."""
    attribute = PRICE if same else VOLUME
    made = WaitTemplate(
        3, clause((1, least(1))), clause((0, least(0))), [], kill=clause((2, most(2, attribute))), within=within,
        arrival=True,
    )  # fmt: skip
    window = [Condition(3, "span", "<=")] if within >= 0 else []
    steps = [Step(NEXT, [[least(1)]]), Step(SKIP, [[least(0), *window]], [[most(2, attribute)]])]
    compare(
        script, lambda: WaitCell(made), turning(">", ">", "<="),
        lambda events, own: alone(steps, events, (*own, within), True),
    )  # fmt: skip


# --- three steps and more -------------------------------------------------------------------------------------------


@MANY
@given(scripts([THRESHOLDS, THRESHOLDS, WINDOWS], steps=60), st.booleans(), st.booleans())
def test_history(script: list[Action], common: bool, other: bool) -> None:
    """`a: price > A [AND volume > 1], b: price <= B, c: price > A`, B <= A, next match."""
    script = [
        Join(each.key, (max(each.literals[:2]), min(each.literals[:2]), each.literals[2])) if isinstance(each, Join)
        else each for each in script
    ]  # fmt: skip
    d = 2 if common else 3
    first = clause((0, least(0)))
    if other:
        d += 1
        first = clause((0, least(0)), (d - 1, least(3, VOLUME)))
    made = HistoryTemplate(
        d, first, clause((1, most(1))), clause((0, least(0))),
        within=WITHIN if common else -1, window=-1 if common else 2,
    )  # fmt: skip
    operators = [">", "<=", *([] if common else ["within"]), *([">"] if other else [])]

    def turn(own: Sequence[float]) -> list[float]:
        return turning(*operators)([*own[:2], *([] if common else [own[2]]), 1.0])

    start = [least(0), least(3, VOLUME)] if other else [least(0)]
    steps = [Step(NEXT, [start]), Step(SKIP, [[most(1)]]), Step(SKIP, [[least(0), FIXED]])]
    compare(
        script, lambda: HistoryCell(made), turn,
        lambda events, own: by_start(alone(steps, events, (*own[:2], WITHIN if common else own[2], 1.0), True)),
    )  # fmt: skip


@MANY
@given(scripts([THRESHOLDS, THRESHOLDS, THRESHOLDS, THRESHOLDS, WINDOWS], steps=60), st.integers(3, 4), st.booleans())
def test_items(script: list[Action], length: int, common: bool) -> None:
    """`a: price > A, b: price <= B, c: price > C [, d: volume > D]`, next match, constants of their own at each."""
    d = 5
    wait = WaitTemplate(
        d, clause((1, least(1))), clause((0, most(0))), [], arrival=True,
        within=WITHIN if common else -1, window=-1 if common else 4,
    )  # fmt: skip
    made = ItemsTemplate(wait, [clause((2, least(2))), clause((3, least(3, VOLUME)))][: length - 2])
    span = Condition(4, "span", "<=")
    steps = [Step(NEXT, [[least(1)]]), Step(SKIP, [[most(0), span]]), Step(SKIP, [[least(2), span]])]
    steps = [*steps, Step(SKIP, [[least(3, VOLUME), span]])][:length]
    compare(
        script, lambda: ItemsCell(made), turning("<=", ">", ">", ">", "within"),
        lambda events, own: by_start(alone(steps, events, (*own[:4], WITHIN if common else own[4]), True)),
    )  # fmt: skip


@MANY
@given(scripts([THRESHOLDS, THRESHOLDS, THRESHOLDS, WINDOWS], steps=24, long=False), st.integers(2, 4), st.booleans())
def test_any_match(script: list[Action], length: int, common: bool) -> None:
    steps = [[[least(0)]], [[most(1)]], [[least(2, VOLUME)]], [[least(0), most(1, VOLUME)]]][:length]
    clauses = [
        clause((0, least(0))), clause((1, most(1))), clause((2, least(2, VOLUME))),
        clause((0, least(0)), (4, most(1, VOLUME))),
    ][:length]  # fmt: skip
    made = AnyTemplate(5, clauses, within=WITHIN if common else -1, window=-1 if common else 3)

    def turn(own: Sequence[float]) -> list[float]:
        return turning(">", "<=", ">", "within", "<=")([*own, own[1]])

    host = Host(lambda: AnyCell(made), turn)
    host.play(script)
    for member in host.members:
        within = WITHIN if common else int(member.literals[3])
        assert member.found == every(steps, host.seen(member), member.literals, within)


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
    made = AnyTemplate(4, clauses, orders, window=3)
    host = Host(lambda: AnyCell(made), turning(">", "<=", ">", "within"))
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
    wait = WaitTemplate(3, clause((1, least(1))), clause((0, most(0))), [], within=WITHIN, arrival=True)
    made = TrailingTemplate(wait, clause((2, least(2, VOLUME))))
    host = Host(lambda: TrailingCell(made), turning("<=", ">", ">"))
    host.play(script)
    steps = [Step(NEXT, [[least(1)]]), Step(SKIP, [[most(0), Condition(3, "span", "<=")]])]
    for member in host.members:
        events = host.seen(member)
        expected = []
        for path in by_start(alone(steps, events, (*member.literals, WITHIN), True)):
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
