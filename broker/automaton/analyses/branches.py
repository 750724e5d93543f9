"""The branches of an automaton: parts that have only the start and the final state in common.

Here: taking an automaton apart into them. Not here: putting it together (constructions.variants).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..automaton import TAKING, Arc, Automaton, Kind


@dataclass(frozen=True, slots=True)
class LineBranch:
    """A branch as an automaton of its own, and the number of each of its operands in the whole one."""

    automaton: Automaton
    operands: tuple[int, ...]


def branches_of(automaton: Automaton) -> tuple[LineBranch, ...]:
    """The branches, in the order of the arcs that begin them; () if there are fewer than two. O(branches x arcs)."""
    begins = [arc.target for arc in automaton.arcs if arc.source == 0 and arc.kind is Kind.FORWARD]
    if len(begins) < 2 or automaton.windows is not None:
        return ()
    owned = [_reached(automaton, begin) for begin in begins]
    if len(set().union(*owned)) != sum(map(len, owned)):
        return ()  # some state belongs to two
    return tuple(_branch(automaton, sorted(states)) for states in owned)


def _reached(automaton: Automaton, begin: int) -> set[int]:
    """The states behind the start to which a run comes from one, that included."""
    found: set[int] = set()
    waiting = [begin]
    while waiting:
        state = waiting.pop()
        if state == automaton.final or state in found:
            continue
        found.add(state)
        waiting += [arc.target for arc in automaton.arcs if arc.source == state]
    return found


def _branch(automaton: Automaton, states: list[int]) -> LineBranch:
    numbers = {0: 0, automaton.final: len(states) + 1} | {state: at for at, state in enumerate(states, 1)}
    arcs = [arc for arc in automaton.arcs if arc.source in states or (arc.source == 0 and _enters(arc, states))]
    operands = list(dict.fromkeys(arc.operand for arc in arcs if arc.kind in TAKING))
    gates = list(dict.fromkeys(arc.operand for arc in arcs if arc.kind is Kind.KILL))
    own: list[Arc] = []
    for arc in arcs:
        kill = arc.kind is Kind.KILL
        operand = (gates if kill else operands).index(arc.operand) if arc.operand >= 0 else -1
        source = numbers[arc.source]
        own.append(replace(arc, source=source, target=source if kill else numbers[arc.target], operand=operand))
    # Before a Kleene operand a line has the state in which it stays twice.
    first = next((arc.target for arc in arcs if arc.kind is Kind.LOOP and numbers[arc.target] == 1), 0)
    part = replace(
        automaton,
        states=tuple([automaton.states[state] for state in (first, *states)]),
        arcs=tuple(own),
        operands=tuple([automaton.operands[operand] for operand in operands]),
        forbidden=tuple([automaton.forbidden[gate] for gate in gates]),
    )
    return LineBranch(part, tuple(operands))


def _enters(arc: Arc, states: list[int]) -> bool:
    """Whether an arc out of the start concerns these states."""
    return arc.target in states or (arc.kind is Kind.KILL and arc.target == 0)
