"""Expands the matches of one compressed result from the graph that it carries.

The graph is described in docs/results.md: `events` with rows `[name, ids, time, before]`, `links` with rows `[target,
behind]`, `last`. Every path from `last` to an event with nothing before it is a match.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

NOTHING = -1

Event: TypeAlias = tuple[str, list[int], int]
"""A variable, the ids of its event (several where a subscription published it), its time."""


def paths(graph: dict[str, Any]) -> Iterator[list[Event]]:
    """The events of each match, in the order of the pattern. Lazy; each match takes time linear in its events."""
    events, links = graph["events"], graph["links"]
    stack: list[tuple[int, Any]] = [(graph["last"], None)]
    while stack:
        link, rest = stack.pop()
        if link == NOTHING:
            continue
        target, behind = links[link]
        stack.append((behind, rest))
        if target < NOTHING:
            stack.append((-2 - target, rest))
            continue
        name, ids, time, before = events[target]
        chain = ((name, ids, time), rest)
        if before == NOTHING:
            yield list(_unrolled(chain))
        else:
            stack.append((before, chain))


def _unrolled(chain: Any) -> Iterator[Event]:
    while chain is not None:
        event, chain = chain
        yield event


def count(graph: dict[str, Any]) -> int:
    """The number of matches, without making any. O(links)."""
    events = graph["events"]
    totals: list[int] = [0] * (len(graph["links"]) + 1)  # the last entry stands for NOTHING, index -1
    for number, (target, behind) in enumerate(graph["links"]):
        if target < NOTHING:
            own = totals[-2 - target]
        else:
            before = events[target][3]
            own = 1 if before == NOTHING else totals[before]
        totals[number] = own + totals[behind]
    last: int = graph["last"]
    return totals[last]
