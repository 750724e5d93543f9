"""What a template is of a pattern, which mechanism keeps its runs, and why some have none."""

from __future__ import annotations

import pytest

from broker.algebra.ptopss.lowering import lower as lower_composite
from broker.algebra.sase.lowering import lower
from broker.automaton.analyses.grouping import grouping_of
from broker.automaton.analyses.mechanism import Layout, layout_of
from broker.automaton.analyses.template import Grouping
from broker.automaton.automaton import Report
from broker.automaton.constructions.composite import automaton_of, decompose
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.events.schema import Schema
from broker.language.ptopss import parse as parse_composite
from broker.language.sase import parse

SCHEMAS = {"S": Schema.declare({"ty": "string", "k": "int?", "w": "float", "p": "float"})}
NEXT = "skip_till_next_match"
M4 = "next match, 4"


def grouped(pattern: str, conditions: str, strategy: str = NEXT, within: str = " WITHIN 5") -> Grouping | str:
    names = ", ".join(part.split()[1] for part in pattern.split(", ") if "~" not in part)
    text = f"PATTERN SEQ({pattern}) WHERE {strategy}({names}) {{ {conditions} }}{within}"
    return grouping_of(automaton_of_pattern(lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))[0]))


def laid_out(pattern: str, conditions: str, strategy: str = NEXT, within: str = " WITHIN 5") -> str:
    """The mechanism and the coordinates, or why there are none."""
    grouping = grouped(pattern, conditions, strategy, within)
    if isinstance(grouping, str):
        return grouping
    layout = layout_of(grouping)
    return f"{layout.mechanism.value}, {layout.dimensions}" if isinstance(layout, Layout) else layout


