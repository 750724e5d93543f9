"""The runs of a register automaton as plain data, and back.

A block depends only on the previous block and on its event. So the events are saved, with the block before the first of
them, and loading processes them again: what is saved does not depend on how blocks are stored.

Here: that form. Not here: blocks (nodes, timeline), when it is written (snapshot).
"""

from __future__ import annotations

from typing import Any

from .kept import keep_runs, kept_runs
from .speculation import Speculation


def dump(speculation: Speculation) -> Any:
    """The state behind the newest punctuation. O(events and their runs)."""
    timelines = [
        [
            list(key),
            kept_runs(timeline),
            [
                [int(entry.stream), int(entry.time), int(entry.order), int(entry.id), list(entry.row)]
                for entry in timeline.entries
            ],
        ]
        for key, timeline in speculation.timelines.items()
    ]
    return [int(speculation.newest), int(speculation.promised), timelines, int(speculation.passed)]


def dump_settled(speculation: Speculation, time: int) -> Any:
    """The state before the events from a time on, before which none changes any more; these are forgotten. O(state)."""
    timelines: list[Any] = []
    for timeline in speculation.timelines.values():
        timeline.clean(time)
        runs = kept_runs(timeline)
        if len(runs) > 0:
            timelines.append([list(timeline.key), runs, []])
    return [time - 1, time, timelines, 0]


def load(speculation: Speculation, data: Any) -> None:
    """The inverse, into an empty object whose arcs have been written. The results of the events that are loaded are
    changes again. Raises KeyError, TypeError or ValueError for other data."""
    newest, promised, timelines, passed = data
    for key, runs, entries in timelines:
        timeline = speculation.timeline(tuple(key))
        keep_runs(timeline, runs)
        for stream, time, order, id, row in entries:
            speculation.take(stream, time, order, id, tuple(row))
    speculation.newest, speculation.promised, speculation.passed = newest, promised, passed
