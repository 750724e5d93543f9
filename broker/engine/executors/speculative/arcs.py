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
from .written import CLAUSES, IGNORES, UPDATES, Written

UNKNOWN: Final = -1
SHARED: Final = 1
UNSHARED: Final = 0
ROOM: Final = 8  # classes for which there is room at first
CODE_MAX: Final = 1_048_576  # numbers in lists, beyond which all are made again


@final
@mypyc_attr(acyclic=True)
class Epoch:
    """Where the lists are for events from the time `begin` on: `offsets` by state and class; empty before one is asked.

    `shares` says by class whether every run ignores its events and none begins there: SHARED, UNSHARED or UNKNOWN.
    """

    __slots__ = ("begin", "offsets", "shares")

    def __init__(self, begin: i64) -> None:
        self.begin = begin
        self.offsets: Integers = integers()
        self.shares: Integers = integers()


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
        self.room: i64 = ROOM
        self.epochs: list[Epoch] = []
        self.begins: list[int] = []
        self.current: Epoch = Epoch(-FOREVER)
        self.until: i64 = -FOREVER  # where the current epoch ends
        self.moving = False  # whether there are arcs that take no event
        self.moves: list[list[Written]] = []  # these by state
        self._written: list[list[Written]] = []  # by state, the arcs that take an event
        self._living: list[list[Written]] = []  # by state, those of the last epoch
        self._entered = [False] * len(automaton.states)  # whether an arc has led there, so that runs may be there
        self.classes = EventClasses(len(self.streams), cutting)
        self.waiting: list[int] = []  # states whose runs are in no block but the first
        self.write(automaton.arcs, labels)

    # --- arcs ---------------------------------------------------------------------------------------------------

    def write(self, arcs: tuple[Arc, ...], labels: list[int] | None = None) -> bool:
        """Set all arcs. Returns whether the classes of events change, which they do for new conditions on events alone.
        O(arcs); the conditions of those that were there are not looked at again."""
        states = len(self.automaton.states)
        known = {id(made.arc): made for written in (*self._written, *self.moves) for made in written}
        self._written = [[] for _ in range(states)]
        self.moves = [[] for _ in range(states)]
        self.moving = False
        numbered = self.classes.numbering > 0
        for number, arc in enumerate(arcs):
            if len(arc.guard) == 0:  # it never holds
                continue
            made = known.get(id(arc))
            if made is None:
                stream = -1 if arc.kind is Kind.EPSILON else self.streams.index(arc.stream)
                made = Written(arc, stream, self.final, -1 if labels is None else labels[number], self.layout)
            if arc.kind is Kind.EPSILON:
                self.moves[arc.source].append(made)
                self.moving = True
            else:
                self._written[arc.source].append(made)
                numbered = self.classes.knows(made) and numbered
            if made.source > 0:
                self._entered[made.source] = True
            if made.target < self.final:
                self._entered[made.target] = True
        changed = not numbered and self.classes.number(self._written)
        self._divide()
        return changed

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
        self._divide()
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
        self.epochs = [Epoch(begin) for begin in self.begins]
        self.size = 0
        self.objects = []
        self.until = -FOREVER
        begin = self.begins[-1]
        self._living = [[made for made in arcs if made.begin <= begin < made.end] for arcs in self._written]

    def enter(self, time: i64) -> Epoch:
        """The epoch of a time. O(1) for the epoch of the previous call, else O(log epochs)."""
        if self.current.begin <= time < self.until:
            return self.current
        at: i64 = bisect_right(self.begins, time)
        self.current = epoch = self.epochs[at - 1]
        self.until = self.begins[at] if at < len(self.begins) else FOREVER
        if len(epoch.offsets) == 0:
            epoch.offsets, epoch.shares = unknowns(len(self.automaton.states) * self.room), unknowns(self.room)
        return epoch

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
        at = self.begin_list()
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
                return UNSHARED
            if self.code[at + 1 + UPDATES] != 0:
                return UNSHARED
        return SHARED
