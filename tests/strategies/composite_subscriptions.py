"""Random P-ToPSS subscriptions that type-check, as texts, and streams with ties and nulls: the input of the laws.

Here: strategies. Domains are small on purpose, so that predicates overlap and random events match random patterns; all
operators of the language appear, and conditions between operands of every kind of relation. Not here: what must hold.

No condition of a text is false for all events; several together, or with WITHIN, may be.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from broker.algebra.ptopss.composite import Composite
from broker.algebra.ptopss.lowering import lower
from broker.algebra.ptopss.semantics import Event
from broker.events.schema import Schema, Value
from broker.language.ptopss import parse
from broker.language.ptopss import syntax as cs
from broker.language.ptopss.printer import print_pattern

STREAM: Final = "S"
ATTRIBUTES: Final = {"ty": "string", "k": "int?", "w": "float?", "u.g": "string[]?"}
STREAMS: Final = {STREAM: ATTRIBUTES, "T": {"w": "int?", "u.g": "string[]", "ty": "string", "k": "float?"}}
"""Two streams with the same attributes in other places, of types that can be equal."""
SCHEMAS: Final = {stream: Schema.declare(attributes) for stream, attributes in STREAMS.items()}
VALUES: Final[dict[str, list[Value]]] = {
    "string": ["A", "A", "B", "C"],
    "int": [0, 0, 1],
    "float": [0.0, 1.0, 0.5],
    "string[]": [(), ("A",), ("A", "B"), ("Bc", "a", "")],
}

PREDICATES: Final = (
    *("ty = 'A'", "ty = 'A'", "ty = 'A'", "ty = 'B'", "ty = 'B'", "ty = 'C'"),
    *("ty != 'C'", "ty != 'A'", "k <= 1", "k = 0", "w < 1", "NOT ty = 'B'", "TRUE", "TRUE"),
    *("ty IN ('A', 'B')", "k BETWEEN 0 AND 0", "k IS NULL", "w IS NOT NULL AND ty NOT IN ('A', 'C')"),
    "CASE WHEN ty = 'A' THEN k = 1 WHEN w IS NULL THEN TRUE END",
    *("ty = 'A' OR time > 4", "time - k <= 3"),
    *("ty LIKE 'A*'", "ty LIKE~ ('b', '?c')", "ty NOT MATCHES '^[BC]$'", "ty NOT LIKE '*A' OR k = 1"),
    *("u.g = 'A'", "u.g != 'B'", "u.g LIKE~ ('b*', 'A') OR k = 1", "NOT u.g IN ('Bc', '')", "contains(u.g, 'c')"),
    *("ty = 'A' OR k = 1", "ty != 'C' AND w >= 0", "contains(ty, 'A') OR contains(ty, 'B')"),
)
"""The plain ones more often than the others."""
JOINS: Final = ("k = $x", "k = $x", "k = $x", "w = $y", "ty = $z", "w = $x", "$y = k")
"""$x and $y are shared by an int and a float attribute."""
NAMES: Final = ("a", "b", "c", "d", "e", "f", "g", "h")


@st.composite
def patterns(draw: st.DrawFn, names: tuple[str, ...], depth: int) -> cs.Pattern:
    """The names in this order, under operators nested at most `depth` deep."""
    if len(names) == 1:
        return cs.PrimitiveDeclaration(names[0])
    most = 2 if depth > 1 and draw(st.integers(0, 2)) else len(names)
    number = len(names) if depth == 1 else draw(st.integers(2, most))
    cuts = sorted(draw(st.permutations(range(1, len(names))))[: number - 1])
    spans = zip([0, *cuts], [*cuts, len(names)], strict=True)
    parts = tuple(draw(patterns(names[i:j], depth - 1)) for i, j in spans)
    match draw(st.sampled_from(["chain", "chain", "chain", "both", "either"])):
        case "both":
            return cs.BothExpression(parts)
        case "either":
            return cs.EitherExpression(parts)
        case _:
            return cs.SequenceExpression(parts, tuple(draw(st.sampled_from([",", ";", ";", ";"])) for _ in parts[1:]))


@st.composite
def conditions(draw: st.DrawFn, names: tuple[str, ...], longest: int) -> cs.ConditionExpression:
    """A condition on any two of the names, later minus earlier or, where that can hold, the other way round."""
    first, second = sorted(draw(st.permutations(range(len(names))))[:2])
    duration = draw(st.integers(0, min(4, longest)))
    if draw(st.integers(0, 4)):
        minuend, subtrahend = second, first
        holding = (*("<=", "=", "!=", ">="), *(("<",) if duration else ()), *((">",) if duration < longest else ()))
        if duration == longest == 0:
            holding = ("<=", "=", ">=")
    else:
        minuend, subtrahend = first, second
        holding = ("<=", ">=", "=") if duration == 0 else ("<", "<=", "!=")
    operator = draw(st.sampled_from(holding))
    return cs.ConditionExpression(
        cs.PrimitiveDeclaration(names[minuend]), cs.PrimitiveDeclaration(names[subtrahend]), operator, duration
    )


@st.composite
def timed(draw: st.DrawFn, pattern: cs.Pattern, waiting: list[cs.ConditionExpression]) -> cs.Pattern:
    """The same pattern with the conditions that wait attached anywhere in it, to operands and groups; takes them."""
    match pattern:
        case cs.SequenceExpression(parts, separators):
            pattern = cs.SequenceExpression(tuple(draw(timed(part, waiting)) for part in parts), separators)
        case cs.BothExpression(parts):
            pattern = cs.BothExpression(tuple(draw(timed(part, waiting)) for part in parts))
        case cs.EitherExpression(parts):
            pattern = cs.EitherExpression(tuple(draw(timed(part, waiting)) for part in parts))
    own = tuple(waiting.pop() for _ in tuple(waiting) if draw(st.booleans()))
    return cs.Timed(pattern, own) if own else pattern


@st.composite
def definitions(draw: st.DrawFn, names: tuple[str, ...], joins: bool, streams: tuple[str, ...]) -> str:
    """Definitions of the names, some of several at once, in any order, of these streams."""
    lines: list[str] = []
    rest = list(draw(st.permutations(names)))
    while rest:
        together = [rest.pop() for _ in range(min(len(rest), draw(st.sampled_from([1, 1, 1, 2, 3]))))]
        predicate = draw(st.sampled_from(PREDICATES))
        if joins and draw(st.integers(0, 2)):
            join = draw(st.sampled_from(JOINS))
            predicate = draw(st.sampled_from([join, f"{join} AND ({predicate})", f"({predicate}) AND {join}"]))
            if draw(st.integers(0, 4)) == 0:
                predicate += " AND ty = $z"
        on = f" ON {draw(st.sampled_from(streams))}" if len(streams) > 1 or draw(st.integers(0, 9)) == 0 else ""
        lines.append(f"{', '.join(together)}{on}: {predicate}")
    return "\n".join(lines)


@st.composite
def subscriptions(draw: st.DrawFn, most: int = 6, depth: int = 4) -> str:
    """A subscription with at most `most` operands and `depth` levels of operators, valid by itself: to STREAM or, more
    seldom, to both."""
    names = tuple(draw(st.permutations(NAMES))[: draw(st.integers(1, most))])
    within = draw(st.one_of(st.none(), st.none(), st.integers(0, 8)))
    pattern = draw(patterns(names, depth))
    if len(names) > 1:
        number = draw(st.sampled_from([0, 0, 1, 1, 2, 3]))
        waiting = [draw(conditions(names, 8 if within is None else within)) for _ in range(number)]
        pattern = draw(timed(pattern, waiting))
        if waiting:
            pattern = cs.Timed(pattern, tuple(waiting))
    by = draw(st.sampled_from(["", "", "", " BY k", " BY ty", " BY ty, k"]))
    end = "" if within is None else f" WITHIN {within}"
    streams = draw(st.sampled_from([*[(STREAM,)] * 3, ("S", "T"), ("T", "S")]))
    defined = draw(definitions(names, draw(st.booleans()), streams))
    return f"FROM {', '.join(streams)}{by}\n{defined}\nMATCH {print_pattern(pattern)}{end}"


@st.composite
def histories(draw: st.DrawFn, most: int = 10) -> list[Event]:
    """Streams, times and rows in order of arrival, with ties and nulls; half of them of STREAM alone."""
    found: list[Event] = []
    time = 0
    streams = draw(st.sampled_from([[STREAM], list(STREAMS)]))
    for _ in range(draw(st.sampled_from([most, most, most - 1, most // 2, 1, 0]))):
        time += draw(st.sampled_from([0, 0, 1, 1, 1, 2, 3]))
        stream = draw(st.sampled_from(streams))
        row = tuple(
            None if a.nullable and draw(st.integers(0, 5)) == 0 else draw(st.sampled_from(VALUES[a.type]))
            for a in SCHEMAS[stream].attributes
        )
        found.append((stream, time, row))
    return found


def lowered(text: str) -> Composite:
    """The typed form of a subscription of this module."""
    return lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))
