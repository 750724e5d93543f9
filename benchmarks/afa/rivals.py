"""Other ways to run a register automaton over late events: the paper's two passes, restarting, holding back.

`TwoPasses` is algorithm 1 of the AFA paper, with a node object for each run and event, lists instead of the red-black
tree, and its equal descriptions merged, as its prose says. `Restarting` has no repair: a late event, or a change of the
arcs, begins a new operator with all events that are not final. `Cleanse` (5.3) lets events wait that are more than
`speculation` ahead of the last punctuation, in front of any operator.

Here: the operators, written for mypyc, as what they are compared with is compiled. Not here: queries and events
(workloads), running them (rivals_trial).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol, final

Registers = tuple[Any, ...]
Row = tuple[Any, ...]
Told = tuple[bool, int, int, Registers]  # whether it came, start, end, registers


class RivalArc(NamedTuple):
    """One arc: `fence` says whether it takes an event, `transfer` gives the registers behind it."""

    target: int
    fence: Callable[[Row, Registers], bool]
    transfer: Callable[[Row, Registers], Registers]


Arcs = dict[int, list[RivalArc]]
BEGIN: Final = 0


@final
class PartialMatch:
    def __init__(self, start: int, until: int, state: int, registers: Registers) -> None:
        self.start = start
        self.until = until
        self.state = state
        self.registers = registers


@final
class EventEntry:
    def __init__(self, row: Row, nodes: list[PartialMatch]) -> None:
        self.row = row
        self.nodes = nodes


class Operator(Protocol):
    told: list[Told]

    def take(self, time: int, row: Row) -> None: ...

    def punctuate(self, time: int) -> None: ...


@final
class TwoPasses:
    """`told`: all that was told, in order; `made`: the nodes made; `visited`: the entries that a late event visits."""

    def __init__(self, arcs: Arcs, final: int, initial: Registers, within: int) -> None:
        self.arcs = arcs
        self.final = final
        self.initial = initial
        self.within = within
        self.times: list[int] = []
        self.entries: list[EventEntry] = []
        self.told: list[Told] = []
        self.made = 0
        self.visited = 0

    def take(self, time: int, row: Row) -> None:
        """Insert an event."""
        times = self.times
        at = len(times)
        late = at > 0 and time < times[at - 1]
        if late:
            at = bisect_left(times, time)
            self._remove_invalid(at, time)
        before = self.entries[at - 1].nodes if at > 0 else []
        first = PartialMatch(time, time + self.within, BEGIN, self.initial)
        nodes = self._make([*before, first], time, row)
        self._tell(nodes, time, True)
        times.insert(at, time)
        self.entries.insert(at, EventEntry(row, nodes))
        if late:
            self._propagate(at)

    def _make(self, nodes: list[PartialMatch], time: int, row: Row) -> list[PartialMatch]:
        found: list[PartialMatch] = []
        for node in nodes:
            if node.until <= time:
                continue
            for arc in self.arcs.get(node.state, ()):
                if arc.fence(row, node.registers):
                    registers = arc.transfer(row, node.registers)
                    if not self._is_there(found, node.start, arc.target, registers):
                        found.append(PartialMatch(node.start, node.until, arc.target, registers))
                        self.made += 1
        return found

    def _is_there(self, found: list[PartialMatch], start: int, state: int, registers: Registers) -> bool:
        at = len(found) - 1
        while at >= 0 and found[at].start == start:
            if found[at].state == state and found[at].registers == registers:
                return True
            at -= 1
        return False

    def _tell(self, nodes: list[PartialMatch], time: int, came: bool) -> None:
        for node in nodes:
            if node.state == self.final:
                self.told.append((came, node.start, time, node.registers))

    def _remove_invalid(self, at: int, time: int) -> None:
        """Drop the runs that span the time of a late event."""
        while at < len(self.entries):
            self.visited += 1
            nodes, gone = self.entries[at].nodes, 0
            while gone < len(nodes) and nodes[gone].start <= time:
                gone += 1
            if gone == 0:
                return
            self._tell(nodes[:gone], self.times[at], False)
            self.entries[at].nodes = nodes[gone:]
            at += 1

    def _propagate(self, at: int) -> None:
        """Lead the runs of a late event on."""
        nodes = self.entries[at].nodes
        while len(nodes) > 0 and at + 1 < len(self.entries):
            at += 1
            self.visited += 1
            nodes = self._make(nodes, self.times[at], self.entries[at].row)
            self._tell(nodes, self.times[at], True)
            self.entries[at].nodes = nodes + self.entries[at].nodes

    def punctuate(self, time: int) -> None:
        """No earlier event comes: only the nodes of the last one before are needed."""
        at = bisect_left(self.times, time) - 1
        if at > 0:
            del self.times[:at], self.entries[:at]


@final
class Restarting:
    """`take` of a late event, and `change`, begin a new operator, which gets all events that may still matter: those
    that began less than a window before what is not final. What it finds otherwise than before is told."""

    def __init__(self, arcs: Arcs, final: int, initial: Registers, within: int) -> None:
        self.rest = final, initial, within
        self.arcs = arcs
        self.events: list[tuple[int, Row]] = []
        self.operator = TwoPasses(arcs, *self.rest)
        self.found: set[tuple[int, int, Registers]] = set()
        self.told: list[Told] = []
        self.safe = 0
        self.made = 0
        self.visited = 0

    def take(self, time: int, row: Row) -> None:
        late = len(self.events) > 0 and time < self.events[-1][0]
        insort(self.events, (time, row))
        if late:
            self._restart(self.safe)
        else:
            self.operator.take(time, row)
            self._tell_new()

    def _tell_new(self) -> None:
        for _, start, end, registers in self.operator.told:
            if end >= self.safe:
                self.found.add((start, end, registers))
                self.told.append((True, start, end, registers))
        self.operator.told = []

    def change(self, arcs: Arcs) -> None:
        """Other arcs from now on: what is told already stays."""
        self.arcs = arcs
        self._restart(self.events[-1][0] + 1 if self.events else 0)

    def _restart(self, since: int) -> None:
        self.made += self.operator.made
        self.operator = TwoPasses(self.arcs, *self.rest)
        for time, row in self.events:
            self.operator.take(time, row)
        self.visited += len(self.events)
        found = {(start, end, registers) for _, start, end, registers in self.operator.told if end >= since}
        before = {each for each in self.found if each[1] >= since}
        self.told += [(False, *each) for each in sorted(before - found)]
        self.told += [(True, *each) for each in sorted(found - before)]
        self.found = (self.found - before) | found
        self.operator.told = []

    def punctuate(self, time: int) -> None:
        self.safe = time
        del self.events[: bisect_left(self.events, (time - self.rest[2],))]
        self.found = {each for each in self.found if each[1] >= time}


@final
class Cleanse:
    """Events in front of an operator: those at `speculation` or more after the last punctuation wait for the next."""

    def __init__(self, take: Callable[[int, Row], None], speculation: int) -> None:
        self.pass_on = take
        self.speculation = speculation
        self.promised = 0
        self.held: list[tuple[int, Row]] = []

    def take(self, time: int, row: Row) -> None:
        if time < self.promised + self.speculation:
            self.pass_on(time, row)
        else:
            insort(self.held, (time, row))

    def punctuate(self, time: int) -> None:
        """More may pass, in the order of their times."""
        self.promised = time
        upto = bisect_left(self.held, (time + self.speculation,))
        for each, row in self.held[:upto]:
            self.pass_on(each, row)
        del self.held[:upto]


STEP: Final = 1  # the attribute of a row


def _always(row: Row, registers: Registers) -> Registers:
    return registers


def vs(k: int, ignoring: bool = False) -> Arcs:
    """Q1 of the workloads: registers depth and vs. With `ignoring`, steps of 0 concern nobody."""
    def falls(row: Row, r: Registers) -> bool:
        return bool(row[STEP] < 0)

    def rises(row: Row, r: Registers) -> bool:
        return bool(row[STEP] > 0 if ignoring else row[STEP] >= 0)

    def deeper(row: Row, r: Registers) -> Registers:
        return (r[0] + 1, r[1])

    def up(row: Row, r: Registers) -> Registers:
        return (r[0] - 1, r[1])

    def turned(row: Row, r: Registers) -> Registers:
        return (r[0] - 1, r[1] + 1)

    found: Arcs = {
        BEGIN: [RivalArc(1, lambda row, r: bool(row[STEP] < -0.25), _always)],
        1: [RivalArc(1, falls, deeper), RivalArc(2, falls, deeper)],
        2: [
            RivalArc(2, lambda row, r: rises(row, r) and (r[1] + 1 < k or r[0] > 1), up),
            RivalArc(1, lambda row, r: rises(row, r) and r[1] + 1 < k, turned),
            RivalArc(3, lambda row, r: rises(row, r) and r[0] - 1 == 0 and r[1] + 1 == k, turned),
        ],
    }
    if ignoring:
        for state in (1, 2):
            found[state].append(RivalArc(state, lambda row, r: bool(row[STEP] == 0), _always))
    return found


def regaining() -> Arcs:
    """Q2: the register `below`."""

    def falls(row: Row, r: Registers) -> bool:
        return bool(row[STEP] < 0)

    def stays_below(row: Row, r: Registers) -> bool:
        return bool(row[STEP] >= 0 and r[0] + row[STEP] < 0)

    def added(row: Row, r: Registers) -> Registers:
        return (r[0] + row[STEP],)

    return {
        BEGIN: [RivalArc(1, lambda row, r: bool(row[STEP] < -0.25), lambda row, r: (row[STEP],))],
        1: [RivalArc(1, falls, added), RivalArc(2, falls, added)],
        2: [
            RivalArc(2, stays_below, added),
            RivalArc(1, stays_below, added),
            RivalArc(3, lambda row, r: bool(row[STEP] >= 0 and r[0] + row[STEP] >= 0), added),
        ],
    }


def _rising(row: Row, r: Registers) -> bool:
    return bool(row[STEP] >= 0)


def _falling(row: Row, r: Registers) -> bool:
    return bool(row[STEP] < 0)


def word(letters: Sequence[str]) -> Arcs:
    """Q3: ticks, u upwards and d downwards; no register."""
    return {
        at: [RivalArc(at + 1, _rising if letter == "u" else _falling, _always)] for at, letter in enumerate(letters)
    }
