"""The machine of a group: members, a cell for each partition, and the events that matches may have.

Here: the cell that an event concerns, joining and leaving. Hot. Not here: the effect of an event in a cell (each
mechanism), writing rows of completions (rows) and reading them (audience), groups over epochs (epoch_machine).
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, Final, TypeAlias, cast, final

from mypy_extensions import i64

from ....events.schema import Row
from ...matches.completions import Audience, Completions
from ...matches.sources import Item, WaitingRun, waiting_run
from ...program.account import UNLIMITED, Account
from ...program.target import Outcome, Target
from ..contract import EVERY_EVENT, NOTHING_DUE, SATISFYING, ByPlace, EventExecutor, Input, Interest, Member
from .audience import GroupAudience
from .cell import GroupCell
from .epoch_runs import EpochRuns
from .kept_events import KeptEvents
from .making import CellRecipe
from .members import Members
from .rows import tell
from .stamps import Stamps
from .wide_rows import wide_rows

Key: TypeAlias = Any  # a value, or a tuple of values
_AWAKE: Final = Interest(-1, EVERY_EVENT)
FREE: Final = Account(UNLIMITED, UNLIMITED)  # of all groups that spend nothing
FEW: Final = 64  # useless entries up to which they are not cleared away


@final
class GroupMember(Member):
    """A subscription by its handle."""

    __slots__ = ("handle",)

    def __init__(self, target: Target, handle: int) -> None:
        super().__init__(target)
        self.handle = handle


class GroupMachine(EventExecutor, ByPlace):
    """The members of one template and key.

    `number`: that of the last event. `events_max`: the most events that it keeps; beyond them it drops all waiting
    runs. `fixed`: by position the values that all its events have.
    """

    def __init__(
        self,
        recipe: CellRecipe,
        inputs: list[Input],
        outcome: Outcome,
        events_max: int,
        runs: EpochRuns | None = None,
        account: Account | None = None,
    ) -> None:
        template = recipe.template
        super().__init__(account or FREE, inputs)
        self._events_max: i64 = events_max
        self.outcome = outcome
        self.number: i64 = 0
        self.fixed: dict[int, Any] = {}
        self.members = Members(recipe.dimensions)
        self.events = KeptEvents()
        self.cells: dict[Key, GroupCell] = {}
        self._recipe = recipe
        self._runs = runs
        self._stamps = Stamps()
        self._newcomers: list[Target] = []  # which the machine has not welcomed yet
        self._parts: list[int] = list(template.parts)
        self._single: i64 = self._parts[0] if len(self._parts) == 1 else -1
        self._late = template.late
        self._wakes = template.wakes
        self._wide = wide_rows(template.wide)
        self._found = recipe.found  # used by one event at a time
        self._one: GroupCell | None = None  # the only cell, if there are no partitions
        self._due: list[tuple[int, int, GroupCell]] = []  # a heap of cells that wait for time
        self._handles = 0  # count of handles so far
        self._free: list[int] = []
        orders = [[template.operands[step] for step in order] for order in template.orders]
        self._audience = GroupAudience(
            recipe.outputs, list(template.slots), template.counted, runs, orders, recipe.selection
        )  # fmt: skip
        self._settled: i64 = 0

    @property
    def method(self) -> str:
        name = self._recipe.mechanism.value
        return f"{'an' if name[0] in 'ai' else 'a'} {name} for {int(self.members.count)} members"

    def audience(self) -> Audience:
        """O(1)."""
        return self._audience

    # --- members ------------------------------------------------------------------------------------------------

    def join(self, point: list[float], texts: tuple[Any, ...] = ()) -> GroupMember:
        """Add a member, which gets the matches that begin from the next event on. O(pages + page).

        `texts`: of each step, if steps have texts of their own.
        """
        if self._free:
            handle = self._free.pop()
        else:
            handle = self._handles
            self._handles += 1
        return self._enter(handle, point, int(self.number) + 1, texts)

    def rejoin(self, handle: int, point: list[float], since: int, texts: tuple[Any, ...] = ()) -> GroupMember:
        """Add again a member of the saved group."""
        self._handles = max(self._handles, handle + 1)
        return self._enter(handle, point, since, texts)

    def _enter(self, handle: int, point: list[float], since: int, texts: tuple[Any, ...]) -> GroupMember:
        target = Target(self.outcome, None)
        self.members.put(handle, point, since)
        self._recipe.joined(self.members, handle, point, since, texts)
        self._audience.members[handle] = target
        if self._runs is not None:
            self._newcomers.append(target)
        return GroupMember(target, handle)

    def leave(self, member: GroupMember, point: list[float]) -> None:
        """Remove a member. O(pages + page + cells), and occasionally O(members).

        Its results stay valid: its handle is not reused before there is another audience.
        """
        handle = member.handle
        self.members.remove(handle, point)
        self._recipe.left(self.members, handle, point)
        for cell in self.cells.values():
            cell.forget(handle)
        audience = self._audience
        audience.gone[handle] = None
        if 2 * len(audience.gone) > len(audience.members) + FEW:
            self._audience = audience.remaining()
            self._free.extend(audience.gone)

    # --- events -------------------------------------------------------------------------------------------------

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        if self._wide is not None:
            row = self._wide.of(stream, row)
        if len(self._newcomers) > 0:
            self._welcome()
        self.number += 1
        cell = self._one
        if cell is None:
            cell = self._cell(row, time, mask != 0)
            if cell is None:
                return False
        event = self.number
        start: i64 = found.start_of(found.event) if self._runs is not None else time
        cell.began = start
        cell.position = position
        cell.place = place
        cell.item = item
        out = self._found
        if out.members_upto > 0:  # of an event that completed nothing, or failed
            out.clear()
        cell.take(row, time, event, out)
        if cell.lost > 0:
            self.lost += cell.lost
            cell.lost = 0
        noted = cell.noted == event
        if noted:
            self.events.add(event, row, start, time, item)
        if out.upto > 0:
            self._tell(found)
        if self._late:
            self._wait(cell)
        if noted and self.events.grown():
            self._sweep(time)
        if self._wakes:
            self.interest = _AWAKE if self._one is None or not cell.quiet(time) else SATISFYING
        return True

    def _cell(self, row: Row, time: i64, begins: bool) -> GroupCell | None:
        """The cell of the event's partition; None if it has no partition, or begins nothing where nothing waits."""
        single = self._single
        key: Key = row[single] if single >= 0 else tuple([row[at] for at in self._parts])
        cell = self.cells.get(key)
        if cell is None:
            if key is None or (single < 0 and None in key) or not begins:
                return None
            if len(self.cells) > 2 * self._settled + FEW:
                self._settle(time)
            cell = self.cells[key] = self._made()
            if len(self._parts) == 0:
                self._one = cell
        return cell

    def _made(self) -> GroupCell:
        """A cell without waiting runs."""
        return self._recipe.make(self.members, self.events, self._runs, self._stamps)

    def advance(self, time: i64, found: Completions) -> None:
        one, due = self._one, self._due
        if one is not None:
            one.advance(time, self._found)
            self._wait(one)
            if self._found.upto > 0:
                self._tell(found)
            return
        while len(due) > 0 and due[0][0] < time:
            until, first, cell = heappop(due)
            if cell.alarm == until and cell.awaited == first:  # otherwise it woke earlier
                cell.alarm = NOTHING_DUE
                if cell.due() == until and cell.first() == first:
                    cell.advance_first(self._found)
                self._wait(cell)
        if self._found.upto > 0:
            self._tell(found)
        self.alarm = due[0][0] if len(due) > 0 else NOTHING_DUE

    def _wait(self, cell: GroupCell) -> None:
        """Schedule a cell to wake when time completes its oldest run; where that ends before, it wakes for nothing."""
        until = cell.due()
        if cell is self._one:
            self.alarm = until
            return
        if until < NOTHING_DUE and until <= cell.alarm:
            first = cell.first()
            if until < cell.alarm or first != cell.awaited:  # an earlier run may be due at the same time
                heappush(self._due, (until, first, cell))
                cell.alarm, cell.awaited = until, first
                if until < self.alarm:
                    self.alarm = until

    def _welcome(self) -> None:
        """Note what new members want to be told."""
        raise AssertionError

    def _tell(self, found: Completions) -> None:
        """Write the completions of an event. O(members and paths)."""
        tell(self._found, self.events.page, self._audience.compressed, found)
        self._found.clear()

    # --- upkeep -------------------------------------------------------------------------------------------------

    def _settle(self, time: i64) -> None:
        """Drop partitions without waiting runs. O(cells)."""
        for key in [key for key, cell in self.cells.items() if cell.quiet(time)]:
            del self.cells[key]
        self._one = self.cells.get(())
        self._settled = len(self.cells)

    def _sweep(self, time: i64) -> None:
        """Drop most of the events, or else all, that no match can have any more. O(waiting runs)."""
        self._settle(time)
        oldest: i64 = self.number
        for cell in self.cells.values():
            oldest = cell.oldest(oldest)
        if self.events.drop(oldest) and self.events.page.count <= self._events_max:
            return
        used: set[int] = set()
        for cell in self.cells.values():
            cell.used(used)
        self.events.sweep(used)
        if len(used) > self._events_max:  # members with waiting runs get a report that matches may be missing
            self.lost += 1
            self.clear()

    def clear(self) -> None:
        self.cells = {}
        self._one = None
        self._due = []
        self.events.sweep(set())
        self.alarm = NOTHING_DUE

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        self._settle(time)
        if not self.cells:
            self.interest = SATISFYING
        return len(self.cells)

    def partitions(self) -> set[tuple[Any, ...]]:
        parted, found = self._recipe.template.partition, set()
        for key in self.cells:
            values = {**self.fixed, **dict(zip(self._parts, self._whole(key)))}
            found.add(tuple([values[position] for position in parted]))
        return found

    def _whole(self, key: Key) -> tuple[Any, ...]:
        return key if self._single < 0 else (key,)

    # --- inspection ---------------------------------------------------------------------------------------------

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun]:
        """O(members' handles), then what is read."""
        page, handle = self.events.page, cast(GroupMember, member).handle
        point, since = self.members.member(handle)
        for key, cell in self.cells.items():
            whole = self._whole(key)
            own = cell.assigned(handle, point, since, time)
            if own is None:
                own = []
                for path in sorted(sorted(cell.live(handle, point, since, time)), key=len):
                    at = [page.place(number) for number in path]
                    own.append([(step, page.item(each), int(page.time(each))) for step, each in enumerate(at)])
            for assigned in own:
                yield waiting_run(whole, assigned)

    def statistics(self) -> dict[str, int]:
        return {
            "groups": 1,
            "group_members": int(self.members.count),
            "group_cells": len(self.cells),
            "group_events": int(self.events.page.count),
        }

    def check_invariants(self) -> None:
        self.members.check_invariants()
        self.events.check_invariants()
        audience = self._audience
        assert len(audience.members) - len(audience.gone) == self.members.count
        assert {handle for handle, _, _ in self.members.each()} == audience.members.keys() - audience.gone.keys()
        page, used = self.events.page, set[int]()
        for cell in self.cells.values():
            cell.check_invariants()
            cell.used(used)
        assert used <= {int(page.number(at)) for at in range(int(page.count))}

    # --- snapshots ----------------------------------------------------------------------------------------------

    def since(self, member: GroupMember, point: list[float]) -> int:
        """The number of the first event that counts for the member. O(pages + page)."""
        return int(self.members.since(member.handle, point))

    def dump(self) -> Any:
        cells = [[list(self._whole(key)), cell.dump()] for key, cell in self.cells.items()]
        return [int(self.number), self.events.dump(), cells]

    def load(self, data: Any) -> None:
        self.number, events, cells = data
        self.events.load(events)
        for key, dumped in cells:
            cell = self.cells[tuple(key) if self._single < 0 else key[0]] = self._made()
            cell.load(dumped)
        self._one = self.cells.get(())
        self.interest = _AWAKE if self._wakes and self.cells else SATISFYING
        for cell in self.cells.values():
            self._wait(cell)
        known = self._audience.members
        self._free = [handle for handle in range(self._handles) if handle not in known]
