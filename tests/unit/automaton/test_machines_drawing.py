"""Machines drawn: figures 5 and 6 as text, every format of every subscription, gates and triggers unlike the rest."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st
from strategies.composite_subscriptions import lowered, subscriptions

from broker.algebra.ptopss.lowering import lower
from broker.automaton.constructions.composite import decompose
from broker.automaton.diagram import DRAWINGS, draw
from broker.automaton.machines.decomposition import Machines, machines_of
from broker.automaton.machines.drawing import machine_lines, machines_diagram, merged_diagram
from broker.automaton.machines.merging import merge
from broker.automaton.machines.state_machine import StateMachine
from broker.events.schema import Schema
from broker.language import ptopss

SCHEMA = Schema.declare({"ty": "string"})
S1_TO_S8 = "\n".join(f"s{i}: ty = '{i}'" for i in range(1, 9))
FIGURE_5 = f"{S1_TO_S8}\nMATCH s1; ((s2, s3) AND (s4, s5)); s6; (s7 OR s8)"


def machines(rest: str) -> Machines:
    text = f"FROM S\n{rest}"
    return machines_of(decompose(lower(ptopss.parse(text), text, {"S": SCHEMA}.get, lambda: ["S"])))


def test_machines_are_listed_line_by_line() -> None:
    assert machine_lines(machines(FIGURE_5)) == [
        "state machine master: s1; Z; s6; U (5 states; links: 4 primary, 3 secondary, 3 star)",
        "Boolean machine Z: X AND Y (started by master in N1; leads master to N2)",
        "state machine X: s2, s3 (3 states; links: 2 primary; started with Z; tells Z)",
        "state machine Y: s4, s5 (3 states; links: 2 primary; started with Z; tells Z)",
        "Boolean machine U: s7 OR s8 (started by master in N3; leads master to N4)",
        *(f"s{i}: ty = '{i}'" for i in range(1, 9)),
    ]


def test_conditions_are_listed_with_their_case() -> None:
    found = machines("a, b: ty = '1'\nMATCH a; b @(t(b) - t(a) < 5 min) @(t(b) - t(a) > 1 s)")
    assert machine_lines(found)[1:3] == [
        "time condition t(b) - t(a) < 5 min: case 1, both in one machine; tested by master",
        "time condition t(b) - t(a) > 1 s: case 1, both in one machine; tested by master",
    ]
    apart = machines("a, b: ty = '1'\nMATCH (a OR b) @(t(b) - t(a) < 5 min)")
    assert machine_lines(apart)[1] == (
        "time condition t(b) - t(a) < 5 min: never tested: no match takes both branches"
    )


def test_figure_5_is_drawn() -> None:
    assert draw(machines_diagram("figure 5", machines(FIGURE_5)), "text") == (
        "figure 5\n"
        "========\n"
        "\n"
        "> master N0 (start)\n"
        "    --> master N1  if s1\n"
        "\n"
        "o master N1\n"
        "    ... stay       if *\n"
        "    <-> rebind     if s1\n"
        "    --> master N2  if Z\n"
        "    ~~> X N0       by in-trigger\n"
        "    ~~> Y N0       by in-trigger\n"
        "\n"
        "o master N2\n"
        "    ... stay       if *\n"
        "    <-> rebind     if Z\n"
        "    --> master N3  if s6\n"
        "\n"
        "o master N3\n"
        "    ... stay                 if *\n"
        "    <-> rebind               if s6\n"
        "    --> master N4 (match)    if U\n"
        "    ~~> U = s7 OR s8 (gate)  by in-trigger\n"
        "\n"
        "? Z = X AND Y (gate)\n"
        "    ~~> master N2  by out-trigger Z\n"
        "\n"
        "o X N0\n"
        "    --> X N1  if s2\n"
        "\n"
        "o X N1\n"
        "    --> X N2  if s3\n"
        "\n"
        "o X N2\n"
        "    ~~> Z = X AND Y (gate)  by out-trigger X\n"
        "\n"
        "o Y N0\n"
        "    --> Y N1  if s4\n"
        "\n"
        "o Y N1\n"
        "    --> Y N2  if s5\n"
        "\n"
        "o Y N2\n"
        "    ~~> Z = X AND Y (gate)  by out-trigger Y\n"
        "\n"
        "? U = s7 OR s8 (gate)\n"
        "    ~~> master N4 (match)  by out-trigger U\n"
    )


def test_figure_6_is_drawn() -> None:
    texts = [
        ("one", "a: ty = 'a'\nb: ty = 'b'\nc: ty = 'c'\nMATCH a; b; c"),
        ("two", "a: ty = 'a'\nb: ty = 'b'\nd: ty = 'd'\nMATCH a; b; d"),
        ("three", "first: ty = 'a'\nMATCH first"),
    ]
    drawn = draw(merged_diagram("", merge([(name, machines(rest)) for name, rest in texts])), "text")
    assert drawn == (
        "> M0: S (start)\n"
        "    --> M1                 if ty = 'a'\n"
        "    --> M5: three (match)  if ty = 'a'\n"
        "\n"
        "o M1\n"
        "    ... stay    if *\n"
        "    <-> rebind  if ty = 'a'\n"
        "    --> M2      if ty = 'b'\n"
        "\n"
        "o M2\n"
        "    ... stay             if *\n"
        "    <-> rebind           if ty = 'b'\n"
        "    --> M3: one (match)  if ty = 'c'\n"
        "    --> M4: two (match)  if ty = 'd'\n"
    )


def test_a_boolean_master_starts_with_the_stream_and_ends_in_a_match() -> None:
    drawn = draw(machines_diagram("", machines("a, b, c: ty = '1'\nMATCH (a; b) AND c")), "text")
    assert drawn.startswith("> S (start)\n    ~~> master = X AND c (gate)  by in-trigger\n    ~~> X N0")
    assert "? master = X AND c (gate)\n    ~~> match (match)  by out-trigger\n" in drawn


def test_gates_and_triggers_look_different_in_every_format() -> None:
    graph = machines_diagram("figure 5", machines(FIGURE_5))
    gates = sum(node.kind == "gate" for node in graph.nodes)
    triggers = sum(edge.kind == "trigger" for edge in graph.edges)
    assert (gates, triggers) == (2, 7)
    assert draw(graph, "dot").count("shape=hexagon") == gates
    assert draw(graph, "dot").count("arrowhead=empty") == triggers
    assert draw(graph, "mermaid").count('{{"') == gates
    assert draw(graph, "svg").count('class="box gate"') == gates
    assert draw(graph, "svg").count('class="arc trigger"') == triggers + 1  # and one in the legend


@given(subscriptions())
def test_every_decomposition_can_be_drawn_with_all_its_states(text: str) -> None:
    found = machines_of(decompose(lowered(text)))
    graph = machines_diagram(text, found)
    own = sum(len(m.body.states) if isinstance(m.body, StateMachine) else 1 for m in found.machines)
    assert len(graph.nodes) == own + (0 if isinstance(found.master.body, StateMachine) else 2)
    assert {node.kind for node in graph.nodes} >= {"start", "end"}
    reached = {edge.target for edge in graph.edges}
    assert [node.label for node in graph.nodes if node.kind != "start" and node.key not in reached] == []
    for format in DRAWINGS:
        assert draw(graph, format) == draw(machines_diagram(text, machines_of(decompose(lowered(text)))), format)
    ElementTree.fromstring(draw(graph, "svg"))
    lines = machine_lines(found)
    assert len(lines) == len(found.machines) + len(found.conditions) + len(found.definitions)


@given(st.lists(subscriptions(), max_size=4))
def test_every_merged_graph_can_be_drawn(texts: list[str]) -> None:
    found = merge([(f"q{number}", machines_of(decompose(lowered(text)))) for number, text in enumerate(texts)])
    graph = merged_diagram("all", found)
    assert len(graph.nodes) >= len(found.states) + len(found.gates)
    reached = {edge.target for edge in graph.edges}
    assert [node.label for node in graph.nodes if node.kind != "start" and node.key not in reached] == []
    ElementTree.fromstring(draw(graph, "svg"))
    assert draw(graph, "text") == draw(graph, "text")


def test_many_names_are_cut_short() -> None:
    same = machines("a: ty = '1'\nMATCH a")
    graph = merged_diagram("", merge([(f"q{number}", same) for number in range(12)]))
    assert graph.nodes[-1].label == "M1: q0, q1, q2, q3, q4, q5, q6, q7 and 4 more"
