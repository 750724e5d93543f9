"""Turns machines into graphs for the renderers of broker.automaton.diagram, and into lines of text.

Here: labels and descriptions. Not here: formats. State machines are rows of states, with primary links as arcs,
secondary links as rebind loops and star links as stay loops; Boolean machines are gates; triggers connect them. The
arrow of an in-trigger begins at the state that starts the machine, across any gates, so that arrows form no cycle.
"""

from __future__ import annotations

from ...events.instant import format_duration
from ..diagram import Edge, Graph, Node, NodeKind
from .boolean_machine import BooleanMachine
from .decomposition import Machines, PlacedMachine
from .merging import Activation, Feed, GateFeed, Merged, MergedGate, MergedState, Start, StateFeed
from .state_machine import Case, StateMachine, Symbol

NAMES_SHOWN = 8
STAR = "*"
IN_TRIGGER, OUT_TRIGGER = "in-trigger", "out-trigger"
_CASES = {
    Case.APART: "never tested: no match takes both branches",
    Case.SAME: "case 1, both in one machine",
    Case.MASTER_TO_CHILD: "case 2, from a machine to one below it",
    Case.CHILD_TO_MASTER: "case 3, from a machine to one above it",
    Case.UNORDERED: "case 4, both below one AND",
    Case.ACROSS: "case 5, across two Boolean machines",
}


def machine_lines(machines: Machines) -> list[str]:
    """A line for each machine, parents before children; then for each time condition; then for each operand."""
    lines = [_line(machines, machine) for machine in machines.machines]
    for placed in machines.conditions:
        where = "" if placed.condition.case is Case.APART else f"; tested by {machines.machines[placed.machine].name}"
        lines.append(f"time condition {placed.condition.text}: {_CASES[placed.condition.case]}{where}")
    return [*lines, *(f"{name}: {meaning}" for name, meaning in machines.definitions)]


def _line(machines: Machines, machine: PlacedMachine) -> str:
    body = machine.body
    match body:
        case StateMachine():
            shown = f"state machine {machine.name}: {body}"
            loops = len(body.boundaries)
            links = f"{body.final} primary" + (f", {loops} secondary, {loops} star" if loops else "")
            details = [f"{len(body.states)} states", f"links: {links}"]
        case BooleanMachine():
            shown, details = f"Boolean machine {machine.name}: {body}", []
    if machine.in_trigger is not None and machine.out_trigger is not None:
        parent = machines.machines[machine.parent].name
        before, after = machine.in_trigger.state, machine.out_trigger.state
        details.append(f"started with {parent}" if before is None else f"started by {parent} in N{before}")
        details.append(f"tells {parent}" if after is None else f"leads {parent} to N{after}")
    return f"{shown} ({'; '.join(details)})" if details else shown


