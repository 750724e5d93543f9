"""Turns an automaton into a graph for the renderers of diagram: its begin, take, ignore and proceed arcs.

Here: the graph of any automaton, and conditions as text. Not here: formats, or how an engine keeps runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from ..algebra.normal_form import ALWAYS, Form, describe_form
from ..algebra.terms import Attribute, Register, Side, Term, describe, replace
from ..events.instant import format_duration
from .analyses.line import line_of, place_of
from .automaton import Arc, Automaton, Kind, State, Stay
from .diagram import Edge, Graph, Node

ANY_EVENT: Final = "any event"
SHOWN: Final = 8  # names at one end


def automaton_diagram(title: str, automaton: Automaton, served: str) -> Graph:
    """The states (SASE+ 4.1); the last one is the match if it waits only for time. A forbidden event is a gate beside
    the state that it can end."""
    key = nodes_of_states(automaton)
    last = key.index("match")
    nodes = [Node(key[at], _state(automaton, at), "state" if at else "start") for at in range(last)]
    nodes.append(Node("match", served, "end"))
    edges: list[Edge] = []
    for at in range(last):
        arcs = [arc for arc in automaton.arcs if arc.source == at]
        takes = [arc for arc in arcs if arc.kind == Kind.LOOP]
        edges += [Edge(key[at], key[at], f"take: {_asked(arc)}", "rebind") for arc in takes]
        ignored = _ignored(automaton, at, "take" if takes else "begin")
        if at > 0 and ignored:  # a run begins with an event, so the start ignores none
            edges.append(Edge(key[at], key[at], ignored, "stay"))
        for arc in arcs:
            if arc.kind == Kind.FORWARD:
                stream = f"{arc.stream} " if len(automaton.sources) > 1 else ""
                edges.append(Edge(key[at], key[arc.target], f"begin: {stream}{_asked(arc)}"))
            elif arc.kind == Kind.EPSILON:
                edges.append(Edge(key[at], key[arc.target], f"proceed: {_asked(arc, 'TRUE')}"))
    for arc in automaton.arcs:
        if arc.kind == Kind.KILL:
            gate = f"negation {arc.operand}"
            nodes.append(Node(gate, f"no {automaton.forbidden[arc.operand]}: {arc.stream}", "gate"))
            edges.append(Edge(gate, key[arc.source], f"none {standing(automaton, arc)}: {_asked(arc)}", "trigger"))
    return Graph(title, tuple(nodes), tuple(edges))


def nodes_of_states(automaton: Automaton) -> list[str]:
    """By state the key of its node in `automaton_diagram`, the final one included."""
    complete = all(arc.kind in (Kind.EPSILON, Kind.TIMEOUT) for arc in automaton.arcs if arc.target == automaton.final)
    last = automaton.final - complete
    return [f"state {at}" for at in range(last)] + ["match"] * (automaton.final + 1 - last)


def automata_diagram(kind: str, known: list[tuple[str, Automaton]]) -> Graph:
    """Each automaton once, with the names of those that it serves; keys of nodes begin with the kind. O(all names)."""
    served: dict[Automaton, list[str]] = {}
    for name, automaton in known:
        served.setdefault(automaton, []).append(name)
    nodes: list[Node] = []
    edges: list[Edge] = []
    for number, (automaton, names) in enumerate(served.items()):
        prefix = f"{kind} {number} "
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        graph = automaton_diagram("", automaton, ", ".join(names[:SHOWN]) + more)
        nodes += [dataclasses.replace(node, key=prefix + node.key) for node in graph.nodes]
        edges += [dataclasses.replace(e, source=prefix + e.source, target=prefix + e.target) for e in graph.edges]
    return Graph("", tuple(nodes), tuple(edges))


def _state(automaton: Automaton, state: int) -> str:
    """The label of a state: the events that it takes; for the first one also the facts about the whole automaton."""
    arcs = [arc for arc in automaton.arcs if arc.source == state and arc.kind in (Kind.FORWARD, Kind.LOOP)]
    named = " or ".join(dict.fromkeys(event_name(automaton, arc) for arc in arcs))
    return named if state or not automaton.sources else f"{named}: {_scope(automaton)}"


def event_name(automaton: Automaton, arc: Arc) -> str:
    """The name of an arc's event: an operand's only or first event, or any further one; without operands its stream."""
    if arc.operand < 0:
        return arc.stream or automaton.states[arc.source].stream
    name = automaton.operands[arc.operand]
    if arc.kind == Kind.LOOP:
        return f"{name}[i]"
    several = any(other.kind == Kind.LOOP and other.operand == arc.operand for other in automaton.arcs)
    return f"{name}[1]" if several else name


def standing(automaton: Automaton, arc: Arc) -> str:
    """The position in a line of the event that an arc forbids."""
    names, place = automaton.operands, place_of(line_of(automaton), arc)
    if place == 0:
        return f"before {names[0]}"
    if place == len(names):
        return f"after {names[-1]}"
    return f"between {names[place - 1]} and {names[place]}"


def _scope(automaton: Automaton) -> str:
    streams = " and ".join(source.stream for source in automaton.sources)
    by = f" by {', '.join(automaton.partition)}" if automaton.partition else ""
    return f"{streams}{by}" + ("" if automaton.within is None else f" within {format_duration(automaton.within)}")


def _ignored(automaton: Automaton, state: int, arc: str) -> str:
    match automaton.states[state]:
        case State(stay=Stay.NONE):
            return ""
        case State(stay=Stay.FOREIGN):
            return "ignore: another partition"
        case State(stay=Stay.UNTAKEN):
            return f"ignore: NOT {arc}"
        case State(stay=Stay.FAILING, theta=theta):
            return f"ignore: NOT ({written(theta)})"
        case State():
            return "ignore: TRUE"


def _asked(arc: Arc, empty: str = ANY_EVENT) -> str:
    """The conditions of an arc, as they were written if that is known."""
    if arc.conjuncts:
        return " AND ".join(describe(replace(conjunct, _named)) for conjunct in arc.conjuncts)
    parts = [written(form) for form in (arc.guard, arc.rest) if form != ALWAYS]
    return " AND ".join([*parts, *(elapsed.text for elapsed in arc.elapsed)]) or empty


def written(form: Form) -> str:
    """A condition as text, with the query's names for registers."""
    return _text(form, _named)


def written_unsigned(form: Form) -> str:
    """The same where no name of a register is one of an attribute of the event."""
    return _text(form, _unsigned)


def _text(form: Form, leaf: Callable[[Term], Term]) -> str:
    named = [[replace(atom, leaf) for atom in clause] for clause in form]
    return " OR ".join(" AND ".join(map(describe, clause)) for clause in named) or describe_form(form)


def _named(leaf: Term) -> Term:
    """A term without the mark of its register, if its name says that it is none of the event's attributes: SASE+'s
    `a[1].price`. CEL's `$.price` keeps it, because `price` is what the event brings."""
    return leaf if isinstance(leaf, Register) and leaf.name.isidentifier() else _unsigned(leaf)


def _unsigned(leaf: Term) -> Term:
    return Attribute(Side.EVENT, leaf.position, leaf.type, leaf.name) if isinstance(leaf, Register) else leaf