@pytest.mark.parametrize(
    ("pattern", "conditions", "strategy", "expected"),
    [
        ("S a", "a.p > 1 OR a.w < 2", NEXT, "filter, 3"),
        ("S a, S b", "a.p > 1 AND b.p < 2", "strict_contiguity", "chain, 3"),
        ("S a, S b", "[ty] AND b.p > 1.5 * a.p", "partition_contiguity", "chain, 3"),
        ("S a, S b", "a.p > 1 AND b.p > a.p", NEXT, "chain, 2"),
        ("S a, S b", "a.p > 1 AND b.p < 2", NEXT, "next match, 3"),
        ("S a, ~(S n), S b", "a.p > 1 AND n.p > 7 AND b.p < 2", NEXT, "next match, 4"),
        ("S a, S b, S c", "a.p > 3 AND b.p < 2 AND c.p > 3", NEXT, "next match, 4"),
        ("S a, S b, S c", "a.p > 3 AND b.p < 2 AND c.p > 4", NEXT, "next match, 4"),
        ("S a, S b, S c", "a.p > 1 AND b.p < 2 AND c.p > 1", NEXT, "next match, 4"),
        ("S a, ~(S n), S b, S c", "a.p > 1 AND n.w > 7 AND b.p < 2 AND c.p > 1", NEXT, "next match, 5"),
        ("S a, ~(S n), S b", "[ty] AND a.ty = 'A' AND b.p < 2 AND n.p > 7 AND n.w > 1", NEXT, "next match, 4"),
        ("S a, S b, ~(S n), S c", "[ty] AND a.ty = 'A' AND b.p < 2 AND c.p > 1 AND n.w > 7", NEXT, "next match, 4"),
        ("S a, ~(S m), S b, ~(S n), S c", "[ty] AND b.ty = 'A' AND b.p < 2 AND m.p > 3 AND n.w > 7", NEXT, M4),
        ("S a, S b, S c, ~(S n)", "[ty] AND a.ty = 'A' AND b.p < 2 AND c.p > 1 AND n.w > 7", NEXT, "next match, 4"),
        ("S a, S b, ~(S n), S c", "[k] AND a.k = 7 AND b.p < 2 AND c.p > 1 AND n.w > 7", NEXT, "next match, 4"),
        ("S a, S b, ~(S n), S c", "[k] AND a.p > 1 AND b.p < 2 AND c.p > 1 AND n.w > 7", NEXT, "next match, 5"),
        ("S a, S b, ~(S n), S c", "[k] AND [ty] AND a.ty = 'A' AND b.p < 2 AND c.p > 1 AND n.w > 7", NEXT, M4),
        ("S a, S b, S c, ~(S n)", "a.ty = 'A' AND b.ty = 'B' AND b.p < 2 AND c.ty = 'C'", NEXT, "next match, 2"),
        ("S a, ~(S n), S b", "[ty] AND a.ty = 'A' AND b.p < 2 AND n.p > 7", "skip_till_any_match", "any match, 3"),
        ("S a, S b, ~(S n), S c", "b.ty = 'A' AND b.p < 2 AND n.ty = 'C'", "skip_till_any_match", "any match, 2"),
        ("S a, S b, ~(S n)", "a.p > 1 AND b.p < 2 AND n.p > 7", NEXT, "next match, 4"),
        ("S a, S b, ~(S n)", "a.ty = 'A' AND a.p > 1 AND b.ty = 'B' AND b.p < 2", NEXT, "next match, 3"),
        ("S a, S b, ~(S n)", "b.ty = 'B' AND b.p < 2 AND n.ty = 'C' AND n.p > 7 AND n.k < 2", NEXT, "next match, 4"),
        ("S a, ~(S m), S b, ~(S n)", "a.ty = 'A' AND b.ty = 'B' AND m.p < 2 AND n.p > 7", NEXT, "next match, 3"),
        ("S a, S b, ~(S n)", "a.ty = 'A' AND b.ty = 'A' AND b.p < 2 AND n.ty = 'A' AND n.p > 7", NEXT, "next match, 3"),
        ("S a, S b", "a.p > 1 AND b.p < 2", "skip_till_any_match", "any match, 3"),
        ("S a, S b", "a.p > 1 AND b.p < 2 AND b.k > 7", NEXT, "next match, 4"),
        ("S a, S b", "a.ty = 'A' AND a.p > 1 AND b.ty = 'B' AND b.p < 2", NEXT, "next match, 3"),
        ("S a, S b", "a.p > 1 AND b.ty = 'B' AND b.p < 2", NEXT, "next match, 3"),
        ("S a, S b", "a.ty = 'A' AND a.p > 1 AND b.ty = 'B' AND b.p < 2", "skip_till_any_match", "any match, 3"),
        ("S a, S b, S c", "a.ty = 'A' AND a.p > 1 AND b.ty = 'B' AND b.p < 2 AND c.ty = 'C'", NEXT, "next match, 3"),
        ("S a, S b, S c", "a.p > 1 AND b.p < 2 AND c.ty = 'C' AND c.p > 1", NEXT, "next match, 4"),
        ("S a, S b", "a.ty = 'A' AND a.p > 1 AND b.ty = 'A' AND b.p < 2 AND b.ty != 'C'", NEXT, "next match, 3"),
        ("S a, S b", "a.ty = 'A' AND a.p > 1 AND b.p < 2", NEXT, "next match, 3"),
        ("S a, S b", "a.ty = 'A' AND a.p > 1 AND b.p < 2", "strict_contiguity", "chain, 3"),
        ("S a, S b", "a.p * a.w > 1 AND b.p < 2", NEXT, "next match, 3"),
        ("S a, S b", "a.p > 1 AND abs(b.p - b.w) < 2", NEXT, "next match, 3"),
        ("S a, S b", "a.p > 1 AND b.p - b.w < 2 AND b.p * b.k > 7", NEXT, "next match, 4"),
        ("S a, S b", "a.p > 1 AND b.p - a.p > 2", NEXT, "skip till, 3"),
        ("S a, S b", "[ty] AND b.p / a.p > 2", "partition_contiguity", "chain, 2"),
        ("S a, S b", "a.p * a.w > 1 AND b.p < 2", "skip_till_any_match", "any match, 3"),
        ("S+ a[]", "a[1].p > 1 AND a[i].p > a[i-1].p AND a.LEN >= 3", NEXT, "kleene, 2"),
        ("S+ a[], S b", "a[1].p > 1 AND a[i].p > a[i-1].p AND b.p < 0.5 * a[a.LEN].p AND b.k > 2", NEXT, "kleene, 4"),
        ("S a, S+ b[], S c", "[ty] AND a.p > 1 AND b[1].p < 2 AND c.p > 2", "partition_contiguity", "kleene, 3"),
    ],
)
def test_each_template_has_the_first_mechanism_that_can_keep_its_runs(
    pattern: str, conditions: str, strategy: str, expected: str
) -> None:
    assert laid_out(pattern, conditions, strategy) == expected


