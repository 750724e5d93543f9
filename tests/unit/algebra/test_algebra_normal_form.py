"""Canonical conditions: equal for equal meaning, split for indexes, bounded."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.typed_queries import SCHEMAS, VALUES, conditions
from strategies.typed_queries import Side as Names

from broker.algebra.normal_form import ALWAYS, NEVER, duration_bound, normalise, split
from broker.algebra.predicate import condition as condition_of
from broker.algebra.predicate import holds
from broker.algebra.resolution import BinaryScope, UnaryScope, condition
from broker.algebra.semantics import Environment, Occurrence
from broker.algebra.semantics import holds as means
from broker.algebra.terms import (
    Arithmetic,
    Attribute,
    Comparison,
    Constant,
    Function,
    Instant,
    Register,
    Side,
    Term,
    replace,
    walk,
)
from broker.algebra.timed_stream import timed_row
from broker.events.schema import Row, Schema
from broker.language import cayuga
from broker.language.cayuga import syntax as cayuga_syntax

S = SCHEMAS["S"]


def read(text: str, schema: Schema = S) -> Term:
    source = cayuga.parse(f"FILTER{{{text}}} S").source
    assert isinstance(source, cayuga_syntax.Filter)
    return condition(source.condition, UnaryScope(text, schema))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a > 1 AND k = 'u'", "k = 'u' AND 1 < a"),
        ("a = 1 OR a = 2", "2 = a OR 1 = a OR a = 1"),
        ("NOT (a > 1 OR k = 'u')", "a <= 1 AND k != 'u'"),
        ("NOT NOT b", "b = TRUE"),
        ("NOT b", "b = FALSE"),
        ("a * 2 > 1 + 2", "2 * a > 3"),
        ("a > 1 AND (k = 'u' OR k = 'v')", "a > 1 AND k = 'v' OR k = 'u' AND a > 1"),
        ("a > 0 AND 1 < 2", "a > 0"),
        ("1 < a", "a > 1"),
        ("1 <= a", "a >= 1"),
        ("1 > a", "a < 1"),
        ("1 >= a", "a <= 1"),
        ("1 != a", "NOT a = 1"),
        ("a IN (1, 2)", "a = 2 OR a = 1"),
        ("a IN (1)", "a = 1"),
        ("a NOT IN (1, 2)", "NOT a IN (2, 1)"),
        ("a BETWEEN 1 AND 2", "a >= 1 AND a <= 2"),
        ("NOT a BETWEEN 1 AND 2", "a NOT BETWEEN 1 AND 2"),
        ("a NOT BETWEEN 1 AND 2", "a < 1 OR a > 2"),
        ("NOT x IS NULL", "x IS NOT NULL"),
        ("NOT x IS NOT NULL", "x IS NULL"),
        ("CASE WHEN b THEN 1 + 1 ELSE 1 END = a", "a = CASE WHEN b THEN 2 ELSE 1 END"),
    ],
)
def test_equal_conditions_have_one_form(one: str, other: str) -> None:
    assert normalise(read(one)) == normalise(read(other))


def test_constants_fold() -> None:
    assert normalise(read("1 < 2")) == ALWAYS
    assert normalise(read("1 > 2")) == NEVER
    assert normalise(read("a = 1 / 0")) == NEVER
    assert normalise(read("NOT a = 1 / 0")) == NEVER
    assert normalise(read("1 / 0 IS NULL")) == ALWAYS
    assert normalise(read("1 IS NULL")) == NEVER
    assert normalise(read("CASE WHEN 1 > 2 THEN 'u' WHEN 1 = 1 THEN 'v' END = 'v'")) == ALWAYS


def test_an_exploding_condition_is_multiplied_out_in_one_of_its_parts() -> None:
    text = " AND ".join(f"(a = {i} OR a = {i + 100})" for i in range(12))
    clauses = normalise(read(text))
    assert [len(clause) for clause in clauses] == [12, 12]


def test_split_names_what_a_hash_answers() -> None:
    (clause,) = normalise(read("k = 'u' AND a > 1 AND DUR < 3 AND x = a"))
    parts = split(clause)
    assert [(position, constant.value) for position, constant in parts.constants] == [(0, "u")]
    assert parts.joins == ()
    assert len(parts.static) == 3
    assert parts.residual == ()


@pytest.mark.parametrize(
    ("text", "bound"),
    [("DUR <= 5", 5), ("DUR < 5", 4), ("DUR = 5", 5), ("DUR > 5", None), ("DUR < 5 OR DUR < 9", 8), ("DUR < 2.5", 2)],
)
def test_duration_bound(text: str, bound: int | None) -> None:
    source = cayuga.parse(f"S NEXT{{{text}}} S").source
    assert isinstance(source, cayuga_syntax.Next)
    assert source.condition is not None
    assert duration_bound(normalise(condition(source.condition, BinaryScope(text, S, S, iterates=False)))) == bound


@st.composite
def rows(draw: st.DrawFn) -> Row:
    found: list[object] = []
    for a in S.attributes:
        options: list[object] = [*VALUES[a.type], None] if a.nullable else VALUES[a.type]
        found.append(draw(st.sampled_from(options)))
    return tuple(found)  # type: ignore[arg-type]


def bound_row(term: Term) -> Term:
    if isinstance(term, Attribute) and term.side is Side.FIRST:
        return Register(-1, term.position, term.type)
    if isinstance(term, Instant):  # as the rows of a timed stream have it
        position = len(S) + term.begins
        return Attribute(Side.EVENT, position, "int") if term.side is Side.EVENT else Register(-1, position, "int")
    return term


@given(conditions([Names("1", S), Names("2", S)]), rows(), rows(), st.integers(0, 3), st.integers(0, 3))
def test_what_runs_is_what_is_written(syntax: object, first: Row, event: Row, length: int, gap: int) -> None:
    term = condition(syntax, BinaryScope("", S, S, iterates=False))  # type: ignore[arg-type]
    end = 10
    start = end - length
    begun, ended = start - gap, start - 1
    written = means(term, Environment(Occurrence(event, start, end, ()), first, (), begun, (ended, ended)))
    row, bound = timed_row(event, end, start), timed_row(first, ended, begun)
    runs = holds(condition_of(normalise(replace(term, bound_row))), row, bound, (), length + 1, length + gap + 1)
    assert runs is written


def test_a_hash_that_is_kept_does_not_travel_to_another_process() -> None:
    text = Attribute(Side.EVENT, 0, "string")
    atom = Comparison("=", Function("lower", (text,), "string"), Constant("a", "string"))
    same = 'Comparison("=", Function("lower", (text,), "string"), Constant("a", "string"))'
    hash(atom)
    script = (
        "import pickle; from broker.algebra.terms import Attribute, Comparison, Constant, Function, Side;"
        "text = Attribute(Side.EVENT, 0, 'string');"
        f"print({{pickle.loads({pickle.dumps(atom)!r})}} == {{{same}}})"
    )
    for seed in ("1", "2"):
        told = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        )
        assert told.stdout.split() == [b"True"]


def test_a_term_comes_before_what_is_in_it_from_left_to_right() -> None:
    one, two, three = (Constant(number, "int") for number in (1, 2, 3))
    total = Arithmetic("+", Arithmetic("*", one, two, "int"), three, "int")
    assert list(walk(total)) == [total, total.left, one, two, three]
