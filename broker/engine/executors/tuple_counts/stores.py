"""What is kept in cells: partial matches that are in one state, have bound the same values and keep the same times are
one number.

Here: cells, their groups and indexes, what makes them fewer. Not here: what an event does (cells), what times mean
(slots).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from .archive import CountsArchive, chain, linked, packed, restored, unpacked
from .cell_tables import CellTables
from .completion import EventLink, TupleNode
from .runner import NEVER, Binding
from .slots import UNCHANGING

FEW: Final = 16  # cells beyond which those of no use are looked for where no event visits


@final
@mypyc_attr(acyclic=True)
class CountCell:
    """`count` ways to be here; their nodes where all tuples are wanted, else one of them as a link."""

    __slots__ = ("count", "link", "nodes")

    def __init__(self) -> None:
        self.count = 0
        self.nodes: list[TupleNode] = []
        self.link: EventLink | None = None


@final
@mypyc_attr(acyclic=True)
class CellGroup:
    """The cells of one state and binding, by the times that they keep; from `change` on some can be settled."""

    __slots__ = ("binding", "cells", "change", "settled")

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.cells: dict[tuple[int, ...], CountCell] = {}
        self.change: i64 = UNCHANGING
        self.settled = 0  # how many cells there were when they were last settled


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
class CountStep:
    """An addition that waits until the event has been read everywhere."""

    __slots__ = ("binding", "count", "key", "link", "node", "state")

    def __init__(
        self,
        state: i64,
        binding: Binding,
        key: tuple[int, ...],
        count: int,
        node: TupleNode | None,
        link: EventLink | None,
    ) -> None:
        self.state = state
        self.binding = binding
        self.key = key
        self.count = count
        self.node = node
        self.link = link


@final
class Stores:
    """All stores of one key value, by state; that of the start holds the one way to be there."""

    __slots__ = ("cells", "groups", "nodes", "settled", "stores", "tables")

    def __init__(self, tables: CellTables) -> None:
        self.tables = tables
        self.stores = [CellStore(len(indexes)) for indexes in tables.indexes]
        start = CellGroup(())
        start.cells[()] = CountCell()
        start.cells[()].count = 1
        self.stores[0].groups[()] = start
        self.cells = 0
        self.nodes = 0
        self.groups = 0
        self.settled = 0  # how many groups there were when all were last settled

    def add(self, step: CountStep, time: i64, position: i64) -> None:
        """O(1), amortised."""
        store = self.stores[step.state]
        if not self.tables.skips[step.state] and store.stamp != position:
            self._clear(step.state)
            store.stamp = position
        group = store.groups.get(step.binding)
        if group is None:
            group = self._begin(step.state, step.binding, time)
        elif len(group.cells) > 2 * group.settled + FEW and time >= group.change:
            self.settle(step.state, group, time)
            if not group.cells:
                group = self._begin(step.state, step.binding, time)
        cell = group.cells.get(step.key)
        if cell is None:
            cell = group.cells[step.key] = CountCell()
            self.cells += 1
            group.change = min(group.change, self.tables.slots[step.state].changes(step.key))
        cell.count += step.count
        cell.link = step.link
        if step.node is not None:
            cell.nodes.append(step.node)
            self.nodes += 1

    def _begin(self, state: i64, binding: Binding, time: i64) -> CellGroup:
        store = self.stores[state]
        if self.groups > 2 * self.settled + FEW:
            for number in range(1, len(self.stores)):
                for other in list(self.stores[number].groups.values()):
                    if time >= other.change:
                        self.settle(number, other, time)
            self.settled = self.groups
        group = store.groups[binding] = CellGroup(binding)
        self.groups += 1
        for subset, index in zip(self.tables.indexes[state], store.indexes):
            index.setdefault(tuple([binding[v] for v in subset]), {})[binding] = group
        return group

    def settle(self, state: i64, group: CellGroup, time: i64) -> None:
        """Drop the group's cells that are of no use, join those that differ in nothing that matters."""
        slots = self.tables.slots[state]
        before = group.cells
        group.cells = {}
        group.change = UNCHANGING
        for key, cell in before.items():
            values = list(key)
            if not slots.settled(values, time):
                self.cells -= 1
                self.nodes -= len(cell.nodes)
                continue
            after = tuple(values)
            known = group.cells.get(after)
            if known is None:
                group.cells[after] = cell
                group.change = min(group.change, slots.changes(after))
            else:
                self.cells -= 1
                _join(known, cell)
        group.settled = len(group.cells)
        if not group.cells:
            self._drop(state, group)

    def _drop(self, state: i64, group: CellGroup) -> None:
        store = self.stores[state]
        del store.groups[group.binding]
        self.groups -= 1
        for subset, index in zip(self.tables.indexes[state], store.indexes):
            key: Binding = tuple([group.binding[v] for v in subset])
            del index[key][group.binding]
            if not index[key]:
                del index[key]

    def _clear(self, state: i64) -> None:
        for group in list(self.stores[state].groups.values()):
            self.cells -= len(group.cells)
            for cell in group.cells.values():
                self.nodes -= len(cell.nodes)
            self._drop(state, group)

    def forgot(self) -> bool:
        """Whether there were too many: then the older half of each group's cells is gone, or all if need be."""
        if self.cells <= self.tables.cells_max and self.nodes <= self.tables.nodes_max:
            return False
        for number in range(1, len(self.stores)):
            for group in list(self.stores[number].groups.values()):
                for key in list(group.cells)[: len(group.cells) // 2]:
                    cell = group.cells.pop(key)
                    self.cells -= 1
                    self.nodes -= len(cell.nodes)
        if self.cells > self.tables.cells_max or self.nodes > self.tables.nodes_max:
            for number in range(1, len(self.stores)):
                self._clear(number)
        return True

    def empty(self, time: i64, position: i64) -> bool:
        """Whether there is nothing for an event at that time and position or later."""
        for number in range(1, len(self.stores)):
            store = self.stores[number]
            if not self.tables.skips[number] and store.stamp < position - 1:
                continue
            for group in list(store.groups.values()):
                if time >= group.change:
                    self.settle(number, group, time)
                if group.cells:
                    return False
        return True

    def check_invariants(self) -> None:
        """Totals are what is there; each cell has ways to it; indexes and groups agree."""
        cells = nodes = groups = 0
        for number in range(1, len(self.stores)):
            store = self.stores[number]
            for binding, group in store.groups.items():
                assert group.binding == binding
                assert group.cells, f"state {number}: an empty group"
                groups += 1
                cells += len(group.cells)
                for cell in group.cells.values():
                    nodes += len(cell.nodes)
                    assert cell.count > 0
                    assert bool(cell.nodes) == self.tables.tuples
                for subset, index in zip(self.tables.indexes[number], store.indexes):
                    assert index[tuple([binding[v] for v in subset])][binding] is group
            for index in store.indexes:
                assert sum(len(several) for several in index.values()) == len(store.groups)
        assert (cells, nodes, groups) == (self.cells, self.nodes, self.groups)

    def dump(self) -> list[Any]:
        archive = CountsArchive()
        stores = [
            [
                int(store.stamp),
                [
                    [
                        list(group.binding),
                        [
                            [list(key), packed(cell.count), chain(cell.link), archive.number(cell.nodes)]
                            for key, cell in group.cells.items()
                        ],
                    ]
                    for group in store.groups.values()
                ],
            ]
            for store in self.stores[1:]
        ]
        return [stores, archive.data]

    def load(self, data: Any) -> None:
        stores, archive = data
        lists = restored(archive)
        for number, (stamp, groups) in enumerate(stores, 1):
            self.stores[number].stamp = stamp
            for binding, cells in groups:
                group = self._begin(number, tuple(binding), NEVER)
                for key, count, link, nodes in cells:
                    times = tuple(key)
                    cell = group.cells[times] = CountCell()
                    cell.count, cell.link, cell.nodes = unpacked(count), linked(link), lists[nodes]
                    group.change = min(group.change, self.tables.slots[number].changes(times))
                    self.cells += 1
                    self.nodes += len(cell.nodes)


def _join(cell: CountCell, other: CountCell) -> None:
    """Both in one: the shorter list of nodes is appended to the longer, which its readers know by its length."""
    cell.count += other.count
    if len(cell.nodes) < len(other.nodes):
        cell.nodes, other.nodes = other.nodes, cell.nodes
    cell.nodes += other.nodes
