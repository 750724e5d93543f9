"""The runs of one subscription among those of all, for people who look.

Here: in which places they are, and which of the runs there concern it. Not here: runs in cells (cells).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, final

from ...index.spaces import Key
from ...matches.sources import WaitingRun
from ...program.transition import Place
from .cells import Cell, live
from .waiting_events import WaitingEvents


@final
class WaitingState(NamedTuple):
    """A state of a subscription's automaton, and its place."""

    place: Place
    state: int


def waiting_runs(
    cells: list[dict[Key, Cell]], kept: list[WaitingEvents], states: list[object], since: int, now: int | None
) -> Iterator[WaitingRun | None]:
    """Those born after `since`, as the cells have them, or `kept` as events, by space; None for each run of others that
    is looked at in between. O(runs of these spaces)."""
    known = [state for state in states if isinstance(state, WaitingState)]
    by_place = {id(state.place): state for state in known}
    for number in sorted({state.place.space.number for state in known}):
        if number >= len(cells):
            continue
        for key, cell in cells[number].items():
            whole = key if isinstance(key, tuple) else (key,)
            for run in cell.runs if cell.waiting < 0 else kept[number].runs(cell):
                state = by_place.get(id(run.place))
                own = state is not None and run.born > since and live(run, now)
                yield WaitingRun(whole, state.state, int(run.t0), []) if own and state is not None else None
