"""What people are shown of a SASE+ pattern: its arcs with their conditions, its negations, what an index answers."""

from __future__ import annotations

import pytest

from broker.algebra.cayuga.lowering import lower as lower_cayuga
from broker.algebra.sase.lowering import lower
from broker.automaton.automaton import Automaton
from broker.automaton.compilation import compile_query
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.automaton.diagram import DRAWINGS, draw
from broker.automaton.drawing import automaton_diagram
from broker.engine.executors.kleene.explanation import plan_lines
from broker.engine.executors.kleene.kleene_plan import compile_kleene
from broker.events.schema import Schema
from broker.language.cayuga import parse as parse_cayuga
from broker.language.sase import parse

SCHEMAS = {
    "S": Schema.declare({"name": "string", "price": "float", "ty": "string"}),
    "T": Schema.declare({"name": "string", "level": "float"}),
}


def automaton(text: str) -> Automaton:
    return automaton_of_pattern(lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))[0])


QUERY = automaton(
    "PATTERN SEQ(~(T m), S+ a[], ~(S n), S b, ~(T o)) WHERE skip_till_next_match(a[]) AND skip_till_any_match(b)"
    " { [name] AND a[1].ty = 'A' AND a[i].price > avg(a[..i-1].price) AND a.LEN > 1 AND n.ty = 'N' AND m.level > 1"
    " AND b.price < 80% * a[a.LEN].price AND o.level > a[1].price } WITHIN 20"
)


def test_the_arcs_are_those_of_the_paper() -> None:
    graph = automaton_diagram("", QUERY, "q")
    assert [(node.label, node.kind) for node in graph.nodes] == [
        ("a[1]: T and S by name within 20 us", "start"),
        ("a[i]", "state"),
        ("b", "state"),
        ("q", "end"),
        ("no m: T", "gate"),
        ("no n: S", "gate"),
        ("no o: T", "gate"),
    ]
    labels = {node.key: node.label for node in graph.nodes}
    assert [(labels[e.source], labels[e.target], e.label, e.kind) for e in graph.edges] == [
        ("a[1]: T and S by name within 20 us", "a[i]", "begin: S a[1].ty = 'A'", "forward"),
        ("a[i]", "a[i]", "take: a[i].price > avg(a[..i-1].price)", "rebind"),
        ("a[i]", "a[i]", "ignore: NOT take", "stay"),
        ("a[i]", "b", "proceed: a.LEN > 1", "forward"),
        ("b", "b", "ignore: TRUE", "stay"),
        ("b", "q", "begin: S b.price < (0.8 * a[a.LEN].price)", "forward"),
        ("no m: T", "a[1]: T and S by name within 20 us", "none before a: m.level > 1", "trigger"),
        ("no n: S", "b", "none between a and b: n.ty = 'N'", "trigger"),
        ("no o: T", "q", "none after b: o.level > a[1].price", "trigger"),
    ]


def test_lines_say_what_the_index_answers_and_what_is_left() -> None:
    lines = plan_lines(compile_kleene(QUERY))
    assert lines[0] == "runs by name; WITHIN 20 us on every arc; OUTPUT all"
    assert "a[1], skip_till_next_match: by the index: a[1].ty = 'A'" in lines
    assert "a[i]: by the index: any event; tested run by run: a[i].price > avg(a[..i-1].price)" in lines
    assert "a ends: tested run by run: a.LEN > 1" in lines
    assert "no n between a and b: by the index: n.ty = 'N'; only the newest is kept by name" in lines
    assert lines[-1].endswith("tested run by run: o.level > a[1].price; those of the window are kept by name")


@pytest.mark.parametrize(
    ("strategy", "ignored"),
    [
        ("strict_contiguity", []),
        ("partition_contiguity", ["ignore: another partition"] * 2),
        ("skip_till_next_match", ["ignore: NOT take", "ignore: NOT begin"]),
        ("skip_till_any_match", ["ignore: TRUE"] * 2),
    ],
)
def test_strategies_are_what_is_ignored(strategy: str, ignored: list[str]) -> None:
    made = automaton(f"PATTERN SEQ(S+ a[], S b) WHERE {strategy}(a[], b) {{ [name] }} WITHIN 5")
    edges = automaton_diagram("", made, "q").edges
    assert [edge.label for edge in edges if edge.kind == "stay"] == ignored


def test_automata_of_other_languages_are_drawn_alike() -> None:
    text = "SELECT * FROM FILTER {price > 1}(S) NEXT {$1.name = $2.name} S PUBLISH q"
    (query,) = compile_query(lower_cayuga(parse_cayuga(text), text, SCHEMAS.get, lambda: list(SCHEMAS))).automata
    graph = automaton_diagram("", query, "q")
    assert [(node.label, node.kind) for node in graph.nodes] == [("S", "start"), ("S", "state"), ("q", "end")]
    assert [(edge.kind, edge.label) for edge in graph.edges] == [
        ("forward", "begin: price > 1"),
        ("stay", "ignore: NOT (name = $.name)"),
        ("forward", "begin: any event"),
    ]


@pytest.mark.parametrize(
    ("theta", "drawn"),
    [
        ("$2.price > $1.price", "price > $.price"),
        ("$1.price < $2.price AND $2.ty = 'B'", "ty = 'B' AND price > $.price"),
        ("$2.price > $1.price * 2 OR $2.ty = '$.ty'", "ty = '$.ty' OR price > (2 * $.price)"),
    ],
)
def test_what_a_partial_match_remembers_is_not_drawn_as_what_the_event_brings(theta: str, drawn: str) -> None:
    text = f"SELECT * FROM S NEXT {{{theta}}} S"
    (query,) = compile_query(lower_cayuga(parse_cayuga(text), text, SCHEMAS.get, lambda: list(SCHEMAS))).automata
    labels = [edge.label for edge in automaton_diagram("", query, "q").edges]
    assert labels[1:] == [f"ignore: NOT ({drawn})", "begin: any event"]


@pytest.mark.parametrize("format", list(DRAWINGS))
def test_every_format_draws_it(format: str) -> None:
    drawn = draw(automaton_diagram("", QUERY, "q"), format)  # type: ignore[arg-type]
    assert "proceed" in drawn
    assert drawn == draw(automaton_diagram("", QUERY, "q"), format)  # type: ignore[arg-type]
