"""The picture before it is drawn: nothing overlaps, everything is inside, arcs join their states."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from strategies.graphs import graphs

from broker.automaton.diagram import Edge, Graph, Node
from broker.automaton.diagram.layers import arrange, components
from broker.automaton.diagram.layout import lay_out
from broker.automaton.diagram.picture import Picture, PlacedLabel, PlacedNode

Box = tuple[float, float, float, float]


def box(placed: PlacedNode | PlacedLabel) -> Box:
    half_width, half_height = placed.width / 2, placed.height / 2
    return placed.x - half_width, placed.y - half_height, placed.x + half_width, placed.y + half_height


def boxes(picture: Picture) -> list[Box]:
    labels = [edge.label for edge in picture.edges] + [loop.label for loop in picture.loops]
    return [box(node) for node in picture.nodes] + [box(label) for label in labels if label is not None]


def overlap(one: Box, other: Box) -> bool:
    beside = one[2] <= other[0] + 1e-6 or other[2] <= one[0] + 1e-6
    apart = one[3] <= other[1] + 1e-6 or other[3] <= one[1] + 1e-6
    return not (beside or apart)


@given(graphs())
def test_no_states_and_labels_overlap(graph: Graph) -> None:
    assert [pair for pair in combinations(boxes(lay_out(graph)), 2) if overlap(*pair)] == []


@given(graphs())
def test_everything_is_inside_the_picture_and_drawn_once(graph: Graph) -> None:
    picture = lay_out(graph)
    for left, top, right, bottom in boxes(picture):
        assert -1e-6 <= left <= right <= picture.width + 1e-6
        assert -1e-6 <= top <= bottom <= picture.height + 1e-6
    assert sorted(placed.node.key for placed in picture.nodes) == sorted(node.key for node in graph.nodes)
    assert len(picture.edges) + len(picture.loops) == len(graph.edges)


@given(graphs())
def test_arcs_begin_and_end_at_their_states(graph: Graph) -> None:
    picture = lay_out(graph)
    placed = {node.node.key: node for node in picture.nodes}
    for edge in picture.edges:
        for key, (x, y) in ((edge.edge.source, edge.points[0]), (edge.edge.target, edge.points[-1])):
            assert abs(x - placed[key].x) == pytest.approx(placed[key].width / 2)
            assert y == pytest.approx(placed[key].y)
        assert len(edge.points) % 2 == 0  # lines and curves in turn, a line first and last


@given(graphs())
def test_columns_run_from_left_to_right(graph: Graph) -> None:
    for members in components(graph):
        layers = arrange(graph, members)
        for chain in layers.chains.values():
            assert all(layers.slots[b].column == layers.slots[a].column + 1 for a, b in pairwise(chain))
        assert sorted(slot for column in layers.columns for slot in column) == list(range(len(layers.slots)))


def test_a_tree_is_drawn_without_crossings() -> None:
    nodes = tuple(Node(str(i), f"state {i}") for i in range(40))
    edges = tuple(Edge(str((i - 1) // 3), str(i), f"x > {i}") for i in range(1, 40))
    layers = arrange(Graph("", nodes, edges), list(range(40)))
    place = {slot: index for column in layers.columns for index, slot in enumerate(column)}
    for one, other in combinations(layers.chains.values(), 2):
        for (a, b), (c, d) in zip(pairwise(one), pairwise(other), strict=False):
            if layers.slots[a].column == layers.slots[c].column:
                assert (place[a] - place[c]) * (place[b] - place[d]) >= 0


def test_an_arc_that_closes_a_cycle_runs_back() -> None:
    nodes = (Node("a", "A", "start"), Node("b", "B"))
    there, back = lay_out(Graph("", nodes, (Edge("a", "b", "go"), Edge("b", "a", "return")))).edges
    assert there.points[0][0] < there.points[-1][0]
    assert back.points[0][0] > back.points[-1][0]


def test_a_program_of_hundreds_of_states_is_laid_out() -> None:
    heads = tuple(Node(f"h{i}", f"step {i}") for i in range(80))
    ends = tuple(Node(f"e{i}", f"subscription {i}", "end") for i in range(240))
    graph = Graph(
        "",
        (Node("s", "Stock", "start"), *heads, *ends),
        (
            *(Edge("s", f"h{i}", f"name = 'S{i}'") for i in range(80)),
            *(Edge(f"h{i}", f"h{i}", "name != $1.name", "stay") for i in range(80)),
            *(Edge(f"h{i % 80}", f"e{i}", f"price > {i}") for i in range(240)),
        ),
    )
    picture = lay_out(graph)
    assert len(picture.nodes) == 321
    tops = sorted(box(node)[1] for node in picture.nodes if node.node.kind == "end")
    assert all(later > earlier for earlier, later in pairwise(tops))


def test_a_deep_chain_needs_no_recursion() -> None:
    nodes = tuple(Node(str(i), str(i)) for i in range(1500))
    picture = lay_out(Graph("", nodes, tuple(Edge(str(i), str(i + 1), "") for i in range(1499))))
    assert len({round(node.y, 6) for node in picture.nodes}) == 1


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ((Node("a", ""), Node("a", "")), (), "two nodes of one graph have the key 'a'"),
        ((Node("a", ""),), (Edge("a", "b", ""),), "an edge names the node 'b', which the graph does not have"),
    ],
)
def test_a_graph_is_checked_when_it_is_made(nodes: tuple[Node, ...], edges: tuple[Edge, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Graph("", nodes, edges)
