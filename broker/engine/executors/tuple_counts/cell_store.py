"""Cells: partial matches that are in one state, have bound the same values and keep the same times are one number.

Here: cells, their groups and indexes, dropping and joining cells. Not here: the effect of an event
(cell_counting), the meaning of times (kept_times).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from .arcs import NEVER
from .kept_times import UNCHANGING
from .tables import CountingTables
from .tuples import Binding, NodeArchive, TupleNode, packed, restored, unpacked

FEW: Final = 16  # cells beyond which useless ones are searched where no event visits


@final
@mypyc_attr(acyclic=True)
class CountCell:
    """`count` ways to be here, and their nodes; of one of them where no tuples are wanted."""

    __slots__ = ("count", "nodes")

    def __init__(self) -> None:
        self.count = 0
        self.nodes: list[TupleNode] = []


@final
@mypyc_attr(acyclic=True)
class CellGroup:
    """The cells of one state and binding, by the times that they keep; from `change` on some can be settled."""

    __slots__ = ("binding", "cells", "change")

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.cells: dict[tuple[int, ...], CountCell] = {}
        self.change: i64 = UNCHANGING


@final
class CellStore:
    """One state's groups, all and by the values of some of its variables. Those of a state that does not skip are of
    use to the event after `stamp` only."""

    __slots__ = ("groups", "indexes", "stamp")

    def __init__(self, indexes: int) -> None:
        self.stamp: i64 = NEVER
        self.groups: dict[Binding, CellGroup] = {}
        self.indexes: list[dict[Binding, dict[Binding, CellGroup]]] = [{} for _ in range(indexes)]


@final
class Stores:
    """All stores of one key value, by state; that of the start holds the one way to be there."""

    __slots__ = ("cells", "nodes", "settled", "stores", "tables")

    def __init__(self, tables: CountingTables) -> None:
        self.tables = tables
        self.stores = [CellStore(len(state.indexes)) for state in tables.states]
        start = CellGroup(())
        start.cells[()] = CountCell()
        start.cells[()].count = 1
        self.stores[0].groups[()] = start
        self.cells = 0
        self.nodes = 0  # of tuples
        self.settled = 0  # the number of cells after all were settled last

    def add(self, state: i64, binding: Binding, key: tuple[int, ...], count: int, node: TupleNode, at: i64) -> None:
        """More ways to a state, by the event at that position. O(1)."""
        store = self.stores[state]
        if store.stamp != at and not self.tables.skips[state]:
            self._clear(state)
            store.stamp = at
        group = store.groups.get(binding)
        if group is None:
            group = self._begin(state, binding)
        cell = group.cells.get(key)
        if cell is None:
            cell = group.cells[key] = CountCell()
            self.cells += 1
            group.change = min(group.change, self.tables.states[state].slots.changes(key))
        cell.count += count
        if self.tables.tuples:
            cell.nodes.append(node)
            self.nodes += 1
        else:
            cell.nodes = [node]

    def _begin(self, state: i64, binding: Binding) -> CellGroup:
        store = self.stores[state]
        group = store.groups[binding] = CellGroup(binding)
        for subset, index in zip(self.tables.states[state].indexes, store.indexes):
            index.setdefault(tuple([binding[v] for v in subset]), {})[binding] = group
        return group

    def settle(self, state: i64, group: CellGroup, time: i64) -> None:
        """Drop the group's cells that are of no use, join those that differ in nothing that matters."""
        slots = self.tables.states[state].slots
        before = group.cells
        group.cells = {}
        group.change = UNCHANGING
        for key, cell in before.items():
            values = list(key)
            if not slots.settled(values, time):
                self._forget(cell)
                continue
            after = tuple(values)
            known = group.cells.get(after)
            if known is None:
                group.cells[after] = cell
                group.change = min(group.change, slots.changes(after))
                continue
            self.cells -= 1
            known.count += cell.count
            if self.tables.tuples:  # the shorter list is appended to the longer, which its readers know by its length
                if len(known.nodes) < len(cell.nodes):
                    known.nodes, cell.nodes = cell.nodes, known.nodes
                known.nodes += cell.nodes
        if not group.cells:
            self._drop(state, group)

    def settle_all(self, time: i64) -> None:
        """O(groups, and cells that time has settled), amortised O(1)."""
        if self.cells > 2 * self.settled + FEW:
            for state in range(1, len(self.stores)):
                for group in list(self.stores[state].groups.values()):
                    if time >= group.change:
                        self.settle(state, group, time)
            self.settled = self.cells

    def _forget(self, cell: CountCell) -> None:
        self.cells -= 1
        if self.tables.tuples:
            self.nodes -= len(cell.nodes)

    def _drop(self, state: i64, group: CellGroup) -> None:
        """A group without cells."""
        store = self.stores[state]
        del store.groups[group.binding]
        for subset, index in zip(self.tables.states[state].indexes, store.indexes):
            key: Binding = tuple([group.binding[v] for v in subset])
            del index[key][group.binding]
            if not index[key]:
                del index[key]

    def _clear(self, state: i64) -> None:
        for group in list(self.stores[state].groups.values()):
            for cell in group.cells.values():
                self._forget(cell)
            self._drop(state, group)

    def _too_many(self) -> bool:
        return self.cells > self.tables.cells_max or self.nodes > self.tables.nodes_max

    def forgot(self) -> bool:
        """Whether there were too many: then the older half of each group's cells is gone, or all if need be."""
        if not self._too_many():
            return False
        for store in self.stores[1:]:
            for group in store.groups.values():
                for key in list(group.cells)[: len(group.cells) // 2]:
                    self._forget(group.cells.pop(key))
        if self._too_many():
            for state in range(1, len(self.stores)):
                self._clear(state)
        return True

    def check_invariants(self) -> None:
        """Totals are what is there; each cell has ways to it; indexes and groups agree."""
        cells = nodes = 0
        for number in range(1, len(self.stores)):
            store = self.stores[number]
            for binding, group in store.groups.items():
                assert group.binding == binding
                assert group.cells, f"state {number}: an empty group"
                cells += len(group.cells)
                for cell in group.cells.values():
                    assert cell.count > 0
                    assert cell.nodes
                    nodes += len(cell.nodes)
                for subset, index in zip(self.tables.states[number].indexes, store.indexes):
                    assert index[tuple([binding[v] for v in subset])][binding] is group
            for index in store.indexes:
                assert sum(len(several) for several in index.values()) == len(store.groups)
        assert cells == self.cells
        assert self.nodes == (nodes if self.tables.tuples else 0)
        assert self.tables.tuples or nodes == cells

    def dump(self) -> list[Any]:
        archive = NodeArchive()
        stores = [
            [int(store.stamp), [[list(g.binding), _cells(g, archive)] for g in store.groups.values()]]
            for store in self.stores[1:]
        ]
        return [stores, archive.data, self.settled]

    def load(self, data: Any) -> None:
        stores, archive, self.settled = data
        lists = restored(archive)
        for number, (stamp, groups) in enumerate(stores, 1):
            self.stores[number].stamp = stamp
            for binding, cells in groups:
                group = self._begin(number, tuple(binding))
                for times, count, nodes in cells:
                    key = tuple(times)
                    cell = group.cells[key] = CountCell()
                    [cell.count] = unpacked([count])
                    cell.nodes = lists[nodes]
                    group.change = min(group.change, self.tables.states[number].slots.changes(key))
                    self.cells += 1
                    if self.tables.tuples:
                        self.nodes += len(cell.nodes)


def _cells(group: CellGroup, archive: NodeArchive) -> list[list[Any]]:
    return [[list(key), *packed([cell.count]), archive.number(cell.nodes)] for key, cell in group.cells.items()]
