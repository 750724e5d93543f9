"""Counting by cells: partial matches that are in one state, have bound the same values and keep the same times are one
number. Exact whatever the conditions (P-ToPSS 4; the cost of an event is the cells of the states that it moves).

Two phases an event, so that it does not extend what it has just made: all arcs are read, then all is added.

Here: that. Not here: where cells are (stores), what times mean (slots), windows without keys (windows).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row, Value
from ...account import MATCH_UNITS
from .cell_tables import ALL, EXACT, CellTables
from .completion import ALWAYS_GOOD, NO_FLOOR, Completion, EventLink, Tuple, TupleNode, walk, witness_of
from .runner import NEVER, Binding, FlatArc, Recents, Runner, within
from .slots import DECIDED, UNCHANGING
from .stores import CellGroup, CellStore, CountStep, Stores


@final
@mypyc_attr(acyclic=True)
class Cells(Runner):
    """The cells of one key value."""

    __slots__ = ("kept", "recents", "tables")

    def __init__(self, tables: CellTables) -> None:
        super().__init__()
        self.tables = tables
        self.kept = Stores(tables)
        self.recents = Recents(tables.depth)

    def take(self, mask: int, row: Row, time: i64, position: i64, item: object, found: list[Completion]) -> None:
        tables = self.tables
        if tables.depth > 0:
            self.recents.take(position, time)
        steps: list[CountStep] = []
        for arc in tables.plan(mask):
            store = self.kept.stores[arc.source]
            if not store.groups or (store.stamp != position - 1 and not tables.skips[arc.source]):
                continue
            if (arc.present or arc.recents or arc.equals) and not self._fits(arc, row):
                continue
            groups = self._probed(arc, store, row)
            tables.account.spend(len(groups))
            for group in groups:
                tables.account.spend(len(group.cells))
                if time >= group.change:
                    self.kept.settle(arc.source, group, time)
                self._read(arc, group, row, time, item, steps)
        ends: dict[Binding, list[CountStep]] = {}
        for step in steps:
            if tables.final[step.state]:
                ends.setdefault(step.binding, []).append(step)
            else:
                self.kept.add(step, time, position)
        for binding, ways in ends.items():
            self._complete(binding, ways, time, found)
        if self.kept.forgot():
            self.lose(time, tables.horizon)

    def _fits(self, arc: FlatArc, row: Row) -> bool:
        for attribute in arc.present:
            if row[attribute] is None:
                return False
        for at in range(0, len(arc.equals), 2):
            if row[arc.equals[at]] != row[arc.equals[at + 1]]:
                return False
        return not arc.recents or self.recents.allow(arc)

    def _probed(self, arc: FlatArc, store: CellStore, row: Row) -> list[CellGroup]:
        """The source's groups whose values the event has."""
        into = self.tables.into[arc.number]
        if into == ALL:
            return list(store.groups.values())
        key: Binding = tuple([row[attribute] for attribute in self.tables.probes[arc.number]])
        if into == EXACT:
            group = store.groups.get(key)
            return [] if group is None else [group]
        several = store.indexes[into].get(key)
        return [] if several is None else list(several.values())

    def _read(self, arc: FlatArc, group: CellGroup, row: Row, time: i64, item: object, steps: list[CountStep]) -> None:
        tables = self.tables
        target = arc.target
        binding: Binding = ()
        if tables.final[target]:
            binding = tuple([self._value(arc, at, group, row) for at in tables.bound[target]])
        elif arc.values:
            binding = tuple([self._value(arc, at, group, row) for at in range(len(arc.values))])
        slots = tables.slots[target]
        for key, cell in group.cells.items():
            if arc.check_slots and not self._allowed(arc, key, time):
                continue
            after: tuple[int, ...] = ()
            if arc.times:
                values = [time if at < 0 else key[at] for at in arc.times]
                if not slots.settled(values, time):
                    continue
                after = tuple(values)
            node: TupleNode | None = None
            link: EventLink | None = None
            if tables.tuples:
                node = TupleNode(arc.operand, item, time, cell.nodes, len(cell.nodes), ALWAYS_GOOD, NO_FLOOR)
            else:
                link = EventLink(arc.operand, item, time, cell.link)
            steps.append(CountStep(target, binding, after, cell.count, node, link))

    def _value(self, arc: FlatArc, at: int, group: CellGroup, row: Row) -> Value:
        """Variable `at` of the arc's target."""
        if at < 0:
            return None
        source = arc.values[at]
        return group.binding[source] if source >= 0 else row[-1 - source]

    def _allowed(self, arc: FlatArc, key: tuple[int, ...], time: i64) -> bool:
        for i in range(len(arc.check_slots)):
            value: i64 = key[arc.check_slots[i]]
            if value >= DECIDED:
                if (value - DECIDED) & arc.check_limits[i] == 0:
                    return False
            elif not within(arc.check_ranges[i], time - value):
                return False
        return True

    def _complete(self, binding: Binding, ways: list[CountStep], time: i64, found: list[Completion]) -> None:
        count = 0
        nodes: list[TupleNode] = []
        for way in ways:
            count += way.count
            if way.node is not None:
                nodes.append(way.node)
        incomplete = time <= self.doubtful
        self.tables.account.spend(MATCH_UNITS)
        found.append(Completion(None if incomplete else count, binding, incomplete, nodes, ways[-1].link))

    def empty(self, time: i64, position: i64) -> bool:
        return time > self.doubtful and self.kept.empty(time, position)

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
        ends = self.tables.slots[state].ends
        latest: i64 = NEVER
        for group in self.kept.stores[state].groups.values():
            for key in group.cells:
                own: i64 = ALWAYS_GOOD
                for slot in range(len(key)):
                    value: i64 = key[slot]
                    if value < DECIDED and ends[slot] < DECIDED:
                        own = min(own, value + ends[slot])
                latest = max(latest, own)
        return latest

    def way(self, state: i64) -> Tuple:
        for group in self.kept.stores[state].groups.values():
            for cell in group.cells.values():
                return next(walk(cell.nodes)) if self.tables.tuples else witness_of(cell.link)
        return ()

    def partial(self, position: i64) -> Iterator[Tuple]:
        for state, store in enumerate(self.kept.stores):
            if state == 0 or (store.stamp != position and not self.tables.skips[state]):
                continue
            for group in store.groups.values():
                for cell in group.cells.values():
                    yield from walk(cell.nodes) if self.tables.tuples else [witness_of(cell.link)]

    def tally(self, figures: dict[str, int]) -> None:
        figures["cells"] += self.kept.cells
        figures["nodes"] += self.kept.nodes

    def check_invariants(self) -> None:
        self.kept.check_invariants()

    def dump(self) -> list[Any]:
        return [self.kept.dump(), self.recents.dump(), int(self.doubtful)]

    def load(self, data: Any) -> None:
        kept, recents, self.doubtful = data
        self.kept.load(kept)
        self.recents.load(recents)
