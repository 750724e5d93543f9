"""Patterns over several streams as patterns over one stream of wide rows: their templates, and what a wide row has."""

from __future__ import annotations

import pytest

from broker.algebra.sase.lowering import lower
from broker.algebra.terms import Attribute, Comparison, Constant, Register, Side
from broker.automaton.analyses.grouping import grouping_of
from broker.automaton.analyses.mechanism import Layout, layout_of
from broker.automaton.analyses.template import Grouping, WideRow
from broker.automaton.analyses.wide_rows import asked_of
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.engine.executors.contract import EventKey
from broker.engine.executors.groups.wide_rows import event_key, wide_rows
from broker.events.schema import Schema
from broker.language.sase import parse

SCHEMAS = {
    "S": Schema.declare({"ty": "string", "k": "int?", "w": "float", "p": "float"}),
    "T": Schema.declare({"p": "float", "own": "bool", "k": "float", "ty": "string"}),
}
NEXT = "skip_till_next_match"
ROW = WideRow(("S", "T"), ((0,), (3,)), (4, 4))  # ty, two marks, then S from 3 and T from 7


def grouped(pattern: str, conditions: str, strategy: str = NEXT, returned: str = "") -> Grouping | str:
    names = ", ".join(part.split()[1] for part in pattern.split(", ") if "~" not in part)
    text = f"PATTERN SEQ({pattern}) WHERE {strategy}({names}) {{ {conditions} }} WITHIN 5{returned}"
    return grouping_of(automaton_of_pattern(lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))[0]))


def template(pattern: str, conditions: str, strategy: str = NEXT, returned: str = "") -> Grouping:
    found = grouped(pattern, conditions, strategy, returned)
    assert isinstance(found, Grouping), found
    return found


@pytest.mark.parametrize(
    ("pattern", "conditions", "strategy", "expected"),
    [
        ("S a, T b", "[ty] AND a.p > 1 AND b.p < 2", NEXT, "next match, 3"),
        ("S a, T b", "[ty] AND a.ty = 'A' AND a.p > 1 AND b.p < 2", NEXT, "next match, 3"),
        ("S a, ~(T n), S b", "[ty] AND a.p > 1 AND n.p > 7 AND b.p < 2", NEXT, "next match, 4"),
        ("S a, T b, ~(S n)", "[ty] AND a.p > 1 AND b.p < 2 AND n.w > 7", NEXT, "next match, 4"),
        ("S a, T b, S c", "[ty] AND a.p > 1 AND b.p < 2 AND c.p > 1", NEXT, "next match, 4"),
        ("S a, T b", "[ty] AND a.p > 1 AND b.p < 2", "skip_till_any_match", "any match, 3"),
        ("S a, T b", "[ty] AND a.p > 1 AND b.p > 1.5 * a.p", "partition_contiguity", "chain, 4"),
        ("S a, T b", "a.p > 1 AND b.p < 2 AND b.k > 3", "strict_contiguity", "chain, 4"),
        ("S a, T b", "a.ty = 'A' AND a.p > 1 AND b.ty = 'B' AND b.p < 2", NEXT, "next match, 3"),
        ("S a, T b", "a.ty = 'A' AND a.p > 1 AND b.ty = 'B' AND b.p < 2", "strict_contiguity", "chain, 3"),
        ("S a, T b", "[ty] AND a.p > 1 AND (b.p < 2 OR b.k > 3)", NEXT, "skip till, 4"),
    ],
)
def test_several_streams_have_the_mechanisms_of_one(
    pattern: str, conditions: str, strategy: str, expected: str
) -> None:
    layout = layout_of(template(pattern, conditions, strategy))
    assert isinstance(layout, Layout), layout
    assert f"{layout.mechanism.value}, {layout.dimensions}" == expected


@pytest.mark.parametrize(
    ("pattern", "conditions", "expected"),
    [
        ("S a, T+ b[]", "[ty] AND a.p > 1", "an operand repeats, and it reads several streams"),
        ("S a, T b", "[k] AND a.p > 1", "its streams have the key in attributes of different types"),
        ("S a, T b, S c", "a.ty = b.ty AND a.k = c.k AND a.ty = 'A' AND a.p > 1", None),
    ],
)
def test_what_has_no_template_says_why(pattern: str, conditions: str, expected: str | None) -> None:
    found = grouped(pattern, conditions)
    assert found == expected if expected is not None else isinstance(found, Grouping)


