"""The runs behind the events that a timeline has dropped, as plain data, and back.

Runs that wait are among them: with other arcs, or another form of storage, they might not. Not here: events (saving).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .arena import NONE, ORDER, START, STATE, Records, taken
from .timeline import Timeline


def kept_runs(timeline: Timeline) -> list[list[Any]]:
    """The runs that the first event finds, in the order of their first events: time and number of that, state,
    registers, digest, and the events that the run took. O(runs, and these events)."""
    stepper, arena = timeline.stepper, timeline.arena
    found: list[list[Any]] = []
    for at in range(timeline.kept, timeline.kept + timeline.cleaned):
        if int(arena.state(at)) not in stepper.table.waiting:
            found.append(_run(timeline, arena, at))
    runs, entries = timeline.runs, timeline.entries
    if runs is not None:
        count = runs.first(entries[0].time, entries[0].order) if len(entries) > 0 else runs.count
        found += [_run(timeline, runs, at) for at in range(count)]
        found.sort(key=lambda run: run[:2])
    return found


def _run(timeline: Timeline, records: Records, at: int) -> list[Any]:
    ids = taken(timeline.arena.links, records.words[int(at * records.layout.stride + records.layout.link)])
    start, order, state = int(records.start(at)), int(records.order(at)), int(records.state(at))
    return [start, order, state, list(records.registers(at)), int(records.digest(at)), ids]


def keep_runs(timeline: Timeline, runs: Sequence[Sequence[Any]]) -> None:
    """The inverse, into a timeline without events. O(runs, and events that they took)."""
    stepper, arena = timeline.stepper, timeline.arena
    timeline.kept = arena.count
    waiting: list[Sequence[Any]] = []
    for run in runs:
        if timeline.runs is not None and run[2] in stepper.table.waiting:
            waiting.append(run)
        else:
            _write(timeline, run)
    timeline.cleaned = arena.count - timeline.kept
    timeline.ended = timeline.marked_nodes(timeline.kept, timeline.cleaned)
    for run in waiting:
        assert timeline.runs is not None
        _write(timeline, run)
        arena.count -= 1
        timeline.runs.insert(arena, arena.count, run[0], run[1])


def _write(timeline: Timeline, run: Sequence[Any]) -> None:
    start, order, state, registers, trace, ids = run
    arena = timeline.arena
    layout = arena.layout
    first = arena.begin(registers) * layout.stride
    link = NONE
    for number in ids:
        link = int(arena.link(link, number))
    arena.words[first + START] = start
    arena.words[first + ORDER] = order
    arena.words[first + STATE] = state
    arena.words[first + layout.trace] = trace
    arena.words[first + layout.link] = link
