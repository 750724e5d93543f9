"""The match buffer: events that runs have taken, each with all the pasts that it continues (SASE+ 4.2; design 4.4).

A node is an event of a component with a union of predecessors, None for a first event. A union is a list of links: to a
node, or to another union. All are numbers, and older ones are smaller. Nothing is ever changed, so unions share their
tails. Each link knows the newest first event that any path through it or behind it has. A walk that uses this visits
only paths of matches inside the window, except for members of one union that are too old. Entries older than the window
are dropped by giving up the older half of a page; a reader of the old page keeps it (kleene notes, 3).

Here: pages, counting and enumerating paths. Not here: which runs share a node (shared_pasts).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row
from ...matches import match_graph
from ...matches.match_graph import Found, GraphWriter
from ...matches.sources import Item, Matched, tuple_item
from ..packed import Integers, integers, put_integer
from .tables import BEFORE, Tables

FEW: Final = 64
NOTHING: Final = -1  # the empty union

Chain: TypeAlias = Any  # (node, chain) from a match's first event on, or None


@final
class Pasts:
    """A page: nodes from number `base` on, links from number `root` on.

    A node has an item, row, component, time, position in the stream, union of predecessors, newest first event
    (`best`), and the number of links before its event. A link has a target (a node's number, or -2 less a union's), the
    link behind it, and the newest first event from here on.
    """

    def __init__(self, base: i64, root: i64) -> None:
        self.base: i64 = base
        self.root: i64 = root
        self.items: list[Item] = []
        self.rows: list[Row] = []
        self.components: Integers = integers()
        self.times: Integers = integers()
        self.positions: Integers = integers()
        self.unions: Integers = integers()
        self.bests: Integers = integers()
        self.marks: Integers = integers()
        self.targets: Integers = integers()
        self.nexts: Integers = integers()
        self.tops: Integers = integers()
        self.nodes: i64 = 0
        self.links: i64 = 0

    def best_of(self, union: i64) -> i64:
        """The newest first event in a union; BEFORE if the union is empty or too old to be here."""
        if union < self.root:
            return BEFORE
        return self.tops[union - self.root]

    def link(self, target: i64, best: i64, behind: i64) -> i64:
        """A union with one more member: a node, or (as -2 less its number) a union."""
        if behind < self.root:
            behind = NOTHING
        top = best
        if behind >= 0 and self.tops[behind - self.root] > top:
            top = self.tops[behind - self.root]
        at = self.links
        self.targets = put_integer(self.targets, at, target)
        self.nexts = put_integer(self.nexts, at, behind)
        self.tops = put_integer(self.tops, at, top)
        self.links = at + 1
        return self.root + at

    def node(
        self, item: Item, row: Row, component: i64, time: i64, position: i64, union: i64, best: i64, mark: i64
    ) -> i64:
        at = self.nodes
        self.items.append(item)
        self.rows.append(row)
        self.components = put_integer(self.components, at, component)
        self.times = put_integer(self.times, at, time)
        self.positions = put_integer(self.positions, at, position)
        self.unions = put_integer(self.unions, at, union)
        self.bests = put_integer(self.bests, at, best)
        self.marks = put_integer(self.marks, at, mark)
        self.nodes = at + 1
        return self.base + at

    def turned(self, oldest: i64, least: i64 = FEW) -> Pasts:
        """A page without entries made before that time; this page, if these are under half or `least` nodes."""
        half = self.nodes >> 1
        if half < least or self.nodes == 0 or self.times[half] >= oldest:
            return self
        gone = half
        while gone < self.nodes and self.times[gone] < oldest:
            gone += 1
        if gone == self.nodes:
            return Pasts(self.base + gone, self.root + self.links)
        root = self.marks[gone]
        page = Pasts(self.base + gone, root)
        page.items, page.rows, page.components = self.items[gone:], self.rows[gone:], self.components[gone:]
        page.times, page.positions, page.unions = self.times[gone:], self.positions[gone:], self.unions[gone:]
        page.bests, page.marks = self.bests[gone:], self.marks[gone:]
        cut = root - self.root
        page.targets, page.nexts, page.tops = self.targets[cut:], self.nexts[cut:], self.tops[cut:]
        page.nodes, page.links = self.nodes - gone, self.links - cut
        return page

    def paths(self, unions: list[int], oldest: i64, rest: Chain) -> Iterator[Chain]:
        """All paths that end in these unions and begin at that time or later, each followed by `rest`."""
        stack: list[tuple[int, Chain]] = [(union, rest) for union in reversed(unions)]
        while stack:
            union, chain = stack.pop()
            at = union - self.root
            if at < 0 or self.tops[at] < oldest:
                continue
            stack.append((self.nexts[at], chain))
            target = self.targets[at]
            if target < NOTHING:
                stack.append((-2 - target, chain))
                continue
            node = target - self.base
            if node < 0 or self.bests[node] < oldest:
                continue
            if self.unions[node] == NOTHING:
                yield (target, chain)
            else:
                stack.append((self.unions[node], (target, chain)))

    def events(self, chain: Chain) -> list[tuple[int, Item, int]]:
        """The events of a path."""
        found: list[tuple[int, Item, int]] = []
        while chain is not None:
            at = chain[0] - int(self.base)
            found.append((int(self.components[at]), self.items[at], int(self.times[at])))
            chain = chain[1]
        return found

    def reached(self, unions: list[int], oldest: i64) -> list[bool]:
        """By link: whether it leads from these unions to paths that begin at that time or later. O(links)."""
        highest = max(unions, default=NOTHING) - self.root
        wanted = [False] * (highest + 1)
        for union in unions:
            if union >= self.root:
                wanted[union - self.root] = True
        at: i64 = highest
        while at >= 0:
            if self.tops[at] < oldest:
                wanted[at] = False
            elif wanted[at]:
                for union in (self.nexts[at], self._union(at)):
                    if union >= self.root:
                        wanted[union - self.root] = True
            at -= 1
        return wanted

    def count(self, unions: list[int], oldest: i64, most: int = -1) -> int:
        """The number of paths; with `most`, any number above it if there are more.

        O(links of the window), not of paths.
        """
        wanted = self.reached(unions, oldest)
        totals = [0] * len(wanted)
        at: i64
        for at in range(len(wanted)):
            if not wanted[at]:
                continue
            behind = self.nexts[at] - self.root
            total = totals[behind] if behind >= 0 else 0
            target = self.targets[at]
            if target >= 0:
                node = target - self.base
                if node >= 0 and self.unions[node] == NOTHING and self.bests[node] >= oldest:
                    total += 1
            inner = self._union(at) - self.root
            if inner >= 0:
                total += totals[inner]
            if 0 <= most < total:
                return total
            totals[at] = total
        return sum(totals[union - self.root] for union in unions if union >= self.root)

    def _union(self, at: i64) -> i64:
        """The union of a link, directly or of its node."""
        target = self.targets[at]
        if target < NOTHING:
            return -2 - target
        node = target - self.base
        if node < 0:
            return NOTHING
        return self.unions[node]

    def dump(self) -> list[Any]:
        rows = [list(row) for row in self.rows]
        nodes = [
            [int(column[at]) for at in range(self.nodes)]
            for column in (self.components, self.times, self.positions, self.unions, self.bests, self.marks)
        ]
        links = [[int(column[at]) for at in range(self.links)] for column in (self.targets, self.nexts, self.tops)]
        return [int(self.base), int(self.root), self.items, rows, nodes, links]

    def load(self, data: Any) -> None:
        self.base, self.root, items, rows, nodes, links = data
        for item, row, component, time, position, union, best, mark in zip(items, rows, *nodes):
            self.node(tuple_item(item), tuple(row), component, time, position, union, best, mark)
        for at, (target, behind, top) in enumerate(zip(*links)):
            self.targets = put_integer(self.targets, at, target)
            self.nexts = put_integer(self.nexts, at, behind)
            self.tops = put_integer(self.tops, at, top)
            self.links += 1


@final
@mypyc_attr(acyclic=True)
class Shared(Found):
    """Matches of one event that end in some unions of a page; the last event follows, unless a union has it."""

    def __init__(
        self, tables: Tables, page: Pasts, unions: list[int], oldest: i64, row: Row | None, time: i64, item: Item
    ) -> None:
        self.tables = tables
        self.page = page
        self.unions = unions
        self.oldest = oldest
        self.row = row
        self.time = time
        self.item = item
        self.most = -1  # set if a limit was hit; the count may then be partial
        self._count = -1

    def amount(self) -> int:
        """The number of matches. O(links of the window), once."""
        if self._count < 0:
            self._count = self.page.count(self.unions, self.oldest)
        return self._count if self.most < 0 else min(self._count, self.most)

    def exceeds(self, most: int) -> bool:
        """Whether there are more than `most` matches. O(links of the window)."""
        self._count = self.page.count(self.unions, self.oldest, most)
        return self._count > most

    def written(self, writer: GraphWriter) -> dict[str, Any] | None:
        """The graph of all matches. O(links of the window)."""
        page = self.page
        if page.nodes + page.links > 4 * match_graph.EXPANSION_LINKS_MAX or self.most >= 0:
            return None
        wanted = page.reached(self.unions, self.oldest)
        events: dict[int, int] = {}  # by node of the page, the number in the graph
        links = [NOTHING] * len(wanted)  # by link of the page
        at: i64
        for at in range(len(wanted)):
            if not wanted[at]:
                continue
            behind, target = _known(links, page.nexts[at] - page.root), page.targets[at]
            node = target - page.base
            if target < NOTHING:
                inner = _known(links, -2 - target - page.root)
                links[at] = behind if inner == NOTHING else writer.link(-2 - inner, behind)
            elif node < 0 or page.bests[node] < self.oldest:
                links[at] = behind
            else:
                if node not in events:
                    before = _known(links, page.unions[node] - page.root)
                    component, time = int(page.components[node]), int(page.times[node])
                    events[int(node)] = writer.event(component, page.items[node], time, before)
                links[at] = writer.link(events[int(node)], behind)
        last = NOTHING
        for union in self.unions:
            known = _known(links, union - page.root)
            if known != NOTHING:
                last = writer.link(-2 - known, last)
        if self.row is not None:
            last = writer.link(writer.event(len(writer.names) - 1, self.item, int(self.time), last), NOTHING)
        return writer.graph(last)

    def all(self) -> Iterator[Matched]:
        left = self.most
        for chain in self.page.paths(self.unions, self.oldest, None):
            if left == 0:
                return
            left -= 1
            yield self._match(chain)

    def _match(self, chain: Chain) -> Matched:
        page, registers = self.page, self.tables.registers
        assigned = page.events(chain)
        slots = registers.fresh()
        before = -1
        if len(self.tables.outputs) > 0:
            while chain is not None:
                at = chain[0] - int(page.base)
                component = int(page.components[at])
                if component != before:
                    slots = registers.begun(slots, component, page.rows[at])
                else:
                    slots = registers.taken(slots, component, page.rows[at])
                before = component
                chain = chain[1]
        if self.row is not None:
            assigned.append((int(self.tables.last), self.item, int(self.time)))
            slots = registers.begun(slots, self.tables.last, self.row)
        return Matched(assigned, assigned[0][2], int(self.time), self.tables.values(slots, self.tables.shown))


def _known(links: list[int], at: i64) -> int:
    return links[at] if at >= 0 else NOTHING
