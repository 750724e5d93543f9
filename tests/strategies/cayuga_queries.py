"""Random CEL syntax that can be written: every kind of node, every place a name may stand. It need not make sense.

Trees stay far below the limits of depth and size; a query that also has a meaning needs a strategy that knows schemas.
"""

from __future__ import annotations

import string
from typing import Final

from hypothesis import strategies as st

from broker.language import syntax
from broker.language.cayuga import syntax as cel
from broker.language.text_patterns import is_pattern

_LETTERS: Final = string.ascii_letters + "_"
_PLAIN: Final = ("a", "b", "price", "name_1", "x9", "_")
_RESERVED_ELSEWHERE: Final = (
    *("from", "select", "next", "fold", "union", "filter", "publish", "as", "and", "or", "not", "true", "false", "dur"),
    *("case", "when", "then", "else", "end", "in", "is", "null", "between", "IN", "Case", "like", "matches", "CIDR"),
    *("FROM", "Select", "As", "AND", "Or", "s", "ms", "min", "hour", "week", "to", "type", "first", "max"),
)
_BEGIN_OPERANDS: Final = {"NOT", "TRUE", "FALSE", "DUR"}
_BEGIN_STREAMS: Final = {"SELECT", "FILTER"}

names: Final = st.one_of(
    st.sampled_from(_PLAIN + _RESERVED_ELSEWHERE),
    st.builds(str.__add__, st.sampled_from(_LETTERS), st.text(_LETTERS + string.digits, max_size=8)),
)
"""What may follow AS, PUBLISH or a qualifier."""
bare_names: Final = names.filter(lambda name: name.upper() not in _BEGIN_OPERANDS)
stream_names: Final = names.filter(lambda name: name.upper() not in _BEGIN_STREAMS)

numbers: Final = st.one_of(
    st.integers(min_value=0, max_value=2**63 - 1),
    st.integers(min_value=0, max_value=9),
    st.floats(min_value=0.0, allow_nan=False, allow_infinity=False),
).map(syntax.Number)

def _is_regex(text: str) -> bool:
    return is_pattern("matches", text)


leaves: Final = st.one_of(
    numbers,
    st.one_of(st.text(max_size=12), st.text("'a", max_size=3)).map(syntax.String),
    st.booleans().map(syntax.Boolean),
    st.just(syntax.DurationExpression()),
    st.builds(syntax.Name, st.none(), bare_names),
    st.builds(syntax.Name, st.sampled_from(["", "1", "2"]), names),
)


_patterns: Final = st.lists(st.text("a'*? ", max_size=3).filter(_is_regex).map(syntax.String), min_size=1).map(tuple)


def _calculated(inner: st.SearchStrategy[syntax.Expression]) -> st.SearchStrategy[syntax.Expression]:
    return st.builds(syntax.ArithmeticExpression, st.sampled_from(["+", "-", "*", "/", "^", "%"]), inner, inner)


def _operators(inner: st.SearchStrategy[syntax.Expression]) -> st.SearchStrategy[syntax.Expression]:
    chain = st.lists(inner, min_size=2, max_size=4).map(tuple)
    branch = st.builds(syntax.CaseBranch, inner, inner)
    return st.one_of(
        st.builds(syntax.Negative, inner),
        st.builds(syntax.Not, inner),
        _calculated(inner),
        st.builds(syntax.ComparisonExpression, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), inner, inner),
        st.builds(syntax.And, chain),
        st.builds(syntax.Or, chain),
        st.builds(syntax.OneOf, inner, st.lists(inner, min_size=1, max_size=3).map(tuple), st.booleans()),
        st.builds(syntax.InRange, inner, inner, inner, st.booleans()),
        st.builds(syntax.TextTest, st.sampled_from(["like", "like~", "matches~"]), inner, _patterns, st.booleans()),
        st.builds(syntax.TextTest, st.just("cidr"), inner, st.just((syntax.String("::/0"),)), st.booleans()),
        st.builds(syntax.IsNull, inner, st.booleans()),
        st.builds(syntax.CaseExpression, st.lists(branch, min_size=1, max_size=2).map(tuple), st.none() | inner),
        st.builds(syntax.Call, bare_names, st.lists(inner, max_size=3).map(tuple)),
    )


# Of operators within operators some bind equally, which few trees of all kinds have.
expressions: Final[st.SearchStrategy[syntax.Expression]] = st.one_of(
    st.recursive(leaves, _operators, max_leaves=12), st.recursive(leaves, _calculated, max_leaves=6)
)
_small: Final[st.SearchStrategy[syntax.Expression]] = st.recursive(leaves, _operators, max_leaves=3)

items: Final = st.builds(cel.SelectItem, _small, st.none() | names)
aggregates: Final = st.builds(cel.SelectItem, _small, names)


@st.composite
def _select_items(draw: st.DrawFn) -> tuple[cel.Star | cel.SelectItem, ...]:
    chosen: list[cel.Star | cel.SelectItem] = [*draw(st.lists(items, max_size=3))]
    if not chosen or draw(st.booleans()):
        chosen.insert(draw(st.integers(0, len(chosen))), cel.Star())
    return tuple(chosen)


def _compositions(inner: st.SearchStrategy[cel.StreamExpression]) -> st.SearchStrategy[cel.StreamExpression]:
    condition = st.none() | _small
    return st.one_of(
        st.builds(cel.Filter, _small, inner),
        st.builds(cel.Select, _select_items(), inner),
        st.builds(cel.Next, condition, inner, inner),
        st.builds(cel.FoldExpression, condition, condition, st.lists(aggregates, max_size=3).map(tuple), inner, inner),
        st.builds(cel.UnionExpression, inner, inner),
    )


streams: Final[st.SearchStrategy[cel.StreamExpression]] = st.recursive(
    st.builds(cel.StreamReference, stream_names), _compositions, max_leaves=6
)
queries: Final = st.builds(cel.CelQuery, streams, st.none() | names)
