"""Puts runs that wait back into blocks: from then on they are copied as all others. Once, before arcs change.

With other arcs their state may not wait, or no longer lead to the same results. Not here: intervals (waiting).
"""

from __future__ import annotations

from mypy_extensions import i64

from .arena import ORDER, START, STATE
from .timeline import Timeline


def expand(timeline: Timeline, waited: list[int]) -> None:
    """Compute all blocks again, of which none changes but for the runs that wait. O(events and nodes).

    `waited`: the states, which do not wait any more in the table and the stepper.
    """
    runs = timeline.runs
    if runs is None:
        return
    timeline.runs, timeline.visits = None, None
    arena, stride = timeline.arena, timeline.arena.layout.stride
    entries = timeline.entries
    count = runs.first(entries[0].time, entries[0].order) if len(entries) > 0 else runs.count
    kept = arena.top
    node, end = timeline.kept, timeline.kept + timeline.cleaned
    run: i64 = 0
    while node < end or run < count:
        words, others = arena.words, runs.words
        at, other = node * stride, run * stride
        if node < end and int(words[at + STATE]) in waited:
            node += 1  # it is among the runs
        elif run == count or (
            node < end
            and (words[at + START] < others[other + START] or (
                words[at + START] == others[other + START] and words[at + ORDER] <= others[other + ORDER]
            ))
        ):  # fmt: skip
            arena.copy(node, 1)
            node += 1
        else:
            arena.take(runs.words, runs.numbers, run)
            run += 1
    timeline.kept, timeline.cleaned = kept, arena.top - kept
    timeline.ended = timeline.marked_nodes(timeline.kept, timeline.cleaned)
    timeline.compute_all()
