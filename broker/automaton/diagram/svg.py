"""Draws a graph as a standalone SVG document: colours and escaping. Not here: coordinates (layout.py).

The picture has no script, loads nothing, and follows the reader's light or dark preference. Labels are wrapped; the
tooltip of a state or arc has the whole text.
"""

from __future__ import annotations

from .graph import Edge, EdgeKind, Graph, Node, NodeKind
from .label import cells, plain, shorten
from .layout import GUARD_LINE, LOOP_HEIGHT, START_WIDTH, STATE_LINE, lay_out
from .picture import PlacedEdge, PlacedLabel, PlacedLoop, PlacedNode, Point

_MARGIN = 24.0
_TITLE_HEIGHT, _TITLE_COLUMN, _TITLE_COLUMNS_MAX = 36.0, 8.8, 120
_LEGEND_HEIGHT, _LEGEND_COLUMN = 34.0, 6.0
_LEGEND: dict[EdgeKind, str] = {
    "stay": "stays: the event passes",
    "rebind": "rebinds: takes the event, stays",
    "forward": "moves on",
    "trigger": "triggers: starts a machine, or tells its match",
}
STYLE = """
  text { font-family: Helvetica, Arial, "Liberation Sans", sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: bold }
  .name { font-size: 13px; text-anchor: middle }
  .guard { font-family: Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; font-size: 11px }
  .guard { text-anchor: middle; fill: #424a53 }
  .key { font-size: 11px; fill: #57606a }
  .paper { fill: #ffffff }
  .box { fill: #f6f8fa; stroke: #8c959f; stroke-width: 1.2 }
  .start { fill: #ddf4ff; stroke: #0969da }
  .end { fill: #dafbe1; stroke: #1a7f37 }
  .gate { fill: #fbefff; stroke: #8250df }
  .inner { fill: none }
  .arc { fill: none; stroke: #57606a; stroke-width: 1.3 }
  .stay { stroke-dasharray: 2 3 }
  .rebind { stroke: #9a6700; stroke-dasharray: 7 3 }
  .trigger { stroke: #8250df; stroke-dasharray: 5 4 }
  .tip { fill: #57606a }
  .tip-rebind { fill: #9a6700 }
  .tip-trigger { fill: #8250df }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .guard { fill: #c4ccd4 }
    .key { fill: #9198a1 }
    .paper { fill: #0d1117 }
    .box { fill: #161b22; stroke: #6e7681 }
    .start { fill: #0c2d6b; stroke: #388bfd }
    .end { fill: #0f3d20; stroke: #3fb950 }
    .gate { fill: #2e1a52; stroke: #a371f7 }
    .inner { fill: none }
    .arc { stroke: #9198a1 }
    .rebind { stroke: #d29922 }
    .trigger { stroke: #a371f7 }
    .tip { fill: #9198a1 }
    .tip-rebind { fill: #d29922 }
    .tip-trigger { fill: #a371f7 }
  }"""


def draw_svg(graph: Graph, standalone: bool = True) -> str:
    """A complete SVG document; sizes are in pixels. Not `standalone`: for a page that has STYLE, a background
    and a heading; its states and arcs have their indexes of the graph in data-state and data-arc."""
    picture = lay_out(graph)
    title = shorten(plain(graph.title), _TITLE_COLUMNS_MAX) if standalone else ""
    kinds: list[EdgeKind] = [kind for kind in _LEGEND if any(edge.kind == kind for edge in graph.edges)]
    legend, legend_width = _legend(kinds)
    top = _MARGIN + (_TITLE_HEIGHT if title else 0.0)
    width = max(picture.width, cells(title) * _TITLE_COLUMN, legend_width) + 2 * _MARGIN
    height = top + picture.height + (_LEGEND_HEIGHT if legend else 0.0) + _MARGIN

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_number(width)}" height="{_number(height)}" '
        f'viewBox="0 0 {_number(width)} {_number(height)}">',
        f"<title>{_escaped(plain(graph.title))}</title>",
        *([f"<style>{STYLE}\n</style>"] if standalone else []),
        "<defs>",
        *(_marker(name) for name in ("tip", "tip-rebind", "tip-trigger")),
        "</defs>",
        *([f'<rect class="paper" width="{_number(width)}" height="{_number(height)}"/>'] if standalone else []),
    ]
    if title:
        lines.append(f'<text class="title" x="{_number(_MARGIN)}" y="{_number(_MARGIN + 14)}">{_escaped(title)}</text>')
    lines.append(f'<g transform="translate({_number(_MARGIN)} {_number(top)})">')
    numbers = {} if standalone else _numbers(graph)
    lines += [_edge(edge, _numbered("arc", numbers.get(edge.edge))) for edge in picture.edges]
    lines += [_loop(loop, _numbered("arc", numbers.get(loop.edge))) for loop in picture.loops]
    lines += [_node(node, _numbered("state", numbers.get(node.node))) for node in picture.nodes]
    lines.append("</g>")
    if legend:
        at = f"translate({_number(_MARGIN)} {_number(height - _MARGIN)})"
        lines += [f'<g transform="{at}">', *legend, "</g>"]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _numbers(graph: Graph) -> dict[Node | Edge, int]:
    """The index of each state and arc of the graph, by which a page finds it; of equal ones that of the first."""
    found: dict[Node | Edge, int] = {node: number for number, node in enumerate(graph.nodes)}
    for number, edge in enumerate(graph.edges):
        found.setdefault(edge, number)
    return found


