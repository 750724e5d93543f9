"""The arcs of a register automaton, ready to run: the arcs that an event can take are computed once an event.

The conditions of arcs on the event alone are evaluated at its arrival, into a number, its class; events of one class
can take the same arcs (AFA, F.1: the triggering set). So repairs do not evaluate these conditions again.

Here: classes, and the arcs of a state for a class, now and at an earlier time. Hot. Not here: nodes (nodes), the times
of arc changes (the host).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Computation, Slots
from ....algebra.normal_form import Clause
from ....algebra.predicate import All, computation, conjunction, holds
from ....algebra.terms import Register, walk
from ....automaton.automaton import Arc, Automaton, Carry, Computed, Kind
from ....events.instant import FOREVER
from ....events.schema import Row

SAME: Final = -1


@final
class Step:
    """An arc without its condition on the event alone. One of `guards` must hold.

    A `target` beyond the states is a result, of the final state with that number. `ignores`: the arc leaves a run that
    is under way unchanged.
    """

    __slots__ = ("begin", "carried", "computed", "end", "guards", "ignores", "name", "source", "target")

    def __init__(self, arc: Arc, final_state: int, guards: list[All | None]) -> None:
        self.name = arc.name
        self.source: i64 = arc.source
        self.target: i64 = arc.target if arc.target < final_state else final_state + arc.operand
        self.guards = guards
        self.begin: i64 = arc.begin
        self.end: i64 = arc.end
        self.carried: list[int] = []  # for each register its source register, SAME if it is computed
        self.computed: list[Computation | None] = []
        for source in arc.update:
            if isinstance(source, Computed):
                self.carried.append(SAME)
                self.computed.append(computation(source.term))
            else:
                assert isinstance(source, Carry)
                self.carried.append(source.slot)
                self.computed.append(None)
        same = self.carried == list(range(len(self.carried)))
        if same:
            self.computed = []
        self.ignores = same and arc.kind is Kind.LOOP and arc.target < final_state

    def holds(self, row: Row, registers: Slots) -> bool:
        """Whether the arc's condition holds for an event of a class that can take it."""
        guards = self.guards
        i: i64
        for i in range(len(guards)):
            guard = guards[i]
            if guard is None or holds(guard, row, (), registers, 1, 1):
                return True
        return False

    def after(self, row: Row, registers: Slots, floats: list[bool]) -> Slots:
        """The registers after the arc."""
        computed = self.computed
        if len(computed) == 0:
            return registers
        found: list[object] = []
        i: i64
        for i in range(len(computed)):
            own = computed[i]
            if own is None:
                found.append(registers[self.carried[i]])
                continue
            value = own.value(row, (), registers, 1, 1)
            found.append(float(value) if floats[i] and isinstance(value, int) else value)
        return tuple(found)


@final
class Written:
    """An arc with split clauses: for each, the number of its condition on the event alone, and the rest."""

    def __init__(self, arc: Arc, statics: list[int], rests: list[All | None]) -> None:
        self.arc = arc
        self.statics = statics
        self.rests = rests


@final
class ArcTable:
    """All arcs of an automaton. `final`: the first number of a result.

    `changed`: the time from which on the present arcs apply.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.final: i64 = automaton.final
        self.floats: list[bool] = [attribute.type == "float" for attribute in automaton.schema.attributes]
        self.streams: list[str] = [source.stream for source in automaton.sources]
        self.changed: i64 = -FOREVER
        self._forms: list[list[All | None]] = [[] for _ in self.streams]  # by stream, conditions on its events alone
        self._numbers: dict[tuple[int, Clause], int] = {}
        self._classes: dict[tuple[int, int], int] = {}  # by stream and by the conditions that hold
        self._known: list[tuple[int, int]] = []  # the same by class
        self._written: list[list[Written]] = []  # by state
        self._now: list[list[list[Step] | None]] = []  # by state and class
        self._moves: list[list[Step]] = []  # by state, the arcs that take no event
        self.write(automaton.arcs)

    # --- arcs ---------------------------------------------------------------------------------------------------

    def write(self, arcs: tuple[Arc, ...]) -> bool:
        """Set all arcs. Returns whether they have new conditions on events alone, so that the classes of events change.

        O(arcs).
        """
        states = len(self.automaton.states)
        self._written = [[] for _ in range(states)]
        self._moves = [[] for _ in range(states)]
        before = sum(len(forms) for forms in self._forms)
        for arc in arcs:
            if arc.kind is Kind.EPSILON:
                rests = [conjunction(clause) for clause in arc.guard]
                self._moves[arc.source].append(Step(arc, int(self.final), rests))
            else:
                self._written[arc.source].append(self._split(arc))
        asks = sum(len(forms) for forms in self._forms) > before
        if asks:
            self._classes, self._known = {}, []
        self._now = [[None] * len(self._known) for _ in range(states)]
        ends = [time for arc in arcs for time in (arc.begin, arc.end) if abs(time) < FOREVER]
        self.changed = max(ends, default=-FOREVER)
        return asks

    def _split(self, arc: Arc) -> Written:
        stream = self.streams.index(arc.stream)
        statics: list[int] = []
        rests: list[All | None] = []
        for clause in arc.guard:
            alone = tuple([atom for atom in clause if not any(isinstance(term, Register) for term in walk(atom))])
            number = self._numbers.get((stream, alone))
            if number is None:
                number = self._numbers[(stream, alone)] = len(self._forms[stream])
                self._forms[stream].append(conjunction(alone))
            statics.append(number)
            rests.append(conjunction(tuple([atom for atom in clause if atom not in alone])))
        return Written(arc, statics, rests)

    # --- classes ------------------------------------------------------------------------------------------------

    def classify(self, stream: i64, row: Row) -> i64:
        """The class of an event. O(conditions on its stream's events alone)."""
        held = 0
        forms = self._forms[stream]
        i: i64
        for i in range(len(forms)):
            if holds(forms[i], row, (), (), 1, 1):
                held |= 1 << i
        key = (int(stream), held)
        found = self._classes.get(key)
        if found is None:
            found = self._classes[key] = len(self._known)
            self._known.append(key)
            for each in self._now:
                each.append(None)
        return found

    def steps(self, state: i64, klass: i64, time: i64) -> list[Step]:
        """The arcs out of a state for an event of a class and a time; their conditions on registers are untested."""
        if time < self.changed:
            return self._found(state, klass, time)
        steps = self._now[state][klass]
        if steps is None:
            steps = self._now[state][klass] = self._found(state, klass, time)
        return steps

    def _found(self, state: i64, klass: i64, time: i64) -> list[Step]:
        stream, held = self._known[klass]
        found: list[Step] = []
        for written in self._written[state]:
            arc = written.arc
            if not arc.begin <= time < arc.end or self.streams[stream] != arc.stream:
                continue
            rests = [rest for number, rest in zip(written.statics, written.rests) if held >> number & 1]
            if len(rests) > 0:
                found.append(Step(arc, int(self.final), rests))
        return found

    def moves(self, state: i64) -> list[Step]:
        """The arcs out of a state that take no event, at any time."""
        return self._moves[state]
