"""Register automata that run together: those that begin alike share states, and differ in results only.

A unit is one automaton, or a family of them that differ in a constant. The units of a group are merged into one
automaton, of which each final state is one unit's. Members that leave, or whose arcs change, take their runs along, and
the others never see that.

Here: members, their groups, and whose a result is. Not here: units (owners), merging (merging), runs (speculation), the
contracts of machines (machine, reviser).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....automaton.arc_updates import ChangedArcs
from ....events.schema import Row
from ...matches.sources import Item, WaitingRun
from ...program.account import Account, Full
from ...program.target import Target
from .constants import ALONE, RegisterText, bits
from .found import Contributions, KnownEvents, ResultPage
from .merging import Key, merged, merging_key
from .owners import RegisterMember, ResultOwners, Unit, units_of
from .saving import dump, dump_settled, load
from .speculation import Speculation

SHOWN_MAX: Final = 128  # results that lie together, so that somebody who keeps one keeps them


@final
class MergedUnits:
    """The runs of units that are merged."""

    def __init__(self, units: list[Unit], runs_max: int) -> None:
        self.units = units
        self.runs_max = runs_max
        automata = [unit.automaton() for unit in units]
        self.gone: set[int] = set()
        self.count = sum(len(unit.members) for unit in units)
        self.within = automata[0].within  # they have that in common
        if len(automata) == 1:  # its states keep their numbers, so that arcs may come that lead to others
            owners = [(0, operand) for operand in range(len(automata[0].operands))]
            places = [list(range(len(automata[0].states)))]
            self.speculation = Speculation(automata[0], runs_max * self.count)
        else:
            whole = merged(automata)
            owners, places = whole.owners, whole.places
            self.speculation = Speculation(whole.automaton, runs_max * self.count, labels=whole.labels)
        for unit, states in zip(units, places):
            unit.states = states
        self.owners = ResultOwners(self.speculation.automaton.final, units, owners)
        self.page: ResultPage | None = None  # of the results that were shown last
        self.shown: i64 = 0  # changes that were shown

    def settle(self, known: KnownEvents) -> tuple[ResultPage, list[tuple[RegisterMember, int]]]:
        """The changes since the last call in columns, and by their places, whose each is. Not where they are shown."""
        changes = self.speculation.settle()
        page = ResultPage(self.owners, changes, known, self.within)
        found: list[tuple[RegisterMember, int]] = []
        index: i64
        for index in range(changes.left):
            at = changes.place(index)
            for member in self.owners.members(changes, at):
                if member.number not in self.gone:
                    found.append((member, int(at)))
        return page, found

    def show(self, known: KnownEvents) -> tuple[ResultPage, i64, i64]:
        """The results since the last call, from a place to below another; none is ever withdrawn. O(1)."""
        changes = self.speculation.changes
        page, first, upto = self.page, self.shown, changes.count
        if page is None or page.changes is not changes or page.known is not known:
            page = self.page = ResultPage(self.owners, changes, known, self.within)
        changes.show(self.speculation.arena)
        self.shown = upto
        if upto >= SHOWN_MAX:
            self.speculation.turn()
            self.shown = 0
        return page, first, upto

    def amount(self, page: ResultPage, first: i64, upto: i64) -> int:
        """How many results these are for all members."""
        if self.owners.single and len(self.gone) == 0:
            return int(upto - first)
        amount = 0
        at: i64
        for at in range(first, upto):
            if len(self.gone) == 0:
                amount += self.owners.count(page.changes, at)
            else:
                owners = self.owners.members(page.changes, at)
                amount += len([1 for member in owners if member.number not in self.gone])
        return amount

    def without(self, gone: RegisterMember) -> MergedUnits | None:
        """The group when a member has left; None without members. O(1), and now and then O(runs)."""
        self.gone.add(gone.number)
        left = self.count - len(self.gone)
        if left == 0:
            return None
        return self if left >= len(self.gone) else self.restricted()

    def restricted(self) -> MergedUnits:
        """The same group, of those who are left. O(runs, and events that are not final)."""
        units: list[Unit] = []
        for unit in self.units:
            kept = [member for member in unit.members if member.number not in self.gone]
            if kept:
                units.append(Unit(unit.places, kept))
        return self._pass(MergedUnits(units, self.runs_max))

    def apart(self, member: RegisterMember) -> MergedUnits:
        """A group of one member with its runs. Costs as `restricted`."""
        return self._pass(MergedUnits([Unit(ALONE, [member])], self.runs_max))

    def _pass(self, other: MergedUnits) -> MergedUnits:
        """Let another group of some of the members have their runs."""
        newest, promised, timelines, swept = dump(self.speculation)
        passed = [[key, other.own_nodes(self, nodes), entries] for key, nodes, entries in timelines]
        load(other.speculation, [newest, promised, passed, swept])
        other.speculation.settle()  # what is found again was reported
        return other

    def own_nodes(self, before: MergedUnits, nodes: list[list[Any]]) -> list[list[Any]]:
        """The saved runs of another group that are of units here, in the states that they have here."""
        states: list[tuple[Unit, Unit, dict[int, int], list[int]]] = []
        for unit in self.units:
            was = next(each for each in before.units if unit.members[0] in each.members)
            to: dict[int, int] = {}
            for state, whole in zip(was.states, unit.states):
                to.setdefault(state, whole)  # states that no run reaches are behind the start
            own = {member.number for member in unit.members}
            numbers = [number for number, member in enumerate(was.members) if member.number in own]
            states.append((unit, was, to, numbers))
        found: list[list[Any]] = []
        for start, order, state, registers, trace, taken in nodes:
            seen: set[int] = set()
            for unit, was, to, numbers in states:
                mine = to.get(state)
                if mine is None or mine in seen:
                    continue
                family = was.family
                kept = tuple(registers)  # saved, they are a list
                if family is not None:
                    if state != 0 and not any(family.may_be(number, kept, 0) for number in numbers):
                        continue
                    if unit.family is None:
                        kept = family.own(kept)
                seen.add(mine)
                found.append([start, order, mine, list(kept), trace, taken])
        return found


@final
class RegistersTogether:
    """All members of a machine. Groups are made when the first event comes: until then members may join and change.

    Each member adds to the account what it would have alone."""

    def __init__(self, account: Account, within: int | None, work_max: int, work_earned: int, runs_max: int) -> None:
        self.account = account
        self.contributions = Contributions(within)
        self.work_max = work_max
        self.work_earned = work_earned
        self.runs_max = runs_max
        self.members: dict[int, RegisterMember] = {}
        self.groups: list[MergedUnits] = []
        self.begun = False
        self.made = 0

    def join(self, target: Target, text: RegisterText, number: int) -> RegisterMember:
        """Add a member, before the first event; `number`: -1 for the next one."""
        assert not self.begun
        if self.members:
            self.account.widen(self.work_max, self.work_earned)
        self.contributions.keep(text.within)
        number = self.made if number < 0 else number
        member = self.members[number] = RegisterMember(target, text, number)
        self.made = max(self.made, number + 1)
        return member

    def leave(self, member: RegisterMember) -> None:
        """Remove one. O(1), and now and then O(runs of its group)."""
        del self.members[member.number]
        if self.begun:
            at = self._place(member)
            self._put(at, self.groups[at].without(member))
        if self.members:
            self.account.widen(-self.work_max, -self.work_earned)

    def _place(self, member: RegisterMember) -> int:
        """Where the group of a member is."""
        for at, group in enumerate(self.groups):
            if member.number not in group.gone and any(member in unit.members for unit in group.units):
                return at
        raise AssertionError("each member is in a group")

    def _put(self, at: int, group: MergedUnits | None) -> None:
        if group is None:
            del self.groups[at]
        else:
            self.groups[at] = group

    def described(self, kept: str) -> str:
        """How runs are `kept`, and how members run together, for people."""
        if len(self.members) == 1:
            return kept
        units = units_of(list(self.members.values())) if not self.begun else [u for g in self.groups for u in g.units]
        families = [len(unit.members) for unit in units if unit.places != ALONE]
        text = f"{kept}, as one with {len(self.members) - 1} others that begin alike"
        if not families:
            return text
        most = max(len(bits(unit.places)) for unit in units)
        differ = {1: "one constant", 2: "two constants"}.get(most, f"{most} constants")
        return f"{text}; {sum(families)} of them differ in {differ} only and share all states"

    def begin(self) -> None:
        """Make the groups. O(arcs)."""
        if self.begun:
            return
        self.begun = True
        units = units_of(list(self.members.values()))
        by_key: dict[Key, list[Unit]] = {}
        for unit in units:
            key: Key = () if len(units) == 1 else merging_key(unit.automaton())
            by_key.setdefault(key, []).append(unit)
        self.groups = [MergedUnits(each, self.runs_max) for each in by_key.values()]

    def clear(self) -> None:
        """Forget all runs."""
        self.contributions = Contributions(self.contributions.within)
        self.groups = []
        self.begun = False

    def take(self, stream: i64, time: i64, order: i64, item: Item, row: Row) -> None:
        """Process an event. Costs as one for each group."""
        number = self.contributions.take(time, item)
        before = self.work()
        if not self.begun:
            self.begin()
        for group in self.groups:
            group.speculation.take(stream, time, order, number, row)
        self.keep_within(self.account.room)
        self.account.spend(1 + self.work() - before)

    def retract(self, stream: i64, time: i64, order: i64, row: Row) -> None:
        before = self.work()
        for group in self.groups:
            group.speculation.retract(stream, time, order, row)
        self.account.spend(1 + self.work() - before)

    def punctuate(self, time: int) -> None:
        for group in self.groups:
            group.speculation.punctuate(time)
        self.contributions.clean(time)

    def punctuate_key(self, key: Row, time: int) -> None:
        for group in self.groups:
            group.speculation.punctuate_key(key, time)

    def write(self, member: RegisterMember, changed: ChangedArcs) -> None:
        """Replace the arcs of a member. The others keep theirs.

        O(arcs, and events in the interval); the first time for a member that shares states, also O(runs of
        its group).
        """
        if not self.begun:
            member.write(changed.automaton)
            return
        at = self._place(member)
        group = self.groups[at]
        if group.count > 1 or group.units[0].family is not None:
            alone = group.apart(member)  # with the arcs as they were, under which its runs were reported
            self._put(at, group.without(member))
            self.groups.append(alone)
            group = alone
        member.write(changed.automaton)
        group.speculation.write(changed.automaton.arcs, changed.begin, changed.end)

    def found(self) -> i64:
        """How many changes have not been shown."""
        count: i64 = 0
        for group in self.groups:
            count += group.speculation.changes.count - group.shown
        return count

    def work(self) -> i64:
        """The runs made so far, and meetings of runs that wait."""
        made: i64 = 0
        for group in self.groups:
            made += group.speculation.work()
        return made

    def keep_within(self, room: i64) -> None:
        """Drop what is not needed any more if all takes more than that many bytes. Raises Full if most of it is needed.

        O(automata); amortised O(1) a run.
        """
        if self.stored() <= room:
            return
        for group in self.groups:
            group.speculation.compact()
        if 2 * self.stored() > room:
            raise Full

    def stored(self) -> i64:
        """The bytes of runs and their links to events, as compiled."""
        size: i64 = 0
        for group in self.groups:
            arena = group.speculation.arena
            layout = arena.layout
            size += arena.count * (layout.stride + layout.floats + layout.objects) + 2 * arena.linked
        return 8 * size

    def keys(self) -> int:
        return sum(len(group.speculation.timelines) for group in self.groups)

    def waiting_runs(self, member: RegisterMember, now: int) -> Iterator[WaitingRun]:
        """The runs of a member at a time, or at that of the newest event, which may be those of others, too, in the
        states of its own automaton."""
        if not self.begun:
            return
        group = self.groups[self._place(member)]
        unit = next(each for each in group.units if member in each.members)
        own: dict[int, int] = {}
        for state, whole in enumerate(unit.states):
            own.setdefault(whole, state)
        family, number = unit.family, unit.members.index(member)
        newest = max(now, int(group.speculation.newest))
        for key, state, begun, registers in group.speculation.waiting_runs(now):
            if state in own and (family is None or family.may_be(number, registers, newest - begun)):
                yield WaitingRun(key, own[state], begun, [])

    def statistics(self) -> dict[str, int]:
        figures: dict[str, int] = {}
        for group in self.groups:
            for name, count in group.speculation.statistics().items():
                figures[name] = figures.get(name, 0) + count
        return figures

    def check_invariants(self) -> None:
        for group in self.groups:
            group.speculation.check_invariants()

    def dump(self) -> Any:
        """The groups: their units by the numbers of members, and their runs."""
        saved: list[Any] = []
        for group in self.groups:
            kept = group if len(group.gone) == 0 else group.restricted()
            units = [[unit.places, [member.number for member in unit.members]] for unit in kept.units]
            saved.append([units, dump(kept.speculation)])
        return saved

    def settled(self, member: RegisterMember, time: int) -> Any:
        """The runs of one member before the events from a time on, as `dump` gives them for a member 0 without others;
        None if no event has come. Costs as `apart`."""
        if not self.begun:
            return None
        alone = self.groups[self._place(member)].apart(member)
        return [[[[ALONE, [0]]], dump_settled(alone.speculation, time)]]

    def load(self, data: Any) -> None:
        """The inverse, once all members have joined again."""
        if len(data) == 0:
            return  # no event had come
        self.begun = True
        self.groups = []
        for units, runs in data:
            own = [Unit(place, [self.members[number] for number in numbers]) for place, numbers in units]
            group = MergedUnits(own, self.runs_max)
            load(group.speculation, runs)
            group.speculation.settle()  # what is found again was reported
            self.groups.append(group)
