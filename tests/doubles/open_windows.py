"""Where a window subscription is after each event, by windows kept one by one: what its forecast's chain must count.

A window ends where the meaning says so. Each start goes through the tables alone, with the number of its events;
nothing is grouped, or forgotten early. Here: states. Not here: the tables, which have laws of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from doubles.chain_states import Beat, Numbering
from strategies.windows import SCHEMA

from broker.algebra.window.lowering import lower
from broker.algebra.window.semantics import TimedEvent, kept, result_of, satisfied, windows
from broker.algebra.window.window_expression import WindowExpression
from broker.automaton.analyses.window_chain import WindowChain, window_chain
from broker.automaton.constructions.windows import automaton_of_windows
from broker.automaton.windows.window_automaton import DEAD, WindowAutomaton, WindowPart
from broker.events.schema import Row
from broker.forecast.plan import ForecastPlan
from broker.forecast.states import States
from broker.language.window import parse


@dataclass
class Start:
    """An open window from the event with the index `at` on, in a `state` of the part with this number."""

    at: int
    part: int
    state: int


def window_beats(query: str, plan: ForecastPlan, history: Sequence[Any]) -> list[Beat]:
    """`history`: events with time, row and id of the stream that is read."""
    expression = lower(parse(query), query, lambda _: SCHEMA, list)
    automaton = automaton_of_windows(expression, query).windows
    assert automaton is not None
    chain = window_chain(automaton, plan.states.cells)
    ((_, positions),) = plan.positions
    parts: dict[Row, list[TimedEvent]] = {}
    for event in history:
        key = tuple(event.row[position] for position in positions)
        parts.setdefault(key, []).append(TimedEvent(event.id, event.time, event.row))
    found: dict[int, Beat] = {}
    for key, events in parts.items():
        if None not in key:
            for event, state in zip(events, _states(expression, automaton, chain, plan.states, events), strict=True):
                found[event.id] = Beat(key, event.row, event.time, state)
    return [found[number] for number in sorted(found)]


def _states(
    expression: WindowExpression, automaton: WindowAutomaton, chain: WindowChain, states: States, part: list[TimedEvent]
) -> list[int]:
    spans = kept(expression, part, windows(expression, part))
    numbering = Numbering(states.left, states.sets)
    columns = dict(automaton.classes)
    before = [0 for _ in automaton.parts]
    open_: list[Start] = []
    found: list[int] = []
    for now in range(len(part)):
        column = columns[sum(1 << atom for atom in satisfied(expression, part, now))]
        moved = [Start(one.at, one.part, _after(automaton, one.part, one.state, column)) for one in open_]
        for number, own in enumerate(automaton.parts):
            begun = own.starts[before[number]]
            if begun != DEAD:
                moved.append(Start(now, number, _after(automaton, number, begun, column)))
            before[number] = own.prefix[before[number] * automaton.columns + column]
        open_ = [one for one in moved if one.state != DEAD]
        ended = [span for span in spans if span[1] == now + 1]
        matched = any(_asked(expression, states, part, *span) for span in ended)
        if expression.keep == "shortest":
            open_ = [one for one in open_ if (one.at, now + 1) not in spans]
        live = {_elementary(expression, automaton, chain, states, part, one, now) for one in open_} - {0}
        found.append(numbering.state(matched, live))
    return found


def _after(automaton: WindowAutomaton, part: int, state: int, column: int) -> int:
    return automaton.parts[part].body[state * automaton.columns + column]


def _asked(expression: WindowExpression, states: States, part: list[TimedEvent], first: int, upto: int) -> bool:
    if states.exceeding is None:
        return True
    return states.exceeding.holds(result_of(expression, part[first:upto], None).values[states.exceeding.position])


def _elementary(
    expression: WindowExpression,
    automaton: WindowAutomaton,
    chain: WindowChain,
    states: States,
    part: list[TimedEvent],
    one: Start,
    now: int,
) -> int:
    """The elementary state of an open window; 0 if it cannot go on."""
    own: WindowPart = automaton.parts[one.part]
    events = now - one.at + 1
    if own.within is not None and part[now].time - part[one.at].time > own.within:
        return 0
    if own.most is not None:
        if events >= own.most:
            return 0
    elif own.least > 1:
        events = min(events, own.least)
    else:
        events = 0
    state = one.state + sum(len(other.final) for other in automaton.parts[: one.part])
    number = chain.numbers.get((state, events), 0)
    if number and states.exceeding is not None:
        value = result_of(expression, part[one.at : now + 1], None).values[states.exceeding.position]
        number += states.cells - 1 - states.exceeding.level(value)
    return number
