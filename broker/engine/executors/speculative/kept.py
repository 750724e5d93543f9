"""The runs behind the events that a timeline has dropped, as nodes, and back.

Runs that wait are among them: with other arcs, or another form of storage, they might not. Not here: plain data
(saving).
"""

from __future__ import annotations

from .arena import NONE, ORDER, START, STATE, read_registers
from .changes import RunNode
from .timeline import Timeline


def kept_nodes(timeline: Timeline) -> list[RunNode]:
    """The runs that the first event finds, in the order of their first events. O(nodes, and events that they took)."""
    stepper, arena = timeline.stepper, timeline.arena
    layout = arena.layout
    found: list[RunNode] = []
    for at in range(timeline.kept, timeline.kept + timeline.cleaned):
        if int(arena.words[at * layout.stride + STATE]) not in stepper.waiting:
            found.append(_node(timeline, at, False))
    runs, entries = timeline.runs, timeline.entries
    if runs is not None:
        count = runs.first(entries[0].time, entries[0].order) if len(entries) > 0 else runs.count
        found += [_node(timeline, at, True) for at in range(count)]
        found.sort(key=lambda node: (int(node.start), int(node.order)))
    return found


def _node(timeline: Timeline, at: int, waits: bool) -> RunNode:
    arena, runs = timeline.arena, timeline.runs
    layout = arena.layout
    words, numbers = arena.words, arena.numbers
    if waits and runs is not None:
        words, numbers = runs.words, runs.numbers
    first = at * layout.stride
    registers = read_registers(layout, words, numbers, [] if waits else arena.objects, at)
    taken: list[int] = []
    link = words[first + layout.link] if timeline.stepper.lineage else NONE
    while link >= 0:
        taken.append(int(arena.links[2 * link + 1]))
        link = arena.links[2 * link]
    taken.reverse()
    start = words[first + START]
    end = start + timeline.stepper.within
    trace = words[first + layout.trace]
    return RunNode(start, words[first + ORDER], end, words[first + STATE], registers, trace, taken)


def keep_nodes(timeline: Timeline, nodes: list[RunNode]) -> None:
    """The inverse, into a timeline without events. O(nodes, and events that they took)."""
    stepper, arena = timeline.stepper, timeline.arena
    timeline.kept = arena.top
    waiting: list[RunNode] = []
    for node in nodes:
        if timeline.runs is not None and int(node.state) in stepper.waiting:
            waiting.append(node)
        else:
            _write(timeline, node)
    timeline.cleaned = arena.top - timeline.kept
    timeline.ended = timeline.marked_nodes(timeline.kept, timeline.cleaned)
    for node in waiting:
        assert timeline.runs is not None
        _write(timeline, node)
        arena.top -= 1
        timeline.runs.insert(arena, arena.top, node.start, node.order)


def _write(timeline: Timeline, node: RunNode) -> None:
    arena = timeline.arena
    layout = arena.layout
    at = arena.top
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
    arena.words[first + layout.link] = link if timeline.stepper.lineage else 0
    arena.write_registers(at, node.registers)
    arena.top = at + 1
