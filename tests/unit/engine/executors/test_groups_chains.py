"""Groups of filters, chains and folds = each member alone, by members, paths and order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from doubles.group_runs import NEXT, Action, Condition, Event, Host, Step, alone, satisfied
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.group_scripts import THRESHOLDS, WINDOWS, scripts

from broker.algebra.predicate import computation, condition
from broker.algebra.terms import Arithmetic, Attribute, Comparison, Constant, Register, Side
from broker.automaton.analyses.coordinates import exact, turned, turned_offset
from broker.automaton.automaton import Computed
from broker.engine.executors.groups.chain import ChainCell
from broker.engine.executors.groups.coordinates import (
    ATTRIBUTE,
    DURATION,
    FACTOR,
    OFFSET,
    REGISTER,
    CoordinateBound,
)
from broker.engine.executors.groups.epoch_runs import EpochRuns
from broker.engine.executors.groups.filters import FilterCell
from broker.engine.executors.groups.fold import FoldCell
from broker.engine.executors.groups.fold_template import FoldClause, FoldStep, FoldTemplate
from broker.engine.executors.groups.members import Members
from broker.engine.executors.groups.steps import ChainTemplate, Remembered, StepClause

MANY = settings(max_examples=6 * settings().max_examples)

PRICE, VOLUME = 0, 1
SIGNS = {">": 1.0, ">=": 1.0, "<": -1.0, "<=": -1.0}


def bound(condition: Condition, coordinate: int, registers: dict[tuple[int, int], int]) -> CoordinateBound:
    """What a recipe makes of a condition."""
    source = {"attribute": ATTRIBUTE, "duration": DURATION, "factor": FACTOR, "offset": OFFSET}[condition.source]
    register = registers.setdefault(condition.bound, len(registers)) if source in (FACTOR, OFFSET) else -1
    strict = condition.operator in ("<", ">")
    return CoordinateBound(coordinate, source, condition.attribute, SIGNS[condition.operator], register, strict)


def template(steps: Sequence[Sequence[Sequence[Condition]]]) -> tuple[ChainTemplate, list[tuple[int, Condition]]]:
    """A template, and of each coordinate the condition; a factor takes two."""
    places: dict[tuple[int, str, str, int], int] = {}
    asked: list[tuple[int, Condition]] = []
    registers: dict[tuple[int, int], int] = {}
    made: list[list[StepClause]] = []
    d = 0
    for step in steps:
        clauses = []
        for conditions in step:
            bounds = []
            for each in conditions:
                name = (each.literal, each.source, each.operator, each.attribute)
                if name not in places:
                    places[name] = d
                    asked.append((d, each))
                    d += 2 if each.source == "factor" else 1
                bounds.append(bound(each, places[name], registers))
            clauses.append(StepClause(bounds))
        made.append(clauses)
    kept = [Remembered(attribute, step) for step, attribute in registers]
    return ChainTemplate(d, made, kept), asked


def point(asked: list[tuple[int, Condition]], literals: Sequence[float]) -> list[float]:
    found: list[float] = []
    for _, each in asked:
        literal = literals[each.literal]
        if each.source == "factor":
            factor = exact(literal)
            found += () if factor is None else (factor, -factor)
        else:
            turn = turned_offset if each.source == "offset" else turned
            value = turn(each.operator, literal)
            assert value is not None
            found.append(value)
    return found


def price(literal: int, operator: str) -> Condition:
    return Condition(literal, "attribute", operator, PRICE)


def volume(literal: int, operator: str) -> Condition:
    return Condition(literal, "attribute", operator, VOLUME)


CHAINS: dict[str, tuple[list[list[list[Condition]]], list[Sequence[float]]]] = {
    "two": ([[[price(0, ">")]], [[price(1, "<")]]], [THRESHOLDS, THRESHOLDS]),
    "range": ([[[price(0, ">="), price(1, "<=")]], [[price(0, ">=")]]], [THRESHOLDS, THRESHOLDS]),
    "three": ([[[price(0, ">")]], [[price(1, "<")]], [[price(0, ">"), volume(2, ">=")]]], [THRESHOLDS] * 3),
    "four": ([[[price(0, ">")]], [[price(1, "<")]], [[price(2, ">")]], [[volume(3, "<=")]]], [THRESHOLDS] * 4),
    "duration": (
        [[[price(0, ">")]], [[price(1, "<"), Condition(2, "duration", "<")]], [[Condition(3, "duration", ">=")]]],
        [THRESHOLDS, THRESHOLDS, WINDOWS, WINDOWS],
    ),
    "factor": (
        [[[price(0, ">")]], [[Condition(1, "factor", ">", PRICE, (0, VOLUME))]]],
        [THRESHOLDS, [-1.0, 0.0, 0.5, 1.0, 1.5, 4 / 3]],
    ),
    "factor of the second": (
        [[[price(0, ">")]], [[volume(0, ">")]], [[Condition(1, "factor", "<=", VOLUME, (1, PRICE))]]],
        [THRESHOLDS, [-1.0, 0.0, 0.5, 1.0, 1.5]],
    ),
    "offset": (
        [[[price(0, ">")]], [[Condition(1, "offset", "<", PRICE, (0, PRICE))]]],
        [THRESHOLDS, [-1.0, 0.0, 0.5, 1.0]],
    ),
    "unions": (
        [[[price(0, ">")], [volume(1, "<")]], [[price(1, "<")], [volume(0, ">")]], [[price(0, ">")], [volume(1, "<")]]],
        [THRESHOLDS, THRESHOLDS],
    ),
}  # fmt: skip


@MANY
@given(st.sampled_from(sorted(CHAINS)), st.booleans(), st.data())
def test_chains(name: str, arrival: bool, data: st.DataObject) -> None:
    steps, literals = CHAINS[name]
    made, asked = template(steps)
    host = Host(lambda: ChainCell(made, arrival), lambda each: point(asked, each))
    host.play(data.draw(scripts(literals)))
    for member in host.members:
        expected = alone([Step(NEXT, step) for step in steps], host.seen(member), member.literals, arrival)
        assert member.found == expected


@MANY
@given(scripts([THRESHOLDS] * 2))
def test_what_lives_of_a_chain_is_what_waits(script: list[Action]) -> None:
    """A member's live runs are those that any further event would touch."""
    steps = CHAINS["three"][0]
    made, asked = template([*steps[:2], [[price(0, ">")]]])
    host = Host(lambda: ChainCell(made), lambda each: point(asked, each))
    host.play(script)
    for key, cell in host.cells.items():
        live = cell.waiting()
        for member in host.members:
            if member.key != key or member.left < 1 << 60:
                continue
            own = [path for handle, _, path in live if handle == member.handle]
            after = Event(len(host.events), host.time + 1, key, (99.0, 99.0))
            every_next = [Step(NEXT, steps[0]), Step(NEXT, steps[1]), Step(NEXT, [[]])]
            expected = alone(every_next, [*host.seen(member), after], member.literals)
            deep = [path[:-1] for path in expected if path[-1] == after.number]
            assert [path for path in own if len(path) == 2] == deep


