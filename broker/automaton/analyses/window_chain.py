"""The states of a window subscription's forecast: where the body of an open window is, and how many events it has.

A body knows no lengths where they are taken out of its states (constructions/windows/lengths). A forecast needs them:
an open window of `any{10}` is nearer to its end after nine events than after one. So a state is one of the body with
the number of events so far, as far as a bound asks for it. What is measured of a window may divide each further, into
`cells`.

Here: numbers and labels, for windows that an event ends. Not here: which windows are open (engine), probabilities
(forecast).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, TypeAlias

from ...events.errors import DefinitionError, LimitExceeded
from ..windows.window_automaton import DEAD, WindowAutomaton, WindowPart
from .window_bounds import window_bounds

CHAIN_STATES_MAX: Final = 64
"""States of an open window that a forecast distinguishes."""
LOOKED_AT: Final = 4 * CHAIN_STATES_MAX
"""States that are looked at, those from which no window can end among them."""

Counted: TypeAlias = tuple[int, int]
"""A state of a body, and the number of events of the window so far: at most as many as bounds ask for, else 0."""


@dataclass(frozen=True, slots=True)
class WindowChain:
    """`left` and `labels` by elementary state, 0 being that of no open window. `numbers`: the first elementary state of
    a counted one, whose bodies are numbered through all parts; it has that of the highest cell, those of the lower
    cells follow. `successors`: what can follow each elementary state but a match, where no two windows are open
    together; else None. `depths`: by part, the number of events up to which they are counted, 0 for not at all."""

    left: list[int]
    labels: list[str]
    numbers: dict[Counted, int]
    successors: list[list[int]] | None
    depths: list[int]


def window_chain(windows: WindowAutomaton, cells: int = 1) -> WindowChain:
    """The states of a forecast of windows. O(states times columns).

    Raises DefinitionError for windows that no event ends, LimitExceeded where the states are too many.
    """
    if windows.clock is not None or windows.keep == "longest":
        kind = "of the clock" if windows.clock is not None else "that are told when they are over, such as SESSION"
        raise DefinitionError(f"forecast: expected windows that an event ends, found windows {kind}")
    parts: list[_Part] = []
    before = 0
    for part in windows.parts:
        parts.append(_Part(part, windows.columns, before))
        before += len(part.final)
    found = sorted({at: steps for part in parts for at, steps in part.far.items()}.items())
    if len(found) * cells > CHAIN_STATES_MAX or any(part.many for part in parts):
        expected = f"expected at most {CHAIN_STATES_MAX} states of an open window"
        raise LimitExceeded(f"forecast: {expected}, found more: {_reason(parts, cells)}")
    numbers = {at: 1 + place * cells for place, (at, _) in enumerate(found)}
    soonest = min([part.soonest for part in parts if part.soonest], default=1)
    left = [soonest, *[min(steps, soonest) for _, steps in found for _ in range(cells)]]
    labels = ["no window", *[_label(at, steps, cell, cells) for at, steps in found for cell in reversed(range(cells))]]
    alone = len(parts) == 1 and window_bounds(windows).starts == 1
    successors = _successors(parts[0], numbers, cells) if alone else None
    return WindowChain(left, labels, numbers, successors, [part.depth for part in parts])


class _Part:
    """`far`: by counted state from which a window may still end, the least number of events until one does. `soonest`:
    the least number where no window is open, 0 if there is never one. `many`: not all states have been looked at."""

    def __init__(self, part: WindowPart, columns: int, before: int) -> None:
        self.part = part
        self.depth = part.most if part.most is not None else part.least if part.least > 1 else 0
        self.columns = columns
        self.before = before
        self.after: dict[Counted, list[Counted]] = {}
        self.many = len(part.final) > LOOKED_AT
        self.first = sorted({at for start in part.starts if start != DEAD for at in self._reached(start, 0)})
        waiting = deque(self.first)
        while waiting and not self.many:
            at = waiting.popleft()
            if at not in self.after:
                self.after[at] = self._reached(at[0] - before, at[1])
                waiting.extend(self.after[at])
                self.many = len(self.after) > LOOKED_AT
        self.far = self._distances()
        after = [0 if self._ends(at) else self.far[at] for at in self.first if self._ends(at) or at in self.far]
        self.soonest = 1 + min(after, default=-1)

    def _reached(self, state: int, events: int) -> list[Counted]:
        """What one more event leads to."""
        part, count = self.part, 0
        if self.depth:
            count = min(events + 1, self.depth)
            if part.most is not None and events == part.most:
                return []
        row = part.body[state * self.columns : (state + 1) * self.columns]
        return sorted({(self.before + target, count) for target in row if target != DEAD})

    def _ends(self, at: Counted) -> bool:
        """Whether a window ends there."""
        return self.part.final[at[0] - self.before] and (not self.depth or at[1] >= self.part.least)

    def _distances(self) -> dict[Counted, int]:
        found: dict[Counted, int] = {}
        steps = 0
        reached = {at for at in self.after if self._ends(at)}
        while True:
            steps += 1
            new = {at for at, after in self.after.items() if at not in found and not reached.isdisjoint(after)}
            if not new:
                return found
            found.update(dict.fromkeys(new, steps))
            reached = new


def _label(at: Counted, steps: int, cell: int, cells: int) -> str:
    """For people: how many events are missing at least, the state of the body, what is counted and measured."""
    told = [f"{steps} event{'s' if steps > 1 else ''} to go in state {at[0]}"]
    if at[1]:
        told.append(f"event {at[1]}")
    if cells > 1:
        told.append(f"level {cell} of {cells - 1}")
    return ", ".join(told)


def _reason(parts: list[_Part], cells: int) -> str:
    bodies = sum(len(part.part.final) for part in parts)
    deepest = max(part.depth for part in parts)
    told = [f"{bodies} of the body"]
    if deepest:
        told.append(f"numbers of events up to {deepest}")
    if cells > 1:
        told.append(f"{cells} levels")
    return " times ".join(told)


def _successors(part: _Part, numbers: dict[Counted, int], cells: int) -> list[list[int]]:
    """What may follow: a window goes on, or dies and another one may begin at the same event."""

    def all_cells(several: list[Counted]) -> list[int]:
        return [numbers[at] + cell for at in several if at in numbers for cell in range(cells)]

    begun = [0, *all_cells(part.first)]
    found = [begun]
    for at in numbers:
        found += [[*begun, *all_cells(part.after[at])] for _ in range(cells)]
    return found
