"""Random SASE+ queries that type-check, as texts, and histories of two streams with ties and nulls: the laws' input.

Here: strategies. Domains are small on purpose, so that random events match random patterns: all strategies alone and
mixed, Kleene and negated components at every place, every kind of reference and aggregate, both streams. Not here: what
must hold.

The meaning is exponential in the events: at most `most` of them and two Kleene components keep it below some thousands
of assignments.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final

from hypothesis import strategies as st

from broker.algebra.sase.lowering import lower
from broker.algebra.sase.pattern import Pattern, Variants
from broker.algebra.sase.semantics import Event
from broker.algebra.sase.variants import variants_of
from broker.events.errors import QueryError
from broker.events.schema import Schema, Value
from broker.language.sase import parse

SCHEMAS: Final = {
    "S": Schema.declare({"ty": "string", "k": "int?", "w": "float?", "p": "float", "u.g": "string[]?"}),
    "T": Schema.declare({"u.g": "string[]", "k": "int?", "p": "float", "w": "float?", "ty": "string"}),
}
VALUES: Final[dict[str, list[Value]]] = {
    "ty": ["A", "A", "A", "B", "B", "C"],
    "k": [0, 0, 0, 0, 1],
    "w": [0.0, 1.0, 0.5, 2.0, 3.0],
    "p": [0.0, 1.0, 0.5, 2.0, 3.0],
    "u.g": [(), ("A",), ("A", "B"), ("Bc", "a", "")],
}
STRATEGIES: Final = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
NAMES: Final = ("a", "b", "c", "d")
NEGATED: Final = ("m", "n")

_STATIC: Final = (
    *(
        "{e}.ty = 'A'",
        "{e}.ty = 'B'",
        "{e}.ty != 'C'",
        "{e}.ty != 'C'",
        "{e}.p > 0.5",
        "{e}.k <= 1",
        "NOT {e}.ty = 'C'",
    ),
    *("{e}.ty IN ('A', 'B')", "{e}.p NOT BETWEEN 0.5 AND 1", "{e}.w IS NULL", "({e}.w IS NOT NULL OR {e}.ty = 'A')"),
    "CASE WHEN {e}.ty = 'A' THEN {e}.p WHEN {e}.w IS NULL THEN 1 END >= 1",
    *("{e}.ty LIKE 'A*'", "{e}.ty NOT LIKE~ ('a?', 'c')", "{e}.ty MATCHES '[AB]'"),
    "({e}.w IS NULL OR {e}.ty LIKE '*B')",
    *("{e}.u.g = 'A'", "{e}.u.g != 'B'", "{e}.u.g LIKE~ ('b*', 'A')", "NOT {e}.u.g IN ('Bc', '')", "{e}.u.g IS NULL"),
    *("({e}.u.g MATCHES '^[Aa]' OR {e}.p > 1)", "starts_with({e}.u.g, 'B')"),
    *("({e}.ty = 'A' OR {e}.p >= 1)", "NOT ({e}.ty = 'C' OR {e}.w < 1)", "contains({e}.ty, 'A')", "TRUE"),
    "{e}.time >= 2",
)
_TAKING: Final = (
    *("{v}[i].p > {v}[i-1].p", "{v}[i].p >= {v}[1].p", "{v}[i].w != {v}[i-1].w", "{v}[i].k = {v}[1].k"),
    *("{v}[i].p >= avg({v}[..i-1].p)", "{v}[i].w > avg({v}[..i-1].w)", "{v}[i].p > max({v}[..i-1].p)"),
    *("{v}[i].p < min({v}[..i-1].p)", "sum({v}[..i-1].w) < 3", "count({v}[..i-1].w) < 2", "{v}[i].p * 2 > 80% * 2"),
    *("{v}[i].p BETWEEN {v}[i-1].p AND {v}[1].p", "{v}[i].k NOT IN ({v}[i-1].k, 2)"),
    *("{v}[i].k = last({v}[..i-1].k)", "({v}[i].p > {v}[i-1].p OR {v}[i].ty = 'A')", "count({v}[..i-1].p) < 3"),
    *("{v}[i].time - {v}[i-1].time < 2", "{v}[i].time > max({v}[..i-1].time)"),
)
_ENDING: Final = (
    *("{v}.LEN >= 2", "{v}.LEN < 3", "{v}.LEN = 2", "{v}[{v}.LEN].p > {v}[1].p", "avg({v}[].p) >= 1"),
    *("sum({v}[].k) < 2", "max({v}[].w) > min({v}[].w)", "first({v}[].k) = {v}[{v}.LEN].k", "count({v}[].w) > 1"),
    *("{v}[{v}.LEN].ty != 'A'", "{v}.LEN BETWEEN 2 AND 3", "sum({v}[].w) IS NOT NULL"),
    "{v}[{v}.LEN].time - {v}[1].time >= 2",
    *("{v}.LEN = 1", "{v}.LEN <= 2", "({v}.LEN = 1 OR {v}.LEN = 3)", "3 - {v}.LEN > 0", "max({v}[].w) < 2"),
    *("min({v}[].p) > 0.5", "max({v}[].p) - min({v}[].p) <= 1", "2 * count({v}[].w) < 4", "{v}[1].p > 0.5"),
    *("(max({v}[].w) < 1 OR {v}.LEN < 3)", "max({v}[].k) = 0", "sum({v}[].p) <= 2", "{v}.LEN != 2"),
)
_JOINS: Final = (
    *("{e}.k = {o}.k", "{e}.k = {o}.k", "{e}.p > {o}.p", "{e}.ty != {o}.ty", "{e}.w = {o}.p", "{e}.k IN ({o}.k, 1)"),
    "CASE WHEN {o}.ty = 'A' THEN {e}.p > {o}.p ELSE {e}.k = {o}.k END",
    *("{e}.time - {o}.time <= 2", "{e}.time - {o}.time >= 1"),
)
_OUTER: Final = (
    "{e}.time > min({o}[].time) + 1",
    *("{e}.p < 80% * {o}[{o}.LEN].p", "{e}.p >= avg({o}[].p)", "{e}.w > max({o}[].w)", "{e}.k = {o}.LEN - 1"),
)


@st.composite
def conditions(draw: st.DrawFn, kinds: dict[str, str]) -> list[str]:
    """Conjuncts, some for each variable, that each have a place."""
    found: list[str] = []
    positive = [name for name in kinds if kinds[name] != "negated"]
    for number, (name, kind) in enumerate(kinds.items()):
        event = f"{name}[1]" if kind == "kleene" else name
        texts = draw(st.lists(st.sampled_from(_STATIC), max_size=1 if kind != "negated" else 2))
        found += [text.format(e=event) for text in texts]
        if kind == "kleene":
            texts = draw(st.lists(st.sampled_from(_STATIC), max_size=1))
            found += [text.format(e=f"{name}[i]") for text in texts]
            found += [t.format(v=name) for t in draw(st.lists(st.sampled_from(_TAKING), max_size=1))]
            if draw(st.integers(0, 2)) == 0:
                found.append(draw(st.sampled_from(_ENDING)).format(v=name))
        earlier = positive if kind == "negated" else [other for other in positive if other in list(kinds)[:number]]
        if draw(st.booleans()) and earlier:
            other = draw(st.sampled_from(earlier))
            subject = draw(st.sampled_from([event, f"{name}[i]"])) if kind == "kleene" else event
            if kinds[other] == "kleene":
                row = draw(st.sampled_from([f"{other}[1]", f"{other}[{other}.LEN]"]))
                text = draw(st.sampled_from(_JOINS + _OUTER))
                found.append(text.format(e=subject, o=row if text in _JOINS else other))
            else:
                found.append(draw(st.sampled_from(_JOINS)).format(e=subject, o=other))
    return list(draw(st.permutations(found)))


@st.composite
def components(draw: st.DrawFn, longest: int) -> dict[str, str]:
    """The kinds of the variables, in the order of the pattern."""
    kinds: dict[str, str] = {}
    positive = draw(st.integers(1, longest))
    most_kleene = draw(st.sampled_from([0, 1, 1, 2]))
    everywhere = [0, *(place for place in range(1, positive) for _ in range(3)), positive]
    places = [draw(st.sampled_from(everywhere)) for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2])))]
    for number, name in enumerate(NAMES[: positive + 1]):
        kinds |= {negated: "negated" for negated, place in zip(NEGATED, places) if place == number}
        if number < positive:
            kleene = draw(st.booleans()) and list(kinds.values()).count("kleene") < most_kleene
            kinds[name] = "kleene" if kleene else "single"
    return kinds


@st.composite
def strategies(draw: st.DrawFn, names: list[str], partitioned: bool) -> dict[str, str]:
    possible = [s for s in STRATEGIES if partitioned or s != "partition_contiguity"]
    if draw(st.integers(0, 2)):
        one = draw(st.sampled_from(possible))
        return dict.fromkeys(names, one)
    return {name: draw(st.sampled_from(possible)) for name in names}


def needs_window(kinds: dict[str, str], chosen: dict[str, str]) -> bool:
    ordered = list(kinds.values())
    return (
        "negated" in (ordered[0], ordered[-1])
        or "skip_till_any_match" in chosen.values()
        or any(kinds[name] == "kleene" and s == "skip_till_next_match" for name, s in chosen.items())
    )


@st.composite
def joins(draw: st.DrawFn, kinds: dict[str, str], streams: dict[str, str]) -> tuple[str, bool]:
    """An equivalence test across names, and whether it partitions the streams."""
    brackets = {name: "[]" if kind == "kleene" and draw(st.booleans()) else "" for name, kind in kinds.items()}
    family = draw(st.sampled_from([["k", "w", "p"], ["ty"]]))
    if draw(st.booleans()):
        own = {stream: draw(st.sampled_from(family)) for stream in "ST"}
        attributes = {name: own[stream] for name, stream in streams.items()}
    else:
        attributes = {name: draw(st.sampled_from(family)) for name in kinds}
    named = list(draw(st.permutations(list(kinds))))
    if len(named) > 2 and draw(st.booleans()):
        named = named[: draw(st.integers(2, len(named) - 1))]
    if all(kinds[name] == "negated" for name in named):
        named.append(next(name for name, kind in kinds.items() if kind != "negated"))
    if len(named) < 2:
        return "", False
    used = {stream: {attributes[name] for name in named if streams[name] == stream} for stream in "ST"}
    whole = len(named) == len(kinds) and all(len(several) < 2 for several in used.values())
    return f"[{' = '.join(f'{name}{brackets[name]}.{attributes[name]}' for name in named)}]", whole


@st.composite
def returned(draw: st.DrawFn, kinds: dict[str, str]) -> str:
    items: list[str] = []
    for name, kind in kinds.items():
        if kind == "single":
            alone = [
                f"{name}.k AS {name}_k",
                f"{name}.u.g AS {name}.g",
                f"{name}.p * 2 AS {name}_p",
                f"{name}.time AS {name}_t",
            ]
            items += draw(st.lists(st.sampled_from(alone), max_size=1))
            if draw(st.integers(0, 3)) == 0:
                items.append(f"CASE WHEN {name}.w IS NULL THEN {name}.ty ELSE 'x' END AS {name}_c")
        elif kind == "kleene":
            several = [f"{f}({name}[].w) AS {name}_{f}" for f in ("avg", "sum", "min", "max", "count", "first", "last")]
            several.append(f"last({name}[].time) - first({name}[].time) AS {name}_t")
            items += draw(st.lists(st.sampled_from([*several, f"{name}.LEN AS {name}_n"]), max_size=2, unique=True))
    return f" RETURN {', '.join(items)}" if items else ""


@st.composite
def queries(draw: st.DrawFn, longest: int = 3) -> str:
    """A query of at most `longest` positive components over S and T, valid by itself."""
    kinds = draw(components(longest))
    one = draw(st.integers(0, 2))
    streams = {name: "S" if one else draw(st.sampled_from("SST")) for name in kinds}
    written = {"single": "{0} {1}", "kleene": "{0}+ {1}[]", "negated": "~({0} {1})"}
    pattern = ", ".join(written[kind].format(streams[name], name) for name, kind in kinds.items())
    key = draw(st.sampled_from(["", "", "[k]", "[k]", "[ty]", "[ty, k]"]))
    joined, partitions = draw(joins(kinds, streams)) if draw(st.integers(0, 3)) == 0 else ("", False)
    positive = [name for name, kind in kinds.items() if kind != "negated"]
    chosen = draw(strategies(positive, bool(key) or partitions))
    order: dict[str, list[str]] = {}
    for name, strategy in chosen.items():
        order.setdefault(strategy, []).append(f"{name}[]" if kinds[name] == "kleene" else name)
    where = " AND ".join(f"{strategy}({', '.join(names)})" for strategy, names in order.items())
    conjuncts = [*([key] if key else []), *([joined] if joined else []), *draw(conditions(kinds))]
    block = f" {{ {' AND '.join(conjuncts)} }}" if conjuncts else ""
    within = ""
    if needs_window(kinds, chosen) or draw(st.booleans()):
        within = f" WITHIN {draw(st.sampled_from([0, 1, 2, 3, 4, 5, 6, 6, 8, 8, 20]))}"
    output = draw(st.sampled_from(["", "", "", " OUTPUT nonoverlap", " OUTPUT compressed"]))
    return f"PATTERN SEQ({pattern}) WHERE {where}{block}{within}{draw(returned(kinds))}{output}"


@st.composite
def lacking(draw: st.DrawFn, longest: int = 3) -> str:
    """A query some of whose elements may be absent, bounded or alternatives, where that is allowed."""
    text = draw(queries(longest))
    pattern, rest = text.split(") WHERE ", 1)
    elements = pattern.removeprefix("PATTERN SEQ(").split(", ")
    for chosen in (draw(alternatives(elements)), [draw(absence(element)) for element in elements]):
        found = f"PATTERN SEQ({', '.join(chosen)}) WHERE {rest}"
        with suppress(QueryError):
            variants_of(parse(found), found)
            return found
    return text


@st.composite
def alternatives(draw: st.DrawFn, elements: list[str]) -> list[str]:
    """Some neighbours as alternatives, the other elements as `absence` writes them."""
    found: list[str] = []
    waiting = list(elements)
    while waiting:
        one = waiting.pop(0)
        if waiting and "~" not in one + waiting[0] and draw(st.integers(0, 2)):
            found.append(f"({one} | {waiting.pop(0)}){draw(st.sampled_from(['', '', '?']))}")
        else:
            found.append(draw(absence(one)))
    return found


def absence(element: str) -> st.SearchStrategy[str]:
    """An element of a pattern in a form in which it may be absent, or as it is."""
    single, kleene = re.fullmatch(r"([ST]) (.*)", element), re.fullmatch(r"([ST])\+ (.*)", element)
    if kleene is not None:
        stream, variable = kleene.groups()
        bounds = st.sampled_from(["+", "*", "*", "{2}", "{0,1}", "{0,2}", "{1,2}", "{2,3}", "{2,}", "{0,}"])
        return bounds.map(lambda bound: f"{stream}{bound} {variable}")
    if single is None:
        return st.just(element)
    stream, variable = single.groups()
    return st.sampled_from([element, f"{stream}? {variable}", f"{stream}? {variable}"])


@st.composite
def histories(draw: st.DrawFn, most: int = 8) -> list[Event]:
    """Events of both streams in order of arrival, with ties and nulls."""
    found: list[Event] = []
    time = 0
    for _ in range(draw(st.sampled_from([most, most, most, most - 1, most // 2, 1, 0]))):
        time += draw(st.sampled_from([0, 0, 1, 1, 1, 1, 2]))
        stream = draw(st.sampled_from("SSSST"))
        row = tuple(
            None if a.nullable and draw(st.integers(0, 9)) == 0 else draw(st.sampled_from(VALUES[a.name]))
            for a in SCHEMAS[stream].attributes
        )
        found.append((stream, time, row))
    return found


def variants(text: str) -> Variants:
    """The typed form of a query of this module."""
    return lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))


def lowered(text: str) -> Pattern:
    """That of a query whose elements cannot be absent."""
    (pattern,) = variants(text)
    return pattern
