"""The truth for groups: each member alone, run by run, straight from the rules of epochs and of arrival.

A template is written with operators and literals, as a query has them; nothing of `executors/groups` is used but for
the host at the end, which joins members, hands on events and reads blocks.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from doubles import read_blocks

from broker.engine.executors.groups.blocks import MatchBlocks

Row = tuple[float | int | None, ...]
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip

NEXT, SKIP = "next", "skip"


class Event(NamedTuple):
    number: int
    time: int
    key: str
    row: Row


class Condition(NamedTuple):
    """`value operator literal`; the value is an attribute, DUR or the span; with `bound`, a step and an attribute, the
    literal multiplies that register (`factor`) or is added to it (`offset`)."""

    literal: int
    source: str
    operator: str
    attribute: int = -1
    bound: tuple[int, int] = (0, 0)


Clauses = Sequence[Sequence[Condition]]


@dataclass(frozen=True)
class Step:
    """How a run waits for it, what the event must satisfy (one clause of several), and what kills the run meanwhile."""

    stay: str
    clauses: Clauses
    kill: Clauses = ()


@dataclass
class Run:
    path: list[Event]
    touched: int | None = None
    born: int = 0


def holds(condition: Condition, event: Event, path: Sequence[Event], literals: Sequence[float]) -> bool:
    literal: float = literals[condition.literal]
    start = path[0].time if path else event.time
    value: float | None
    if condition.source == "span":
        value = event.time - start
    elif condition.source == "duration":
        value = event.time - start + 1
    else:
        value = event.row[condition.attribute]
    if value is None:
        return False
    if condition.source in ("factor", "offset"):
        step, attribute = condition.bound
        register = path[step].row[attribute]
        if register is None:
            return False
        literal = literal * register if condition.source == "factor" else register + literal
        if literal - literal != 0.0:
            return False
    return OPERATORS[condition.operator](value, literal)


def satisfied(clauses: Clauses, event: Event, path: Sequence[Event], literals: Sequence[float]) -> bool:
    return any(all(holds(c, event, path, literals) for c in clause) for clause in clauses)


def alone(
    steps: Sequence[Step], events: Iterable[Event], literals: Sequence[float], arrival: bool = False
) -> list[tuple[int, ...]]:
    """The paths that one member's runs complete, in the order in which an event visits its runs."""
    runs: list[Run] = []
    found: list[tuple[int, ...]] = []
    for place, event in enumerate(events):
        now = place if arrival else event.time
        new = [Run([event], born=now)] if satisfied(steps[0].clauses, event, (), literals) else []
        kept = []
        for run in runs:
            if run.touched is not None and run.touched < now:
                continue
            kept.append(run)
            if run.born >= now:
                continue
            step = steps[len(run.path)]
            holding = satisfied(step.clauses, event, run.path, literals)
            if holding or step.stay == NEXT:
                run.touched = now
            elif satisfied(step.kill, event, run.path, literals):
                kept.pop()
            if holding and len(run.path) + 1 == len(steps):
                found.append((*(each.number for each in run.path), event.number))
            elif holding:
                new.append(Run([*run.path, event], born=now))
        runs = kept + new
    return found


def every(
    steps: Sequence[Clauses], events: Sequence[Event], literals: Sequence[float], within: int
) -> list[tuple[int, ...]]:
    """Any match: the combinations, by their last event."""
    found = []
    for path in combinations(events, len(steps)):
        if path[-1].time - path[0].time <= within:
            if all(satisfied(clauses, event, (), literals) for clauses, event in zip(steps, path)):
                found.append(tuple(event.number for event in path))
    return sorted(found, key=lambda path: path[-1])


# --- the host -------------------------------------------------------------------------------------------------------


class Join(NamedTuple):
    key: str
    literals: tuple[float, ...]


class Leave(NamedTuple):
    which: int


class Save(NamedTuple):
    pass


class Tick(NamedTuple):
    key: str
    after: int
    row: Row


Action = Join | Leave | Save | Tick


@dataclass
class Member:
    handle: int
    key: str
    literals: tuple[float, ...]
    point: list[float]
    joined: int
    left: int = 1 << 60
    found: list[tuple[int, ...]] = field(default_factory=list)


class Host:
    """Cells by key. `make` makes one, `turn` a member's literals into a point."""

    def __init__(self, make: Callable[[], Any], turn: Callable[[Sequence[float]], list[float]]) -> None:
        self.make = make
        self.turn = turn
        self.cells: dict[str, Any] = {}
        self.members: list[Member] = []
        self.events: list[Event] = []
        self.out = MatchBlocks()
        self.time = 0

    def play(self, script: Iterable[Action]) -> None:
        for action in script:
            match action:
                case Join(key, literals):
                    self.join(key, literals)
                case Leave(which):
                    here = [member for member in self.members if member.left == 1 << 60]
                    if here:
                        self.leave(here[which % len(here)])
                case Tick(key, after, row):
                    self.time += after
                    self.tick(key, row)
                case Save():
                    self.save()
            if not isinstance(action, Tick):
                self.check()
        self.check()

    def check(self) -> None:
        for cell in self.cells.values():
            cell.check_invariants()

    def cell(self, key: str) -> Any:
        if key not in self.cells:
            self.cells[key] = self.make()
        return self.cells[key]

    def join(self, key: str, literals: tuple[float, ...]) -> None:
        member = Member(len(self.members), key, literals, self.turn(literals), len(self.events))
        self.members.append(member)
        self.joined(self.cell(key), member.handle, member.point, member.joined)

    @staticmethod
    def joined(cell: Any, handle: int, point: list[float], since: int) -> None:
        cell.members.put(handle, point, since)
        if hasattr(cell, "joined"):
            cell.joined(handle, point, since)

    def leave(self, member: Member) -> None:
        member.left = len(self.events)
        cell = self.cells[member.key]
        cell.members.remove(member.handle, member.point)
        if hasattr(cell, "left"):
            cell.left(member.handle, member.point)
        cell.forget(member.handle)

    def tick(self, key: str, row: Row) -> None:
        event = Event(len(self.events), self.time, key, row)
        self.events.append(event)
        self.out.event = event.number
        cell = self.cell(key)
        cell.began, cell.item = event.time, event.number
        cell.take(row, event.time, event.number, self.out)
        self.read()

    def read(self) -> None:
        read_blocks.check(self.out)
        found = list(read_blocks.each(self.out))
        assert read_blocks.count(self.out) == len(found)
        for match in found:
            self.members[match.handle].found.append(match.path)
        self.out.clear()

    def save(self) -> None:
        """Cells are written, and made anew from what was written; members join anew in another order."""
        for key, cell in list(self.cells.items()):
            fresh = self.make()
            for handle, point, since in sorted(cell.members.each(), key=lambda each: -each[0]):
                self.joined(fresh, handle, point, since)
            fresh.load(cell.dump())
            self.cells[key] = fresh

    def seen(self, member: Member) -> list[Event]:
        """The events of the member's key while it was here."""
        return [event for event in self.events[member.joined : member.left] if event.key == member.key]
