"""Automata of formulas: a formula is an automaton over events with marks (Büchi 1960; semantics 5.2, lemma 5).

A variable is a track of bits beside the events: of one event it has one bit, of a set any number. Conditions are small
automata, AND and OR products, NOT swaps final states, and a quantifier drops its track and makes the automaton
deterministic again. The formula's own automaton reads the marks of the first and the last event; it is split into a
prefix automaton, which reads events without marks, and a body automaton, whose first letter has the first mark.

Here: that translation. Not here: what a formula means (algebra), tables in general (determinisation).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ....algebra.window.window_expression import WindowFormula
from .determinisation import WINDOW_STATES_MAX, Table, TooManyStates, explored, minimal

MARKED_STATES_MAX: Final = 30_000
"""The most states of an automaton with marks on the way to that of a formula."""
LETTERS_MAX: Final = 4_096
"""The most letters of such an automaton: classes of events, times two for each variable."""

Step: TypeAlias = Callable[[Any, int, int], Any]
"""The next state, by state, class of the event, and marks as bits."""
START_OF_BODY: Final = "start"


class TooManyLetters(Exception):
    """A formula has too many variables and classes together."""


class TooManyMarkedStates(Exception):
    """An automaton on the way is too large; `at` is the place of the part that it belongs to."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


@dataclass(frozen=True, slots=True)
class MarkedTable:
    """A deterministic automaton that begins in state 0; a letter is the class's number times the marks' sets, plus the
    marks."""

    rows: Table
    final: list[bool]