@pytest.mark.parametrize("key", ["[ty]", "a.ty = b.ty"])
def test_the_key_is_one_column_wherever_the_streams_have_it(key: str) -> None:
    found = template("S a, T b", f"{key} AND a.ty = 'A' AND a.p > 1 AND b.p < 2")
    assert found.template.wide == ROW
    assert found.template.streams == ("S", "T")
    assert [(one.position, value.value) for one, value in zip(found.template.constants, found.key)] == [(0, "A")]
    assert found.template.parts == ()


def test_only_a_step_that_compares_nothing_of_its_stream_asks_for_its_mark() -> None:
    found = template("S a, T b, S c", "[ty] AND a.ty = 'A' AND a.p > 1 AND c.p < a.p", "partition_contiguity").template
    marks = [
        [atom.left.position for atom in clause.rest if isinstance(atom.left, Attribute) and atom.left.type == "bool"]
        for step in found.steps
        for clause in step.clauses
    ]
    assert marks == [[], [ROW.mark(1)], []]


def test_a_null_that_a_function_takes_says_nothing_of_the_stream() -> None:
    found = template("S a, T b", "[ty] AND a.p > 1 AND (b.p IS NULL)").template
    (clause,) = found.steps[1].clauses
    assert any(isinstance(atom.left, Attribute) and atom.left.position == ROW.mark(1) for atom in clause.rest)


def test_a_result_reads_the_completing_event_as_its_stream_has_it() -> None:
    asked = "[ty] AND a.p > 1 AND b.p < 2"
    output = template("S a, T b", asked, returned=" RETURN a.p, b.p AS q").template.output
    assert [(term.slot, term.position) for term in output if isinstance(term, Register)] == [(0, 6), (1, 0)]
    late = template("S a, T b, ~(S n)", f"{asked} AND n.p > 7", returned=" RETURN a.p, b.p AS q").template.output
    assert [(term.slot, term.position) for term in late if isinstance(term, Register)] == [(0, 6), (1, 7)]


def test_conditions_go_to_the_streams_that_may_satisfy_them() -> None:
    def equal(position: int, value: str) -> Comparison:
        return Comparison("=", Attribute(Side.EVENT, position, "string"), Constant(value, "string"))

    form = ((equal(0, "A"),), (equal(3, "B"),), (equal(10, "C"),))
    assert asked_of(ROW, 0, form) == ((equal(0, "A"),), (equal(0, "B"),))
    assert asked_of(ROW, 1, form) == ((equal(3, "A"),), (equal(3, "C"),))


def test_wide_rows() -> None:
    made = wide_rows(ROW)
    assert made is not None
    assert made.of(0, ("A", 1, 2.0, 3.0)) == ("A", True, None, "A", 1, 2.0, 3.0, None, None, None, None)
    assert made.of(1, (1.0, True, 2.0, "B")) == ("B", None, True, None, None, None, None, 1.0, True, 2.0, "B")
    assert made.of(1, (1.0, True, 2.0, "B", 7))[7:] == (1.0, True, 2.0, "B")
    timed = wide_rows(WideRow(("S", "T"), ((), ()), (3, 1)))
    assert timed is not None
    assert timed.of(0, (1, 2)) == (True, None, 1, 2, None, None)
    assert wide_rows(None) is None


@pytest.mark.parametrize("stream", [0, 1])
def test_each_column_is_where_a_row_has_it(stream: int) -> None:
    row = tuple(range(4))
    made = wide_rows(ROW)
    assert made is not None
    wide = made.of(stream, row)
    for position in range(4):
        column = ROW.column(stream, position)
        assert wide[column] == row[position]
        assert ROW.position(stream, column) == position
    assert [column for column in range(len(wide)) if ROW.position(stream, column) < 0] == [
        *(ROW.mark(each) for each in (0, 1)), *range(ROW.begin(1 - stream), ROW.begin(1 - stream) + 4)
    ]  # fmt: skip


def test_a_key_is_filed_where_each_stream_has_it() -> None:
    assert event_key({0: "A"}, -1, ROW) == EventKey((0,), ("A",), -1, ((3,),))
    assert event_key({0: "A", 4: 7}, -1, ROW) is None, "only one of the streams has it"
    assert event_key({2: "B", 1: "A"}, -1, None) == EventKey((1, 2), ("A", "B"))
    turned = WideRow(("S", "T"), ((1, 0), (0, 2)), (2, 3))
    assert event_key({0: "A", 1: "B"}, -1, turned) == EventKey((0, 1), ("B", "A"), -1, ((2, 0),))