def _numbered(name: str, number: int | None) -> str:
    return "" if number is None else f' data-{name}="{number}"'


def _node(placed: PlacedNode, number: str) -> str:
    left, top = placed.x - placed.width / 2, placed.y - placed.height / 2
    kind: NodeKind = placed.node.kind
    parts = [f"<title>{_escaped(plain(placed.node.label))}</title>"]
    radius = placed.height / 2 if kind == "gate" else 9.0
    parts.append(_rectangle(f"box {kind}", left, top, placed.width, placed.height, radius))
    if kind == "end":
        parts.append(_rectangle(f"box {kind} inner", left + 3, top + 3, placed.width - 6, placed.height - 6, 6.5))
    if kind == "start":
        parts.append(f'<circle class="tip" cx="{_number(left - START_WIDTH + 4)}" cy="{_number(placed.y)}" r="3.5"/>')
        parts.append(_arc("forward", f"M{_at((left - START_WIDTH + 7, placed.y))} H{_number(left - 1)}"))
    parts += _text("name", placed.x, placed.y, STATE_LINE, placed.lines)
    return f'<g class="node"{number}>{"".join(parts)}</g>'


def _edge(placed: PlacedEdge, number: str) -> str:
    first, *rest = placed.points
    path = [f"M{_at(first)}"]
    here = first
    for index, point in enumerate(rest):
        if point == here:  # a line of no length would leave the arrow head without a direction
            continue
        if index % 2 == 0 or here[1] == point[1]:
            path.append(f"L{_at(point)}")
        else:
            middle = (here[0] + point[0]) / 2
            path.append(f"C{_at((middle, here[1]))} {_at((middle, point[1]))} {_at(point)}")
        here = point
    parts = [f"<title>{_escaped(plain(placed.edge.label))}</title>", _arc(placed.edge.kind, " ".join(path))]
    if (label := placed.label) is not None:
        left, top = label.x - label.width / 2 - 7, label.y - label.height / 2 - 2
        parts.append(_rectangle("paper", left, top, label.width + 14, label.height + 4, 4.0))
        parts += _label(label)
    return f"<g{number}>{''.join(parts)}</g>"


def _loop(placed: PlacedLoop, number: str) -> str:
    parts = [f"<title>{_escaped(plain(placed.edge.label))}</title>"]
    if placed.nest == 0:
        x, y = placed.root
        far = y + (-1 if placed.side == "above" else 1) * LOOP_HEIGHT * 1.25
        # Left to right above the state, right to left below: a cycle of both runs clockwise.
        turn = 1 if placed.side == "above" else -1
        reach = f"{_at((x - 26 * turn, far))} {_at((x + 26 * turn, far))}"
        path = f"M{_at((x - 11 * turn, y))} C{reach} {_at((x + 11 * turn, y))}"
        parts.append(_arc(placed.edge.kind, path))
    if placed.label is not None:
        parts += _label(placed.label)
    return f"<g{number}>{''.join(parts)}</g>"


def _legend(kinds: list[EdgeKind]) -> tuple[list[str], float]:
    """A sample line and its meaning for each kind, rightwards from (0, 0), and the width; nothing if all move on."""
    if kinds in ([], ["forward"]):
        return [], 0.0
    parts: list[str] = []
    x = 0.0
    for kind in kinds:
        parts.append(_arc(kind, f"M{_at((x, -4))} H{_number(x + 34)}"))
        parts.append(f'<text class="key" x="{_number(x + 42)}" y="0">{_LEGEND[kind]}</text>')
        x += 42 + len(_LEGEND[kind]) * _LEGEND_COLUMN + 18
    return parts, x


def _arc(kind: EdgeKind, path: str) -> str:
    tip = f"tip-{kind}" if kind in ("rebind", "trigger") else "tip"
    return f'<path class="arc {kind}" d="{path}" marker-end="url(#{tip})"/>'


def _marker(name: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path class="{name}" d="M0 1 L10 5 L0 9 z"/></marker>'
    )


def _rectangle(style: str, x: float, y: float, width: float, height: float, radius: float) -> str:
    return (
        f'<rect class="{style}" x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}" '
        f'rx="{_number(radius)}"/>'
    )


def _label(label: PlacedLabel) -> list[str]:
    return _text("guard", label.x, label.y, GUARD_LINE, label.lines)


def _text(style: str, x: float, y: float, line_height: float, lines: tuple[str, ...]) -> list[str]:
    """Lines centred on (x, y); the baseline is a third of a line below its middle."""
    first = y - (len(lines) - 1) * line_height / 2 + line_height * 0.28
    return [
        f'<text class="{style}" x="{_number(x)}" y="{_number(first + index * line_height)}">{_escaped(line)}</text>'
        for index, line in enumerate(lines)
    ]


def _at(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    """A number with at most one decimal: more is not visible, and equal pictures have equal characters."""
    rounded = round(value, 1)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
