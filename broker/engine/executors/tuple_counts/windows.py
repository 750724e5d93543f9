"""Counting by windows: one total a state, and between an event and the one that a condition measures from it, windows.

Moves go from late states to early ones, so an event does not extend what it has just made; windows take their part
after all have been read. What a state that does not skip holds is of use to the event after its stamp only.

Here: totals, witnesses and nodes by state. Not here: windows themselves (window_sums, window_stacks), keys (cells).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row
from ...account import MATCH_UNITS, PACKED_BITS
from .archive import CountsArchive, chain, linked, packed, restored, unpacked
from .completion import ALWAYS_GOOD, NO_FLOOR, SAME_FLOOR, Completion, EventLink, Tuple, TupleNode, walk, witness_of
from .runner import NEVER, Recents, Runner
from .window_stacks import WindowStacks
from .window_sums import UNCHANGING, Lasting, Table, Window
from .window_tables import LATEST, SEARCHED, UNBOUNDED, SpanTables, WindowMove, WindowPlan, WindowTables

FEW: Final = 32  # nodes of a state before those that are too old are cut off


@final
@mypyc_attr(acyclic=True)
class Windows(Runner):
    """The counts of one key value. By state: `totals` (of states in no span), `stamps`, and either `nodes` or `links`,
    one way to be there; `firsts`, the time of its span's first event."""

    __slots__ = (
        "begun",
        "due",
        "entries",
        "firsts",
        "kept",
        "links",
        "nodes",
        "recents",
        "stamps",
        "tables",
        "totals",
        "trims",
        "weights",
        "windows",
    )

    def __init__(self, tables: WindowTables) -> None:
        super().__init__()
        self.tables = tables
        self.recents = Recents(tables.depth)
        self._begin()

    def _begin(self) -> None:
        tables = self.tables
        states = tables.states
        self.totals: list[int] = [0] * states
        self.totals[0] = 1
        self.stamps: list[int] = [NEVER] * states
        self.links: list[EventLink | None] = [None] * states
        self.firsts: list[int] = [NEVER] * states
        self.nodes: list[list[TupleNode]] = [[] for _ in range(states)] if tables.tuples else []
        self.trims: list[int] = [FEW] * states if tables.tuples else []
        self.kept = 0
        self.windows: list[list[Window]] = [[window_of(s, bound) for bound in s.bounds] for s in tables.spans]
        self.due: i64 = UNCHANGING
        # The ways that the current event begins, by span: states, numbers, links.
        self.entries: list[list[int]] = [[] for _ in tables.spans]
        self.weights: list[list[int]] = [[] for _ in tables.spans]
        self.begun: list[list[EventLink]] = [[] for _ in tables.spans]

    def take(self, mask: int, row: Row, time: i64, position: i64, item: object, found: list[Completion]) -> None:
        tables = self.tables
        plan = tables.plan(mask)
        if tables.depth > 0:
            self.recents.take(position, time)
        if time >= self.due:
            self._expire(time)
        tables.account.spend(len(plan.moves))
        inner = [list[int]() for _ in plan.inner] if plan.depends else plan.inner
        count = 0
        ends: list[TupleNode] = []
        end: EventLink | None = None
        for move in plan.moves:
            if move.conditional and not self._fits(move, row):
                continue
            if move.span < 0:
                if not move.skips and self.stamps[move.source] != position - 1:
                    continue
                value = self.totals[move.source]
            elif move.inner:
                if plan.depends:
                    inner[move.span] += [int(move.at), int(move.to), int(move.operand)]
                value = self.windows[move.span][tables.spans[move.span].widest].value(move.at, position)
            else:
                value = self._leaving(move, position)
            if value == 0:
                continue
            if move.final:
                count += value
                if tables.tuples:
                    ends.append(self._node(move, time, item))
                else:
                    end = self._link(move, time, item)
            else:
                self._arrive(move, value, time, position, item)
        if plan.spans:
            self._advance(plan, inner, time, position, item)
        if count:
            tables.account.spend(MATCH_UNITS)
            incomplete = time <= self.doubtful
            found.append(Completion(None if incomplete else count, tables.unbound, incomplete, ends, end))
        if self.kept > tables.nodes_max:
            self._begin()
            self.lose(time, tables.horizon)

    def _fits(self, move: WindowMove, row: Row) -> bool:
        equals = move.arc.equals
        for at in range(0, len(equals), 2):
            if row[equals[at]] != row[equals[at + 1]]:
                return False
        return not move.arc.recents or self.recents.allow(move.arc)

    def _leaving(self, move: WindowMove, position: i64) -> int:
        """Ways in the move's source whose first event is at an allowed distance."""
        windows = self.windows[move.span]
        terms = move.windows
        value = windows[terms[0]].value(move.at, position)
        if len(terms) > 2:
            value -= windows[terms[2]].value(move.at, position)
        return value

    def _arrive(self, move: WindowMove, value: int, time: i64, position: i64, item: object) -> None:
        """Ways into a state that is not final."""
        target = move.target
        if not move.stays and self.stamps[target] != position:
            self.stamps[target] = position
            self.totals[target] = 0
            self.firsts[target] = NEVER
            self.links[target] = None
            if self.tables.tuples:
                self.kept -= len(self.nodes[target])
                self.nodes[target] = []
        if self.tables.tuples:
            self._append(move, time, item)
        elif move.inner:
            self._carry(move, time, item)
        elif move.into < 0:
            if not move.searched or self.totals[target] == 0:
                self.links[target] = self._link(move, time, item)
        elif self.tables.spans[move.into].witness == SEARCHED:
            self.begun[move.into].append(self._link(move, time, item))
        elif self.tables.spans[move.into].witness == LATEST or self.firsts[target] == NEVER:
            self.firsts[target] = time
            self.links[target] = self._link(move, time, item)
        if move.into >= 0:
            self.entries[move.into].append(int(move.to))
            self.weights[move.into].append(value)
        elif not move.inner:
            self.totals[target] += value

    def _carry(self, move: WindowMove, time: i64, item: object) -> None:
        """A witness one step further within a span, if it is a better one than the target has."""
        kind = self.tables.spans[move.span].witness
        if kind == SEARCHED:
            return
        first, known = self.firsts[move.source], self.firsts[move.target]
        if known == NEVER or (first >= known if kind == LATEST else first < known):
            self.firsts[move.target] = first
            self.links[move.target] = EventLink(move.operand, item, time, self.links[move.source])

    def _link(self, move: WindowMove, time: i64, item: object) -> EventLink:
        """A witness that ends with the current event. O(1); of the window's size where it must be searched for."""
        before = self.links[move.source]
        if move.searched:
            table = self.windows[move.span][self.tables.spans[move.span].widest]
            assert isinstance(table, Table)
            self.tables.account.spend(table.size() >> PACKED_BITS)
            before = table.search(move.at, time - move.reach, time - move.nearest)
        return EventLink(move.operand, item, time, before)

    def _node(self, move: WindowMove, time: i64, item: object) -> TupleNode:
        """All ways that end with the current event. O(1)."""
        floor: i64 = NO_FLOOR
        best: i64 = ALWAYS_GOOD
        if move.inner:
            floor = SAME_FLOOR
            best = self.firsts[move.source]
        else:
            if move.span >= 0:
                floor = time - move.reach
            if move.into >= 0:
                best = time
        before = self.nodes[move.source]
        return TupleNode(move.operand, item, time, before, len(before), best, floor)

    def _append(self, move: WindowMove, time: i64, item: object) -> None:
        """A node to its state; those whose first event is too old for any way on are cut off now and then. O(1)
        amortised."""
        target = move.target
        node = self._node(move, time, item)
        nodes = self.nodes[target]
        if move.to >= 0:
            self.firsts[target] = node.best
            if len(nodes) >= self.trims[target]:
                span = move.span if move.inner else move.into
                before = len(nodes)
                oldest = time - self.tables.spans[span].reach
                nodes = self.nodes[target] = nodes[bisect_left(nodes, oldest, key=_best) :]
                self.kept -= before - len(nodes)
                self.trims[target] = 2 * len(nodes) + FEW
        nodes.append(node)
        self.kept += 1

    def _advance(self, plan: WindowPlan, inner: list[list[int]], time: i64, position: i64, item: object) -> None:
        """The event in the windows that it concerns."""
        for number in plan.spans:
            entries = self.entries[number]
            if not entries and not inner[number]:
                continue
            windows = self.windows[number]
            for window in windows:
                window.take(inner[number], entries, self.weights[number], time, position)
                self.due = min(self.due, window.due)
            spans = self.tables.spans[number]
            if spans.witness == SEARCHED and not self.tables.tuples:
                table = windows[spans.widest]
                assert isinstance(table, Table)
                table.note(item, self.begun[number])
            if entries:
                self.entries[number] = []
                self.weights[number] = []
                self.begun[number] = []

    def _expire(self, time: i64) -> None:
        self.due = UNCHANGING
        for windows in self.windows:
            for window in windows:
                if time >= window.due:
                    window.expire(time)
                self.due = min(self.due, window.due)

    def empty(self, time: i64, position: i64) -> bool:
        if time <= self.doubtful:
            return False
        if time >= self.due:
            self._expire(time)
        for state in range(1, len(self.totals)):
            if self.totals[state] and (self.tables.skips[state] or self.stamps[state] >= position - 1):
                return False
        return not any(window.live for windows in self.windows for window in windows)

    def live(self, time: i64, position: i64) -> list[int]:
        if time >= self.due:
            self._expire(time)
        tables = self.tables
        found: list[int] = []
        for state in range(1, tables.states):
            span = tables.span_of[state]
            if span >= 0:
                if self.windows[span][tables.spans[span].widest].value(tables.at[state], position + 1):
                    found.append(state)
            elif self.totals[state] and (tables.skips[state] or self.stamps[state] == position):
                found.append(state)
        return found

    def sure(self) -> i64:
        return self.due - 1

    def end(self, state: i64) -> i64:
        span = self.tables.span_of[state]
        if span < 0 or self.tables.spans[span].witness != LATEST or self.tables.spans[span].reach >= ALWAYS_GOOD:
            return ALWAYS_GOOD
        return self.firsts[state] + self.tables.spans[span].reach

    def way(self, state: i64) -> Tuple:
        return next(walk(self.nodes[state])) if self.tables.tuples else witness_of(self.links[state])

    def partial(self, position: i64) -> Iterator[Tuple]:
        for state in range(1, self.tables.states):
            if self.stamps[state] != position and not self.tables.skips[state]:
                continue
            if self.tables.tuples:
                yield from walk(self.nodes[state])
            elif self.links[state] is not None:
                yield witness_of(self.links[state])

    def tally(self, figures: dict[str, int]) -> None:
        figures["nodes"] += self.kept
        figures["entries"] += sum(window.size() for windows in self.windows for window in windows)

    def check_invariants(self) -> None:
        assert self.totals[0] == 1
        assert all(total >= 0 for total in self.totals)
        assert self.kept == sum(map(len, self.nodes))
        for spans, windows in zip(self.tables.spans, self.windows):
            for bound, window in zip(spans.bounds, windows):
                window.check_invariants()
                assert window.due >= self.due
                widest = windows[spans.widest]
                assert all(window.ways[q] <= widest.ways[q] for q in range(int(spans.size))), bound

    def dump(self) -> list[Any]:
        archive = CountsArchive()
        nodes = [archive.number(found) for found in self.nodes]
        witnesses = [self.firsts, [chain(link) for link in self.links], nodes, self.trims, archive.data]
        windows = [[window.dump() for window in windows] for windows in self.windows]
        totals = [packed(total) for total in self.totals]
        return [totals, self.stamps, witnesses, windows, self.recents.dump(), int(self.doubtful)]

    def load(self, data: Any) -> None:
        totals, stamps, (firsts, links, nodes, trims, archive), windows, recents, self.doubtful = data
        self.totals, self.stamps = [unpacked(total) for total in totals], list(stamps)
        self.firsts, self.links, self.trims = list(firsts), [linked(events) for events in links], list(trims)
        lists = restored(archive)
        self.nodes = [lists[number] for number in nodes]
        self.kept = sum(map(len, self.nodes))
        self.recents.load(recents)
        for known, saved in zip(self.windows, windows):
            for window, content in zip(known, saved):
                window.load(content)
                self.due = min(self.due, window.due)


def _best(node: TupleNode) -> int:
    return int(node.best)


def window_of(spans: SpanTables, bound: int) -> Window:
    """An empty window for a span."""
    if bound == UNBOUNDED:
        return Lasting(bound, spans.skips)
    if spans.stacked:
        return WindowStacks(bound, spans.skips)
    return Table(bound, spans.size, spans.inner)