def machines_diagram(title: str, machines: Machines) -> Graph:
    """The decomposition of one subscription (P-ToPSS, figure 5)."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    boolean_master = isinstance(machines.master.body, BooleanMachine)
    if boolean_master:
        nodes.append(Node("start", ", ".join(machines.streams), "start"))
    for index, machine in enumerate(machines.machines):
        activation = machines.activation(index)
        above = "start" if activation is None else _state(*activation)
        body = machine.body
        match body:
            case StateMachine():
                for state in body.states:
                    kind = _kind(index, state, body.final)
                    nodes.append(Node(_state(index, state), f"{machine.name} N{state}", kind))
                for number, symbol in enumerate(body.symbols, 1):
                    here = _state(index, number)
                    edges.append(Edge(_state(index, number - 1), here, str(symbol)))
                    if number in body.boundaries:
                        edges += _loops(here, str(symbol))
                first, last = _state(index, 0), _state(index, body.final)
                started = index > 0
            case BooleanMachine():
                first = last = _gate(index)
                nodes.append(Node(first, f"{machine.name} = {body}", "gate"))
                started = len(machines.children()[index]) < len(body.inputs)
        if started:
            edges.append(Edge(above, first, IN_TRIGGER, "trigger"))
        if machine.out_trigger is not None:
            entered = machine.out_trigger.state
            target = _gate(machine.parent) if entered is None else _state(machine.parent, entered)
            edges.append(Edge(last, target, f"{OUT_TRIGGER} {machine.name}", "trigger"))
    if boolean_master:
        nodes.append(Node("end", "match", "end"))
        edges.append(Edge(_gate(0), "end", OUT_TRIGGER, "trigger"))
    return Graph(title, tuple(nodes), tuple(edges))


def _loops(state: str, label: str) -> list[Edge]:
    return [Edge(state, state, label, "rebind"), Edge(state, state, STAR, "stay")]


def _kind(machine: int, state: int, final: int) -> NodeKind:
    if machine > 0 or 0 < state < final:
        return "state"
    return "start" if state == 0 else "end"


def _state(machine: int, state: int) -> str:
    return f"machine {machine} state {state}"


def _gate(machine: int) -> str:
    return f"machine {machine}"


def merged_lines(merged: Merged) -> list[str]:
    """The results of merging, as text."""
    after = len(merged.states)
    return [
        f"{merged.before} {'state' if merged.before == 1 else 'states'} before merging, {after} after",
        f"{merged.shared} shared, commonality {merged.commonality:.3g}",
    ]


def merged_diagram(title: str, merged: Merged) -> Graph:
    """The merged graph of many subscriptions (P-ToPSS, figure 6), with predicates as symbols, because names differ."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    initial = {state.activation: _merged_state(state.number) for state in merged.states if state.parent < 0}
    for state in merged.states:
        here = _merged_state(state.number)
        nodes.append(_node(state, here))
        if state.symbol is None:
            if isinstance(state.activation, int):
                edges.append(Edge(_merged_state(state.activation), here, IN_TRIGGER, "trigger"))
            continue
        label = _shown(state.symbol)
        edges.append(Edge(_merged_state(state.parent), here, label))
        if state.loops:
            edges += _loops(here, label)
        if state.fed is not None:
            edges.append(Edge(_fed(state.fed), here, OUT_TRIGGER, "trigger"))
    for gate in merged.gates:
        here = _merged_gate(gate.number)
        nodes.append(Node(here, f"G{gate.number} = {_inputs(gate)}", "gate"))
        if None in gate.feeds:
            edges.append(Edge(_activating(gate.activation, initial, nodes), here, IN_TRIGGER, "trigger"))
        edges += [Edge(_fed(feed), here, OUT_TRIGGER, "trigger") for feed in gate.feeds if feed is not None]
        if gate.ends:
            nodes.append(Node(f"end {gate.number}", _names(gate.ends), "end"))
            edges.append(Edge(here, f"end {gate.number}", OUT_TRIGGER, "trigger"))
    return Graph(title, tuple(nodes), tuple(edges))


def _node(state: MergedState, key: str) -> Node:
    label = f"M{state.number}"
    if state.ends:
        return Node(key, f"{label}: {_names(state.ends)}", "end")
    if isinstance(state.activation, Start) and state.parent < 0:
        return Node(key, f"{label}: {_events(state.activation)}", "start")
    return Node(key, label)


def _activating(activation: Activation, initial: dict[Activation, str], nodes: list[Node]) -> str:
    """The node that starts a gate, created if no state machine begins there."""
    if isinstance(activation, int):
        return _merged_state(activation)
    if activation not in initial:
        initial[activation] = f"start {len(initial)}"
        nodes.append(Node(initial[activation], _events(activation), "start"))
    return initial[activation]


def _events(start: Start) -> str:
    by = f" by {', '.join(start.partition)}" if start.partition else ""
    within = "" if start.within is None else f" within {format_duration(start.within)}"
    return ", ".join(start.streams) + by + within


def _shown(symbol: Symbol) -> str:
    return " ".join([symbol.meaning or symbol.name, *(f"@({condition.text})" for condition in symbol.conditions)])


def _inputs(gate: MergedGate) -> str:
    shown = []
    for symbol, feed in zip(gate.body.inputs, gate.feeds, strict=True):
        match feed:
            case None:
                shown.append(f"({_shown(symbol)})")
            case StateFeed(state):
                shown.append(f"M{state}")
            case GateFeed(number):
                shown.append(f"G{number}")
    tests = "".join(f" @({condition.text})" for condition in gate.body.conditions)
    return f" {gate.body.gate} ".join(shown) + tests


def _names(names: list[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def _fed(feed: Feed) -> str:
    return _merged_state(feed.state) if isinstance(feed, StateFeed) else _merged_gate(feed.gate)


def _merged_state(number: int) -> str:
    return f"state {number}"


def _merged_gate(number: int) -> str:
    return f"gate {number}"
