"""How many runs of one key an automaton may have at once: whether an event that visits each of them costs ever more.

A run waits in a state. If the next event that the state sees moves it or ends it, there is one run a step. If it waits
for an event of its own, each earlier event may have one run. If it also stays where it moves, runs may be as many as
there are choices of events, and with a loop there as many as there are sets of them.

Here: that count, from the states. Not here: what an executor does with runs; the cycles of AFA and the windows of
window expressions, which have analyses of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...algebra.terms import Attribute, Comparison, Register, Side
from ...events.instant import format_duration
from ..automaton import Automaton, Kind, State, Stay, TimeModel
from ..topological import topological_order


@dataclass(frozen=True, slots=True)
class Growth:
    """Runs are at most as many as events of a key, to this power; 0: one a step. `doubles`: each event may double them.
    `patient`: they let events of their key pass, however many. `within`: of the events of that time; None: of all so
    far."""

    power: int
    doubles: bool
    patient: bool
    within: int | None

    @property
    def for_ever(self) -> bool:
        """Whether runs may wait however long the stream goes on."""
        return self.patient and self.within is None

    def __str__(self) -> str:
        until = "so far" if self.within is None else f"of WITHIN {format_duration(self.within)}"
        if self.doubles:
            return f"each event of a key may double its runs, for the events {until}"
        if self.power == 0:
            return "a key has one run a step"
        raised = "" if self.power == 1 else f", to the power of {self.power}"
        return f"a key may have as many runs as events {until}{raised}"


def growth_of(automaton: Automaton) -> Growth | None:
    """The growth of an automaton over epochs or arrival; None for any other. O(size)."""
    if automaton.time not in (TimeModel.EPOCHS, TimeModel.ARRIVAL):
        return None
    looped = {arc.source for arc in automaton.arcs if arc.kind is Kind.LOOP}
    # A run that only a peek leads on waits no second time.
    waiting = looped | {arc.source for arc in automaton.arcs if arc.kind is Kind.FORWARD}
    waiting -= {0, *(arc.target for arc in automaton.arcs if arc.kind is Kind.EPSILON and arc.peeks)}
    count = max((max(arc.source, arc.target) for arc in automaton.arcs), default=0) + 1
    targets: list[list[int]] = [[] for _ in range(count)]
    for arc in automaton.arcs:
        if arc.target != arc.source:
            targets[arc.source].append(arc.target)
    power = [0] * count
    loops = patient = doubles = False
    for at in topological_order(targets):
        if at in waiting:
            state = automaton.states[at]
            stays = state.stay is Stay.ALL
            power[at] += stays
            loops = loops or at in looped
            patient = patient or _patient(automaton, state)
            doubles = doubles or (stays and at in looped)
        for target in targets[at]:
            power[target] = max(power[target], power[at])
    return Growth(max(*power, int(loops or patient)), doubles, patient, automaton.within)


def _patient(automaton: Automaton, state: State) -> bool:
    """Whether a run lets events of its key pass."""
    if automaton.time is TimeModel.EPOCHS:
        return len(state.theta) != 1 or not all(map(_joins, state.theta[0]))
    return state.stay in (Stay.UNTAKEN, Stay.ALL)


def _joins(atom: Comparison) -> bool:
    match atom:
        case Comparison("=", Attribute(Side.EVENT), Register()):
            return True
        case _:
            return False
