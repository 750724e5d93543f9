"""A family of window subscriptions, which differ in constants of their conditions: one machine for all.

Here: members in the order of their constants, which partition an event concerns, the contract of executors. Hot. Not
here: the effect of an event on a partition (family_stepping), whose conditions differ in constants
(automaton/analyses/window_family).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, final

from mypy_extensions import i64

from ....automaton.analyses.window_family import WindowFamily
from ....events.schema import Row
from ...matches.completions import Audience, Completions
from ...matches.sources import Item
from ...program.account import Account
from ...program.target import Outcome, Target
from ..contract import Member
from .cell import WindowCell, looked, slots_of
from .family_cell import FamilyCell
from .family_columns import FamilyConstants, tables_of_family
from .family_stepping import FamilyStepper
from .machine import SleepingMachine
from .window_matches import FamilyAudience


@final
class FamilyMember(Member):
    """A subscription with its constants. `order`: members with equal constants are in this order."""

    __slots__ = ("constants", "order")

    def __init__(self, target: Target, constants: tuple[Any, ...], order: int) -> None:
        super().__init__(target)
        self.constants = constants
        self.order = order


def _place(member: FamilyMember) -> tuple[tuple[Any, ...], int]:
    """What members are ordered by."""
    return (member.constants, member.order)


@final
class FamilyMachine(SleepingMachine):
    """The members, and their partitions by the attributes of BY (as WindowMachine)."""

    def __init__(
        self,
        family: WindowFamily,
        outcome: Outcome,
        account: Account,
        keys_max: int,
        starts_max: int,
        events_max: int,
        keyed: bool,
    ) -> None:
        tables, columns, needed = tables_of_family(family, keyed)
        super().__init__(tables, needed, account, keys_max, starts_max, events_max, True)
        self.alone = (int(account.most), int(account.earned))  # what a member has by itself
        self.outcome = outcome
        self.columns = columns
        self.family = FamilyStepper(tables, self.columns, self.stepper, account)
        self.cells: dict[Any, FamilyCell] = {}
        self.constants = FamilyConstants(family.width)
        self.widens = family.width > 1  # what an event costs grows with the members
        self.members: list[FamilyMember] = []
        self.orders = 0  # given so far

    @property
    def method(self) -> str:
        attention = self.needed.attention()
        return f"rectangles of starts and members, for {len(self.members)} members; windows told as they end{attention}"

    def audience(self) -> Audience:
        return FamilyAudience([member.target for member in self.members], self.tables)

    # --- members -----------------------------------------------------------------------------------------------------

    def join(self, constants: tuple[Any, ...]) -> FamilyMember:
        """Add a member, which gets the windows that begin from the next event on. O(members + rectangles)."""
        self.orders += 1
        return self.rejoin(constants, self.orders)

    def rejoin(self, constants: tuple[Any, ...], order: int) -> FamilyMember:
        """Add again a member of a saved machine."""
        self.orders = max(self.orders, order)
        member = FamilyMember(Target(self.outcome, None), constants, order)
        at = bisect_left(self.members, (constants, order), key=_place)
        self.constants.insert(at, member.constants)
        if self.widens and len(self.members) > 0:
            self.account.widen(self.alone[0], self.alone[1])
        self.members.insert(at, member)
        for cell in self.cells.values():
            cell.insert(at)
        return member

    def leave(self, member: FamilyMember) -> None:
        """Remove a member. O(members + rectangles)."""
        at = bisect_left(self.members, _place(member), key=_place)
        self.constants.remove(at)
        del self.members[at]
        if self.widens and len(self.members) > 0:
            self.account.widen(-self.alone[0], -self.alone[1])
        for cell in self.cells.values():
            cell.remove(at)
        self._count()

    def _count(self) -> None:
        self.count_opened(sum([len(cell.groups) > 0 for cell in self.cells.values()]) - self.opened)

    # --- events ------------------------------------------------------------------------------------------------------

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        tables = self.tables
        key: Any = tables.partition(row)
        if key is None:
            return False
        family = self.cells.get(key)
        if family is None and not tables.forgets:
            family = self._cell(key)
            if family is None:
                return False
        cell = None if family is None else family.cell
        slots = slots_of(tables, cell, time)
        held = mask >> self.shift
        if len(tables.gaps) > 0:
            held |= looked(tables, cell, row, time, slots)
        self.columns.divide(self.constants, held, row, slots)
        if tables.forgets and (family is None or len(family.groups) == 0) and not self.family.begins():
            return False  # it is in no window
        if family is None:
            family = self._cell(key)
            if family is None:
                return False
        opened = len(family.groups) > 0
        self.account.spend(1 + len(family.groups))
        self.family.step(family, row, time, item, found)
        if self.sleeps and opened != (len(family.groups) > 0):
            self.count_opened(-1 if opened else 1)
        if len(family.cell.before) > 0:
            family.cell.remember(row, time)
        if self.stepper.lost > 0:
            self.complain()
        return True

    def _cell(self, key: Any) -> FamilyCell | None:
        """A new partition; None beyond the most of them."""
        if len(self.cells) >= self.keys_max:
            self.lost += 1
            return None
        before: list[int] = []
        if not self.tables.forgets and len(self.members) > 0:
            before = [len(self.members), int(self.tables.initial[0])]
        family = self.cells[key] = FamilyCell(WindowCell(key, self.tables), before)
        return family

    # --- state -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        self.cells = {}
        self._count()

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        for key in [key for key, cell in self.cells.items() if cell.idle(self.tables, time)]:
            del self.cells[key]
        self._count()
        return len(self.cells)

    def statistics(self) -> dict[str, int]:
        cells = self.cells.values()
        return {
            "window_families": 1,
            "family_members": len(self.members),
            "family_keys": len(cells),
            "family_starts": sum([int(cell.cell.columns.count) for cell in cells]),
            "family_rectangles": sum([int(group.count) for cell in cells for group in cell.groups]),
            "family_events": sum([len(cell.cell.columns.items) for cell in cells]),
        }

    def check_invariants(self) -> None:
        order = [_place(member) for member in self.members]
        assert order == sorted(order)
        assert list(zip(*self.constants.by_place)) == [member.constants for member in self.members]
        for key, cell in self.cells.items():
            assert cell.cell.key == key
            cell.check_invariants(self.tables, len(self.members))
        assert not self.sleeps or self.opened == sum(len(cell.groups) > 0 for cell in self.cells.values())

    def dump(self) -> Any:
        return [cell.dump() for cell in self.cells.values()]

    def load(self, data: Any) -> None:
        for each in data:
            key = self.tables.key_of(each[0][0])
            cell = self.cells[key] = FamilyCell(WindowCell(key, self.tables), [])
            cell.load(each)
        self._count()