@pytest.mark.parametrize(
    ("pattern", "conditions", "expected"),
    [
        ("S a, S+ b[], ~(S n)", "a.p > 1", "an operand repeats, and something is forbidden"),
        ("S+ a[], S b", "a[i].p > a[i-1].p", "it has no constants that could differ"),
        ("S+ a[], S b", "a[i].p > 1", "selection, 2"),
        ("S a, ~(S n), S b", "b.ty = 'A' AND b.p > a.p", "it compares a text with a constant that is not its key"),
        ("S a, S b", "a.p > 1 AND b.k > 9007199254740993", "a constant is too large to be compared exactly"),
    ],
)
def test_what_has_no_template_says_why(pattern: str, conditions: str, expected: str) -> None:
    assert laid_out(pattern, conditions) == expected


@pytest.mark.parametrize(
    ("pattern", "conditions", "strategy"),
    [
        ("S a, ~(S n), S b, S c", "[ty] AND a.ty = 'A' AND b.p < 2 AND n.w > 7", "skip_till_any_match"),
        ("S a, S b, ~(S n)", "[ty] AND a.ty = 'A' AND b.p < 2 AND n.w > 7", "skip_till_any_match"),
    ],
)
def test_what_is_forbidden_elsewhere_has_a_template_but_no_mechanism(
    pattern: str, conditions: str, strategy: str
) -> None:
    assert "something is forbidden" in laid_out(pattern, conditions, strategy)


def test_conditions_that_are_written_differently_meet() -> None:
    one = grouped("S a, S b", "a.ty = 'A' AND b.ty = 'A' AND a.p > 10 AND a.w < 5 AND b.p >= 2")
    other = grouped("S x, S y", "y.p > 3 AND x.p > 2 AND y.ty = 'A' AND 7 >= x.w AND x.ty = 'A' AND x.p > 1")
    assert isinstance(one, Grouping)
    assert isinstance(other, Grouping)
    assert one.template == other.template
    assert one.key == other.key
    assert one.values != other.values


def test_the_key_is_what_all_steps_share() -> None:
    found = grouped("S a, S b", "[ty] AND a.ty = 'A' AND a.p > 1 AND b.p < 2")
    assert isinstance(found, Grouping)
    assert [attribute.position for attribute in found.template.constants] == [0]
    assert [constant.value for constant in found.key] == ["A"]
    assert found.template.parts == ()


RISES = "b[i].p > b[i-1].p"
ABC = "a: ty = 'A' AND p > 1 b: p < 2 c: w > 3"


def composite(match: str, definitions: str = ABC, by: str = " BY ty", report: Report = Report.EACH) -> Grouping | str:
    text = f"FROM S{by} {definitions} MATCH {match}"
    lowered = lower_composite(parse_composite(text), text, SCHEMAS.get, lambda: list(SCHEMAS))
    return grouping_of(automaton_of(decompose(lowered), report))


@pytest.mark.parametrize(
    ("match", "operands", "orders"),
    [
        ("(a AND b); c WITHIN 5", "abc", {"abc", "bac"}),
        ("a AND (b; c) WITHIN 5", "abc", {"abc", "bac", "bca"}),
        ("a; (b AND c) WITHIN 5", "abc", {"abc", "acb"}),
        ("a; (b OR c) WITHIN 5", "abc", {"ab", "ac"}),
        ("a OR b OR c", "abc", {"a", "b", "c"}),
        ("a AND b AND c WITHIN 5", "abc", {"abc", "acb", "bac", "bca", "cab", "cba"}),
    ],
)
def test_operands_may_have_several_orders(match: str, operands: str, orders: set[str]) -> None:
    found = composite(match)
    assert isinstance(found, Grouping)
    template = found.template
    names = ["abc"[operand] for operand in template.operands]
    assert sorted(names) == sorted(operands)
    assert {"".join(names[step] for step in order) for order in template.orders} == orders
    assert len(template.orders) == len(orders)
    layout = layout_of(found)
    assert isinstance(layout, Layout)
    assert layout.mechanism.value == "any match"


