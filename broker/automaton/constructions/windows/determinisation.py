"""Tables of deterministic automata: exploring, dropping states from which nothing is accepted, minimising, numbering.

Here: functions on tables, whatever the states stand for. Not here: derivatives (regular), formulas (marked).

A table has a row for each state; a row has the next state for each column, DEAD for none.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeAlias, TypeVar

from ...windows.window_automaton import DEAD

WINDOW_STATES_MAX: Final = 10_000
"""The most states of the prefix automaton, and of the body automaton, of one subscription."""

Table: TypeAlias = list[list[int]]
_State = TypeVar("_State", bound=Hashable)


class TooManyStates(Exception):
    """Exploring has found more states than allowed."""


def explored(
    begins: Sequence[_State], step: Callable[[_State], list[_State]], most: int = WINDOW_STATES_MAX
) -> tuple[list[_State], Table]:
    """All states that are reached, in breadth-first order, and their rows. `step` gives the successor for each column.

    Raises TooManyStates.
    """
    numbers: dict[_State, int] = {}
    states: list[_State] = []
    rows: Table = []

    def number(state: _State) -> int:
        known = numbers.get(state)
        if known is None:
            known = numbers[state] = len(states)
            if known >= most:
                raise TooManyStates
            states.append(state)
        return known

    for begin in begins:
        number(begin)
    at = 0
    while at < len(states):
        rows.append([number(state) for state in step(states[at])])
        at += 1
    return states, rows


def live(rows: Table, final: Sequence[bool]) -> list[bool]:
    """For each state whether a final one can be reached from it. O(table)."""
    before: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for target in set(row):
            if target != DEAD:
                before[target].append(state)
    found = list(final)
    waiting = [state for state, ends in enumerate(final) if ends]
    while waiting:
        for state in before[waiting.pop()]:
            if not found[state]:
                found[state] = True
                waiting.append(state)
    return found


def minimal(rows: Table, kinds: Sequence[Hashable]) -> list[int]:
    """For each state the number of its class of equivalent states (Hopcroft 1971). States of unlike kinds differ.

    O(table times log states).
    """
    n = len(rows)
    columns = list(dict.fromkeys(zip(*rows, strict=True))) if rows else []
    sink = n  # stands for DEAD
    before: list[list[list[int]]] = []
    for column in columns:
        inverse: list[list[int]] = [[] for _ in range(n + 1)]
        for state, target in enumerate(column):
            inverse[sink if target == DEAD else target].append(state)
        inverse[sink].append(sink)
        before.append(inverse)
    first: dict[Hashable, int] = {}
    block = [first.setdefault(("kind", kind), len(first)) for kind in kinds] + [len(first)]
    members: list[set[int]] = [set() for _ in range(len(first) + 1)]
    for state, number in enumerate(block):
        members[number].add(state)
    waiting = set(range(len(members)))
    while waiting:
        splitter = list(members[waiting.pop()])
        for inverse in before:
            hit: dict[int, set[int]] = {}
            for target in splitter:
                for state in inverse[target]:
                    hit.setdefault(block[state], set()).add(state)
            for number, inside in hit.items():
                if len(inside) == len(members[number]):
                    continue
                fresh = len(members)
                members[number] -= inside
                members.append(inside)
                for state in inside:
                    block[state] = fresh
                if number in waiting or len(inside) <= len(members[number]):
                    waiting.add(fresh)
                else:
                    waiting.add(number)
    return block[:n]


def merged(rows: Table, classes: Sequence[int], begins: Sequence[int]) -> tuple[Table, list[int], dict[int, int]]:
    """The table of classes of states that are reached from `begins`, numbered in breadth-first order.

    Returns its rows, a state of the old table for each new one, and the new number of each class.
    """
    numbers: dict[int, int] = {}
    states: list[int] = []
    for begin in begins:
        if classes[begin] not in numbers:
            numbers[classes[begin]] = len(states)
            states.append(begin)
    made: Table = []
    at = 0
    while at < len(states):
        row: list[int] = []
        for target in rows[states[at]]:
            if target == DEAD:
                row.append(DEAD)
                continue
            number = classes[target]
            if number not in numbers:
                numbers[number] = len(states)
                states.append(target)
            row.append(numbers[number])
        made.append(row)
        at += 1
    return made, states, numbers
