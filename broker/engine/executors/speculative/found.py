"""The results of register automata as sources of matches.

A result is known by the events that it took, its final state and its registers. Two results of one subscription never
have all three in common, and a withdrawn one has the same as when it was found.

Here: reading results in columns as matches, and the ids that events of published streams stand for. Not here: finding
results, whose they are (owners).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Set
from typing import Any, Final, TypeAlias, cast, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Slots
from ....events.schema import Row, Value
from ...matches.completions import HEADER, Audience, Completions, Events
from ...matches.sources import Item, MadeMatches, MatchColumns, Matched, MatchSource
from ...program.target import Target
from ..trace import MASK
from .changes import Changes
from .owners import RegisterMember, ResultOwners

_BEGUN: Final[Any] = hashlib.blake2b(digest_size=8)
NOBODY: Final[Set[int]] = frozenset()
KnownEvents: TypeAlias = dict[int, tuple[int, tuple[int, ...]]]
"""By the number of an event of a published stream, its time, and the ids behind it."""


@final
class Contributions:
    """The ids behind the events of published streams, by the number of such an event. `within`: how long events live,
    after which nobody asks for theirs any more."""

    def __init__(self, within: int | None) -> None:
        self.within = within
        self.known: KnownEvents = {}

    def keep(self, within: int | None) -> None:
        """Keep them for events that live so long, too."""
        if self.within is not None and within is not None:
            self.within = max(self.within, within)

    def take(self, time: i64, item: Item) -> i64:
        """The number of an event."""
        if isinstance(item, int):
            return item
        self.known[item[0]] = (int(time), item[1])
        number: i64 = item[0]
        return number

    def clean(self, time: int) -> None:
        """Forget events that no run can contain any more. O(known events)."""
        within = self.within
        if within is None:
            return
        if any(at + within < time for at, _ in self.known.values()):  # results that were found may read the old ones
            self.known = {number: known for number, known in self.known.items() if known[0] + within >= time}

    def dump(self) -> list[list[Any]]:
        return [[number, time, list(ids)] for number, (time, ids) in self.known.items()]

    def load(self, data: Any) -> None:
        self.known = {number: (time, tuple(ids)) for number, time, ids in data}


@final
class ResultPage(MatchColumns):
    """Results in columns. `known`: the ids behind events of published streams; `within`: how long events live, None for
    ever. Members with another WITHIN have a page of their own with the same results."""

    def __init__(self, owners: ResultOwners, changes: Changes, known: KnownEvents, within: int | None) -> None:
        super().__init__()
        self.owners = owners
        self.changes = changes
        self.known = known
        self.within = within
        self._others: dict[int, ResultPage] = {}

    def of(self, member: RegisterMember) -> ResultPage:
        """The page of a member."""
        within = member.text.within
        if not self.owners.lives or within is None or within == self.within:
            return self
        page = self._others.get(within)
        if page is None:
            page = self._others[within] = ResultPage(self.owners, self.changes, self.known, within)
        return page

    def match(self, at: i64) -> Matched:
        """The result at a place, with its lifetime (AFA, 3.1) and the number by which it is known."""
        changes = self.changes
        registers = self._registers(at)
        known = self._number(at, registers)
        start, begin = int(changes.start(at)), int(changes.time(at))
        end = None if self.within is None else start + self.within
        items: list[Item] = self.contributed(at)
        return Matched([], start, begin, registers, known, (begin, end), (items, 0, len(items)))

    def _registers(self, at: i64) -> Slots:
        """The values of a result, without those by which a family tells its members."""
        changes, owners = self.changes, self.owners
        registers = changes.registers(at)
        family = None if owners.single else owners.units[changes.state(at) - owners.final].family
        return registers if family is None else family.own(registers)

    def _number(self, at: i64, registers: Slots) -> int:
        changes, owners = self.changes, self.owners
        return identity(int(changes.digest(at)), owners.states[changes.state(at) - owners.final], registers)

    def start(self, at: i64) -> i64:
        return self.changes.start(at)

    def end(self, at: i64) -> i64:
        return self.changes.time(at)

    def details(self, at: i64) -> dict[str, Any] | None:
        changes = self.changes
        end = None if self.within is None else int(changes.start(at)) + self.within
        return {"lifetime": [int(changes.time(at)), end]}

    def number(self, at: i64) -> int:
        return self._number(at, self._registers(at))

    def value(self, at: i64, position: int) -> Value:
        found: Value = self.changes.register(at, position)
        return found

    def contributed(self, at: i64) -> list[int]:
        """The ids that contributed to a result."""
        taken = self.changes.lineage_of(at)
        if len(self.known) == 0:
            return taken
        found: list[int] = []
        for number in taken:
            behind = self.known.get(number)
            if behind is None:
                found.append(number)
            else:
                found.extend(behind[1])
        return found

    def parts(
        self, first: i64, upto: i64, members: dict[int, RegisterMember], gone: Set[int] = NOBODY
    ) -> list[tuple[RegisterMember, LifetimeMatches]]:
        """The results from a place to below another of each of these members, in the order of their numbers. `gone`:
        those whose runs are not these any more."""
        owners, changes = self.owners, self.changes
        if owners.single and upto == first + 1:
            return [
                (member, LifetimeMatches(self.of(member), [int(first)]))
                for member in owners.members(changes, first)
                if member.number in members and member.number not in gone
            ]
        found: dict[int, LifetimeMatches] = {}
        at: i64
        for at in range(first, upto):
            for member in owners.members(changes, at):
                if member.number in members and member.number not in gone:
                    own = found.get(member.number)
                    if own is None:
                        found[member.number] = LifetimeMatches(self.of(member), [int(at)])
                    else:
                        own.places.append(int(at))
        return [(members[number], found[number]) for number in sorted(found)]


@final
@mypyc_attr(acyclic=True)
class LifetimeMatches(MatchSource):
    """Results that were added or withdrawn together, by their places."""

    __slots__ = ("page", "places")

    def __init__(self, page: ResultPage, places: list[int]) -> None:
        self.page = page
        self.places = places

    def amount(self) -> int:
        return len(self.places)

    def all(self) -> Iterator[Matched]:
        for at in self.places:
            yield self.page.match(at)

    def one(self) -> Matched:
        return self.page.match(self.places[0])

    def placed(self) -> tuple[MatchColumns, list[int]] | None:
        return self.page, self.places

    def detached(self) -> MatchSource:
        return MadeMatches(list(self.all()))


@final
class RegistersAudience(Audience):
    """The members of a machine. The numbers of a row are the places of its results, from the first to below the last.
    """

    def __init__(self, members: dict[int, RegisterMember]) -> None:
        super().__init__([member.target for member in members.values()], False)
        self.members = members

    def parts(self, found: Completions, at: i64, events: Events) -> list[tuple[Target, MatchSource | None]]:
        numbers = found.numbers
        page = cast(ResultPage, found.pages[numbers[at + 2] >> 2])
        own = page.parts(numbers[at + HEADER], numbers[at + HEADER + 1], self.members)
        return [(member.target, matches) for member, matches in own]

    def total(self, found: Completions, at: i64) -> int:
        return self.total_of_each(found, at)


def identity(trace: object, state: object, registers: Row) -> int:
    """The number of a result: 63 bits. (Compiled, only objects are written right beyond 62 bits.)"""
    values = repr(registers)  # mypyc makes no short work of !r
    said = f"{trace},{state},{values}"
    each = _BEGUN.copy()  # costs half of a new one
    each.update(said.encode())
    return int.from_bytes(each.digest(), "big") & int(MASK)