def test_the_key_of_one_operand_is_that_of_all_its_orders() -> None:
    one, other = composite("a AND b AND c WITHIN 5"), composite("a OR b OR c")
    assert isinstance(one, Grouping)
    assert isinstance(other, Grouping)
    assert [constant.value for constant in one.key] == ["A"]
    assert [constant.value for constant in other.key] == ["A"]  # that of the first step alone
    assert [None if each is None else each.position for each in other.template.texts] == [0, None, None]
    apart = composite("(a OR b); c WITHIN 5", "a: k = 1 AND p > 1 b: p < 2 c: w > 3", " BY k")
    assert isinstance(apart, Grouping)  # after a, c has the key that a asks for
    assert sorted(apart.template.operands) == [0, 1, 2, 2]


def test_variables_that_all_operands_have_are_the_key_and_the_values() -> None:
    found = composite("a AND b WITHIN 5", "a: ty = 'A' AND k = $x AND ty = $y AND p > 1 b: k = $x AND ty = $y", "")
    assert isinstance(found, Grouping)
    assert [constant.value for constant in found.key] == ["A"]
    assert found.template.parts == (1,)
    assert [getattr(term, "position", None) for term in found.template.output] == [1, 0]


@pytest.mark.parametrize(
    ("match", "definitions", "report", "expected"),
    [
        ("a AND (b, c) WITHIN 5", ABC, Report.EACH, "some events must be adjacent"),
        ("a AND b AND c WITHIN 5", ABC, Report.COMPLETIONS, "reports completions only"),
        ("(a AND b); c WITHIN 5", "a: k = $x AND p > 1 b: k = $x c: p > 1", Report.EACH, "operands lack a variable"),
        ("a AND b WITHIN 5", "a: w = $x AND k > 1 b: p = $x", Report.EACH, "a variable is in different attributes"),
        ("a AND b AND c @(t(a) - t(c) < 2) WITHIN 5", ABC, Report.EACH, "conditions on times other than its window"),
        (" AND ".join("abcde") + " WITHIN 5", "a, b, c, d, e: p > 1", Report.EACH, "more than 24 orders"),
        ("a AND b AND c", ABC, Report.EACH, "it has no window"),
    ],
)
def test_several_orders_without_a_group_say_why(match: str, definitions: str, report: Report, expected: str) -> None:
    found = composite(match, definitions, report=report)
    layout = found if isinstance(found, str) else layout_of(found)
    assert isinstance(layout, str)
    assert expected in layout


@pytest.mark.parametrize(
    ("pattern", "one", "other", "alike"),
    [
        ("S+ a[], S b", "a[1].p > 1 AND b.p < 3", "a[1].p > 2 AND b.p < 4", True),
        ("S+ a[], S b", "a[1].p > 1 AND a[i].p > 5", "a[1].p > 1 AND a[i].p > 6", True),  # which events a run takes
        ("S a, S+ b[]", "a.p > 1 AND b[1].p > 5", "a.p > 1 AND b[1].p > 6", True),  # how long a run waits
        ("S a, S+ b[]", f"a.p > 1 AND b[1].p > 5 AND {RISES}", f"a.p > 1 AND b[1].p > 6 AND {RISES}", False),
        ("S+ a[], S b, S c", "a[1].p > 1 AND b.p > 5", "a[1].p > 1 AND b.p > 6", True),
        ("S+ a[], S b, S c", "a[1].p > 1 AND c.p > 5", "a[1].p > 1 AND c.p > 6", False),
    ],
)
def test_constants_differ_where_they_do_not_change_what_a_run_does(
    pattern: str, one: str, other: str, alike: bool
) -> None:
    found = [grouped(pattern, conditions) for conditions in (one, other)]
    assert all(isinstance(each, Grouping) for each in found)
    assert (found[0].template == found[1].template) == alike  # type: ignore[union-attr]
