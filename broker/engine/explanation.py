"""The program in words and as a picture's data: what subscriptions became and what they share.

Here: reading the program for people. Not here: drawing (broker.automaton.diagram).
"""

from __future__ import annotations

from typing import Final

from ..algebra.normal_form import ALWAYS, describe_form
from ..automaton.automaton import describe_arc
from ..automaton.diagram import Edge, Graph
from ..automaton.diagram import Node as Picture
from ..automaton.sharing import Forest, SharedState
from .catalog import Catalog
from .executors.machine_plan import Known
from .forecasts.explanation import chain_lines
from .index.columns import BLOCK
from .index.spaces import Space
from .planner import decision
from .program import Program

NAMES_SHOWN: Final = 8

# Nanoseconds of an event, a probe in a key space, an arc that is tried, a search in columns, a member that it scans.
EVENT_COST: Final = 180.0
PROBE_COST: Final = 30.0
ARC_COST: Final = 15.0
SEARCH_COST: Final = 60.0
MEMBER_COST: Final = 0.3


def diagram(catalog: Catalog, program: Program) -> Graph:
    """The merged automata: states, stay, rebind and forward arcs, and who is served at which end.

    Merged anew, as families and boxes keep no states. O(subscriptions), each with its automata.
    """
    forest, served = _merged(catalog)
    nodes: list[Picture] = []
    edges: list[Edge] = []
    for node in forest.nodes():
        here = f"state {node.number}"
        start = node.parent is None
        stream = _stream(node.state.stream)
        nodes.append(Picture(here, stream if start else f"{node.number}: next {stream}", "start" if start else "state"))
        if node.parent is not None and node.entry is not None:
            edges.append(Edge(f"state {node.parent.number}", here, describe_arc(node.entry)))
            if node.state.theta != ALWAYS:
                edges.append(Edge(here, here, f"NOT ({describe_form(node.state.theta)})", "stay"))
            if node.rebind is not None:
                edges.append(Edge(here, here, describe_arc(node.rebind), "rebind"))
        for end in node.ends.values():
            there = f"end {end.number}"
            nodes.append(Picture(there, _served(served[end.number]), "end"))
            edges.append(Edge(here, there, describe_arc(end.arc)))
    for known in _machines(catalog, program):
        drawn = known[0].plan.drawn(known)
        nodes += drawn.nodes
        edges += drawn.edges
    return Graph("subscriptions", tuple(nodes), tuple(edges))


def _machines(catalog: Catalog, program: Program) -> list[list[Known]]:
    """Subscriptions with a machine, those of one kind together."""
    kinds: dict[str, list[Known]] = {}
    for name, subscriber in catalog.subscriptions.items():
        plan = subscriber.machine
        if plan is not None and name not in program.machines.seats:
            kinds.setdefault(plan.kind, []).append(Known(name, plan, None))
    for name, seat in program.machines.seats.items():
        kinds.setdefault(seat.plan.kind, []).append(Known(_stream(name), seat.plan, seat.matcher.machine))
    return [kinds[kind] for kind in sorted(kinds)]


def _merged(catalog: Catalog) -> tuple[Forest, dict[int, list[str]]]:
    """All automata as one forest, and by end the names of those that it serves."""
    forest = Forest()
    served: dict[int, list[str]] = {}
    internal: set[str] = set()
    for name, subscriber in catalog.subscriptions.items():
        if not _is_merged(catalog, name):
            continue
        compiled = subscriber.form.compiled(subscriber.literals)
        for stream, automata in compiled.internal:
            if stream not in internal:
                internal.add(stream)
                for automaton in automata:
                    served.setdefault(forest.insert(automaton)[0].number, [])
        for automaton in compiled.automata:
            served.setdefault(forest.insert(automaton)[0].number, []).append(name)
    return forest, served


def _is_merged(catalog: Catalog, name: str) -> bool:
    """Whether a subscription's automata are in the merged program, or come there again."""
    holding = catalog.holdings.get(name)
    return holding is None or all(service.end is not None for service in holding.services)


