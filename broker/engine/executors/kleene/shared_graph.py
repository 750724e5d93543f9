"""The graph of a compressed result whose matches share their pasts in a buffer.

Here: reading a page of the buffer for that. Not here: the graph's form (executors.expansion).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import expansion
from ..expansion import NOTHING, GraphWriter

if TYPE_CHECKING:
    from .buffer import Shared


def shared_graph(writer: GraphWriter, found: Shared) -> dict[str, Any] | None:
    """The matches of a page of the buffer: what can be reached and lies inside the window."""
    page = found.page
    if int(page.nodes) + int(page.links) > 4 * expansion.EXPANSION_LINKS_MAX or found.most >= 0:
        return None
    base, root, items, _, nodes, links = page.dump()
    components, times, _, unions, bests, _ = nodes
    targets, nexts, tops = links
    oldest = int(found.oldest)
    wanted = _reached(found.unions, base, root, unions, bests, targets, nexts, tops, oldest)
    events: dict[int, int] = {}
    written: dict[int, int] = {}  # by link of the page

    def link_of(union: int) -> int:
        return written.get(union - root, NOTHING)

    for at in wanted:
        behind, target = link_of(nexts[at]), targets[at]
        node = target - base
        if target < NOTHING:
            inner = link_of(-2 - target)
            written[at] = behind if inner == NOTHING else writer.link(-2 - inner, behind)
        elif node < 0 or bests[node] < oldest:
            written[at] = behind
        else:
            if node not in events:
                before = NOTHING if unions[node] == NOTHING else link_of(unions[node])
                events[node] = writer.event(components[node], items[node], times[node], before)
            written[at] = writer.link(events[node], behind)
    last = NOTHING
    for union in found.unions:
        if link_of(union) != NOTHING:
            last = writer.link(-2 - link_of(union), last)
    if found.row is not None:
        end = writer.event(len(writer.names) - 1, found.item, int(found.time), last)
        last = writer.link(end, NOTHING)
    return writer.told(last)


def _reached(
    ends: list[int],
    base: int,
    root: int,
    unions: list[int],
    bests: list[int],
    targets: list[int],
    nexts: list[int],
    tops: list[int],
    oldest: int,
) -> list[int]:
    """The links of a page that lead from the ends to a match inside the window, ascending."""
    seen: set[int] = set()
    stack = list(ends)
    while stack:
        at = stack.pop() - root
        if at < 0 or at in seen or tops[at] < oldest:
            continue
        seen.add(at)
        stack.append(nexts[at])
        target = targets[at]
        if target < NOTHING:
            stack.append(-2 - target)
        elif target >= base and bests[target - base] >= oldest:
            stack.append(unions[target - base])
    return sorted(seen)
