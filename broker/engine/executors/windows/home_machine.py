"""Subscriptions to windows of one key each: one machine for all whose automata are equal but for their conditions.

An event is looked up once by its key, and touches the partitions of the subscriptions to that key only: all else that a
machine of one subscription has for itself, they have in common. Work and limits are counted for each by itself.

Here: members by their keys, the contract of executors. Hot. Not here: the class of an event (home_tests), its effect on
a partition (stepping, completing).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row, Value
from ...matches.completions import Audience, Completions, Everybody
from ...matches.sources import Item, WaitingRun
from ...program.account import FAILED, NOT_SUSPENDED, Account, reason_of
from ...program.target import Outcome, Target
from ..contract import EventExecutor, Member, OwnMember
from .cell import WindowCell, sizes
from .completing import CompletedPanes
from .home_tests import HomeConstants, HomeTests, Shape
from .stepping import Stepper
from .tables import WindowTables
from .window_matches import WindowAudience, waiting_starts


@final
class HomeMember(OwnMember):
    """A subscription to the windows of a key.

    `order`: how many have come before; `tests`, and where its constants `begin`; `cell`: its partition, if it has had
    windows; `behind`: the next subscription to the key.
    """

    __slots__ = ("_audience", "begin", "behind", "cell", "key", "order", "tests")

    def __init__(self, target: Target, left: i64, key: Any, tests: HomeTests, begin: int, order: int) -> None:
        super().__init__(target, left)
        self.key = key
        self.tests = tests
        self.begin: i64 = begin
        self.order = order
        self.cell: WindowCell | None = None
        self.behind: HomeMember | None = None
        self._audience: WindowAudience | None = None

    def audience(self, tables: WindowTables) -> Audience:
        """Its subscribers. O(1)."""
        known = self._audience
        if known is None or known.targets[0] is not self.target:
            known = self._audience = WindowAudience([self.target], tables)
        return known


@final
class HomeMachine(EventExecutor):
    """`homes`: the first subscription to each key. Its own account is that of the current event's subscription, and
    full in between."""

    def __init__(
        self, tables: WindowTables, outcome: Outcome, account: Account, keys_max: int, starts_max: int, events_max: int
    ) -> None:
        super().__init__(account, [])
        self.tables = tables
        self.outcome = outcome
        self.keys_max = keys_max
        self.stepper = Stepper(tables, account, starts_max, events_max)
        self.completing = CompletedPanes(tables, self.stepper, account)
        self.homes: dict[Any, HomeMember] = {}
        self.members: dict[int, HomeMember] = {}
        self.constants = HomeConstants()
        self.orders = 0  # given so far
        self._tests: dict[Shape, HomeTests] = {}

    @property
    def method(self) -> str:
        return f"starts in groups of equal future, for {len(self.members)} members by key; windows told as they end"

    def audience(self) -> Audience:
        return Everybody(self._targets, False)

    def _targets(self) -> list[Target]:
        return [member.target for member in self.members.values()]

    # --- members -----------------------------------------------------------------------------------------------------

    def join(self, values: Sequence[Value], shape: Shape, constants: Sequence[Value]) -> HomeMember:
        """Add a member, which gets the windows that begin from the next event on. O(members of its key)."""
        self.orders += 1
        return self.rejoin(values, shape, constants, self.orders)

    def rejoin(
        self, values: Sequence[Value], shape: Shape, constants: Sequence[Value], order: int
    ) -> HomeMember:
        """Add again a member of a saved machine."""
        self.orders = max(self.orders, order)
        tests = self._tests.get(shape)
        if tests is None:
            tests = self._tests[shape] = HomeTests(shape)
        key = self.tables.key_of(values)
        begin = self.constants.add(tests, constants)
        member = HomeMember(Target(self.outcome, None), self.account.most, key, tests, begin, order)
        self.members[order] = member
        before = self.homes.get(key)
        if before is None or before.order > order:
            member.behind = before
            self.homes[key] = member
        else:
            behind = before.behind
            while behind is not None and behind.order < order:
                before, behind = behind, behind.behind
            before.behind, member.behind = member, behind
        return member

    def leave(self, member: HomeMember) -> None:
        """Remove a member. O(members of its key)."""
        del self.members[member.order]
        self.constants.drop(member.tests, int(member.begin))
        before = self.homes[member.key]
        if before is not member:
            while before.behind is not member:
                assert before.behind is not None
                before = before.behind
            before.behind = member.behind
        elif member.behind is None:
            del self.homes[member.key]
        else:
            self.homes[member.key] = member.behind

    # --- events ------------------------------------------------------------------------------------------------------

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        member = self.homes.get(self.tables.partition(row))
        if member is None:
            return False
        self._pass(member, row, time, item, found)
        return True

    def _pass(self, first: HomeMember, row: Row, time: i64, item: Item, found: Completions) -> None:
        """Pass an event to the members of its key."""
        account = self.account
        member: HomeMember | None = first
        while member is not None:
            column = self.tables.column(self.constants.letter(member.tests, member.begin, row))
            opened = member.cell is not None and member.cell.columns.count > 0
            if member.suspended == NOT_SUSPENDED and (opened or self.tables.begins[column]):
                account.left = min(member.left + account.earned, account.most)
                try:
                    self._take(member, column, row, time, item, found)
                    member.left = account.left
                except Exception as error:  # any error concerns this member only
                    self._suspend(member, error, time, found)
                account.left = account.most
            member = member.behind

    def _take(
        self, member: HomeMember, column: i64, row: Row, time: i64, item: Item, found: Completions
    ) -> None:
        """The effect of an event on the partition of a member that has windows, or begins one now."""
        cell = member.cell
        if cell is None:
            if self.keys_max < 1:
                self._complain(member, 1, found)
                return
            cell = member.cell = WindowCell(member.key, self.tables)
        stepper = self.stepper
        self.account.spend(1 + len(cell.groups))
        if not stepper.step(cell, column, row, time, item):
            if len(cell.groups) > 0:
                found.serve(member.audience(self.tables))
            self.completing.finish(cell, time, found)
        cell.last = time
        cell.count += 1
        if stepper.lost > 0:
            lost = stepper.lost
            stepper.lost = 0
            self._complain(member, lost, found)

    def _complain(self, member: HomeMember, lost: i64, found: Completions) -> None:
        """Report the limits that a member has hit, as often as for a machine by itself."""
        member.lost += lost
        if member.lost >= 2 * member.reported:
            member.reported = member.lost
            found.serve(member.audience(self.tables))
            found.add(None)

    def _suspend(self, member: HomeMember, error: Exception, time: i64, found: Completions) -> None:
        """Drop what is known of a member, which gets no more events."""
        member.suspended = reason_of(error)
        member.since = time
        member.left = 0
        member.cell = None
        self.stepper.lost = 0
        audience = member.audience(self.tables)
        found.serve(audience)
        found.suspend(int(member.suspended))
        if member.suspended == FAILED:
            found.failures.append((int(found.event), audience.everybody(), error))

    # --- state -------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        for member in self.members.values():
            member.cell = None

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        held = False
        for member in self.members.values():
            if member.cell is not None and member.cell.idle(self.tables, time):
                member.cell = None
            held = held or member.cell is not None
        return len(self.members) if held else 0  # as many are looked at to find those that are idle

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        assert isinstance(member, HomeMember)
        return waiting_starts([] if member.cell is None else [member.cell])

    def statistics(self) -> dict[str, int]:
        cells = [member.cell for member in self.members.values() if member.cell is not None]
        return {"window_homes": 1, "home_members": len(self.members), **sizes(cells, "home")}

    def check_invariants(self) -> None:
        assert self.account.left == self.account.most
        assert self.stepper.lost == 0
        known: list[HomeMember] = []
        for key, first in self.homes.items():
            member: HomeMember | None = first
            order = 0
            while member is not None:
                assert member.key == key
                assert member.order > order
                order = member.order
                known.append(member)
                member = member.behind
        assert len(known) == len(self.members)
        for member in known:
            assert self.members[member.order] is member
            assert member.suspended == NOT_SUSPENDED or member.cell is None
            if member.cell is not None:
                member.cell.check_invariants(self.tables)
        places = [(int(one.begin), int(one.begin + one.tests.count)) for one in known if one.tests.count > 0]
        places.sort()
        assert all(end <= begin for (_, end), (begin, _) in pairwise(places))

    def dump(self) -> Any:
        return [
            [order, int(member.lost), int(member.reported), None if member.cell is None else member.cell.dump()]
            for order, member in self.members.items()
            if member.cell is not None or member.lost > 0
        ]

    def load(self, data: Any) -> None:
        for order, lost, reported, saved in data:
            member = self.members[order]
            member.lost, member.reported = lost, reported
            if saved is not None:
                member.cell = WindowCell(member.key, self.tables)
                member.cell.load(saved)
