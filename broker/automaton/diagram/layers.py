"""Assigns the parts of a drawing to columns, in order from top to bottom. Not here: coordinates (layout.py).


The layered method of Sugiyama, Tagawa and Toda (1981), for one connected component at a time:

1. arcs that close a cycle are reversed during the layout;
2. a state's column is its longest path from a start;
3. between two columns of states stands a column of labels: an arc is a chain of slots through all columns between its
   ends, one of which holds its label, so that labels can overlap neither states nor each other;
4. columns are ordered by depth-first search, which draws a tree without crossings, and then improved by barycentres.

The result depends only on the order of nodes and edges in the graph.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from itertools import pairwise
from typing import final

from .graph import Graph

_SWEEPS = 8


@final
@dataclass(frozen=True, slots=True)
class Slot:
    """A position in a column, of a state (``node`` >= 0) or of a passing arc (``edge`` >= 0), maybe with its label."""

    column: int
    node: int = -1
    edge: int = -1
    labelled: bool = False


@final
@dataclass(frozen=True, slots=True)
class Layers:
    """One component: ``slots``; ``columns`` of slot indices from top to bottom; the ``chains`` of slot indices, left to
    right, by edge; and the edges among them that are drawn from right to left."""

    slots: tuple[Slot, ...]
    columns: tuple[tuple[int, ...], ...]
    chains: dict[int, tuple[int, ...]]
    turned: frozenset[int]


def components(graph: Graph) -> list[list[int]]:
    """The node indices of each connected component, in the order of their first nodes. O(nodes + edges)."""
    position = graph.positions()
    beside: list[list[int]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        source, target = position[edge.source], position[edge.target]
        beside[source].append(target)
        beside[target].append(source)
    seen = [False] * len(graph.nodes)
    found: list[list[int]] = []
    for first in range(len(graph.nodes)):
        if seen[first]:
            continue
        seen[first] = True
        members, waiting = [first], [first]
        while waiting:
            for other in beside[waiting.pop()]:
                if not seen[other]:
                    seen[other] = True
                    members.append(other)
                    waiting.append(other)
        found.append(sorted(members))
    return found


def arrange(graph: Graph, members: list[int]) -> Layers:
    """The layers of the component ``members``, without loops, which belong to their states."""
    position = graph.positions()
    inside = set(members)
    ends = {
        index: (position[edge.source], position[edge.target])
        for index, edge in enumerate(graph.edges)
        if not edge.is_loop and position[edge.source] in inside
    }
    leaving: dict[int, list[int]] = {node: [] for node in members}
    for index, (source, _) in ends.items():
        leaving[source].append(index)

    starts = [node for node in members if graph.nodes[node].kind == "start"]
    finished, turned = _search(starts + members, leaving, ends)
    forward = {index: pair[::-1] if index in turned else pair for index, pair in ends.items()}
    level = _levels(finished[::-1], forward)

    slots = [Slot(2 * level[node], node=node) for node in members]
    slot_of = {node: index for index, node in enumerate(members)}
    chains: dict[int, tuple[int, ...]] = {}
    for index, (left, right) in forward.items():
        between = range(2 * level[left] + 1, 2 * level[right])
        first = len(slots)
        slots += [Slot(column, edge=index, labelled=column == between[0]) for column in between]
        chains[index] = (slot_of[left], *range(first, len(slots)), slot_of[right])
    return Layers(tuple(slots), _ordered(slots, chains), chains, frozenset(turned))


def _search(
    roots: list[int], leaving: dict[int, list[int]], ends: dict[int, tuple[int, int]]
) -> tuple[list[int], set[int]]:
    """Depth-first search: the nodes in the order in which they were finished, and the edges that close a cycle."""
    state = dict.fromkeys(leaving, 0)  # 0 unseen, 1 on the path, 2 finished
    finished: list[int] = []
    closing: set[int] = set()
    for root in roots:
        if state[root]:
            continue
        state[root] = 1
        path = [(root, iter(leaving[root]))]
        while path:
            node, edges = path[-1]
            for index in edges:
                target = ends[index][1]
                if state[target] == 1:
                    closing.add(index)
                elif state[target] == 0:
                    state[target] = 1
                    path.append((target, iter(leaving[target])))
                    break
            else:
                state[node] = 2
                finished.append(node)
                path.pop()
    return finished, closing


def _levels(order: list[int], forward: dict[int, tuple[int, int]]) -> dict[int, int]:
    """The longest path to each node, given an order in which every edge points onwards."""
    entering: dict[int, list[int]] = {node: [] for node in order}
    for left, right in forward.values():
        entering[right].append(left)
    level: dict[int, int] = {}
    for node in order:
        level[node] = max((level[left] + 1 for left in entering[node]), default=0)
    return level


def _ordered(slots: list[Slot], chains: dict[int, tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """The columns from top to bottom, with as few crossings as a few barycentre sweeps find."""
    after: list[list[int]] = [[] for _ in slots]
    before: list[list[int]] = [[] for _ in slots]
    for chain in chains.values():
        for left, right in pairwise(chain):
            after[left].append(right)
            before[right].append(left)

    columns = _first_order(slots, before, after)
    best, fewest = columns, _crossings(columns, after)
    for sweep in range(_SWEEPS):
        if fewest == 0:
            break
        columns = [list(column) for column in columns]
        rightwards = sweep % 2 == 0
        beside = before if rightwards else after
        for index in range(1, len(columns)) if rightwards else range(len(columns) - 2, -1, -1):
            place = {slot: float(i) for i, slot in enumerate(columns[index - 1 if rightwards else index + 1])}
            own = {slot: float(i) for i, slot in enumerate(columns[index])}
            columns[index].sort(key=lambda slot: _mean([place[other] for other in beside[slot]], own[slot]))
        crossings = _crossings(columns, after)
        if crossings < fewest:
            best, fewest = columns, crossings
    return tuple(tuple(column) for column in best)


def _first_order(slots: list[Slot], before: list[list[int]], after: list[list[int]]) -> list[list[int]]:
    """Slots in the order of a depth-first search from those that nothing leads to."""
    columns: list[list[int]] = [[] for _ in range(1 + max(slot.column for slot in slots))]
    seen = [False] * len(slots)
    waiting = [index for index in range(len(slots)) if not before[index]][::-1]
    while waiting:
        index = waiting.pop()
        if not seen[index]:
            seen[index] = True
            columns[slots[index].column].append(index)
            waiting.extend(reversed(after[index]))
    return columns


def _crossings(columns: list[list[int]], after: list[list[int]]) -> int:
    """How many pairs of arcs cross: the inversions between neighbouring columns."""
    total = 0
    for left, right in pairwise(columns):
        place = {slot: index for index, slot in enumerate(right)}
        seen: list[int] = []
        for slot in reversed(left):
            reached = [place[other] for other in after[slot]]
            total += sum(bisect_left(seen, target) for target in reached)
            for target in reached:
                insort(seen, target)
    return total


def _mean(values: list[float], default: float) -> float:
    return sum(values) / len(values) if values else default
