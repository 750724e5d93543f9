"""Shared pasts: for patterns that may skip relevant events, runs in groups of equal future, none of them an object.

The key of a group is the part of the runs' registers that is still read, for runs of one state. The group is a union of
nodes, and an event makes one node of each union that it continues (SASE+ 4.2, 4.3; kleene notes, 3 and 4). With
conditions only on single events and equality, an event costs O(1); with conditions on the last event O(events of the
window). Single runs would be exponentially many.

Here: the effect of an event on groups. Hot. Not here: nodes and unions (buffer), the registers that are kept
(analyses.memory).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....algebra.predicate import holds
from ....automaton.analyses.line import line_of
from ....automaton.analyses.memory import Memory, memories
from ....automaton.automaton import Report
from ....events.schema import Row
from ...matches.completions import Completions
from ...matches.sources import Assigned, Item
from ...program.account import PACKED_BITS
from ..registers import AVERAGE, SUM, Registers
from .buffer import FEW, NOTHING, Pasts, Shared
from .cell import RunCell
from .kleene_plan import KleenePlan
from .negation_index import NegationIndex
from .run import Restored, RunsArchive, plain_slots, slots_of
from .tables import BEFORE, LINK_BYTES, Edges, Tables


@final
class Recall:
    """The registers to keep after a component has an event: slots, and for rows some of their values."""

    def __init__(self, memory: Memory, registers: Registers, number: int) -> None:
        self.rows: list[tuple[int, list[int]]] = [(slot, list(positions)) for slot, positions in memory.rows]
        self.values: list[int] = list(memory.values)
        for fold in registers.folds[number]:
            if fold.slot in memory.values and fold.kind in (SUM, AVERAGE):
                self.values += [fold.hidden, fold.hidden + 1] if fold.kind == AVERAGE else [fold.hidden]
        self.nothing = not self.rows and not self.values
        self.size = registers.size

    def kept(self, slots: Slots) -> Slots:
        """The slots without those that are not read any more."""
        if self.nothing:
            return ()
        kept: list[Any] = [None] * self.size
        for slot in self.values:
            kept[slot] = slots[slot]
        for slot, positions in self.rows:
            row = slots[slot]
            left: list[Any] = [None] * len(row)
            for position in positions:
                left[position] = row[position]
            kept[slot] = tuple(left)
        return tuple(kept)


@final
class Recalls:
    """The recall of all components; and the registers without those that conditions do not read."""

    def __init__(self, plan: KleenePlan) -> None:
        states = memories(plan.automaton)
        found = [states[link.begin.target] for link in line_of(plan.automaton)]  # in each state, after its newest event
        only = {slot for memory in found for slot in memory.values}
        only |= {slot for memory in found for slot, _ in memory.rows}
        self.registers = Registers([(step.begun, step.taken) for step in plan.steps], frozenset(only))
        self.recalls = [Recall(memory, self.registers, at) for at, memory in enumerate(found)]


@final
class RunGroup:
    """`union`: the nodes; `clean`: the nodes after the newest negated event that may stand before the next event."""

    __slots__ = ("clean", "slots", "union")

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.union: i64 = NOTHING
        self.clean: i64 = NOTHING


@final
class SharedPasts(RunCell):
    """The groups by component of the newest event, and by kept registers."""

    __slots__ = ("done", "fresh", "groups", "marked", "page", "recalls", "registers", "tables")

    def __init__(self, tables: Tables, recalls: Recalls, negated: list[NegationIndex]) -> None:
        super().__init__(negated)
        self.tables = tables
        self.recalls = recalls.recalls
        self.registers = recalls.registers
        self.page = Pasts(0, 0)
        self.groups: list[dict[Slots, RunGroup]] = [{} for _ in tables.edges]
        self.marked: list[int] = [BEFORE for _ in tables.edges]  # by component, the newest negated event before it
        self.fresh: dict[Slots, list[int]] = {}  # the event's new nodes from the runs of one component
        self.done: list[int] = []

    def step(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item, found: Completions) -> bool:
        """Process an event. O(groups)."""
        tables = self.tables
        oldest = time - tables.window
        full = self.page.nodes + self.page.links > tables.runs_max
        self.page = self.page.turned(oldest, 0 if full else FEW)
        mark = self.page.root + self.page.links
        edges = tables.edges
        made: list[dict[Slots, list[int]]] = []
        k: i64
        for k in range(tables.last + 1):
            here = edges[k]
            self.fresh = {}
            if mask & here.begin:
                if k == 0:
                    if here.begin_rest is None or holds(here.begin_rest, row, (), self.registers.fresh(), 0, 0):
                        self._make(k, self.registers.begun(self.registers.fresh(), k, row), NOTHING)
                else:
                    self._lead_on(k, here, row, oldest)
            if mask & here.take:
                self._grow(k, here, row, oldest)
            made.append(self.fresh)
        self._enter(made, row, time, position, item, mark, found)
        return True

    def _lead_on(self, k: i64, here: Edges, row: Row, oldest: i64) -> None:
        """Take the event as the first one of component k, after each group of the component before."""
        before = self.tables.edges[k - 1]
        negated = len(here.marks) > 0
        if negated:
            self._clean(k, here)
        self.tables.account.spend(len(self.groups[k - 1]))
        for group in self._alive(k - 1, oldest):
            union = group.clean if negated else group.union
            if negated and self.page.best_of(union) < oldest:
                continue
            if not before.ended(group.slots):
                continue
            if here.begin_rest is None or holds(here.begin_rest, row, (), group.slots, 0, 0):
                self._make(k, self.registers.begun(self._whole(group.slots), k, row), union)

    def _grow(self, k: i64, here: Edges, row: Row, oldest: i64) -> None:
        """Take the event as a further one of component k."""
        self.tables.account.spend(len(self.groups[k]))
        for group in self._alive(k, oldest):
            if here.take_rest is None or holds(here.take_rest, row, (), group.slots, 0, 0):
                self._make(k, self.registers.taken(self._whole(group.slots), k, row), group.union)

    def _alive(self, k: i64, oldest: i64) -> list[RunGroup]:
        """The groups of a component, without those that have left the window. O(groups)."""
        groups = self.groups[k]
        found: list[RunGroup] = []
        for group in list(groups.values()):
            if self.page.best_of(group.union) < oldest:
                del groups[group.slots]
            else:
                found.append(group)
        return found

    def _whole(self, slots: Slots) -> Slots:
        return slots if len(slots) > 0 else self.registers.fresh()

    def _make(self, k: i64, slots: Slots, union: i64) -> None:
        key = self.recalls[k].kept(slots)
        pasts = self.fresh.get(key)
        if pasts is None:
            self.fresh[key] = [int(union)]
        else:
            pasts.append(int(union))

    def _enter(
        self,
        made: list[dict[Slots, list[int]]],
        row: Row,
        time: i64,
        position: i64,
        item: Item,
        mark: i64,
        found: Completions,
    ) -> None:
        """Add the nodes that the event has made, after all groups were read; and matches of the last component."""
        tables = self.tables
        page = self.page
        k: i64
        for k in range(tables.last + 1):
            final = k == tables.last
            ends: list[int] = []
            for slots, pasts in made[k].items():
                here = tables.edges[k]
                if final and not here.kleene:
                    ends += pasts
                    continue
                if page.nodes + page.links > tables.runs_max:
                    self.lost += 1
                    continue
                complete = final and here.ended(slots)
                hopeless = here.kleene and here.hopeless(slots, final)
                if hopeless and not complete:
                    continue
                group = self.groups[k].get(slots) or RunGroup(slots)
                if not hopeless:
                    self.groups[k][slots] = group
                nodes: list[int] = []
                if NOTHING in pasts:
                    nodes.append(int(page.node(item, row, k, time, position, NOTHING, time, mark)))
                union = self._united(pasts)
                if union >= 0:
                    nodes.append(int(page.node(item, row, k, time, position, union, page.best_of(union), mark)))
                cleans = not final and len(tables.edges[k + 1].marks) > 0
                for node in reversed(nodes):  # newer first events come first
                    best = page.bests[node - page.base]
                    group.union = page.link(node, best, group.union)
                    if cleans:
                        group.clean = page.link(node, best, group.clean)
                if complete:
                    ends += [int(page.link(node, page.bests[node - page.base], NOTHING)) for node in nodes]
            if ends:
                self._report(ends, row if not tables.edges[k].kleene else None, time, item, found)

    def _united(self, pasts: list[int]) -> i64:
        """One union of several, with newer first events first; NOTHING if the event is a first event only."""
        if len(pasts) == 1:
            return pasts[0]
        page = self.page
        self.tables.account.spend(len(pasts))
        order = sorted([(page.best_of(union), union) for union in pasts if union >= 0])
        if len(order) == 1:
            return order[0][1]
        united: i64 = NOTHING
        for best, union in order:
            united = page.link(-2 - union, best, united)
        return united

    def _clean(self, k: i64, here: Edges) -> None:
        """Drop from each `clean` union the nodes before a negated event that has come since."""
        newest: i64 = self.marked[k]
        for number in here.marks:
            newest = max(newest, self.negated[number].position)
        if newest <= self.marked[k]:
            return
        self.marked[k] = int(newest)
        page = self.page
        for group in self.groups[k - 1].values():
            at = group.clean - page.root
            group.clean = NOTHING
            while at >= 0:  # an entry as new as the negated event is that event itself, which does not stand before it
                node = page.targets[at]
                if node < page.base or page.positions[node - page.base] < newest:
                    break
                group.clean = page.link(node, page.bests[node - page.base], group.clean)
                at = page.nexts[at] - page.root

    def _report(self, ends: list[int], row: Row | None, time: i64, item: Item, found: Completions) -> None:
        tables = self.tables
        shared = Shared(tables, self.page, ends, time - tables.window, row, time, item)
        if tables.plan.automaton.report != Report.COMPRESSED:
            tables.account.spend(self.page.links >> PACKED_BITS)
            if shared.exceeds(tables.matches_max):
                self.lost += 1
                shared.most = tables.matches_max
            tables.account.spend(shared.amount() * tables.match_units)
        found.add(shared)

    # --- upkeep -------------------------------------------------------------------------------------------------

    def settle(self, time: i64, position: i64) -> i64:
        oldest = time - self.tables.window
        left = sum([len(self._alive(k, oldest)) for k in range(len(self.groups))])
        self.page = self.page.turned(oldest)
        return left

    def bytes(self) -> i64:
        tables = self.tables
        groups: i64 = 0
        for several in self.groups:
            groups += len(several)
        return self.page.nodes * tables.event_bytes + self.page.links * LINK_BYTES + groups * tables.run_bytes

    def size(self) -> int:
        return sum(map(len, self.groups))

    def partial(self, oldest: i64) -> Iterator[Assigned]:
        for groups in self.groups:
            for group in groups.values():
                for chain in self.page.paths([int(group.union)], oldest, None):
                    yield self.page.events(chain)

    def check_invariants(self) -> None:
        page = self.page
        for at in range(page.links):
            assert page.nexts[at] < page.root + at, "a link to what is newer"
            behind = page.nexts[at] - page.root
            assert behind < 0 or page.tops[at] >= page.tops[behind], "a link is newer than the link before it"
        for k in range(len(self.groups)):
            for key, group in self.groups[k].items():
                assert key == group.slots
                assert group.union >= 0
                assert group.clean == NOTHING or self.tables.edges[k + 1].marks

    def dump(self, archive: RunsArchive) -> list[Any]:
        groups = [
            [[plain_slots(group.slots), int(group.union), int(group.clean)] for group in several.values()]
            for several in self.groups
        ]
        return [self.page.dump(), groups, self.marked]

    def load(self, data: Any, restored: Restored) -> None:
        page, groups, marked = data
        self.marked = list(marked)
        self.page.load(page)
        for known, several in zip(self.groups, groups):
            for slots, union, clean in several:
                group = RunGroup(slots_of(slots))
                group.union, group.clean = union, clean
                known[group.slots] = group
