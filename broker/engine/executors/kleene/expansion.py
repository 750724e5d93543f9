"""A compressed result told in full: its matches as a graph whose paths they are, linear in the window, not in them.

`events` has a row `[name, ids, time, before]` for each event, `links` a row `[target, behind]`. A link stands for one
member of a union and those behind it (-1: none): its target is the number of an event, or, as -2 less its number, of a
link, whose whole union is meant. `before` is the link of the events that may stand before an event, -1 if a match
begins with it; `last` is the link of the events that end one. Numbers lead to smaller ones only.

Here: making that of what was found. Not here: reading it (client.expansion).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from ..matches import Expansion, Item, MatchSource, ids

if TYPE_CHECKING:
    from .buffer import Shared
    from .found import Found

EXPANSION_LINKS_MAX: Final = 10_000
"""Events and links in one result; one that would have more has none of it."""
NOTHING: Final = -1


@final
class MatchGraph(Expansion):
    """The matches of one result, made into a graph when somebody asks. `names`: of the components."""

    __slots__ = ("found", "names")

    def __init__(self, found: Found, names: tuple[str, ...]) -> None:
        self.found = found
        self.names = names

    def line(self) -> dict[str, Any] | None:
        return self.found.written(GraphWriter(self.names))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MatchGraph) and self.line() == other.line()

    __hash__ = None  # type: ignore[assignment]  # nobody keeps one in a set


@final
class GraphWriter:
    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.events: list[list[Any]] = []
        self.links: list[list[int]] = []

    def event(self, component: int, item: Item, time: int, before: int) -> int:
        self.events.append([self.names[component], ids(item), time, before])
        return len(self.events) - 1

    def link(self, target: int, behind: int) -> int:
        self.links.append([target, behind])
        return len(self.links) - 1

    def told(self, last: int) -> dict[str, Any] | None:
        if len(self.events) + len(self.links) > EXPANSION_LINKS_MAX:
            return None
        return {"events": self.events, "links": self.links, "last": last}

    def each(self, found: MatchSource) -> dict[str, Any] | None:
        """Of matches that exist one by one: those that begin alike share their beginnings."""
        known: dict[tuple[int, int, str], int] = {}
        last = NOTHING
        for matched in found.all():
            before = NOTHING
            for component, item, time in matched.assigned:
                key = (before, component, repr(item))
                link = known.get(key)
                if link is None:
                    link = known[key] = self.link(self.event(component, item, time, before), NOTHING)
                before = link
            last = self.link(-2 - before, last)
            if len(self.events) + len(self.links) > EXPANSION_LINKS_MAX:
                return None
        return self.told(last)

    def shared(self, found: Shared) -> dict[str, Any] | None:
        """Of a page of the match buffer: what can be reached and lies inside the window."""
        page = found.page
        if int(page.nodes) + int(page.links) > 4 * EXPANSION_LINKS_MAX or found.most >= 0:
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
                written[at] = behind if inner == NOTHING else self.link(-2 - inner, behind)
            elif node < 0 or bests[node] < oldest:
                written[at] = behind
            else:
                if node not in events:
                    before = NOTHING if unions[node] == NOTHING else link_of(unions[node])
                    events[node] = self.event(components[node], items[node], times[node], before)
                written[at] = self.link(events[node], behind)
        last = NOTHING
        for union in found.unions:
            if link_of(union) != NOTHING:
                last = self.link(-2 - link_of(union), last)
        if found.row is not None:
            end = self.event(len(self.names) - 1, found.item, int(found.time), last)
            last = self.link(end, NOTHING)
        return self.told(last)


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
