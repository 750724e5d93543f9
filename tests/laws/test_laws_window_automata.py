"""Window queries read back what they print, and the tables of their automata accept what their meaning says."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.windows import SCHEMA, Event, marked, pairs, queries, streams

from broker.algebra.window.lowering import lower
from broker.algebra.window.semantics import TimedEvent, satisfied, windows
from broker.algebra.window.window_expression import WindowExpression
from broker.automaton.analyses.value_regions import free_regions, regions_of
from broker.automaton.analyses.window_bounds import window_bounds
from broker.automaton.constructions.windows import automaton_of_windows, impossible
from broker.automaton.windows.window_automaton import DEAD, WindowAutomaton, WindowPart
from broker.events.schema import Schema
from broker.language.window import parse, print_query
from broker.language.window.syntax import WindowQuery

NUMBERS = Schema.declare({"x": "float"})
REGULAR = (
    "AFTER any* MATCHING [x > 2] [x < 1 AND x > prev.x]*",
    "AFTER any* MATCHING [x = 1] [x > prev.x AND x < 2]* [x = 2]",
    "AFTER any* MATCHING [x >= 1 AND x < 2] ([x > prev.x] [x < prev.x])* [x > 2 AND x > prev.x]",
    "AFTER any* MATCHING [x > 2] [prev.x < x AND x <= 2] any",
    "AFTER any* MATCHING [x <= prev.x] [x = 1] [x > prev.x] [x = 1]",
    "AFTER any* [x > prev.x] MATCHING [x < prev.x]* [x = 0]",
    "AFTER any* MATCHING any [x > prev.x]*",
    "AFTER any* MATCHING [x = 1] [x >= prev.x AND x <= 1]{2,4} [x > 1]",
)


@given(queries())
def test_a_printed_query_reads_as_the_same(query: WindowQuery) -> None:
    assert parse(print_query(query)) == query


@given(queries(marked()))
def test_a_printed_formula_reads_as_the_same(query: WindowQuery) -> None:
    assert parse(print_query(query)) == query


@given(queries(pairs()), streams())
def test_tables_of_pairs_accept_their_windows(query: WindowQuery, events: list[Event]) -> None:
    _check(query, events)


@settings(max_examples=5 * settings().max_examples)  # 2,500 formulas in `make search`, most of them different
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


@given(queries(pairs()), streams())
def test_what_is_said_to_match_nothing_has_no_windows(query: WindowQuery, events: list[Event]) -> None:
    text = print_query(query)
    expression = lower(query, text, lambda name: SCHEMA, lambda: ["S"])
    automaton = automaton_of_windows(expression, text).windows
    assert automaton is not None
    blamed = list(impossible(expression, text))
    if len(expression.pairs) == 1:
        assert (not blamed) == possible(automaton.parts[0], automaton.columns)
        part = [TimedEvent(n, time, row) for n, (time, row) in enumerate(events)]
        assert not blamed or windows(expression, part) == set()


def possible(part: WindowPart, columns: int) -> bool:
    """Whether some classes of events have a window, by the tables: one of up to 60 events."""
    states = set(reachable(part.prefix, columns))
    reached = {part.starts[state] for state in states} - {DEAD}
    for length in range(1, 61):
        reached = {part.body[state * columns + column] for state in reached for column in range(columns)} - {DEAD}
        if part.least <= length <= (60 if part.most is None else part.most) and any(part.final[s] for s in reached):
            return True
    return False


def reachable(table: tuple[int, ...], columns: int) -> list[int]:
    """The states that are reached from the first one."""
    found = [0]
    for state in found:
        found += dict.fromkeys(t for t in table[state * columns :][:columns] if t != DEAD and t not in found)
    return found


@given(queries(pairs()), st.lists(st.integers(0, 50), max_size=30))
def test_verdicts_hold_for_whatever_comes(query: WindowQuery, letters: list[int]) -> None:
    """Bounded: never more starts are open, nor more windows over one event. Unbounded: each time the witness comes
    there is one more."""
    text = print_query(query)
    automaton = automaton_of_windows(lower(query, text, lambda name: SCHEMA, lambda: ["S"]), text).windows
    assert automaton is not None
    bounds = window_bounds(automaton)
    columns = automaton.columns
    word = [one % columns for one in letters]
    if bounds.verdict == "bounded" and regions_of(automaton) == free_regions(automaton):
        if bounds.starts is not None:
            most = sum(max(map(len, opened(part, columns, word))) for part in automaton.parts)
            assert most <= bounds.starts
        if bounds.over is not None and automaton.keep == "each":
            assert sum(over(part, columns, word) for part in automaton.parts) <= bounds.over
    if bounds.witness:
        begins = [way_to(part, columns, state) for part in automaton.parts for state in range(len(part.starts))]
        words = [[*begin, *bounds.witness * 9] for begin in begins]
        assert any(len(opened(part, columns, word)[-1]) >= 9 for part in automaton.parts for word in words)


def opened(part: WindowPart, columns: int, word: list[int]) -> list[list[tuple[int, int]]]:
    """After each event, the open starts: the number of the event at which each began, and its state."""
    before = 0
    starts: list[tuple[int, int]] = []
    found: list[list[tuple[int, int]]] = [[]]
    for at, column in enumerate(word):
        if part.starts[before] != DEAD:
            starts = [*starts, (at, part.starts[before])]
        moved = [(begun, part.body[state * columns + column]) for begun, state in starts]
        long = -1 if part.most is None else at - part.most
        starts = [(begun, state) for begun, state in moved if state != DEAD and begun > long]
        before = part.prefix[before * columns + column]
        found.append(starts)
    return found


def over(part: WindowPart, columns: int, word: list[int]) -> int:
    """The most windows over one event."""
    ends = [
        (begun, at - 1)
        for at, starts in enumerate(opened(part, columns, word))
        for begun, state in starts
        if part.final[state] and at - begun >= part.least
    ]
    return max((sum(first <= at <= last for first, last in ends) for at in range(len(word))), default=0)


@given(st.lists(st.floats(0, 3), min_size=1, max_size=30), st.sampled_from(REGULAR))
def test_bounds_hold_for_values_that_are_compared_with_those_before(values: list[float], windows: str) -> None:
    """Only sequences that values can have count: regions of values say which classes can follow each other."""
    text = f"FROM S WINDOW {windows}"
    expression = lower(parse(text), text, lambda name: NUMBERS, lambda: ["S"])
    automaton = automaton_of_windows(expression, text).windows
    assert automaton is not None
    bounds = window_bounds(automaton)
    regions = regions_of(automaton)
    assert regions is not None
    part = [TimedEvent(n, n, (value,)) for n, value in enumerate(values)]
    found = dict(automaton.classes)
    word = [found[sum(1 << atom for atom in satisfied(expression, part, at))] for at in range(len(part))]
    reached = {0}
    for column in word:
        reached = {after for region in reached for one, after in regions.moves[region] if one == column}
        assert reached
    if bounds.verdict == "bounded":
        assert bounds.starts is not None
        assert max(map(len, opened(automaton.parts[0], automaton.columns, word))) <= bounds.starts
        if bounds.over is not None:
            assert over(automaton.parts[0], automaton.columns, word) <= bounds.over


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
