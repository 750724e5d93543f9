"""The matches of a compressed result as a graph whose paths they are. Its size is linear in the window.

`events` has a row `[name, ids, time, before]` for each event, `links` a row `[target, behind]`. A link stands for one
member of a union, and `behind` is the next link of the union (-1 for none). A target is the number of an event; or, for
a link, -2 less its number, which stands for that link's whole union. `before` is the link of the events that may
precede an event, -1 if a match begins with it; `last` is the link of the events that end a match. Numbers refer to
smaller ones only.

Here: making the graph from single matches. Not here: the graph of a match buffer (kleene.buffer), reading it
(client.expansion).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import mypyc_attr

from .sources import Expansion, Item, MatchSource, ids

EXPANSION_LINKS_MAX: Final = 10_000
"""The most events and links in one result; a larger result has no expansion."""
NOTHING: Final = -1


@mypyc_attr(acyclic=True)
class Found(MatchSource):
    """Matches that a graph can represent."""

    def expansion(self, names: tuple[str, ...]) -> Expansion | None:
        return MatchGraph(self, names)

    def written(self, writer: GraphWriter) -> dict[str, Any] | None:
        """The graph. O(matches)."""
        return writer.each(self)


@final
class MatchGraph(Expansion):
    """The matches of one result, made into a graph on access. `names`: those of the components."""

    __slots__ = ("found", "names")

    def __init__(self, found: Found, names: tuple[str, ...]) -> None:
        self.found = found
        self.names = names

    def line(self) -> dict[str, Any] | None:
        return self.found.written(GraphWriter(self.names))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MatchGraph) and self.line() == other.line()

    __hash__ = None  # type: ignore[assignment]  # no set has one


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

    def graph(self, last: int) -> dict[str, Any] | None:
        """All that was written, in JSON's types; None if it is too large."""
        if len(self.events) + len(self.links) > EXPANSION_LINKS_MAX:
            return None
        return {"events": self.events, "links": self.links, "last": last}

    def each(self, found: MatchSource) -> dict[str, Any] | None:
        """The graph of matches that exist one by one; matches with equal beginnings share them."""
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
        return self.graph(last)