@MANY
@given(scripts([THRESHOLDS] * 2))
def test_filters_with_unions(script: list[Action]) -> None:
    """An event that satisfies both clauses matches once."""
    clauses = [[price(0, ">")], [volume(1, "<")]]
    _, asked = template([clauses])

    separate = [
        StepClause([CoordinateBound(0, ATTRIBUTE, PRICE, 1.0)]),
        StepClause([CoordinateBound(1, ATTRIBUTE, VOLUME, -1.0)]),
    ]
    host = Host(lambda: FilterCell(separate, 2, Members(2)), lambda each: point(asked, each))
    host.save = lambda: None  # type: ignore[method-assign]  # filters keep nothing
    host.play(script)
    for member in host.members:
        events = [e for e in host.seen(member) if satisfied(clauses, e, (), member.literals)]
        assert member.found == [(e.number,) for e in events]


# --- folds ----------------------------------------------------------------------------------------------------------


def folded(events: list[Event], literals: Sequence[float], kind: str) -> list[tuple[int, ...]]:
    """Rising runs of one member: begun above a price, as long as the price rises (by a factor), told from a count, or a
    sum, on."""
    runs: list[tuple[list[Event], int, int | None]] = []
    found: list[tuple[int, ...]] = []
    for event in events:
        own = event.row[PRICE]
        kept: list[tuple[list[Event], int, int | None]] = []
        new: list[tuple[list[Event], int, int | None]] = []
        if own is not None and own > literals[0]:
            new.append(([event], event.time, None))
        for path, born, touched in runs:
            if touched is not None and touched < event.time:
                continue
            affected = born < event.time
            kept.append((path, born, event.time if affected else touched))
            last = path[-1].row[PRICE]
            if not affected or own is None or last is None:
                continue
            if own > (last * literals[2] if kind == "factor" else last):
                longer = [*path, event]
                new.append((longer, event.time, None))
                told = len(longer) >= literals[1]
                if kind == "sum":
                    volumes = [each.row[VOLUME] for each in longer]
                    told = None not in volumes and sum(v for v in volumes if v is not None) >= literals[1]
                if kind == "duration":
                    told = told and event.time - path[0].time + 1 < literals[2]
                if told:
                    found.append(tuple(each.number for each in longer))
        runs = kept + new
    return found