class MarkedAutomata:
    """The automata of the parts of one formula. `classes`: the classes of events; `tracks`: the variables."""

    def __init__(self, classes: Sequence[int], tracks: int) -> None:
        self.classes = list(classes)
        self.sets = 1 << tracks
        if len(self.classes) * self.sets > LETTERS_MAX:
            raise TooManyLetters
        self._known: dict[WindowFormula, MarkedTable] = {}

    def of(self, formula: WindowFormula) -> MarkedTable:
        """The minimal automaton of a formula, given that the tracks of events have one mark each.

        Raises TooManyMarkedStates. Exponential in the alternations of quantifiers, at worst.
        """
        known = self._known.get(formula)
        if known is None:
            try:
                known = self._known[formula] = self._made(formula)
            except TooManyStates:
                raise TooManyMarkedStates(formula.at) from None
        return known

    def _made(self, formula: WindowFormula) -> MarkedTable:
        parts = [self.of(part) for part in formula.parts]
        match formula.operator:
            case "not":
                return MarkedTable(parts[0].rows, [not final for final in parts[0].final])
            case "and":
                return self._product(parts, all)
            case "or":
                return self._product(parts, any)
            case "exists":
                return self._projected(self._product([parts[0], self._one(formula.first)], all), formula.first)
            case "exists set":
                return self._projected(parts[0], formula.first)
            case _:
                return self._condition(formula)

    def _condition(self, formula: WindowFormula) -> MarkedTable:
        """A condition on one event or on two positions. States: 0 at first, 1 between, 2 satisfied, 3 failed."""
        x, y, atom = 1 << formula.first, 1 << max(formula.second, 0), formula.atom
        match formula.operator:
            case "holds":
                return self._table(lambda s, c, m: 3 if m & x and not c >> atom & 1 else s, (0,))
            case "in":
                return self._table(lambda s, c, m: 3 if m & x and not m & y else s, (0,))
            case "equal":
                return self._table(lambda s, c, m: s if bool(m & x) == bool(m & y) else 3, (0,))
            case "next":
                return self._table(lambda s, c, m: _next(s, m & x, m & y), (2,))
            case "less":
                return self._table(lambda s, c, m: _less(s, m & x, m & y), (2,))
        raise AssertionError(formula.operator)

    def _one(self, track: int) -> MarkedTable:
        """Exactly one mark."""
        bit = 1 << track
        return self._table(lambda s, c, m: (2 if s == 0 else 3) if m & bit else s, (2,))

    def _table(self, step: Step, final: tuple[int, ...]) -> MarkedTable:
        def row(state: int) -> list[int]:
            return [step(state, letter, marks) for letter in self.classes for marks in range(self.sets)]

        states, rows = explored([0], row, MARKED_STATES_MAX)
        return _minimised(MarkedTable(rows, [state in final for state in states]))

    def _product(self, parts: Sequence[MarkedTable], final: Callable[[list[bool]], bool]) -> MarkedTable:
        found = parts[0]
        for part in parts[1:]:
            one, other = found, part

            def row(state: tuple[int, int], one: MarkedTable = one, other: MarkedTable = other) -> list[Any]:
                return list(zip(one.rows[state[0]], other.rows[state[1]], strict=True))

            states, rows = explored([(0, 0)], row, MARKED_STATES_MAX)
            found = _minimised(MarkedTable(rows, [final([one.final[a], other.final[b]]) for a, b in states]))
        return found

    def _projected(self, table: MarkedTable, track: int) -> MarkedTable:
        """Without a track: what some marks on it would make it accept."""
        bit = 1 << track
        pairs = [
            (c * self.sets + (m & ~bit), c * self.sets + (m | bit))
            for c in range(len(self.classes))
            for m in range(self.sets)
        ]

        def row(state: frozenset[int]) -> list[frozenset[int]]:
            made: dict[tuple[int, int], frozenset[int]] = {}
            for pair in pairs:
                if pair not in made:
                    made[pair] = frozenset([table.rows[s][letter] for s in state for letter in pair])
            return [made[pair] for pair in pairs]

        states, rows = explored([frozenset((0,))], row, MARKED_STATES_MAX)
        return _minimised(MarkedTable(rows, [any(table.final[s] for s in state) for state in states]))

    # --- windows -----------------------------------------------------------------------------------------------------

    def windows(self, formula: WindowFormula) -> tuple[Table, list[Hashable], list[Hashable], Table, list[bool]]:
        """The prefix automaton with the body's state that each of its states begins, and the body automaton.

        Returns the prefix's table, the beginning of each of its states, the body's states, table and final states. The
        first event has track 0, the last one track 1. Raises as `of` does.
        """
        table = self.of(formula)
        columns = range(len(self.classes))

        def along(state: int) -> list[int]:
            return [table.rows[state][c * self.sets] for c in columns]

        before, prefix = explored([0], along, WINDOW_STATES_MAX)

        def step(state: tuple[Any, Any]) -> list[tuple[Any, Any]]:
            first = 1 if state[0] == START_OF_BODY else 0
            row = table.rows[state[1]] if first else table.rows[state[0]]
            return [(row[c * self.sets + first], table.final[row[c * self.sets + first + 2]]) for c in columns]

        begins: list[Hashable] = [(START_OF_BODY, state) for state in before]
        states, body = explored(begins, step, WINDOW_STATES_MAX)  # type: ignore[arg-type]
        final = [state[0] != START_OF_BODY and bool(state[1]) for state in states]  # type: ignore[index]
        return prefix, begins, states, body, final


def _next(state: int, x: int, y: int) -> int:
    """After each event: was x marked just now, and y right behind it?"""
    if state == 0:
        return 3 if y else 1 if x else 0
    return 2 if state == 1 and y else 2 if state == 2 else 3


def _less(state: int, x: int, y: int) -> int:
    if state == 0:
        return 3 if y else 1 if x else 0
    return 2 if state == 1 and y else state


def _minimised(table: MarkedTable) -> MarkedTable:
    classes = minimal(table.rows, table.final)
    numbers: dict[int, int] = {}
    kept: list[int] = []
    for state, number in enumerate(classes):  # state 0 comes first and keeps its number
        if number not in numbers:
            numbers[number] = len(kept)
            kept.append(state)
    rows = [[numbers[classes[target]] for target in table.rows[state]] for state in kept]
    return MarkedTable(rows, [table.final[state] for state in kept])
