"""The arcs of a register automaton, ready to run: the arcs that an event can take are computed once an event.

The conditions of arcs on the event alone are evaluated at its arrival, into a number, its class; events of one class
can take the same arcs (AFA, F.1: the triggering set). So repairs do not evaluate these conditions again. For each
state and class there is a list of arcs as a stretch of numbers. Arcs that exist only for a time divide time into
epochs, each with lists of its own.

Here: which arcs are in a list, and epochs. Hot. Not here: writing lists (arc_lists), classes (classes), nodes (nodes),
the times of changes (the host).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final, final

from mypy_extensions import i64, mypyc_attr

from ....automaton.automaton import Arc, Automaton, Kind
from ....events.instant import FOREVER
from ....events.schema import Row
from ..packed import Integers, integers
from .arc_lists import ArcLists
from .arena import NodeLayout, unknowns
from .classes import EventClasses
from .written import CLAUSES, IGNORES, UPDATES, Written, written

UNKNOWN: Final = -1
SHARED: Final = 1
UNSHARED: Final = -2  # less the number of the state for which that is so
ROOM: Final = 8  # classes for which there is room at first
CODE_MAX: Final = 1_048_576  # numbers in lists, beyond which all are made again


@final
@mypyc_attr(acyclic=True)
class Epoch:
    """Where the lists are for events from the time `begin` on: `offsets` by state and class; empty before one is asked.

    `shares` says by class whether every run ignores its events and none begins there: SHARED, or UNSHARED less the
    state that does not, or UNKNOWN.
    """

    __slots__ = ("begin", "offsets", "shares")

    def __init__(self, begin: i64, offsets: Integers, shares: Integers) -> None:
        self.begin = begin
        self.offsets = offsets
        self.shares = shares


@final
class ArcTable(ArcLists):
    """All arcs of an automaton. `final`: the first number of a result; `room`: classes for which epochs have room.

    `labels`: for each arc of the automaton what the digest of a run says of its target, instead of its number.
    """

    def __init__(
        self, automaton: Automaton, layout: NodeLayout, labels: list[int] | None = None, cutting: bool = True
    ) -> None:
        super().__init__()
        self.automaton = automaton
        self.layout = layout
        self.final: i64 = automaton.final
        self.streams: list[str] = [source.stream for source in automaton.sources]
        self._none: Integers = integers()
        self.room: i64 = ROOM
        self.epochs: list[Epoch] = []
        self.begins: list[int] = []
        self.current: Epoch = Epoch(-FOREVER, integers(), integers())
        self.until: i64 = -FOREVER  # where the current epoch ends
        self.moving = False  # whether there are arcs that take no event
        self.moves: list[list[Written]] = []  # these by state
        self._written: list[list[Written]] = []  # by state, the arcs that take an event
        self._living: list[list[Written]] = []  # by state, those of the last epoch
        self._entered: list[bool] = []  # by state, whether an arc leads there
        self.classes = EventClasses(len(self.streams), cutting)
        self.waiting: list[int] = []  # states whose runs are in no block but the first
        self.write(automaton.arcs, labels)

    # --- arcs ---------------------------------------------------------------------------------------------------

    def write(self, arcs: tuple[Arc, ...], labels: list[int] | None = None) -> bool:
        """Set all arcs. Returns whether the classes of events change. O(arcs)."""
        states = len(self.automaton.states)
        self._written = [[] for _ in range(states)]
        self.moves = [[] for _ in range(states)]
        self.moving = False
        self._entered = [False] * states
        for number, arc in enumerate(arcs):
            if len(arc.guard) == 0:  # it never holds
                continue
            made = self.prepare(arc, -1 if labels is None else labels[number])
            if arc.kind is Kind.EPSILON:
                self.moves[arc.source].append(made)
                self.moving = True
            else:
                self._written[arc.source].append(made)
            if made.target < self.final:
                self._entered[made.target] = True
        changed = self.classes.number(self._written)
        self._divide()
        return changed

    def prepare(self, arc: Arc, label: int = -1) -> Written:
        """An arc for `amend`. O(its conditions)."""
        stream = -1 if arc.kind is Kind.EPSILON else self.streams.index(arc.stream)
        made = written(arc, stream, int(self.final), label, self.layout)
        self._numbered(made)
        return made

    def _numbered(self, made: Written) -> bool:
        """Number the conditions of an arc on events alone, if all have numbers. O(their sizes)."""
        keys = [(int(made.stream), alone) for alone in made.terms.alone]
        numbers = [self.classes.numbers.get(key, UNKNOWN) for key in keys]
        if UNKNOWN in numbers:
            return False
        made.terms.numbers = numbers
        made.terms.numbered = self.classes.numbering
        return True

    def amend(self, state: i64, place: i64, arcs: list[Written], begin: i64, end: i64) -> bool:
        """Exchange the arc of a state at a place, or insert at its end, where that differs for events of [begin, end).

        Returns whether the classes of events change, which they do for new conditions on events alone. O(arcs that
        live) for the usual change, of all later events; else O(epochs).
        """
        for made in arcs:
            if made.terms.numbered != self.classes.numbering and not self._numbered(made):
                self._written[state][place : place + 1] = arcs
                self.classes.number(self._written)
                self._divide()
                return True
        if begin >= self.epochs[len(self.epochs) - 1].begin and end >= FOREVER:
            self._amend_last(state, place, arcs, begin)
            return False
        self._written[state][place : place + 1] = arcs
        self._split(begin)
        if end < FOREVER:
            self._split(end)
        self._enter(arcs)
        i: i64 = bisect_right(self.begins, begin) - 1
        while i < len(self.epochs) and self.epochs[i].begin < end:
            self._clear(self.epochs[i], state)
            i += 1
        self.until = -FOREVER
        # Where another state's arc ends, an epoch begins: theirs are the same in a last one that has come.
        self._living[state] = self._alive(state)
        return False

    def _amend_last(self, state: i64, place: i64, arcs: list[Written], begin: i64) -> None:
        """The same for all events from a time on, before which the last epoch begins. O(arcs that live)."""
        epoch = self.epochs[len(self.epochs) - 1]
        if epoch.begin < begin:
            epoch = self._append(epoch, begin)
        found, living = self._written[state], self._living[state]
        gone: Written | None = None
        if place < len(found):
            gone = found[place]
        at: i64 = 0
        while at < len(living) and living[at] is not gone:
            at += 1
        free = gone is not None and at < len(living)
        if gone is not None and len(arcs) > 0 and place == len(found) - 1:  # the usual place
            found[place] = arcs[0]
            for i in range(1, len(arcs)):
                found.append(arcs[i])
        else:
            found[place : place + 1] = arcs
        for made in arcs:
            if made.end < FOREVER:
                continue
            if free:
                living[at] = made
                free = False
            else:
                living.insert(at, made)
            at += 1
        if free:
            del living[at]
        self._enter(arcs)
        self._clear(epoch, state)
        self.current, self.until = epoch, FOREVER

    def _enter(self, arcs: list[Written]) -> None:
        """Note the states that arcs lead to."""
        for made in arcs:
            if made.target < self.final and not self._entered[made.target]:
                self._entered[made.target] = True
                for epoch in self.epochs:
                    epoch.shares = self._unshared()

    def _clear(self, epoch: Epoch, state: i64) -> None:
        """Forget the lists of a state."""
        self._open(epoch)
        offsets, shares, first = epoch.offsets, epoch.shares, state * self.room
        j: i64
        for j in range(min(len(self.classes.known), self.room)):
            offsets[first + j] = UNKNOWN
            if shares[j] == SHARED or shares[j] == UNSHARED - state:
                shares[j] = UNKNOWN

    def _alive(self, state: i64) -> list[Written]:
        """The arcs of a state in the last epoch."""
        begin = self.epochs[len(self.epochs) - 1].begin
        return [made for made in self._written[state] if made.begin <= begin < made.end]

    def arcs_of(self, state: i64) -> list[Written]:
        """The arcs out of a state that take an event, in their order."""
        return self._written[state]

    def forget(self, time: i64) -> None:
        """No event before that time comes any more: drop what held only then. O(arcs and epochs), if there are some."""
        if len(self.epochs) == 1 or self.begins[1] > time:
            return
        gone: i64 = bisect_right(self.begins, time) - 1
        del self.epochs[:gone]
        del self.begins[:gone]
        self.until = -FOREVER
        for state in range(len(self._written)):
            self._written[state] = [made for made in self._written[state] if made.end > time]

    def stop_waiting(self) -> list[int]:
        """No state waits any more; return those that did."""
        states, self.waiting = self.waiting, []
        for epoch in self.epochs:
            epoch.shares = self._unshared()
        return states

    # --- epochs -------------------------------------------------------------------------------------------------

    def _divide(self) -> None:
        """Make all epochs anew, without lists."""
        times = {-FOREVER}
        for arcs in (*self._written, *self.moves):
            for made in arcs:
                times.update((int(made.begin), int(made.end)))
        times.discard(FOREVER)
        self.begins = sorted(times)
        self.epochs = [Epoch(begin, self._blank(), self._unshared()) for begin in self.begins]
        self.size = 0
        self.objects = []
        self.until = -FOREVER
        self._living = [self._alive(state) for state in range(len(self._written))]

    def _blank(self) -> Integers:
        return unknowns(len(self.automaton.states) * self.room)

    def _unshared(self) -> Integers:
        return unknowns(self.room)

    def _split(self, time: i64) -> None:
        """Let an epoch begin at that time."""
        at: i64 = bisect_right(self.begins, time)
        before = self.epochs[at - 1]
        if before.begin == time:
            return
        if at == len(self.epochs):
            self._append(before, time)
            return
        self._open(before)
        offsets, shares = self._blank(), self._unshared()
        j: i64
        for j in range(len(offsets)):
            offsets[j] = before.offsets[j]
        for j in range(self.room):
            shares[j] = before.shares[j]
        self.begins.insert(at, time)
        self.epochs.insert(at, Epoch(time, offsets, shares))

    def _append(self, last: Epoch, time: i64) -> Epoch:
        """A new last epoch, which goes on with the lists: few events still ask for the one before."""
        made = Epoch(time, last.offsets, last.shares)
        self.begins.append(int(time))
        self.epochs.append(made)
        last.offsets = last.shares = self._none
        return made

    def enter(self, time: i64) -> Epoch:
        """The epoch of a time. O(1) for the epoch of the previous call, else O(log epochs)."""
        if self.current.begin <= time < self.until:
            return self.current
        at: i64 = bisect_right(self.begins, time)
        self.current = self.epochs[at - 1]
        self._open(self.current)
        self.until = self.begins[at] if at < len(self.begins) else FOREVER
        return self.current

    def _open(self, epoch: Epoch) -> None:
        if len(epoch.offsets) == 0:
            epoch.offsets, epoch.shares = self._blank(), self._unshared()

    # --- classes ------------------------------------------------------------------------------------------------

    def classify(self, stream: i64, row: Row) -> i64:
        """The class of an event. O(conditions on its stream's events alone)."""
        found = self.classes.classify(stream, row)
        if found >= self.room:
            self.room = 2 * self.room
            self._divide()
        return found

    def forget_classes(self) -> None:
        """Forget the classes, and with them all lists. O(conditions and epochs)."""
        self.classes.forget()
        self.room = ROOM
        self._divide()

    # --- lists --------------------------------------------------------------------------------------------------

    def fill(self, epoch: Epoch, state: i64, klass: i64) -> i64:
        """Make the list of arcs of a state for a class, and return where it is. O(arcs of the state)."""
        if self.size > CODE_MAX:
            self._divide()
            epoch = self.enter(epoch.begin)
        stream, held = self.classes.known[klass]
        last = epoch is self.epochs[len(self.epochs) - 1]
        arcs = self._living[state] if last else self._written[state]
        at = self.begin_list(0)
        count: i64 = 0
        for made in arcs:
            if made.begin <= epoch.begin < made.end and made.stream == stream and self.write_arc(made, held):
                count += 1
        self.code[at] = count
        epoch.offsets[state * self.room + klass] = at
        return at

    def shares(self, epoch: Epoch, klass: i64) -> bool:
        """Whether no event of a class begins a run or changes one."""
        known = epoch.shares[klass]
        if known == UNKNOWN:
            known = epoch.shares[klass] = self._sharing(epoch, klass)
        return bool(known == SHARED)

    def _sharing(self, epoch: Epoch, klass: i64) -> i64:
        if self.moving:
            return UNSHARED
        state: i64
        for state in range(len(self.automaton.states)):
            at = epoch.offsets[state * self.room + klass]
            if at == UNKNOWN:
                at = self.fill(epoch, state, klass)
            if state == 0 and (self._entered[0] or self.code[at] != 0):
                return UNSHARED
            if not self._entered[state] or int(state) in self.waiting:
                continue
            if self.code[at] != 1 or self.code[at + 1 + IGNORES] == 0 or self.code[at + 1 + CLAUSES] != 0:
                return UNSHARED - state
            if self.code[at + 1 + UPDATES] != 0:
                return UNSHARED - state
        return SHARED
