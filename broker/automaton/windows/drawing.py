"""Windows for people: sizes of automata and bounds in words, and a diagram of prefix and body.

Here: text and graphs of a window automaton. Not here: formats of diagrams, what an executor keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...events.instant import format_duration
from ..analyses.window_bounds import window_bounds
from ..diagram import Edge, Graph, Node
from ..drawing import written_unsigned
from .window_automaton import DEAD, WindowAutomaton, WindowPart

SHOWN: Final = 64  # states up to which an automaton is drawn
ANY: Final = "any event"


def windows_lines(windows: WindowAutomaton) -> list[str]:
    """The windows written out, the automata and the bounds of each part."""
    said = windows.said.text(()).splitlines()
    lines = [f"windows {line}" for line in said[:1]] + said[1:]
    if windows.clock is not None:
        clock = windows.clock
        size, slide = format_duration(clock.size), format_duration(clock.slide)
        return [*lines, f"windows of the clock: {size} long, one every {slide}"]
    conditions = f"conditions: {len(windows.atoms)}, classes of events: {len(windows.classes)}"
    lines.append(f"{conditions}, {windows.columns} of them different")
    for part in windows.parts:
        sizes = f"states of the prefix: {len(part.starts)}, of the body: {len(part.final)}"
        lines.append(", ".join([sizes, *_bounds(part)]))
    lines.append(bounded_line(windows))
    return lines


def bounded_line(windows: WindowAutomaton) -> str:
    """Whether the number of open starts is bounded; if not, the events that open one more each time they come."""
    bounds = window_bounds(windows)
    again = "; windows of one start may end again and again" if bounds.again else ""
    if bounds.verdict == "bounded":
        most = "bounded" if bounds.starts is None else f"at most {bounds.starts}"
        over = "" if bounds.over is None else f"; windows over one event: at most {bounds.over}"
        return f"open starts: {most}{again}{over}"
    repeated = ", ".join(f"[{_label(windows, [column])}]" for column in bounds.witness)
    if bounds.verdict == "unbounded":
        return f"open starts: unbounded, one more each time these events come: {repeated}"
    return f"open starts: unknown, since {bounds.reason}; they would grow with these events: {repeated}"


def _bounds(part: WindowPart) -> Iterator[str]:
    if part.least > 1:
        yield f"at least {part.least} events"
    if part.most is not None:
        yield f"at most {part.most} events"
    if part.within is not None:
        yield f"within {format_duration(part.within)}"


def windows_diagram(name: str, windows: WindowAutomaton) -> Graph:
    """The states of prefix and body, with a trigger from each prefix state to the body state that begins there."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    end = f"{name} end"
    for number, part in enumerate(windows.parts):
        if len(part.starts) + len(part.final) > SHOWN:
            continue
        before = [f"{name} {number} prefix {state}" for state in range(len(part.starts))]
        body = [f"{name} {number} body {state}" for state in range(len(part.final))]
        nodes += [Node(key, f"before {at}", "state" if at else "start") for at, key in enumerate(before)]
        nodes += [Node(key, f"in {at}") for at, key in enumerate(body)]
        edges += _arcs(windows, part.prefix, before)
        edges += _arcs(windows, part.body, body)
        for state, begun in enumerate(part.starts):
            if begun != DEAD:
                edges.append(Edge(before[state], body[begun], "may begin", "trigger"))
        edges += [Edge(body[at], end, "a window") for at, final in enumerate(part.final) if final]
    if windows.clock is not None:
        nodes.append(Node(f"{name} clock", windows.said.text(()), "start"))
        edges.append(Edge(f"{name} clock", end, "time has passed the end"))
    nodes.append(Node(end, name, "end"))
    return Graph("", tuple(nodes), tuple(edges))


def _arcs(windows: WindowAutomaton, table: tuple[int, ...], keys: list[str]) -> list[Edge]:
    found: list[Edge] = []
    for state, key in enumerate(keys):
        row = table[state * windows.columns : (state + 1) * windows.columns]
        for target in dict.fromkeys(row):
            if target != DEAD:
                columns = [column for column, reached in enumerate(row) if reached == target]
                kind = "rebind" if target == state else "forward"
                found.append(Edge(key, keys[target], _label(windows, columns), kind))  # type: ignore[arg-type]
    return found


def _label(windows: WindowAutomaton, columns: list[int]) -> str:
    """The events of some columns: a condition that describes them exactly, or their classes."""
    if len(columns) == windows.columns:
        return ANY
    inside = {letter for letter, column in windows.classes if column in columns}
    letters = {letter for letter, _ in windows.classes}
    for number, atom in enumerate(windows.atoms):
        holding = {letter for letter in letters if letter >> number & 1}
        if holding == inside:
            return written_unsigned(atom)
        if letters - holding == inside:
            return f"not ({written_unsigned(atom)})"
    parts = [_class(windows, letter) for letter in sorted(inside)[:4]]
    return " or ".join(parts) + (" or ..." if len(inside) > len(parts) else "")


def _class(windows: WindowAutomaton, letter: int) -> str:
    holding = [written_unsigned(atom) for number, atom in enumerate(windows.atoms) if letter >> number & 1]
    return " and ".join(holding) if holding else "no condition"
