"""Nodes: the runs after an event. The nodes of an event are its block.

A block is in the order of the first events of its runs, and for one first event in the order of the arcs. Blocks are
replaced, never changed, so that an event that every run ignores shares the block of the previous event.

Here: nodes, and computing a block from the previous one. Hot. Not here: events and their order (timeline).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Slots
from ....events.schema import Row
from ...account import Exhausted
from ...trace import mixed
from .arcs import ArcTable, Step


@final
@mypyc_attr(acyclic=True)
class Node:
    """A run. It began with the event at time `start` with number `order`, and lives as long as that event, until `end`.

    `trace` is the digest of the events that it took, `links` are these: (earlier ones, the last).
    """

    __slots__ = ("end", "links", "order", "registers", "start", "state", "trace")

    def __init__(self, start: i64, order: i64, end: i64, state: i64, registers: Slots, trace: i64, links: Any) -> None:
        self.start = start
        self.order = order
        self.end = end
        self.state = state
        self.registers = registers
        self.trace = trace
        self.links = links

    def same(self, other: Node) -> bool:
        """Whether it is the same run, in the same state."""
        return (
            self.state == other.state
            and self.trace == other.trace
            and self.order == other.order
            and self.start == other.start
            and self.registers == other.registers
        )


@final
class Stepper:
    """Computes the block of one event. `made`: the number of nodes so far; `most`: the nodes of the largest block.

    Raises Exhausted instead of making more than `runs_max` nodes for one event.
    """

    def __init__(self, table: ArcTable, runs_max: i64) -> None:
        self.table = table
        self.runs_max = runs_max
        self.made: i64 = 0
        self.most: i64 = 0
        self._group: i64 = 0  # where the nodes of the current first event begin in the block

    def block(
        self, before: list[Node], upto: i64, row: Row, klass: i64, time: i64, id: i64, begins: Node | None
    ) -> list[Node]:
        """The nodes of an event, from the first `upto` nodes before it and the run that it begins. O(nodes x arcs)."""
        table = self.table
        out: list[Node] = []
        i: i64
        group_start: i64 = 0
        group_order: i64 = 0
        for i in range(upto):
            node = before[i]
            if node.end <= time or node.state >= table.final:
                continue
            if node.start != group_start or node.order != group_order or len(out) == 0:
                self._group = len(out)
                group_start, group_order = node.start, node.order
            self._step(node, row, klass, time, id, out)
        if begins is not None:
            self._group = len(out)
            self._begin(begins, row, klass, time, id, out)
        if len(out) > self.most:
            self.most = len(out)
        return out

    def _begin(self, node: Node, row: Row, klass: i64, time: i64, id: i64, out: list[Node]) -> None:
        moves = self.table.moves(node.state)
        if len(moves) == 0:
            self._step(node, row, klass, time, id, out)
            return
        for each in self._closure(node, time, id):
            if each.state < self.table.final:
                self._step(each, row, klass, time, id, out)

    def _step(self, node: Node, row: Row, klass: i64, time: i64, id: i64, out: list[Node]) -> None:
        table = self.table
        steps = table.steps(node.state, klass, time)
        i: i64
        for i in range(len(steps)):
            step = steps[i]
            if not step.holds(row, node.registers):
                continue
            if step.ignores and node.links is not None:
                self._enter(node, time, id, out)
                continue
            registers = step.after(row, node.registers, table.floats)
            trace, links = mixed(node.trace, id, step.target), (node.links, int(id))
            self._enter(Node(node.start, node.order, node.end, step.target, registers, trace, links), time, id, out)

    def _enter(self, node: Node, time: i64, id: i64, out: list[Node]) -> None:
        """Add a node, and the nodes behind arcs without event, unless they exist."""
        if node.state >= self.table.final or len(self.table.moves(node.state)) == 0:
            self._put(node, out)
            return
        for each in self._closure(node, time, id):
            self._put(each, out)

    def _put(self, node: Node, out: list[Node]) -> None:
        i: i64
        for i in range(self._group, len(out)):
            other = out[i]
            if other.state == node.state and other.registers == node.registers:
                return
        if len(out) >= self.runs_max:
            raise Exhausted
        self.made += 1
        out.append(node)

    def _closure(self, node: Node, time: i64, id: i64) -> list[Node]:
        table = self.table
        found = [node]
        at: i64 = 0
        while at < len(found):
            one = found[at]
            at += 1
            if one.state >= table.final:
                continue
            for step in table.moves(one.state):
                if step.begin <= time < step.end and step.holds((), one.registers):
                    self._reach(step, one, id, found)
        return found

    def _reach(self, step: Step, one: Node, id: i64, found: list[Node]) -> None:
        registers = step.after((), one.registers, self.table.floats)
        for other in found:
            if other.state == step.target and other.registers == registers:
                return
        if len(found) >= self.runs_max:
            raise Exhausted
        trace, links = one.trace, one.links
        if step.target >= self.table.final and links is not None and links[1] != id:
            trace, links = mixed(trace, id, step.target), (links, int(id))  # a match has its last event
        found.append(Node(one.start, one.order, one.end, step.target, registers, trace, links))
