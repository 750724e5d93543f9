"""The parts of a laid-out drawing, in pixels: values, and moving them. Not here: measuring (layout.py), drawing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, final

from .graph import Edge, Node

Point = tuple[float, float]
Side = Literal["above", "below"]


@final
@dataclass(frozen=True, slots=True)
class PlacedLabel:
    """Lines around the centre (x, y); width and height are those of the lines, in pixels."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]

    def moved(self, by: Point) -> PlacedLabel:
        return replace(self, x=self.x + by[0], y=self.y + by[1])


@final
@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A state's box, given by its centre and size."""

    node: Node
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]

    def moved(self, by: Point) -> PlacedNode:
        return replace(self, x=self.x + by[0], y=self.y + by[1])


@final
@dataclass(frozen=True, slots=True)
class PlacedEdge:
    """An arc through ``points``: a line from the first to the second, a curve to the third, and so on in turn."""

    edge: Edge
    points: tuple[Point, ...]
    label: PlacedLabel | None

    def moved(self, by: Point) -> PlacedEdge:
        points = tuple((x + by[0], y + by[1]) for x, y in self.points)
        return replace(self, points=points, label=self.label and self.label.moved(by))


@final
@dataclass(frozen=True, slots=True)
class PlacedLoop:
    """An arc from a state to itself, rooted at the middle of the box's upper or lower side."""

    edge: Edge
    root: Point
    side: Side
    nest: int  # several on one side share the arrow of number 0, their labels stacked outwards
    label: PlacedLabel | None

    def moved(self, by: Point) -> PlacedLoop:
        root = (self.root[0] + by[0], self.root[1] + by[1])
        return replace(self, root=root, label=self.label and self.label.moved(by))


@final
@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, with (0, 0) at the upper left."""

    width: float
    height: float
    nodes: tuple[PlacedNode, ...]
    edges: tuple[PlacedEdge, ...]
    loops: tuple[PlacedLoop, ...]