def explain(catalog: Catalog, program: Program) -> list[str]:
    """States before and after merging, and which key spaces find what."""
    internal = [service for stream in catalog.internal.values() for service in stream.services]
    merged = [s.form for name, s in catalog.subscriptions.items() if _is_merged(catalog, name)]
    ends = [service.end for service in internal if service.end is not None]
    automata = sum(len(form.recipes) for form in merged) + len(ends)
    automatic = [form for form in merged if form.template is not None]
    before = sum(form.states for form in automatic) + sum(end.node.depth + 1 for end in ends)
    after = sum(1 for _ in program.forest.nodes()) + program.bulk.states(program.forest.starts)
    subscriptions = _counted(len(catalog.subscriptions), "subscription")
    lines = [subscriptions]
    if automata:
        lines = [f"{subscriptions}, {_counted(automata, 'automaton', 'automata')}"]
        lines.append(f"{_counted(before, 'state')} before merging, {after} after")
    for known in _machines(catalog, program):
        lines += [f"{name}: {decision(plan)}" for name, plan, _ in known[:NAMES_SHOWN]]
        lines += known[0].plan.explained(known)
    lines += chain_lines(program.forecasts)
    waiting: dict[int, int] = {}
    for place in program.all_places():
        waiting[place.space.number] = waiting.get(place.space.number, 0) + 1
    for spaces in program.directory.spaces:
        lines += [_space_line(catalog, program, space, waiting.get(space.number, 0)) for space in spaces]
        if spaces:
            lines.append(_cost_line(program, spaces))
    return lines


def _space_line(catalog: Catalog, program: Program, space: Space, places: int) -> str:
    """What a key space answers, and by which of its structures."""
    statics = list(program.directory.statics[space.number].values())
    families = [place.family for static in statics for place in static.places if place.family is not None]
    arcs = sum(len(static.arcs) for static in statics)
    indexed = sum(len(static.arcs) for static in statics if static.arcs.indexed())
    found = [
        (arcs, "start arc", f" ({indexed} in an arc index)" if indexed else ""),
        (sum(len(family.members) for family in families), "family member", " in sorted columns"),
        (sum(len(box.members) for static in statics for box in static.boxes), "box", " in sorted columns"),
    ]
    known = [_counted(n, what, "boxes" if what == "box" else "") + how for n, what, how in found if n]
    starts = f"{', '.join(known)} under {_counted(len(statics), 'key')}" if known else "nothing starts here"
    return f"{_space(catalog, space)}: {starts}; {_counted(places, 'place')} where runs wait"


def _cost_line(program: Program, spaces: list[Space]) -> str:
    """What an event of the stream costs where every key that has anything is as frequent as any other.

    A rough model with rounded constants, near what W4 and W5 take compiled; without what comes of runs.
    """
    cost = EVENT_COST
    for space in spaces:
        statics = list(program.directory.statics[space.number].values())
        cost += PROBE_COST
        each = [
            (ARC_COST * len(s.arcs) if not s.arcs.indexed() else SEARCH_COST + ARC_COST * len(s.arcs) / BLOCK)
            + SEARCH_COST * (len(s.boxes) + len(s.places))
            + sum(MEMBER_COST * len(box.members) for box in s.boxes)
            for s in statics
        ]
        cost += sum(each) / max(1, len(each))
    stream = _stream(spaces[0].stream)
    return f"{stream}: {_counted(len(spaces), 'probe')} an event, about {cost / 1000:.1f} us compiled before runs step"


def _counted(number: int, one: str, more: str = "") -> str:
    return f"{number} {one if number == 1 else more or one + 's'}"


def _space(catalog: Catalog, space: Space) -> str:
    schema = catalog.schema_of(space.stream)
    if not space.positions:
        return f"{_stream(space.stream)}, every event"
    names = [str(p) if schema is None else schema.names[p] for p in space.positions]
    return f"{_stream(space.stream)} by {', '.join(names)}"


def _stream(name: str) -> str:
    return f"(right operand {name[1:7]})" if name.startswith("~") else name


def _served(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    if not names:
        return "to another pattern"
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def path(node: SharedState) -> list[SharedState]:
    """From the start state's successor down to the node."""
    found: list[SharedState] = []
    while node.parent is not None:
        found.append(node)
        node = node.parent
    return found[::-1]
