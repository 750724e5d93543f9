"""The runs of a register automaton as plain data, and back.

A block depends only on the previous block and on its event. So the events are saved, with the block before the first of
them, and loading processes them again: what is saved does not depend on how blocks are stored.

Here: that form. Not here: blocks (nodes, timeline), when it is written (snapshot).
"""

from __future__ import annotations

from typing import Any

from .changes import RunNode
from .kept import keep_nodes, kept_nodes
from .speculation import Speculation


def dump(speculation: Speculation) -> Any:
    """The state behind the newest punctuation. O(events and their runs)."""
    timelines = [
        [
            list(key),
            [_dumped(node) for node in kept_nodes(timeline)],
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
        nodes = [_dumped(node) for node in kept_nodes(timeline)]
        if len(nodes) > 0:
            timelines.append([list(timeline.key), nodes, []])
    return [time - 1, time, timelines, 0]


def load(speculation: Speculation, data: Any) -> None:
    """The inverse, into an empty object whose arcs have been written. The results of the events that are loaded are
    changes again. Raises KeyError, TypeError or ValueError for other data."""
    newest, promised, timelines, passed = data
    for key, cleaned, entries in timelines:
        timeline = speculation.timeline(tuple(key))
        keep_nodes(timeline, [_loaded(node) for node in cleaned])
        for stream, time, order, id, row in entries:
            speculation.take(stream, time, order, id, tuple(row))
    speculation.newest, speculation.promised, speculation.passed = newest, promised, passed


def _dumped(node: RunNode) -> list[Any]:
    written = [int(node.start), int(node.order), int(node.end), int(node.state), list(node.registers), int(node.trace)]
    return [*written, node.links]


def _loaded(data: Any) -> RunNode:
    start, order, end, state, registers, trace, taken = data
    return RunNode(start, order, end, state, tuple(registers), trace, taken)
