"""The key of windows: values that the events of all windows of a subscription have in attributes of BY.

A condition may want an attribute to equal a constant. In a partition with another value it never holds. If no events
without it are a window, then only the partition with that value has windows, and no event of another one matters.

Here: finding such values. Not here: what every first event of a run has (first_key), the use of keys (engine).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import final

from ...algebra.normal_form import Form
from ...algebra.terms import Comparison
from ..windows.window_automaton import DEAD, WindowAutomaton, WindowPart
from .event_constants import shared_constants


def window_key(
    windows: WindowAutomaton, positions: Collection[int], conditions: Sequence[Form]
) -> tuple[Comparison, ...]:
    """What the events of all windows have at some of these positions, which partition them, by position; () if nothing
    says it. O(conditions), and once for all that differ in constants O(constants x size of the tables).

    `conditions`: by bit of a class. Bounds on windows are not looked at: without them there are no fewer windows.
    """
    if windows.clock is not None:
        return ()
    asked = [shared_constants([form]) if form else {} for form in conditions]
    found: dict[int, Comparison] = {}
    for attribute, value in dict.fromkeys(pair for each in asked for pair in each.items()):
        if attribute.position not in positions or attribute.position in found:
            continue
        without = sum(1 << bit for bit, each in enumerate(asked) if each.get(attribute) == value)
        if not _has_windows_without(windows, without):
            found[attribute.position] = Comparison("=", attribute, value)
    return tuple(found[position] for position in sorted(found))


@final
class _Known:
    """Of these tables, by conditions whether there are windows of events that satisfy none of these."""

    def __init__(self, windows: WindowAutomaton) -> None:
        self.parts = windows.parts
        self.classes = windows.classes
        self.without: dict[int, bool] = {}


def _has_windows_without(windows: WindowAutomaton, conditions: int) -> bool:
    """Whether some events that satisfy none of these conditions are a window. O(1) if that is known."""
    known = windows.shared.found
    if not (isinstance(known, _Known) and known.parts is windows.parts and known.classes is windows.classes):
        known = windows.shared.found = _Known(windows)
    found = known.without.get(conditions)
    if found is None:
        columns = {column for letter, column in windows.classes if not letter & conditions}
        found = any(_has_windows(part, windows.columns, columns) for part in windows.parts)
        known.without[conditions] = found
    return found


def _has_windows(part: WindowPart, width: int, columns: Collection[int]) -> bool:
    """Whether some events with these columns only are a window."""
    before = _reached(part.prefix, width, columns, [0])
    begun = {part.starts[state] for state in before} - {DEAD}
    first = [part.body[state * width + column] for state in begun for column in columns]
    return any(part.final[state] for state in _reached(part.body, width, columns, first))


def _reached(table: Sequence[int], width: int, columns: Collection[int], first: Iterable[int]) -> set[int]:
    """The states that events with these columns lead to, and the first ones."""
    known = set(first) - {DEAD}
    waiting = list(known)
    while waiting:
        state = waiting.pop()
        for column in columns:
            after = table[state * width + column]
            if after != DEAD and after not in known:
                known.add(after)
                waiting.append(after)
    return known
