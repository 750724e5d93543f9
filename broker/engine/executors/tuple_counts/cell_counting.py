"""Counting by cells: partial matches that are in one state, have bound the same values and keep the same times are one
number. Exact whatever the conditions (P-ToPSS 4; the cost of an event is the cells of the states that it moves).

Here: the effect of an event. Not here: where cells are (cell_store), the meaning of times (kept_times), counting
without keys (window_counting).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row, Value
from ...program.account import MATCH_UNITS
from .arcs import ALL, EXACT, NEVER, CountedArc
from .cell_store import CellGroup, CellStore, Stores
from .kept_times import DECIDED, UNCHANGING, within
from .runner import Runner
from .tables import CountingTables
from .tuples import ALWAYS_GOOD, NO_FLOOR, Binding, Completion, Tuple, TupleNode, walk


@final
@mypyc_attr(acyclic=True)
class Cells(Runner):
    """The cells of one key value."""

    __slots__ = ("kept",)

    def __init__(self, tables: CountingTables) -> None:
        super().__init__(tables)
        self.kept = Stores(tables)

    def take(self, mask: int, row: Row, time: i64, position: i64, item: object, found: list[Completion]) -> None:
        tables = self.tables
        if tables.depth > 0:
            self.recents.take(position, time)
        ends: dict[Binding, Completion] = {}
        for arc in tables.moves(mask).arcs:
            store = self.kept.stores[arc.source]
            if not store.groups or (store.stamp != position - 1 and not arc.skips):
                continue
            if arc.conditional and not arc.fits(row, self.recents):
                continue
            groups = _probed(arc, store, row)
            tables.account.spend(len(groups))
            for group in groups:
                tables.account.spend(len(group.cells))
                if time >= group.change:
                    self.kept.settle(arc.source, group, time)
                self._read(arc, group, row, time, position, item, ends)
        for completion in ends.values():
            tables.account.spend(MATCH_UNITS)
            found.append(completion)
        self.kept.settle_all(time)
        if self.kept.forgot():
            self.lose(time)

    def _read(
        self,
        arc: CountedArc,
        group: CellGroup,
        row: Row,
        time: i64,
        position: i64,
        item: object,
        ends: dict[Binding, Completion],
    ) -> None:
        target = self.tables.states[arc.target]
        binding: Binding = ()
        if arc.final:
            binding = tuple([None if at < 0 else _value(arc, at, group, row) for at in target.bound])
        elif arc.values:
            binding = tuple([_value(arc, at, group, row) for at in range(len(arc.values))])
        for key, cell in group.cells.items():
            if arc.checks and not _allowed(arc, key, time):
                continue
            after: tuple[int, ...] = ()
            if arc.times:
                values = [time if at < 0 else key[at] for at in arc.times]
                if not target.slots.settled(values, time):
                    continue
                after = tuple(values)
            node = TupleNode(arc.operand, item, time, cell.nodes, len(cell.nodes), ALWAYS_GOOD, NO_FLOOR)
            if arc.final:
                self._complete(binding, cell.count, node, ends)
            else:
                self.kept.add(arc.target, binding, after, cell.count, node, position)

    def _complete(self, binding: Binding, count: int, node: TupleNode, ends: dict[Binding, Completion]) -> None:
        known = ends.get(binding)
        if known is None:
            incomplete = node.time <= self.doubtful
            ends[binding] = Completion(None if incomplete else count, binding, incomplete, [node])
            return
        if known.count is not None:
            known.count += count
        if self.tables.tuples:
            known.nodes.append(node)
        else:
            known.nodes = [node]

    def live(self, time: i64, position: i64) -> list[int]:
        found: list[int] = []
        for state in range(1, len(self.kept.stores)):
            store = self.kept.stores[state]
            if store.groups and (self.tables.skips[state] or store.stamp == position):
                for group in list(store.groups.values()):
                    if time >= group.change:
                        self.kept.settle(state, group, time)
                if store.groups:
                    found.append(state)
        return found

    def sure(self) -> i64:
        soonest: i64 = UNCHANGING
        for store in self.kept.stores:
            for group in store.groups.values():
                soonest = min(soonest, group.change)
        return soonest - 1

    def end(self, state: i64) -> i64:
        slots = self.tables.states[state].slots
        latest: i64 = NEVER
        for group in self.kept.stores[state].groups.values():
            for key in group.cells:
                latest = max(latest, slots.end(key))
        return latest

    def ways(self, state: i64) -> Iterator[Tuple]:
        for group in self.kept.stores[state].groups.values():
            for cell in group.cells.values():
                yield from walk(cell.nodes)

    def partial(self, position: i64) -> Iterator[Tuple]:
        for state in range(1, len(self.kept.stores)):
            if self.kept.stores[state].stamp == position or self.tables.skips[state]:
                yield from self.ways(state)

    def tally(self, figures: dict[str, int]) -> None:
        figures["cells"] += self.kept.cells
        figures["nodes"] += self.kept.nodes

    def check_invariants(self) -> None:
        self.kept.check_invariants()

    def content(self) -> list[Any]:
        return [self.kept.dump()]

    def restore(self, content: Any) -> None:
        self.kept.load(content[0])


def _probed(arc: CountedArc, store: CellStore, row: Row) -> list[CellGroup]:
    """The source's groups whose values the event has."""
    if arc.into == ALL:
        return list(store.groups.values())
    key: Binding = tuple([row[attribute] for attribute in arc.probe])
    if arc.into == EXACT:
        group = store.groups.get(key)
        return [] if group is None else [group]
    several = store.indexes[arc.into].get(key)
    return [] if several is None else list(several.values())


def _value(arc: CountedArc, at: int, group: CellGroup, row: Row) -> Value:
    """Variable `at` of the arc's target."""
    source = arc.values[at]
    return group.binding[source] if source >= 0 else row[-1 - source]


def _allowed(arc: CountedArc, key: tuple[int, ...], time: i64) -> bool:
    for i in range(len(arc.checks)):
        value: i64 = key[arc.checks[i]]
        if value >= DECIDED:
            if (value - DECIDED) & arc.check_bits[i] == 0:
                return False
        elif not within(arc.check_ranges[i], time - value):
            return False
    return True
