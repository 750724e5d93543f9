"""Plans for people: the automaton with its begin, take, ignore and proceed arcs, and what became of its conditions.

Here: what is said of a plan, as a graph for the renderers of broker.automaton.diagram and as lines of text. Not here:
any format, nor how an engine keeps the runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...algebra.guard import Guard
from ...algebra.kleene import Component, Negated, Pattern
from ...algebra.normal_form import ALWAYS, Form, describe_form
from ...algebra.terms import Attribute, Register, Side, Term, describe, replace
from ...events.instant import format_duration
from ..diagram import Edge, Graph, Node
from .plan import Negation, Plan

ANY_EVENT: Final = "any event"


def plan_diagram(title: str, plan: Plan, served: str) -> Graph:
    """The line of states (SASE+ 4.1): one of a single component, two of a Kleene one, and the match; a negation is a
    gate beside what it can prevent."""
    pattern = plan.pattern
    nodes: list[Node] = []
    edges: list[Edge] = []
    firsts = [*(f"{at} first" for at in range(len(pattern.components))), "match"]
    for at, component in enumerate(pattern.components):
        here, following = firsts[at], firsts[at + 1]
        named = f"{component.name}[1]" if component.kleene else component.name
        head = f"{named}: {_scope(pattern)}" if at == 0 else named
        nodes.append(Node(here, head, "start" if at == 0 else "state"))
        begin = f"begin: {_begins(pattern, component)}"
        ignore = _ignored(component, "begin")
        if at > 0 and ignore:  # a run begins with an event: before that there is nothing that could ignore one
            edges.append(Edge(here, here, ignore, "stay"))
        if component.take is None or component.proceed is None:
            edges.append(Edge(here, following, begin))
            continue
        more = f"{at} more"
        nodes.append(Node(more, f"{component.name}[i]"))
        edges.append(Edge(here, more, begin))
        edges.append(Edge(more, more, f"take: {_guard(component.take)}", "rebind"))
        ignore = _ignored(component, "take")
        if ignore:
            edges.append(Edge(more, more, ignore, "stay"))
        edges.append(Edge(more, following, f"proceed: {_guard(component.proceed, 'TRUE')}"))
    nodes.append(Node("match", served, "end"))
    for number, negated in enumerate(pattern.negated):
        gate = f"negation {number}"
        nodes.append(Node(gate, f"no {negated.name}: {pattern.sources[negated.source].stream}", "gate"))
        label = f"none {_where(pattern, negated)}: {_guard(negated.guard)}"
        edges.append(Edge(gate, firsts[negated.place], label, "trigger"))
    return Graph(title, tuple(nodes), tuple(edges))


def plan_lines(plan: Plan) -> list[str]:
    """The key, the strategies, what an index answers of each arc and what is left to be tested, the negations."""
    pattern = plan.pattern
    lines = [f"runs by {_key(plan)}; {_window(pattern)}; OUTPUT {pattern.output}"]
    for component, step in zip(pattern.components, plan.steps):
        first = f"{component.name}[1]" if component.kleene else component.name
        lines.append(f"{first}, {component.strategy}: {_arc(plan, step.begin, step.begin_rest)}")
        if component.kleene:
            lines.append(f"{component.name}[i]: {_arc(plan, step.take, step.take_rest)}")
        if step.end != ALWAYS:
            lines.append(f"{component.name} ends: tested run by run: {_form(step.end)}")
    for negated, negation in zip(pattern.negated, plan.negations):
        lines.append(f"no {negated.name} {_where(pattern, negated)}: {_kept(plan, negation)}")
    return lines


def _arc(plan: Plan, number: int, rest: Form) -> str:
    """What an event has to be by itself, which the shared index answers, and what is asked of each run."""
    static = plan.inputs[number].guard
    found = f"by the index: {ANY_EVENT if static == ALWAYS else _form(static)}"
    return found if rest == ALWAYS else f"{found}; tested run by run: {_form(rest)}"


def _kept(plan: Plan, negation: Negation) -> str:
    """Which negated events are remembered, and where."""
    given = plan.inputs[negation.input]
    names = [plan.pattern.sources[given.source].schema.names[position] for position in given.key]
    by = f" by {', '.join(names)}" if names else ""
    if negation.rest == ALWAYS:
        return f"{_arc(plan, negation.input, ALWAYS)}; only the newest is kept{by}"
    return f"{_arc(plan, negation.input, negation.rest)}; those of the window are kept{by}"


def _scope(pattern: Pattern) -> str:
    streams = " and ".join(source.stream for source in pattern.sources)
    by = f" by {', '.join(pattern.partition)}" if pattern.partition else ""
    return f"{streams}{by}" + ("" if pattern.within is None else f" within {format_duration(pattern.within)}")


def _window(pattern: Pattern) -> str:
    return "no window" if pattern.within is None else f"WITHIN {format_duration(pattern.within)} on every arc"


def _key(plan: Plan) -> str:
    """The attributes that all events of a match share, as the first component has them."""
    source = plan.pattern.sources[plan.pattern.components[0].source].schema
    names = [source.names[part.positions[0]] for part in plan.key]
    return ", ".join(names) if names else "nothing, all together"


def _begins(pattern: Pattern, component: Component) -> str:
    several = len(pattern.sources) > 1
    stream = f"{pattern.sources[component.source].stream} " if several else ""
    return stream + _guard(component.begin)


def _ignored(component: Component, arc: str) -> str:
    match component.strategy:
        case "strict_contiguity":
            return ""
        case "partition_contiguity":
            return "ignore: another partition"
        case "skip_till_next_match":
            return f"ignore: NOT {arc}"
        case "skip_till_any_match":
            return "ignore: TRUE"


def _where(pattern: Pattern, negated: Negated) -> str:
    names = [component.name for component in pattern.components]
    if negated.place == 0:
        return f"before {names[0]}"
    if negated.place == len(names):
        return f"after {names[-1]}"
    return f"between {names[negated.place - 1]} and {names[negated.place]}"


def _guard(guard: Guard, empty: str = ANY_EVENT) -> str:
    return _conjunction(guard.conjuncts) or empty


def _conjunction(conjuncts: Iterable[Term]) -> str:
    return " AND ".join(_term(conjunct) for conjunct in conjuncts)


def _term(term: Term) -> str:
    return describe(replace(term, _named))


def _form(form: Form) -> str:
    named = [[replace(atom, _named) for atom in clause] for clause in form]
    return " OR ".join(" AND ".join(map(describe, clause)) for clause in named) or describe_form(form)


def _named(leaf: Term) -> Term:
    """What a run remembers by the name that the text has for it, without a mark of where it is kept."""
    return Attribute(Side.EVENT, leaf.position, leaf.type, leaf.name) if isinstance(leaf, Register) else leaf
