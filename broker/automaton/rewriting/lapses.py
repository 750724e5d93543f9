"""lapses: over EPOCHS, a bound from above on how long a run waits is asked of the event that it takes, not of which
events it passes over.

`NEXT{$2.name = $1.name AND DUR < 5}` waits for the next event of the name, and there is a match if that comes in time.
Sound for matches: events come in the order of their times, and the bound is about the event's time and what the run
knows, so that once an event fails it each later one does, and those of the same time. The run that passed over the
first of them could never leave its state; now it ends there. A loop asks for the bound, too, if it changes what that
is about; if not, who takes the loop too late can never leave the state either.
Not of what else grows with time, such as when the event began, nor of a bound from below.
"""

from __future__ import annotations

from dataclasses import replace

from ...algebra.normal_form import Form, narrowed, reordered
from ...algebra.terms import Arithmetic, Attribute, Comparison, Constant, Duration, Register, Term, walk
from ..automaton import TAKING, Automaton, Kind, Stay
from .facts import Facts, common
from .placement import carries
from .rule import Rewritten


def lapses(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> shown(lapses, cel("SELECT * FROM Stock NEXT{$2.name = $1.name AND DUR < 5} Stock"))
    ['name = $.name', 'DUR < 5']
    """
    states, arcs, count = list(automaton.states), list(automaton.arcs), 0
    for number, state in enumerate(states):
        if number == 0 or state.stay is not Stay.FAILING:
            continue
        time = facts.time_of(state.stream)
        moving = tuple([atom for atom in common(state.theta) if _passes(atom, time)])
        if not moving:
            continue
        count += len(moving)
        states[number] = replace(state, theta=_without(state.theta, moving))
        for at, arc in enumerate(arcs):
            if arc.source == number and arc.kind in TAKING:
                asked = [atom for atom in moving if arc.kind is Kind.FORWARD or not carries(arc, atom)]
                arcs[at] = replace(arc, guard=reordered(narrowed(arc.guard, tuple(asked))))
    return (replace(automaton, states=tuple(states), arcs=tuple(arcs)) if count else automaton), count


def _without(form: Form, atoms: tuple[Comparison, ...]) -> Form:
    return reordered(tuple([tuple([atom for atom in clause if atom not in atoms]) for clause in form]))


def _passes(atom: Comparison, time: int | None) -> bool:
    """Whether an atom that does not hold at an event holds at no later one."""
    return atom.operator in ("<", "<=") and _grows(atom.left, time) and _stays(atom.right)


def _grows(term: Term, time: int | None) -> bool:
    """Whether a term is greater at a later event, or null from some event on, and equal at one of the same time."""
    match term:
        case Duration(True):
            return True
        case Attribute(_, position):
            return position == time
        case Arithmetic("+", left, right, "int"):
            return (_grows(left, time) and _stays(right)) or (_stays(left) and _grows(right, time))
        case Arithmetic("-", left, right, "int"):
            return _grows(left, time) and _stays(right)
        case _:
            return False


def _stays(term: Term) -> bool:
    """Whether a term is the same at each event."""
    return all(isinstance(part, Constant | Register | Arithmetic) for part in walk(term))
