"""Random texts of window queries from a plain random generator, and streams for them: of many, hardly two are equal.

Hypothesis tries small examples first, and the same ones again; these are for counting how many different ones hold.
"""

from __future__ import annotations

from random import Random
from typing import Final

from .windows import Event

CONDITIONS: Final = (
    "ty = '{c}'",
    "ty != '{c}'",
    "ty IN ('{c}', 'C')",
    "ty IS NOT NULL",
    "ty = prev.ty",
    "v > {n}",
    "v <= {n}",
    "NOT (v > {n})",
    "v IS NULL",
    "v > prev.v",
    "v < prev2.v",
    "v - prev.v >= {n} - 2",
    "prev.v IS NULL",
    "x > {n} * prev.x",
    "x < 0.2",
    "time - prev.time <= {n}",
    "time - prev2.time > {n}",
    "CASE WHEN v IS NULL THEN {n} ELSE v END > 2",
)
AGGREGATES: Final = (
    "count(*) AS n",
    "count(v) AS nv",
    "count(DISTINCT v) AS dv",
    "sum(v) AS sv",
    "sum(x) AS sx",
    "avg(x) AS ax",
    "avg(v) AS av",
    "min(x) AS lx",
    "min(v) AS lv",
    "max(x) AS hx",
    "max(ty) AS ht",
    "first(v) AS a",
    "last(ty) AS z",
    "stdev(v) AS d",
    "median(x) AS m",
    "argmax(v, ty) AS t",
    "sum(v * time) AS vt",
)
ANYTHING: Final = ("any", "any*", "any+", "any{2}")
REPEATED: Final = ("*", "+", "?", "{2}", "{1,2}", "{2,}", "{0,3}")
PREFIXES: Final = ("any*", "any*", "(any{2})*", "any{3}", "(any{3})*")
SHORT: Final = (
    "EVERY {n} EVENTS",
    "LAST {n} EVENTS EVERY {m} EVENTS",
    "LAST {n} EVENTS",
    "LAST {n}",
    "EVERY {n}",
    "EVERY {n} OFFSET {m}",
    "LAST {n} EVERY {m}",
    "SESSION {n}",
)


def window_text(chance: Random) -> str:
    """A query of the stream S."""
    by = " BY ty" if chance.random() < 0.4 else ""
    if chance.random() < 0.1:
        windows = chance.choice(SHORT).format(n=chance.randint(1, 9), m=chance.randint(1, 5))
    else:
        windows = " OR ".join(_pair(chance) for _ in range(chance.choice((1, 1, 2, 3))))
        windows += chance.choice(("", "", " KEEP SHORTEST", " KEEP LONGEST", " KEEP EARLIEST", " KEEP LATEST"))
    told = chance.sample(AGGREGATES, chance.randint(0, 4))
    return f"FROM S{by} WINDOW {windows}{' AGGREGATE ' if told else ''}{', '.join(told)}"


def _pair(chance: Random) -> str:
    before = chance.choice(PREFIXES) if chance.random() < 0.6 else _regex(chance, 2)
    during = _regex(chance, 3)
    if chance.random() < 0.4:
        least = chance.randint(0, 4)
        during = f"({during}) & any{{{least},{max(least, 1) + chance.randint(0, 5)}}}"
    within = f" WITHIN {chance.randint(0, 6)}" if chance.random() < 0.3 else ""
    return f"AFTER {before} MATCHING {during}{within}"


def _regex(chance: Random, depth: int) -> str:
    kind = chance.randint(0, 9) if depth else chance.randint(0, 2)
    if kind <= 2:
        return f"[{_condition(chance)}]" if chance.random() < 0.7 else chance.choice(ANYTHING)
    if kind == 3:
        return f"!({_regex(chance, depth - 1)})"
    if kind <= 5:
        return f"({_regex(chance, depth - 1)}){chance.choice(REPEATED)}"
    between = " & " if kind == 6 else " | " if kind == 7 else " "
    return f"({_regex(chance, depth - 1)}){between}({_regex(chance, depth - 1)})"


def _condition(chance: Random) -> str:
    one = chance.choice(CONDITIONS).format(n=chance.randint(0, 4), c=chance.choice("ABC"))
    if chance.random() < 0.75:
        return one
    return f"{one} {chance.choice(('AND', 'OR'))} {_condition(chance)}"


def window_events(chance: Random, most: int) -> list[Event]:
    """Some events, with ties, nulls and floats whose sums need care."""
    time, found = 0, []
    for _ in range(chance.randint(0, most)):
        time += chance.choice((0, 0, 1, 1, 2, 5))
        value = chance.choice((None, 0.1, 0.2, -0.3, 1e6, 1e-6, 3.0, 1e12))
        found.append((time, (chance.choice(("A", "A", "B", "C", None)), chance.choice((None, 1, 2, 3, 4)), value)))
    return found