FOLDS = ["count", "factor", "sum", "duration"]


ONE = Constant(1.0, "float")
PRICE_NOW, VOLUME_NOW = (Attribute(Side.EVENT, at, "float") for at in (PRICE, VOLUME))
COUNT = Arithmetic("+", ONE, Register(0, -1, "float"), "float")
TOTAL = Arithmetic("+", VOLUME_NOW, Register(1, -1, "float"), "float")
UPDATES = ((Computed(ONE), Computed(VOLUME_NOW)), (Computed(COUNT), Computed(TOTAL)))


@MANY
@given(st.sampled_from(FOLDS), st.data())
def test_folds(kind: str, data: st.DataObject) -> None:
    begin = StepClause([CoordinateBound(0, ATTRIBUTE, PRICE, 1.0)])
    before = Register(-1, PRICE, "float")
    rising = FoldClause([], [], condition(((Comparison(">", PRICE_NOW, before),),)))
    enough = CoordinateBound(1, REGISTER, register=0)
    end = FoldClause([enough], [computation(TOTAL if kind == "sum" else COUNT)], None)
    if kind == "factor":
        rising = FoldClause([CoordinateBound(2, FACTOR, PRICE, 1.0, register=0)], [computation(before)], None)
    if kind == "duration":
        end.bounds.append(CoordinateBound(2, DURATION, sign=-1.0))
    d = {"count": 2, "factor": 4, "sum": 2, "duration": 3}[kind]
    made, epochs = FoldTemplate(d, [begin], [FoldStep(rising, [end])]), EpochRuns(UPDATES)
    epochs.lineage = True

    def turn(literals: Sequence[float]) -> list[float]:
        start, least = turned(">", literals[0]), turned(">=", literals[1])
        assert start is not None
        assert least is not None
        found = [start, least]
        if kind == "factor":
            factor = exact(literals[2])
            found += () if factor is None else (factor, -factor)
        if kind == "duration":
            found += [-math.nextafter(literals[2], -math.inf)]
        return found

    third = (0.5, 1.0, 1.25, 2.0) if kind == "factor" else WINDOWS

    host = Host(lambda: FoldCell(made, epochs), turn)
    # A factor below one lets a price fall: each of a moment's events goes on with each of the runs, without an end.
    host.play(data.draw(scripts([THRESHOLDS, [2.0, 3.0, 3.5], third], steps=60, long=kind != "factor")))
    for member in host.members:
        assert member.found == folded(host.seen(member), member.literals, kind)
