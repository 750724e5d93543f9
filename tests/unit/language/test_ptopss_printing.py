"""What is printed reads back as the same tree, and texts that mean the same tree print alike."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from strategies.cayuga_queries import bare_names, expressions, names
from strategies.composite_subscriptions import subscriptions

from broker.language.ptopss import parse
from broker.language.ptopss.printer import print_query
from broker.language.ptopss.syntax import (
    BothExpression,
    ConditionExpression,
    Definition,
    EitherExpression,
    JoinExpression,
    NamedStream,
    Pattern,
    PrimitiveDeclaration,
    PtopssQuery,
    SequenceExpression,
    Timed,
)
from broker.language.syntax import Name


@st.composite
def patterns(draw: st.DrawFn, used: tuple[str, ...]) -> Pattern:
    """Shapes; the names are exchanged for different ones later."""
    if len(used) == 1:
        return PrimitiveDeclaration(used[0])
    middle = draw(st.integers(1, len(used) - 1))
    parts = (draw(patterns(used[:middle])), draw(patterns(used[middle:])))
    shapes: list[Pattern] = [
        SequenceExpression(parts, (",",)),
        SequenceExpression(parts, (";",)),
        SequenceExpression((*parts, parts[0]), (";", ",")),
    ]
    return draw(
        st.sampled_from([*shapes, BothExpression(parts), EitherExpression(parts), EitherExpression((*parts, parts[1]))])
    )


def renamed(pattern: Pattern, fresh: list[str], timed: list[tuple[ConditionExpression, ...]]) -> Pattern:
    """The same tree with each name used once, and with the conditions that are due at each node."""
    match pattern:
        case PrimitiveDeclaration():
            pattern = PrimitiveDeclaration(fresh.pop())
        case SequenceExpression(parts, separators):
            pattern = SequenceExpression(tuple(renamed(part, fresh, timed) for part in parts), separators)
        case BothExpression(parts):
            pattern = BothExpression(tuple(renamed(part, fresh, timed) for part in parts))
        case EitherExpression(parts):
            pattern = EitherExpression(tuple(renamed(part, fresh, timed) for part in parts))
    own = timed.pop() if timed else ()
    return Timed(pattern, own) if own else pattern


def size(pattern: Pattern) -> int:
    match pattern:
        case SequenceExpression(parts) | BothExpression(parts) | EitherExpression(parts):
            return sum(map(size, parts))
        case Timed(part):
            return size(part)
        case _:
            return 1


@st.composite
def queries(draw: st.DrawFn) -> PtopssQuery:
    shape = draw(patterns(("n",) * draw(st.integers(1, 4))))
    chosen = draw(st.lists(names, min_size=size(shape), max_size=size(shape), unique=True))
    pairs = st.permutations(chosen).map(lambda two: (PrimitiveDeclaration(two[0]), PrimitiveDeclaration(two[-1])))
    condition = st.builds(
        lambda two, operator, duration: ConditionExpression(two[0], two[1], operator, duration),
        pairs,
        st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
        st.integers(0, 2**61),
    )
    several = st.lists(condition, max_size=2).map(tuple) if len(chosen) > 1 else st.just(())
    timed = draw(st.lists(several, max_size=6))
    rest = list(chosen)
    streams = tuple(map(NamedStream, draw(st.lists(names, min_size=1, max_size=3, unique=True))))
    definitions = []
    while rest:
        together = tuple(PrimitiveDeclaration(rest.pop()) for _ in range(draw(st.integers(1, len(rest)))))
        joins = tuple(
            draw(st.lists(st.builds(JoinExpression, st.builds(Name, st.none(), bare_names), names), max_size=2))
        )
        predicate = draw(st.none() | expressions) if joins else draw(expressions)
        stream = draw(st.sampled_from(streams)) if len(streams) > 1 else None
        definitions.append(Definition(together, joins, predicate, stream))
    by = draw(st.lists(names, max_size=2, unique=True))
    within = draw(st.none() | st.integers(0, 2**61))
    return PtopssQuery(
        streams,
        tuple(Name(None, name) for name in by),
        tuple(definitions),
        renamed(shape, list(chosen), timed),
        within,
        draw(st.none() | names),
    )


@given(queries())
def test_what_is_printed_reads_back(query: PtopssQuery) -> None:
    assert parse(print_query(query)) == query


@given(subscriptions())
def test_what_is_read_prints_and_reads_back(text: str) -> None:
    query = parse(text)
    printed = print_query(query)
    assert parse(printed) == query
    assert print_query(parse(printed)) == printed


def test_a_query_prints_with_a_line_a_definition() -> None:
    text = (
        "from Log by host s1,s2 : (status = 'denied') and ip=$x s3: $x = ip "
        "match ((s1); (s2@(t(s2)-t(s1)<300000000))), s3 within 3600 s publish Out"
    )
    assert print_query(parse(text)) == (
        "FROM Log BY host\n"
        "s1, s2: ip = $x AND status = 'denied'\n"
        "s3: ip = $x\n"
        "MATCH (s1; s2 @(t(s2) - t(s1) < 5 min)), s3 WITHIN 1 hour PUBLISH Out"
    )


def test_a_disjunction_beside_a_join_keeps_its_parentheses() -> None:
    text = "FROM S\na: ip = $x AND (p OR q)\nb: p OR q\nMATCH a AND b"
    assert print_query(parse(text)) == text
