"""A compressed result told in full: its matches as a graph whose paths they are, linear in the window, not in them.

`events` has a row `[name, ids, time, before]` for each event, `links` a row `[target, behind]`. A link stands for one
member of a union and those behind it (-1: none): its target is the number of an event, or, as -2 less its number, of a
link, whose whole union is meant. `before` is the link of the events that may stand before an event, -1 if a match
begins with it; `last` is the link of the events that end one. Numbers lead to smaller ones only.

Here: making that of matches one by one. Not here: of a match buffer (kleene.buffer), reading it (client.expansion).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import mypyc_attr

from .matches import Expansion, Item, MatchSource, ids

EXPANSION_LINKS_MAX: Final = 10_000
"""Events and links in one result; one that would have more has none of it."""
NOTHING: Final = -1


@mypyc_attr(acyclic=True)
class Found(MatchSource):
    """Matches that can be told in full, as a graph."""

    def expansion(self, names: tuple[str, ...]) -> Expansion | None:
        return MatchGraph(self, names)

    def written(self, writer: GraphWriter) -> dict[str, Any] | None:
        """The graph. O(matches)."""
        return writer.each(self)


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
