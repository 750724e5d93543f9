"""An AFA subscription as an automaton (AFA, 3; semantics 4.1).

A register is a slot. A state that is final is left behind: an arc to it is, in the automaton, an arc to the final state
whose `operand` says which of them it was, and where the subscription goes on from it an arc to the state itself, too.

Here: that lowering, for all that stands below the language. Not here: what a result is (algebra.afa.semantics).
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from ...algebra.afa.register_automaton import RegisterArc, RegisterAutomaton
from ...algebra.normal_form import normalise
from ...algebra.terms import Attribute, Register, Side, Term, replace
from ...algebra.timed_stream import source_in_use
from ..automaton import Arc, Automaton, Carry, Computed, Kind, SlotSource, State, Stay, TimeModel

NO_EVENT: Final = ""


def automaton_of_registers(registers: RegisterAutomaton) -> Automaton:
    """The automaton of a register automaton, in the order of its arcs. O(arcs x registers). Raises LimitExceeded for a
    condition that is too large in normal form."""
    finals = sorted(registers.finals)
    left = registers.left()
    return Automaton(
        tuple(State("", stay=Stay.NONE, name=name) for name in registers.states),
        tuple([made for arc in registers.arcs for made in arcs_of(registers, arc, left)]),
        registers.registers,
        tuple(map(source_in_use, registers.sources)),
        within=registers.within,
        time=TimeModel.LIFETIMES,
        operands=tuple(registers.states[state] for state in finals),
        initial=registers.initial,
    )


def arcs_of(registers: RegisterAutomaton, arc: RegisterArc, left: Container[int]) -> list[Arc]:
    """The arcs of the automaton for one arc. `left`: the states where runs go on. Raises as `automaton_of_registers`.
    """
    made: list[Arc] = []
    if arc.target in registers.finals:
        made.append(_arc(registers, arc, len(registers.states), sorted(registers.finals).index(arc.target)))
    if arc.target not in registers.finals or arc.target in left:
        made.append(_arc(registers, arc, arc.target, -1))
    return made


def _arc(registers: RegisterAutomaton, arc: RegisterArc, target: int, operand: int) -> Arc:
    kind = Kind.EPSILON if not arc.takes else Kind.LOOP if arc.source == arc.target else Kind.FORWARD
    stream = source_in_use(registers.sources[arc.stream]).stream if arc.takes else NO_EVENT
    guard = normalise(replace(arc.condition, _slot))
    update = _update(registers, arc)
    return Arc(
        arc.source, target, guard, update, (), kind, stream, operand, name=arc.name, begin=arc.begin, end=arc.end
    )


def _update(registers: RegisterAutomaton, arc: RegisterArc) -> tuple[SlotSource, ...]:
    if not arc.updates:
        return tuple(map(Carry, range(len(registers.initial))))
    sources: list[SlotSource] = []
    for at, term in enumerate(arc.updates):
        slot = replace(term, _slot)
        carried = isinstance(slot, Register) and slot.slot == at
        sources.append(Carry(at) if carried else Computed(slot))
    return tuple(sources)


def _slot(leaf: Term) -> Term:
    """A register of the text is a slot with a value."""
    if isinstance(leaf, Attribute) and leaf.side is Side.LAST:
        return Register(leaf.position, -1, leaf.type, leaf.name, leaf.nullable)
    return leaf
