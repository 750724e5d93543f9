"""Counting by windows: one total a state, and between an event and those that a condition measures from it, windows.

A state that does not skip is of use only to the event after its stamp. Windows take their part of an event after all
have been read.

Here: totals and nodes by state. Not here: windows themselves (window), keys (cell_counting).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row, Value
from ...program.account import MATCH_UNITS
from .arcs import NEVER, ArcMoves, CountedArc
from .kept_times import UNCHANGING
from .runner import Runner
from .tables import CountingTables
from .tuples import (
    ALWAYS_GOOD,
    NO_FLOOR,
    SAME_FLOOR,
    Completion,
    NodeArchive,
    Tuple,
    TupleNode,
    packed,
    restored,
    unpacked,
    walk,
)
from .window import Window

FEW: Final = 32  # nodes of a state before those that are too old are cut off
NOTHING: Final[list[TupleNode]] = []  # where only a witness is wanted, lists are replaced and do not grow


@final
@mypyc_attr(acyclic=True)
class Windows(Runner):
    """The counts of one key value. By state: `totals` (of states in no span), `stamps`, `nodes`, those of a span in the
    order of its first events; by span: `windows`, and the ways that the current event begins, (state, number)."""

    __slots__ = ("begun", "due", "kept", "nodes", "stamps", "totals", "trims", "unbound", "windows")

    def __init__(self, tables: CountingTables) -> None:
        super().__init__(tables)
        self.unbound: tuple[Value, ...] = (None,) * len(tables.states[0].bound)
        self._begin()

    def _begin(self) -> None:
        tables = self.tables
        states = len(tables.states)
        self.totals: list[int] = [0] * states
        self.totals[0] = 1
        self.stamps: list[int] = [NEVER] * states
        self.nodes: list[list[TupleNode]] = [[] if listed else NOTHING for listed in tables.listed]
        self.trims: list[int] = [FEW] * states
        self.kept = 0  # nodes of states that list them
        windows = zip(tables.bounds, tables.sizes, tables.fleeting, tables.nearest, strict=True)
        self.windows = [Window(*window) for window in windows]
        self.due: i64 = UNCHANGING
        self.begun: list[list[int]] = [[] for _ in tables.bounds]

    def take(self, mask: int, row: Row, time: i64, position: i64, item: object, found: list[Completion]) -> None:
        tables = self.tables
        moves = tables.moves(mask)
        if tables.depth > 0:
            self.recents.take(position, time)
        if time >= self.due and (moves.leaves or time - tables.slack >= self.due):
            self._expire(time)
        tables.account.spend(len(moves.arcs))
        inner = [list[int]() for _ in moves.inner] if moves.depends else moves.inner
        count = 0
        ends = NOTHING
        for arc in moves.arcs:
            if not arc.skips and self.stamps[arc.source] != position - 1:
                continue
            if arc.conditional and not arc.fits(row, self.recents):
                continue
            value = self.totals[arc.source] if arc.span < 0 else self.windows[arc.span].ways[arc.at]
            if value == 0:
                continue
            if arc.inner and moves.depends:
                inner[arc.span] += [int(arc.at), int(arc.to)]
            node = self._node(arc, time, item)
            if not arc.final:
                self._arrive(arc, value, node, position)
                continue
            if count > 0 and tables.tuples:
                ends.append(node)
            else:
                ends = [node]
            count += value
        if moves.spans:
            self._advance(moves, inner, time)
        if count:
            tables.account.spend(MATCH_UNITS)
            incomplete = time <= self.doubtful
            found.append(Completion(None if incomplete else count, self.unbound, incomplete, ends))
        if self.kept > tables.nodes_max:
            self._begin()
            self.lose(time)

    def _node(self, arc: CountedArc, time: i64, item: object) -> TupleNode:
        """All ways that end with the current event, or one of them. O(1)."""
        before = self.nodes[arc.source]
        length: i64 = len(before)
        floor: i64 = NO_FLOOR
        best: i64 = ALWAYS_GOOD
        if arc.inner:
            floor = SAME_FLOOR
            best = before[-1].best
        elif arc.span >= 0:
            floor = time - self.tables.bounds[arc.span]
            nearest = self.tables.nearest[arc.span]
            if nearest > 0:
                length = bisect_right(before, time - nearest, key=_best)
        if arc.begins >= 0:
            best = time
        return TupleNode(arc.operand, item, time, before, length, best, floor)

    def _arrive(self, arc: CountedArc, value: int, node: TupleNode, position: i64) -> None:
        """Ways into a state that is not final."""
        target = arc.target
        listed = self.tables.listed[target]
        if not self.tables.skips[target] and self.stamps[target] != position:
            self.stamps[target] = position
            self.totals[target] = 0
            if listed:
                self.kept -= len(self.nodes[target])
            self.nodes[target] = [] if listed else NOTHING
        if listed:
            self._append(arc, node)
        elif not self.nodes[target] or node.best >= self.nodes[target][0].best:
            self.nodes[target] = [node]
        if arc.begins >= 0:
            begun = self.begun[arc.begins]
            begun.append(int(arc.to))
            begun.append(value)
        elif not arc.inner:
            self.totals[target] += value

    def _append(self, arc: CountedArc, node: TupleNode) -> None:
        """A node to its state; those whose first event is too old for any way on are cut off now and then. O(1)
        amortised."""
        target = arc.target
        nodes = self.nodes[target]
        if arc.to >= 0 and len(nodes) >= self.trims[target]:
            oldest = node.time - self.tables.bounds[arc.span if arc.inner else arc.begins]
            self.kept -= len(nodes)
            nodes = self.nodes[target] = nodes[bisect_left(nodes, oldest, key=_best) :]
            self.kept += len(nodes)
            self.trims[target] = 2 * len(nodes) + FEW
        nodes.append(node)
        self.kept += 1

    def _advance(self, moves: ArcMoves, inner: list[list[int]], time: i64) -> None:
        """The event in the windows that it concerns."""
        for span in moves.spans:
            begun = self.begun[span]
            if begun or inner[span]:
                window = self.windows[span]
                self.begun[span] = []
                window.take(inner[span], begun, time)
                self.due = min(self.due, window.due)

    def _expire(self, time: i64) -> None:
        self.due = UNCHANGING
        for window in self.windows:
            if time >= window.due:
                window.expire(time)
            self.due = min(self.due, window.due)

    def live(self, time: i64, position: i64) -> list[int]:
        if time >= self.due:
            self._expire(time)
        skips = self.tables.skips
        found: list[int] = []
        for number in range(1, len(skips)):
            if skips[number] or self.stamps[number] == position:
                state = self.tables.states[number]
                if self.totals[number] if state.span < 0 else self.windows[state.span].holds(state.at):
                    found.append(number)
        return found

    def sure(self) -> i64:
        return self.due - 1

    def end(self, state: i64) -> i64:
        span = self.tables.states[state].span
        if span < 0:
            return ALWAYS_GOOD
        return self.nodes[state][-1].best + self.tables.bounds[span]

    def ways(self, state: i64) -> Iterator[Tuple]:
        return walk(self.nodes[state])

    def partial(self, position: i64) -> Iterator[Tuple]:
        for state in range(1, len(self.nodes)):
            if self.stamps[state] == position or self.tables.skips[state]:
                yield from walk(self.nodes[state])

    def tally(self, figures: dict[str, int]) -> None:
        figures["nodes"] += self.kept
        figures["entries"] += sum(window.size() for window in self.windows)

    def check_invariants(self) -> None:
        assert self.totals[0] == 1
        assert all(total >= 0 for total in self.totals)
        assert self.kept == self._listed()
        for window in self.windows:
            window.check_invariants()
            assert window.due >= self.due

    def _listed(self) -> int:
        return sum(len(nodes) for nodes, listed in zip(self.nodes, self.tables.listed) if listed)

    def content(self) -> list[Any]:
        archive = NodeArchive()
        nodes = [archive.number(found) for found in self.nodes]
        windows = [window.dump() for window in self.windows]
        return [packed(self.totals), self.stamps, [nodes, self.trims, archive.data], windows]

    def restore(self, content: Any) -> None:
        totals, stamps, (nodes, trims, archive), windows = content
        self.totals, self.stamps, self.trims = unpacked(totals), list(stamps), list(trims) or self.trims
        lists = restored(archive)
        self.nodes = [lists[number] for number in nodes]
        self.kept = self._listed()
        for window, saved in zip(self.windows, windows, strict=True):
            window.load(saved)
            self.due = min(self.due, window.due)


def _best(node: TupleNode) -> int:
    return int(node.best)
