"""Each format: what it shows of a known graph, and that no label can break out of it."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from strategies.graphs import HOSTILE, graphs

from broker.automaton.diagram import DRAWINGS, Edge, Format, Graph, Node, draw

SVG = "{http://www.w3.org/2000/svg}"
FORMATS = tuple(DRAWINGS)
RISING = Graph(
    "Rising runs",
    (Node("0", "Stock", "start"), Node("1", "a run of rising prices"), Node("2", "rising", "end")),
    (
        Edge("0", "1", "volume > 10000"),
        Edge("1", "1", "name != $1.name", "stay"),
        Edge("1", "1", "name = $1.name AND price > $.price SET n = $.n + 1", "rebind"),
        Edge("1", "2", "name = $1.name AND $.n >= 5"),
    ),
)


def texts(svg: str, style: str) -> list[str]:
    return ["".join(e.itertext()) for e in ElementTree.fromstring(svg).iter(f"{SVG}text") if e.get("class") == style]


def test_text_reads_like_a_list_of_states() -> None:
    assert draw(RISING, "text") == (
        "Rising runs\n"
        "===========\n"
        "\n"
        "> Stock (start)\n"
        "    --> a run of rising prices  if volume > 10000\n"
        "\n"
        "o a run of rising prices\n"
        "    ... stay            if name != $1.name\n"
        "    <-> rebind          if name = $1.name AND price > $.price SET n = $.n + 1\n"
        "    --> rising (match)  if name = $1.name AND $.n >= 5\n"
    )


def test_text_tells_states_of_one_name_apart() -> None:
    nodes = (Node("a", "Stock", "start"), Node("b", "Stock"), Node("c", "", "end"))
    drawn = draw(Graph("", nodes, (Edge("a", "b", ""), Edge("b", "c", "x > 1"))), "text")
    assert drawn == "> Stock [1] (start)\n    --> Stock [2]\n\no Stock [2]\n    --> c (match)  if x > 1\n"


def test_dot_names_every_state_and_arc() -> None:
    drawn = draw(RISING, "dot")
    assert drawn.startswith("digraph automata {\n")
    assert drawn.endswith("}\n")
    assert drawn.count("->") == len(RISING.edges)
    assert 'n1 -> n1 [label="name = $1.name AND price > $.price\\nSET n = $.n + 1"' in drawn
    assert 'n2 [label="rising"' in drawn


def test_mermaid_names_every_state_and_arc() -> None:
    lines = draw(RISING, "mermaid").splitlines()
    assert lines[:5] == ["---", 'title: "Rising runs"', "---", "flowchart LR", '  n0(["Stock"]):::startNode']
    assert '  n1 -.->|"name #33;= #36;1.name"| n1' in lines


def test_svg_shows_states_guards_and_a_legend() -> None:
    drawn = draw(RISING, "svg")
    assert texts(drawn, "title") == ["Rising runs"]
    assert texts(drawn, "name") == ["Stock", "a run of rising prices", "rising"]
    assert "name != $1.name" in texts(drawn, "guard")
    assert texts(drawn, "key") == ["stays: the event passes", "rebinds: takes the event, stays", "moves on"]


def test_svg_keeps_the_whole_label_as_a_tooltip() -> None:
    label = "name = 'IBM' AND " * 40 + "price > 10"
    drawn = ElementTree.fromstring(draw(Graph("", (Node("a", "A"), Node("b", "B")), (Edge("a", "b", label),)), "svg"))
    assert label in [element.text for element in drawn.iter(f"{SVG}title")]


@given(graphs())
def test_svg_is_well_formed_and_holds_nothing_active(graph: Graph) -> None:
    root = ElementTree.fromstring(draw(graph, "svg"))
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "style", "defs", "marker", "g", "rect", "path", "circle", "text"}
    assert not any(name.startswith("on") or "href" in name for element in root.iter() for name in element.attrib)
    assert "nan" not in " ".join(value for element in root.iter() for value in element.attrib.values())


@given(graphs())
def test_no_format_shows_control_or_direction_characters(graph: Graph) -> None:
    for format in FORMATS:
        drawn = draw(graph, format)
        assert {unicodedata.category(c) for c in drawn.replace("\n", "")}.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})
        drawn.encode("utf-8")


@given(graphs())
def test_dot_has_one_statement_a_line_and_every_quote_closed(graph: Graph) -> None:
    string = r'"(?:[^"\\]|\\["\\n])*"'
    value = rf'(?:{string}|[\w]+)'
    attributes = rf"\[\w+={value}(?:, \w+={value})*\]"
    statement = re.compile(rf"digraph automata \{{|\}}|  (?:graph|node|edge|n\d+(?: -> n\d+)?) {attributes}")
    lines = draw(graph, "dot").splitlines()
    assert len(lines) == 5 + len(graph.nodes) + len(graph.edges)
    assert [line for line in lines if statement.fullmatch(line) is None] == []


@given(graphs())
def test_mermaid_labels_hold_no_character_with_a_meaning(graph: Graph) -> None:
    label = r"(?:[\w .,:=+\-/']|#\d+;|<br/>)*"  # \w is Unicode's: letters and digits of any script
    body = draw(graph, "mermaid").partition("flowchart LR\n")[2].splitlines()
    node = re.compile(rf'  n\d+(?:\(\[|\(|\[\[|\{{\{{)"{label}"(?:\]\)|\)|\]\]|\}}\}}):::(?:start|state|end|gate)Node')
    edge = re.compile(rf'  n\d+ (?:-->|-\.->|==>)(?:\|"{label}"\|)? n\d+')
    assert all(node.fullmatch(line) for line in body[: len(graph.nodes)])
    assert all(edge.fullmatch(line) for line in body[len(graph.nodes) : -4])


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_graph_can_be_drawn(format: Format) -> None:
    assert draw(Graph("", (), ()), format).endswith("\n")


def test_drawings_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from strategies.graphs import HOSTILE\n"
        "from broker.automaton.diagram import DRAWINGS, Edge, Graph, Node, draw\n"
        "nodes = tuple(Node(f'q{i}', label) for i, label in enumerate(HOSTILE))\n"
        "edges = tuple(Edge(f'q{i}', f'q{i * i % len(nodes)}', HOSTILE[-i]) for i in range(len(nodes)))\n"
        "print(ascii([draw(Graph('', nodes, edges), format) for format in DRAWINGS]))\n"
    )
    root = Path(__file__).parents[3]
    outputs = set()
    for seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": f"{root}:{root / 'tests'}"}
        command = [sys.executable, "-c", code]
        outputs.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(outputs) == 1
    assert len(outputs.pop()) > len(HOSTILE)
