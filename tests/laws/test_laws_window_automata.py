"""Window queries read back what they print, and the tables of their automata accept what their meaning says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from strategies.windows import SCHEMA, Event, marked, pairs, queries, streams

from broker.algebra.window.lowering import lower
from broker.algebra.window.semantics import TimedEvent, satisfied, windows
from broker.algebra.window.window_expression import WindowExpression
from broker.automaton.analyses.window_bounds import window_bounds
from broker.automaton.constructions.windows import automaton_of_windows
from broker.automaton.windows.window_automaton import DEAD, WindowAutomaton, WindowPart
from broker.language.window import parse, print_query
from broker.language.window.syntax import WindowQuery


@given(queries())
def test_a_printed_query_reads_as_the_same(query: WindowQuery) -> None:
    assert parse(print_query(query)) == query


@given(queries(marked()))
def test_a_printed_formula_reads_as_the_same(query: WindowQuery) -> None:
    assert parse(print_query(query)) == query


@given(queries(pairs()), streams())
def test_tables_of_pairs_accept_their_windows(query: WindowQuery, events: list[Event]) -> None:
    _check(query, events)


@given(queries(marked()), streams(6))
def test_tables_of_formulas_accept_their_windows(query: WindowQuery, events: list[Event]) -> None:
    _check(query, events)


def _check(query: WindowQuery, events: list[Event]) -> None:
    text = print_query(query)
    expression = lower(query, text, lambda name: SCHEMA, lambda: ["S"])
    automaton = automaton_of_windows(expression, text).windows
    assert automaton is not None
    part = [TimedEvent(n, time, row) for n, (time, row) in enumerate(events)]
    assert accepted(automaton, expression, part) == windows(expression, part)


def accepted(automaton: WindowAutomaton, expression: WindowExpression, part: list[TimedEvent]) -> set[tuple[int, int]]:
    """The windows by the tables, one start at a time."""
    columns = dict(automaton.classes)
    letters = [columns[sum(1 << atom for atom in satisfied(expression, part, at))] for at in range(len(part))]
    found: set[tuple[int, int]] = set()
    for one in automaton.parts:
        before = 0
        for first, letter in enumerate(letters):
            state = one.starts[before]
            for last in range(first, len(letters)):
                if state == DEAD:
                    break
                state = one.body[state * automaton.columns + letters[last]]
                length, lasts = last - first + 1, part[last].time - part[first].time
                fits = one.least <= length and (one.most is None or length <= one.most)
                if state != DEAD and one.final[state] and fits and (one.within is None or lasts <= one.within):
                    assert (first, last + 1) not in found or len(automaton.parts) > 1
                    found.add((first, last + 1))
            before = one.prefix[before * automaton.columns + letter]
    return found


@given(queries(pairs()), st.lists(st.integers(0, 50), max_size=30))
def test_verdicts_hold_for_whatever_comes(query: WindowQuery, letters: list[int]) -> None:
    """Bounded: never more starts are open. Unbounded: each time the witness comes there is one more."""
    text = print_query(query)
    automaton = automaton_of_windows(lower(query, text, lambda name: SCHEMA, lambda: ["S"]), text).windows
    assert automaton is not None
    bounds = window_bounds(automaton)
    columns = automaton.columns
    if bounds.verdict == "bounded" and bounds.starts is not None:
        most = sum(max(map(len, opened(part, columns, [one % columns for one in letters]))) for part in automaton.parts)
        assert most <= bounds.starts
    if bounds.witness:
        begins = [way_to(part, columns, state) for part in automaton.parts for state in range(len(part.starts))]
        words = [[*begin, *bounds.witness * 9] for begin in begins]
        assert any(len(opened(part, columns, word)[-1]) >= 9 for part in automaton.parts for word in words)


def opened(part: WindowPart, columns: int, word: list[int]) -> list[list[int]]:
    """After each event, the states of the open starts."""
    before = 0
    states: list[int] = []
    found: list[list[int]] = [[]]
    for column in word:
        if part.starts[before] != DEAD:
            states = [*states, part.starts[before]]
        states = [after for state in states if (after := part.body[state * columns + column]) != DEAD]
        if part.most is not None:
            states = states[-part.most :]
        before = part.prefix[before * columns + column]
        found.append(states)
    return found


def way_to(part: WindowPart, columns: int, wanted: int) -> list[int]:
    """A word that brings the prefix to a state."""
    ways: dict[int, list[int]] = {0: []}
    waiting = [0]
    while waiting:
        state = waiting.pop()
        for column in range(columns):
            target = part.prefix[state * columns + column]
            if target not in ways:
                ways[target] = [*ways[state], column]
                waiting.append(target)
    return ways[wanted]
