"""A template with other literals is what compiling the other text gives: automata and canonical text."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from strategies import cayuga_queries
from strategies.typed_queries import SCHEMAS, queries

from broker.algebra.cayuga.lowering import lower
from broker.algebra.operators import Query
from broker.algebra.terms import LiteralUsed
from broker.automaton.compilation import Compiled, compile_query
from broker.engine.templates import marked, template_of
from broker.events.errors import LimitExceeded
from broker.language import cayuga
from broker.language.cayuga.printer import print_query
from broker.language.cayuga.syntax import CelQuery as Syntax
from broker.language.shapes import Literal, shape_of


def compiled(syntax: Syntax) -> tuple[Query, Compiled]:
    query = lower(syntax, "", SCHEMAS.get, list)
    return query, compile_query(query)


def written(literal: Literal) -> str:
    return "'" + literal.replace("'", "''") + "'" if isinstance(literal, str) else repr(literal)


def exchanged(text: str, literals: Sequence[Literal]) -> str:
    shape = shape_of(text)
    assert shape is not None
    parts: list[str] = []
    rest = shape.key
    for old, new in zip(shape.literals, literals, strict=True):
        before, _, rest = rest.partition(f"\0{type(old).__name__}\0")
        parts += [before, written(new)]
    return "".join([*parts, rest])


@st.composite
def others(draw: st.DrawFn, literals: Sequence[Literal]) -> list[Literal]:
    kinds: dict[type, st.SearchStrategy[Literal]] = {
        int: st.integers(0, 5),
        float: st.sampled_from([0.0, 0.5, 1.5, 2.0]),
        str: st.sampled_from(["u", "v", "uv", "it's"]),
    }
    return [draw(kinds[type(literal)]) for literal in literals]


@settings(max_examples=4 * settings().max_examples, suppress_health_check=[HealthCheck.too_slow])
@given(queries(), st.data())
def test_a_template_is_what_compiling_gives(syntax: Syntax, data: st.DataObject) -> None:
    text = print_query(syntax)
    shape = shape_of(text)
    assert shape is not None
    with_marks = marked(cayuga.parse(text), shape)
    if with_marks is None:
        return
    try:
        template = template_of(*compiled(with_marks), print_query(syntax), shape)
    except (LiteralUsed, LimitExceeded):
        return
    if template is None:
        return
    literals = data.draw(others(shape.literals))
    other = exchanged(text, literals)
    again = shape_of(other)
    assert again is not None
    assert (again.key, list(again.literals)) == (shape.key, literals)
    parsed = cayuga.parse(other)
    assert template.bound(tuple(literals)) == compiled(parsed)[1]
    assert template.text(tuple(literals)) == print_query(parsed)
    assert all(type(value) in (int, float, str) for value in literals)


@given(cayuga_queries.queries)
def test_a_shape_keeps_what_is_no_literal(syntax: Syntax) -> None:
    """Blanking and writing back gives the text again, whatever names, durations and percentages look like."""
    text = print_query(syntax)
    shape = shape_of(text)
    assume(shape is not None)
    assert shape is not None
    parsed = cayuga.parse(exchanged(text, shape.literals))
    assert parsed == syntax
    assert len(shape.literals) == len(shape.places)
