"""Random window queries as syntax trees, and small streams with ties, nulls and equal values for them."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from broker.events.schema import Schema
from broker.language.syntax import (
    And,
    ArithmeticExpression,
    CaseBranch,
    CaseExpression,
    ComparisonExpression,
    Expression,
    InRange,
    IsNull,
    MemberAccess,
    Name,
    Not,
    Number,
    OneOf,
    Or,
    String,
    TextTest,
)
from broker.language.window.regex import (
    Alternation,
    AnyEvent,
    Complement,
    Concatenation,
    EventPredicate,
    Intersection,
    Quantified,
    RegexExpression,
)
from broker.language.window.syntax import (
    KEEPS,
    AggregateExpression,
    ClockWindows,
    Equivalence,
    Implication,
    MarkedWindows,
    Membership,
    PairExpression,
    Pairs,
    QuantifiedFormula,
    SessionWindows,
    WindowQuery,
    WindowSize,
)

SCHEMA: Final = Schema.declare({"ty": "string?", "v": "int?", "x": "float?"})

TYPE: Final = Name(None, "ty")
VALUE: Final = Name(None, "v")
TIME: Final = Name(None, "time")


def _before(attribute: str, back: str = "prev") -> MemberAccess:
    return MemberAccess(back, None, attribute)


def compared(operator: Any, left: Expression, right: Expression) -> ComparisonExpression:
    return ComparisonExpression(operator, left, right)


PREDICATES: Final[tuple[Expression, ...]] = (
    compared("=", TYPE, String("A")),
    compared("=", TYPE, String("B")),
    compared("!=", TYPE, String("B")),
    compared(">", VALUE, Number(2)),
    Not(compared(">", VALUE, Number(2))),
    compared(">", VALUE, _before("v")),
    Not(compared(">", VALUE, _before("v"))),
    compared("<", VALUE, _before("v", "prev2")),
    compared("<=", ArithmeticExpression("-", TIME, _before("time")), Number(1)),
    Or((compared("=", TYPE, String("A")), compared(">", VALUE, _before("v")))),
    And((compared("=", TYPE, _before("ty")), compared("<", VALUE, Number(3)))),
    IsNull(VALUE),
    IsNull(TYPE, True),
    IsNull(_before("v")),
    OneOf(TYPE, (String("A"), String("C"))),
    InRange(VALUE, _before("v"), Number(3), True),
    TextTest("like~", TYPE, (String("a*"), String("?b"))),
    TextTest("matches", TYPE, (String("[BC]"),), True),
    compared(">", CaseExpression((CaseBranch(IsNull(VALUE), Number(5)),), VALUE), Number(3)),
)
FORGETFUL: Final = tuple(each for each in PREDICATES if not isinstance(each, Not) and "prev" not in repr(each))
"""Those that read one event alone."""
OWN: Final = Number(777)
"""The constant in which the members of a family differ."""
OWN_TOO: Final = Number(888)
"""Another one."""
FAMILY_PREDICATES: Final[tuple[Expression, ...]] = (
    compared(">", VALUE, OWN),
    compared(">=", VALUE, OWN),
    compared("<", VALUE, OWN),
    compared("=", VALUE, OWN),
    compared("!=", VALUE, OWN),
    Not(compared(">", VALUE, OWN)),
    And((compared("=", TYPE, String("A")), compared(">", VALUE, OWN))),
    Or((compared("=", TYPE, String("A")), compared("<=", VALUE, OWN))),
    And((compared("<=", _before("v"), OWN), compared(">", VALUE, OWN))),
    compared(">", ArithmeticExpression("-", VALUE, _before("v")), OWN),
    compared("=", TYPE, String("B")),
    compared(">", VALUE, _before("v")),
)
SEVERAL_OWN: Final[tuple[Expression, ...]] = (
    compared(">", VALUE, OWN),
    compared("<", VALUE, OWN_TOO),
    And((compared("=", TYPE, String("A")), compared(">", VALUE, OWN))),
    Or((compared(">=", VALUE, OWN), compared("=", VALUE, OWN_TOO))),
    compared("<=", Name(None, "x"), OWN_TOO),
    compared("!=", VALUE, OWN_TOO),
    compared(">", ArithmeticExpression("-", VALUE, _before("v")), OWN),
    compared("=", TYPE, String("B")),
)
OWN_NAME: Final = String("its own")
"""The name in which subscriptions with keys of their own differ; some differ in OWN and OWN_TOO as well."""
AT_HOME: Final = compared("=", TYPE, OWN_NAME)
HOME_PREDICATES: Final[tuple[Expression, ...]] = (
    AT_HOME,
    And((AT_HOME, compared(">", VALUE, OWN))),
    And((AT_HOME, compared("<", VALUE, OWN_TOO))),
    And((AT_HOME, compared("!=", VALUE, OWN), compared("<=", Name(None, "x"), OWN_TOO))),
    And((AT_HOME, compared("=", VALUE, OWN_TOO))),
    And((AT_HOME, IsNull(Name(None, "x")))),
    compared(">=", VALUE, OWN),
    compared("<", Name(None, "x"), OWN_TOO),
    compared("=", TYPE, String("B")),
)
KEY_PREDICATES: Final[tuple[Expression, ...]] = (
    compared("=", TYPE, String("A")),
    compared("=", TYPE, String("A")),
    compared("=", TYPE, String("B")),
    And((compared("=", TYPE, String("A")), compared(">", VALUE, Number(2)))),
    And((compared("=", TYPE, String("A")), compared("<", VALUE, Number(3)))),
    Or(
        (
            And((compared("=", TYPE, String("A")), IsNull(VALUE))),
            And((compared("=", TYPE, String("A")), compared(">", VALUE, _before("v")))),
        )
    ),
    OneOf(TYPE, (String("A"), String("B"))),
    compared(">", VALUE, Number(2)),
    compared("<", VALUE, Number(2)),
    Not(compared("<", VALUE, Number(2))),
    compared(">", VALUE, _before("v")),
)
"""Conditions that want a key, and others."""
AGGREGATES: Final[tuple[AggregateExpression, ...]] = (
    AggregateExpression("count", (), False, "n"),
    AggregateExpression("count", (VALUE,), False, "nv"),
    AggregateExpression("count", (VALUE,), True, "dv"),
    AggregateExpression("sum", (VALUE,), False, "sv"),
    AggregateExpression("sum", (Name(None, "x"),), False, "sx"),
    AggregateExpression("avg", (Name(None, "x"),), False, "ax"),
    AggregateExpression("avg", (VALUE,), False, "av"),
    AggregateExpression("min", (VALUE,), False, "lo"),
    AggregateExpression("max", (Name(None, "x"),), False, "hi"),
    AggregateExpression("max", (TYPE,), False, "ht"),
    AggregateExpression("first", (VALUE,), False, "a"),
    AggregateExpression("last", (TYPE,), False, "z"),
    AggregateExpression("stdev", (VALUE,), False, "d"),
    AggregateExpression("median", (Name(None, "x"),), False, "m"),
    AggregateExpression("argmax", (VALUE, TYPE), False, "t"),
    AggregateExpression("argmin", (Name(None, "x"), VALUE), False, "vx"),
    AggregateExpression("stdev", (Name(None, "x"),), False, "dx"),
    AggregateExpression("sum", (VALUE,), True, "dsv"),
    AggregateExpression("avg", (Name(None, "x"),), True, "dax"),
    AggregateExpression("count", (Name(None, "x"),), True, "dx2"),
    AggregateExpression("count", (TYPE,), True, "dt"),
    AggregateExpression("median", (VALUE,), False, "mv"),
    AggregateExpression("min", (TYPE,), False, "lt"),
    AggregateExpression("sum", (ArithmeticExpression("*", VALUE, TIME),), False, "vt"),
    AggregateExpression("sum", (CaseExpression((CaseBranch(IsNull(TYPE), VALUE),), Number(1)),), False, "ca"),
)


@st.composite
def regexes(
    draw: st.DrawFn, depth: int = 3, predicates: tuple[Expression, ...] = PREDICATES
) -> RegexExpression:
    kind = draw(st.integers(0, 9 if depth else 3))
    if kind <= 1:
        return EventPredicate(draw(st.sampled_from(predicates)))
    if kind <= 3:
        some: tuple[RegexExpression, ...] = (
            AnyEvent(),
            Quantified(AnyEvent(), 0, None),
            Quantified(AnyEvent(), 1, None),
        )
        return draw(st.sampled_from(some))
    inner = regexes(depth - 1, predicates)
    if kind == 4:
        return Complement(draw(inner))
    if kind in (5, 6):
        least = draw(st.integers(0, 2))
        most = draw(st.sampled_from((None, max(least, 1), least + 1)))
        return Quantified(draw(inner), least, most, draw(st.booleans()))
    parts = (draw(inner), draw(inner))
    if kind == 7:
        return Alternation(parts)
    return Intersection(parts) if kind == 8 else Concatenation(parts)


@st.composite
def pairs(draw: st.DrawFn, predicates: tuple[Expression, ...] = PREDICATES, most: int = 3) -> Pairs:
    bounds = st.sampled_from((None, None, 0, 2, 5))
    everything = st.sampled_from((Quantified(AnyEvent(), 0, None), Quantified(Quantified(AnyEvent(), 2, 2), 0, None)))
    bounded = st.builds(
        lambda regex, least, more: Intersection((regex, Quantified(AnyEvent(), least, max(least + more, 1)))),
        regexes(2, predicates),
        st.integers(0, 3),
        st.integers(0, 3),
    )
    prefix, body = regexes(2, predicates), regexes(3, predicates)
    one = st.builds(PairExpression, st.one_of(everything, prefix), st.one_of(body, bounded), bounds)
    return Pairs(tuple(draw(st.lists(one, min_size=1, max_size=most))))


def brief() -> st.SearchStrategy[Pairs]:
    """Pairs whose windows begin anywhere and last some time at most."""
    anywhere = st.just(Quantified(AnyEvent(), 0, None))
    one = st.builds(PairExpression, anywhere, regexes(3, FORGETFUL), st.sampled_from((0, 2, 5)))
    return st.builds(Pairs, st.lists(one, min_size=1, max_size=2).map(tuple))


@st.composite
def formulas(draw: st.DrawFn, bound: tuple[str, ...] = ("x", "y"), sets: tuple[str, ...] = (), depth: int = 4) -> Any:
    kind = draw(st.integers(0, 11 if depth else 3))
    variable = st.sampled_from(bound)
    if kind <= 1 or (kind == 3 and not sets):
        name = draw(variable)
        at = draw(st.sampled_from((name, f"prev({name})")))
        return draw(
            st.sampled_from(
                (
                    compared("=", MemberAccess(at, None, "ty"), String("A")),
                    compared("=", MemberAccess(at, None, "ty"), String("B")),
                    OneOf(MemberAccess(at, None, "ty"), (String("A"), String("B")), True),
                    TextTest("like", MemberAccess(at, None, "ty"), (String("A*"),), True),
                    IsNull(MemberAccess(at, None, "v")),
                    compared(">", MemberAccess(name, None, "v"), MemberAccess(f"prev({name})", None, "v")),
                )
            )
        )
    if kind == 2:
        left, right = Name(None, draw(variable)), Name(None, draw(variable))
        if draw(st.booleans()):
            return compared("=", left, ArithmeticExpression("+", right, Number(1)))
        if draw(st.integers(0, 3)) == 0:
            third = Name(None, draw(variable))
            return draw(st.sampled_from((InRange(left, right, third), OneOf(left, (right, third), True))))
        return compared(draw(st.sampled_from(("<", "<=", "=", "!=", ">", ">="))), left, right)
    if kind == 3:
        return Membership(draw(variable), draw(st.sampled_from(sets)))
    inner = formulas(bound, sets, depth - 1)
    if kind == 4:
        return Not(draw(inner))
    if kind <= 6:
        left, right = draw(inner), draw(inner)
        made = (And((left, right)), Or((left, right)), Implication(left, right), Equivalence(left, right))
        return draw(st.sampled_from(made))
    if len(bound) + len(sets) >= 4:
        return draw(inner)
    every = draw(st.booleans())
    if kind == 7 and not sets:
        return QuantifiedFormula(every, True, ("P",), None, draw(formulas(bound, ("P",), depth - 1)))
    new = "zu"[len(bound) - 2]
    between = draw(st.sampled_from((None, ("x", "y"), ("y", "x"))))
    return QuantifiedFormula(every, False, (new,), between, draw(formulas((*bound, new), sets, depth - 1)))


def extents(events: bool) -> st.SearchStrategy[WindowSize]:
    return st.builds(WindowSize, st.integers(1, 4), st.just(events))


@st.composite
def clocks(draw: st.DrawFn) -> ClockWindows:
    size, slide = draw(st.one_of(st.none(), extents(False))), draw(extents(False))
    return ClockWindows(size, slide, draw(st.integers(0, 3)))


def by_events() -> st.SearchStrategy[ClockWindows]:
    both = st.builds(ClockWindows, extents(True), extents(True), st.just(0))
    every = st.builds(ClockWindows, st.none(), extents(True), st.just(0))
    last = st.builds(ClockWindows, st.one_of(extents(True), extents(False)), st.none(), st.just(0))
    return st.one_of(both, every, last)


@st.composite
def queries(draw: st.DrawFn, windows: st.SearchStrategy[Any] | None = None) -> WindowQuery:
    short = st.one_of(clocks(), by_events(), st.builds(SessionWindows, st.integers(0, 3)))
    chosen = draw(st.one_of(pairs(), pairs(), short) if windows is None else windows)
    by_time = isinstance(chosen, ClockWindows) and not (chosen.slide or chosen.size or WindowSize(1, True)).events
    keep: Any = "each"
    if not by_time and not isinstance(chosen, SessionWindows):
        keep = draw(st.sampled_from(("each", "each", *KEEPS)))
    aggregates = draw(st.lists(st.sampled_from(AGGREGATES), max_size=4, unique_by=lambda one: one.name))
    if by_time and isinstance(chosen, ClockWindows) and chosen.slide is not None and draw(st.booleans()):
        aggregates += [AggregateExpression("from", (), False, "f"), AggregateExpression("until", (), False, "u")]
    by = draw(st.sampled_from(((), (), (TYPE,))))
    return WindowQuery("S", by, chosen, keep, tuple(aggregates), None)


def marked() -> st.SearchStrategy[MarkedWindows]:
    return st.builds(MarkedWindows, st.just("x"), st.just("y"), formulas())


Event = tuple[int, tuple[Any, ...]]


@st.composite
def streams(draw: st.DrawFn, most: int = 10, least: int = 0) -> list[Event]:
    """Times, which do not decrease, and rows."""
    numbers = st.one_of(st.none(), st.sampled_from((0.1, 0.2, -0.3, 1e6, 1e-6, 3.0, 1e12)))
    row = st.tuples(st.sampled_from(("A", "A", "B", "C", None)), st.sampled_from((None, 1, 2, 3, 4)), numbers)
    time, found = 0, []
    steps = st.tuples(st.sampled_from((0, 0, 1, 1, 2, 5)), row)
    for gap, values in draw(st.lists(steps, min_size=least, max_size=most)):
        time += gap
        found.append((time, values))
    return found
