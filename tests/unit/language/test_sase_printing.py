"""What is printed reads back as the same tree, and texts that mean the same tree print alike."""

from __future__ import annotations

from typing import Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.cayuga_queries import bare_names, names
from strategies.cayuga_queries import expressions as any_expressions
from strategies.sase import queries as meaningful

from broker.language.sase import parse
from broker.language.sase.parser import AGGREGATES
from broker.language.sase.printer import print_query
from broker.language.sase.syntax import (
    OUTPUTS,
    STRATEGIES,
    ComponentExpression,
    Element,
    ElementAlternatives,
    EqualAttributes,
    Kind,
    ReturnItem,
    SaseQuery,
    StrategyClause,
)
from broker.language.syntax import And, ComparisonExpression, Expression, MemberAccess, Name, Not, Or

OF_SEVERAL: Final = ("avg", "sum", "count", "first", "last")
expressions: Final = any_expressions.filter(
    lambda found: not any(f"function='{name}'" in repr(found).lower() for name in OF_SEVERAL)
)
"""What has no aggregate, which is of the events of a Kleene variable only."""


@st.composite
def members(draw: st.DrawFn, components: list[ComponentExpression]) -> MemberAccess:
    """A reference to one of the variables, as its kind allows."""
    component = draw(st.sampled_from(components))
    variable, attribute = component.variable, draw(names)
    if component.kind != "kleene":
        return MemberAccess(variable, None, attribute)
    match draw(st.sampled_from(["event", "several", "length"])):
        case "event":
            return MemberAccess(variable, draw(st.sampled_from(["1", "i", "i-1", "LEN"])), attribute)
        case "several":
            return MemberAccess(
                variable, draw(st.sampled_from(["", "..i-1"])), attribute, draw(st.sampled_from(AGGREGATES))
            )
        case _:
            return MemberAccess(variable, None, draw(st.sampled_from(["LEN", "len"])))


@st.composite
def conditions(draw: st.DrawFn, components: list[ComponentExpression]) -> Expression:
    """Comparisons of references with whatever else an expression may be, under OR, NOT and AND within those."""
    comparison = st.builds(ComparisonExpression, st.sampled_from(["=", "<", ">="]), members(components), expressions)
    chain = st.lists(comparison, min_size=2, max_size=3).map(tuple)
    nested = st.one_of(comparison, st.builds(Not, comparison), st.builds(And, chain))
    several = st.lists(nested, min_size=2, max_size=3).map(tuple)
    return draw(st.one_of(comparison, st.builds(Not, nested), st.builds(Or, several)))


@st.composite
def component(draw: st.DrawFn, variable: str) -> ComponentExpression:
    kind, least, most = draw(st.sampled_from(get_args(Kind))), 1, None
    if kind != "negated":
        least = draw(st.integers(0, 1 if kind == "single" else 3))
    if kind == "kleene":
        most = draw(st.none() | st.integers(max(least, 1), 4))
    return ComponentExpression(draw(names), variable, kind, least, most)


@st.composite
def equal_attributes(draw: st.DrawFn, variables: list[str]) -> EqualAttributes | Name:
    """A test across names; of one variable alone there is none."""
    named = draw(st.lists(st.sampled_from(variables), min_size=1, unique=True))
    if len(named) == 1:
        return Name(None, draw(names))
    return EqualAttributes(tuple(MemberAccess(variable, None, draw(names)) for variable in named))


@st.composite
def queries(draw: st.DrawFn) -> SaseQuery:
    variables = draw(st.lists(bare_names, min_size=1, max_size=4, unique=True))
    components = [draw(component(variable)) for variable in variables]
    rest = list(draw(st.permutations(variables)))
    selections = []
    while draw(st.integers(0, 3)) and rest:
        covered = tuple(rest.pop() for _ in range(draw(st.integers(1, len(rest)))))
        selections.append(StrategyClause(draw(st.sampled_from(STRATEGIES)), covered))
    tests = st.one_of(st.builds(Name, st.none(), names), equal_attributes(variables))
    equivalence = draw(st.lists(tests, max_size=2, unique=True)) if selections else []
    found = draw(st.lists(conditions(components), max_size=3)) if selections else []
    items = draw(
        st.lists(st.builds(ReturnItem, st.one_of(members(components), expressions), st.none() | names), max_size=2)
    )
    elements: list[Element] = []
    while components:
        several = 1 if draw(st.booleans()) else draw(st.integers(1, len(components)))
        options, components = components[:several], components[several:]
        if several > 1 and all(option.kind != "negated" and option.least for option in options):
            elements.append(ElementAlternatives(tuple(options), draw(st.integers(0, 1))))
        else:
            elements += options
    return SaseQuery(
        tuple(elements),
        tuple(selections),
        tuple(equivalence),
        tuple(found),
        draw(st.none() | st.integers(0, 2**61)),
        tuple(items),
        draw(st.sampled_from(OUTPUTS)),
        draw(st.none() | names),
    )


@given(queries())
def test_what_is_printed_reads_back(query: SaseQuery) -> None:
    assert parse(print_query(query)) == query


@given(meaningful())
def test_what_is_read_prints_and_reads_back(text: str) -> None:
    query = parse(text)
    printed = print_query(query)
    assert parse(printed) == query
    assert print_query(parse(printed)) == printed


def test_a_query_prints_with_a_line_a_clause() -> None:
    text = (
        "pattern seq(Stock+ a[],~(News n),Stock b) where Skip_till_next_match(a, b) and strict_contiguity( n )"
        "{(b.x=1 and ((b.y=2 or b.z=3))) and [name] and a[ i ].x>AVG(a[.. i - 1].x) and [k]}"
        "within 3600 s return a.LEN,Max(a[].x) as top output All publish Out"
    )
    assert print_query(parse(text)) == (
        "PATTERN SEQ(Stock+ a[], ~(News n), Stock b)\n"
        "WHERE skip_till_next_match(a[], b) AND strict_contiguity(n)"
        " { [name, k] AND b.x = 1 AND (b.y = 2 OR b.z = 3) AND a[i].x > avg(a[..i-1].x) }\n"
        "WITHIN 1 hour\n"
        "RETURN a.LEN, max(a[].x) AS top\n"
        "PUBLISH Out"
    )


@pytest.mark.parametrize(
    ("written", "printed"),
    [("S{2,2} a[]", "S{2} a[]"), ("S{1,} a[]", "S+ a[]"), ("S{0,} a[]", "S* a[]"), ("S{ 2 , 5 } a[ ]", "S{2,5} a[]")],
)
def test_bounds_print_in_their_shortest_form(written: str, printed: str) -> None:
    assert print_query(parse(f"PATTERN SEQ({written}, S b)")) == f"PATTERN SEQ({printed}, S b)"


def test_a_disjunction_alone_needs_no_parentheses() -> None:
    text = "PATTERN SEQ(S a)\nWHERE strict_contiguity(a) { a.x = 1 OR a.y = 2 }"
    assert print_query(parse(text)) == text
