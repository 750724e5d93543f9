"""The runs behind the events that a timeline has dropped, as nodes, and back.

Runs that wait are among them: with other arcs, or another form of storage, they might not. Not here: plain data
(saving).
"""

from __future__ import annotations

from .arena import NONE, ORDER, START, STATE, Records
from .changes import RunNode
from .timeline import Timeline


def kept_nodes(timeline: Timeline) -> list[RunNode]:
    """The runs that the first event finds, in the order of their first events. O(nodes, and events that they took)."""
    stepper, arena = timeline.stepper, timeline.arena
    layout = arena.layout
    found: list[RunNode] = []
    for at in range(timeline.kept, timeline.kept + timeline.cleaned):
        if int(arena.words[at * layout.stride + STATE]) not in stepper.waiting:
            found.append(_node(timeline, arena, at))
    runs, entries = timeline.runs, timeline.entries
    if runs is not None:
        count = runs.first(entries[0].time, entries[0].order) if len(entries) > 0 else runs.count
        found += [_node(timeline, runs, at) for at in range(count)]
        found.sort(key=lambda node: (int(node.start), int(node.order)))
    return found


def _node(timeline: Timeline, records: Records, at: int) -> RunNode:
    arena, layout, words = timeline.arena, records.layout, records.words
    first = at * layout.stride
    taken: list[int] = []
    link = words[first + layout.link]
    while link >= 0:
        taken.append(int(arena.links[2 * link + 1]))
        link = arena.links[2 * link]
    taken.reverse()
    start = words[first + START]
    end = start + timeline.stepper.within
    trace = words[first + layout.trace]
    return RunNode(start, words[first + ORDER], end, words[first + STATE], records.registers(at), trace, taken)


def keep_nodes(timeline: Timeline, nodes: list[RunNode]) -> None:
    """The inverse, into a timeline without events. O(nodes, and events that they took)."""
    stepper, arena = timeline.stepper, timeline.arena
    timeline.kept = arena.count
    waiting: list[RunNode] = []
    for node in nodes:
        if timeline.runs is not None and int(node.state) in stepper.waiting:
            waiting.append(node)
        else:
            _write(timeline, node)
    timeline.cleaned = arena.count - timeline.kept
    timeline.ended = timeline.marked_nodes(timeline.kept, timeline.cleaned)
    for node in waiting:
        assert timeline.runs is not None
        _write(timeline, node)
        arena.count -= 1
        timeline.runs.insert(arena, arena.count, node.start, node.order)


def _write(timeline: Timeline, node: RunNode) -> None:
    arena = timeline.arena
    layout = arena.layout
    at = arena.count
    arena.reserve(at + 1)
    first = at * layout.stride
    for word in range(layout.stride):
        arena.words[first + word] = 0
    link = NONE
    for number in node.links or ():
        link = int(arena.link(link, number))
    arena.words[first + START] = node.start
    arena.words[first + ORDER] = node.order
    arena.words[first + STATE] = node.state
    arena.words[first + layout.trace] = node.trace
    arena.words[first + layout.link] = link
    for register, value in enumerate(node.registers):
        arena.store(at, register, value)
    arena.count = at + 1
