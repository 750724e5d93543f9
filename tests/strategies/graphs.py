"""Graphs to draw: of any shape, with cycles, loops and several components, and labels that nobody should write."""

from __future__ import annotations

from hypothesis import strategies as st

from broker.automaton.diagram import Edge, EdgeKind, Graph, Node, NodeKind

NODE_KINDS: tuple[NodeKind, ...] = ("start", "state", "end", "gate")
EDGE_KINDS: tuple[EdgeKind, ...] = ("forward", "stay", "rebind", "trigger")

HOSTILE = (
    "</text></svg><script>alert('x')</script>",
    "]]> <!-- --> & &amp; &#0; &lt;",
    'quote " backslash \\ \\N \\" apostrophe \'',
    "#quot; `code` $$x$$ %% comment |pipe| [[a]] {b} (c)",
    "\x00\x1b[31mred\x07\r\n\ttab\x0b\x7f\x85",
    "\u202ereversed\u2066 \u200b\u2028\ufffe\ud800",
    "日本語の長いラベルは折り返されます" * 4,
    "e\u0301" * 60,
    "x" * 500,
    "name = $1.name AND price > 1.05 * $.price " * 20,
    "   ",
)

labels = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60), st.characters(codec=None).map(lambda c: c * 3))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Up to 12 nodes and 24 edges between any of them."""
    count = draw(st.integers(0, 12))
    nodes = tuple(Node(f"q{i}", draw(labels), draw(st.sampled_from(NODE_KINDS))) for i in range(count))
    if count == 0:
        return Graph(draw(labels), (), ())
    ends = st.integers(0, count - 1).map(lambda i: f"q{i}")
    edges = st.lists(st.builds(Edge, ends, ends, labels, st.sampled_from(EDGE_KINDS)), max_size=24)
    return Graph(draw(labels), nodes, tuple(draw(edges)))
