"""Computes coordinates: a graph in, a picture in pixels out. Not here: SVG (svg.py).

Columns and their order come from layers.py. A slot reserves the space of its state or label on each side, including
loops and their labels, so that nothing overlaps. Heights are computed column by column: the ideal height of a slot is
the mean of its neighbours, and isotonic regression gives the nearest heights that keep order and distance. Components
are packed into rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import final

from .graph import Edge, Graph, Node
from .label import cells, wrap
from .layers import Layers, arrange, components
from .picture import Picture, PlacedEdge, PlacedLabel, PlacedLoop, PlacedNode, Point, Side

STATE_LINE, STATE_COLUMN = 17.0, 7.6  # pixels: height of a line, width of a column, of a state's label
GUARD_LINE, GUARD_COLUMN = 14.0, 6.7  # the same of a guard, in a smaller fixed-width font
LOOP_HEIGHT = 26.0
START_WIDTH = 30.0  # the arrow that marks a start
_STATE_COLUMNS, _GUARD_COLUMNS, _LOOP_COLUMNS, _LINES_MAX = 26, 30, 30, 5
_PADDING_X, _PADDING_Y = 14.0, 9.0
_SLOT_DISTANCE = 16.0
_COLUMN_GAP, _COLUMN_GAP_MAX = 22.0, 150.0
_COMPONENT_DISTANCE = 44.0
_GRID = 60.0  # components in a row begin at multiples of this, so that similar ones stand in columns
_ASPECT = 1.5  # width to height that packing aims at
_PASSING_WEIGHT = 6.0  # of an arc that passes a column, relative to a state's: it keeps long arcs straight
_SWEEPS = 10


@final
@dataclass(slots=True)
class _Extent:
    """The space that a slot reserves on each side of its centre."""

    left: float = 0.0
    right: float = 0.0
    up: float = 0.0
    down: float = 0.0


def lay_out(graph: Graph) -> Picture:
    """The picture of ``graph``, components packed into rows in the order of the graph."""
    pictures = [_component(graph, members) for members in components(graph)]
    area = sum((p.width + _COMPONENT_DISTANCE) * (p.height + _COMPONENT_DISTANCE) for p in pictures)
    row_width = max([math.sqrt(area * _ASPECT), *(p.width for p in pictures)], default=0.0)
    nodes: list[PlacedNode] = []
    edges: list[PlacedEdge] = []
    loops: list[PlacedLoop] = []
    x = y = row_height = width = 0.0
    for picture in pictures:
        if x > 0.0 and x + picture.width > row_width:
            x, y, row_height = 0.0, y + row_height + _COMPONENT_DISTANCE, 0.0
        nodes += [node.moved((x, y)) for node in picture.nodes]
        edges += [edge.moved((x, y)) for edge in picture.edges]
        loops += [loop.moved((x, y)) for loop in picture.loops]
        width, row_height = max(width, x + picture.width), max(row_height, picture.height)
        x += math.ceil((picture.width + _COMPONENT_DISTANCE) / _GRID) * _GRID
    return Picture(width, y + row_height, tuple(nodes), tuple(edges), tuple(loops))


def _component(graph: Graph, members: list[int]) -> Picture:
    layers = arrange(graph, members)
    own_loops: dict[str, list[Edge]] = {graph.nodes[node].key: [] for node in members}
    for edge in graph.edges:
        if edge.is_loop and edge.source in own_loops:
            own_loops[edge.source].append(edge)
    boxes: dict[int, PlacedNode] = {}
    loops: dict[int, list[PlacedLoop]] = {}
    labels: dict[int, PlacedLabel] = {}
    extents = [_Extent() for _ in layers.slots]
    for index, slot in enumerate(layers.slots):
        if slot.node >= 0:
            node = graph.nodes[slot.node]
            boxes[index], loops[index], extents[index] = _state(node, own_loops[node.key])
        elif slot.labelled and (label := _guard(graph.edges[slot.edge].label, _GUARD_COLUMNS)) is not None:
            labels[index] = label
            half = label.width / 2 + 10.0
            extents[index] = _Extent(half, half, label.height / 2 + 3.0, label.height / 2 + 3.0)

    heights = _heights(layers, extents)
    lefts, axes, rights, width = _columns(layers, extents, heights)
    at = [(axes[slot.column], heights[index]) for index, slot in enumerate(layers.slots)]

    edges = []
    for index, chain in layers.chains.items():
        first, last = chain[0], chain[-1]
        points: list[Point] = [(at[first][0] + boxes[first].width / 2, at[first][1])]
        for slot_index in chain:
            column, height = layers.slots[slot_index].column, at[slot_index][1]
            if slot_index != first:
                points.append((lefts[column], height))
            if slot_index != last:
                points.append((rights[column], height))
        points.append((at[last][0] - boxes[last].width / 2, at[last][1]))
        labelled = [slot_index for slot_index in chain if slot_index in labels]
        label = labels[labelled[0]].moved(at[labelled[0]]) if labelled else None
        edges.append(PlacedEdge(graph.edges[index], tuple(points[::-1] if index in layers.turned else points), label))

    height = max(heights[index] + extent.down for index, extent in enumerate(extents))
    nodes = [box.moved(at[index]) for index, box in boxes.items()]
    placed = [loop.moved(at[index]) for index, group in loops.items() for loop in group]
    return Picture(width, height, tuple(nodes), tuple(edges), tuple(placed))


def _state(node: Node, own_loops: list[Edge]) -> tuple[PlacedNode, list[PlacedLoop], _Extent]:
    """A state around (0, 0) with its loops: those that let an event pass above it, those that take one below."""
    lines = wrap(node.label, _STATE_COLUMNS, _LINES_MAX)
    width = max([30.0, *(cells(line) * STATE_COLUMN for line in lines)]) + 2 * _PADDING_X
    height = max(1, len(lines)) * STATE_LINE + 2 * _PADDING_Y
    extent = _Extent(width / 2, width / 2, height / 2, height / 2)
    loops: list[PlacedLoop] = []
    sides: tuple[tuple[Side, float], ...] = (("above", -1.0), ("below", 1.0))
    for side, sign in sides:
        reach = height / 2
        for nest, edge in enumerate(edge for edge in own_loops if (edge.kind == "stay") == (side == "above")):
            reach += LOOP_HEIGHT if nest == 0 else 6.0
            label = _guard(edge.label, _LOOP_COLUMNS)
            if label is not None:
                middle = sign * (reach + 3.0 + label.height / 2)
                label = PlacedLabel(0.0, middle, label.width, label.height, label.lines)
                reach += 3.0 + label.height
                extent.left = max(extent.left, label.width / 2)
                extent.right = max(extent.right, label.width / 2)
            root = (0.0, sign * height / 2)
            loops.append(PlacedLoop(edge, root, side, nest, label))
        if side == "above":
            extent.up = reach
        else:
            extent.down = reach
    if node.kind == "start":
        extent.left = max(extent.left, width / 2 + START_WIDTH)
    return PlacedNode(node, 0.0, 0.0, width, height, lines), loops, extent


def _guard(text: str, columns: int) -> PlacedLabel | None:
    lines = wrap(text, columns, _LINES_MAX)
    if not lines:
        return None
    width = max(cells(line) for line in lines) * GUARD_COLUMN
    return PlacedLabel(0.0, 0.0, width, len(lines) * GUARD_LINE, lines)


def _heights(layers: Layers, extents: list[_Extent]) -> list[float]:
    """The y of every slot. O(sweeps * slots)."""
    before: list[list[int]] = [[] for _ in extents]
    after: list[list[int]] = [[] for _ in extents]
    for chain in layers.chains.values():
        for left, right in pairwise(chain):
            after[left].append(right)
            before[right].append(left)
    heights = [0.0] * len(extents)
    weights = [1.0 if slot.node >= 0 else _PASSING_WEIGHT for slot in layers.slots]
    for column in layers.columns:
        _settle(column, extents, heights, [0.0] * len(column), weights)
    for sweep in range(_SWEEPS):
        rightwards = sweep % 2 == 0
        beside = before if rightwards else after
        for column in layers.columns if rightwards else layers.columns[::-1]:
            wanted = [_mean([heights[other] for other in beside[slot]], heights[slot]) for slot in column]
            _settle(column, extents, heights, wanted, weights)
    top = min(heights[index] - extent.up for index, extent in enumerate(extents))
    return [height - top for height in heights]


def _settle(
    column: tuple[int, ...], extents: list[_Extent], heights: list[float], wanted: list[float], weights: list[float]
) -> None:
    """Set the heights of a column as near to ``wanted`` (weighted least squares) as order and distance allow.

    Pool adjacent violators: heights minus the distance to the first slot must not decrease. O(len(column)).
    """
    offsets: list[float] = []
    offset = 0.0
    for index, slot in enumerate(column):
        if index > 0:
            offset += extents[column[index - 1]].down + _SLOT_DISTANCE + extents[slot].up
        offsets.append(offset)
    pools: list[tuple[float, float, int]] = []  # (weighted sum, weight, count)
    for slot, want, offset in zip(column, wanted, offsets, strict=True):
        weight, count = weights[slot], 1
        total = (want - offset) * weight
        while pools and pools[-1][0] / pools[-1][1] >= total / weight:
            other_total, other_weight, other_count = pools.pop()
            total, weight, count = total + other_total, weight + other_weight, count + other_count
        pools.append((total, weight, count))
    settled = [total / weight for total, weight, count in pools for _ in range(count)]
    for slot, value, offset in zip(column, settled, offsets, strict=True):
        heights[slot] = value + offset


def _columns(
    layers: Layers, extents: list[_Extent], heights: list[float]
) -> tuple[list[float], list[float], list[float], float]:
    """Left border, axis and right border of each column, and the width of all. Steep arcs get a wider gap."""
    steepest = [0.0] * len(layers.columns)
    for chain in layers.chains.values():
        for left, right in pairwise(chain):
            gap = layers.slots[left].column
            steepest[gap] = max(steepest[gap], abs(heights[left] - heights[right]))
    lefts: list[float] = []
    axes: list[float] = []
    rights: list[float] = []
    x = 0.0
    for index, column in enumerate(layers.columns):
        lefts.append(x)
        axes.append(x + max(extents[slot].left for slot in column))
        rights.append(axes[-1] + max(extents[slot].right for slot in column))
        x = rights[-1] + min(_COLUMN_GAP + 0.2 * steepest[index], _COLUMN_GAP_MAX)
    return lefts, axes, rights, rights[-1]


def _mean(values: list[float], default: float) -> float:
    return sum(values) / len(values) if values else default
