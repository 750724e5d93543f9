"""The shapes of subscriptions whose cost the question `shapes` asks for: texts in all languages, by a shape's name.

The constants are those of `shapes`, which each subscription draws. Here: texts and options. Not here: what they are
measured with (trial).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ..ticks import STREAM
from .shapes import WITHIN, Constants


@dataclass(frozen=True, slots=True)
class Query:
    """A subscription: its language, its text, and options of `Engine.subscribe`."""

    language: str
    text: str
    options: Mapping[str, Any]


Written: TypeAlias = Callable[[Constants], Query]


def pattern(parts: str, conditions: str, strategy: str = "skip_till_next_match", **options: Any) -> Written:
    """A SASE+ query over `parts`, with conditions that name constants in braces."""
    names = ", ".join(part.split()[0] for part in parts.split(", ") if part[0] != "~")
    components = ", ".join(
        f"~({STREAM} {part[1:]})" if part[0] == "~" else f"{STREAM} {part}" for part in parts.split(", ")
    )
    asked = f"[name] AND a.name = '{{s.symbol}}' AND {conditions}"
    text = f"PATTERN SEQ({components}) WHERE {strategy}({names}) {{{{ {asked} }}}} WITHIN {WITHIN}"
    return lambda s: Query("sase", text.format(s=s), options)


def repeating(taken: str, conditions: str, behind: str = "") -> Written:
    """A SASE+ query for events of a symbol, each taken by a condition, and perhaps an event behind them."""
    asked = f"[name] AND a[1].name = '{{s.symbol}}' AND a[i].price > {taken} AND {conditions}"
    names = "a[], b" if behind else "a[]"
    text = f"PATTERN SEQ({STREAM}+ a[]{behind}) WHERE skip_till_next_match({names}) {{{{ {asked} }}}} WITHIN {WITHIN}"
    return lambda s: Query("sase", text.format(s=s), {})


def rising(conditions: str, behind: str = "") -> Written:
    """A SASE+ query for ever higher prices of a symbol, and perhaps an event behind them."""
    return repeating("a[i-1].price", conditions, behind)


def chain(*conditions: str, next: str = "$2.name = $1.name", after: str = "", **options: Any) -> Written:
    """A CEL query whose steps follow each other at a symbol."""
    text = f"FILTER{{{{name = '{{s.symbol}}' AND {conditions[0]}}}}}({STREAM})"
    for condition in conditions[1:]:
        text = f"FILTER{{{{{condition}}}}}({text} NEXT{{{{{next}}}}} {STREAM})"
    return lambda s: Query("cayuga", f"SELECT * FROM {text}{after}".format(s=s), options)


def fold(condition: str, told: str, behind: str = "") -> Written:
    """A CEL query for runs of events of a symbol that begin above a price, and perhaps an event behind them."""
    begun = f"(SELECT *, 1 AS cnt FROM FILTER{{{{name = '{{s.symbol}}' AND price > {{s.a}}}}}}({STREAM}))"
    text = f"FILTER{{{{{told}}}}}({begun} FOLD{{{{$2.name = $.name, {condition}, $.cnt + 1 AS cnt}}}} {STREAM})"
    if behind:
        text = f"FILTER{{{{{behind}}}}}({text} NEXT{{{{$2.name = $1.name}}}} {STREAM})"
    return lambda s: Query("cayuga", f"SELECT * FROM {text}".format(s=s), {})


def composite(match: str, *conditions: str, **options: Any) -> Written:
    """A P-ToPSS query over the events of a symbol; the operands are a, b, c in order."""
    defined = " ".join(f"{'abcd'[number]}: {condition}" for number, condition in enumerate(conditions))
    text = f"FROM {STREAM} BY name {defined} MATCH {match} WITHIN {WITHIN}"
    return lambda s: Query("ptopss", text.format(s=s), options)


def cel(text: str) -> Written:
    return lambda s: Query("cayuga", f"SELECT * FROM {text}".format(s=s, prefix=s.symbol[:2]), {})


def other(language: str, text: str) -> Written:
    return lambda s: Query(language, text.format(s=s), {})


OTHER_STREAM: Final = "Other"  # has the same ticks, in turn with the first one
OWN: Final = "name = '{s.symbol}' AND price > {s.a}"
FORECAST: Final = {"threshold": 0.5, "within": 100}
ABC: Final = ("a.price > {s.a} AND b.price < {s.b} AND c.price > {s.a}", "price > {s.a}", "price < {s.b}")

SHAPES: Final[dict[str, Written]] = {
    # CEL
    "CEL: filter, own text and number": cel(f"FILTER{{{{{OWN}}}}}({STREAM})"),
    "CEL: filter, two numbers": cel(f"FILTER{{{{{OWN} AND volume > {{s.volume}}}}}}({STREAM})"),
    "CEL: filter, own product": cel(
        f"FILTER{{{{name = '{{s.symbol}}' AND price * volume > 100 AND price * volume < {{s.volume}}}}}}({STREAM})"
    ),
    "CEL: filter with OR": cel(f"FILTER{{{{{OWN} OR name = '{{s.symbol}}' AND volume > {{s.volume}}}}}}({STREAM})"),
    "CEL: filter, prefix": cel(f"FILTER{{{{starts_with(name, '{{prefix}}') AND price > {{s.a}}}}}}({STREAM})"),
    "CEL: two steps": chain(ABC[1], ABC[2]),
    "CEL: two steps, own DUR": chain(ABC[1], "price < {s.b} AND DUR < {s.duration}"),
    "CEL: two steps, own factor": chain(ABC[1], "price > {s.factor} * price_1"),
    "CEL: two steps, own difference": chain(ABC[1], "price - price_1 < -{s.factor}"),
    "CEL: two steps, unlike keys": chain(ABC[1], ABC[2], next="$2.name = '{s.other}'"),
    "CEL: two steps, skip till own": chain(ABC[1], "TRUE", next="$2.name = $1.name AND $2.price < {s.b}"),
    "CEL: two steps, skip till own factor": chain(
        ABC[1], "TRUE", next="$2.name = $1.name AND $2.price > {s.factor} * $1.price"
    ),
    "CEL: three steps": chain(*ABC[1:], ABC[1]),
    "CEL: three steps, any key": cel(
        "FILTER{{price > {s.a}}}(FILTER{{price < {s.b}}}(FILTER{{price > {s.a}}}"
        f"({STREAM}) NEXT{{{{$2.name = $1.name}}}} {STREAM}) NEXT{{{{$2.name = $1.name}}}} {STREAM})"
    ),
    "CEL: three steps, lineage": chain(*ABC[1:], ABC[1], lineage=True),
    "CEL: three steps, forecast": chain(*ABC[1:], ABC[1], forecast=FORECAST),
    "CEL: three steps, published": chain(*ABC[1:], ABC[1], after=" PUBLISH Out"),
    "CEL: three steps, published and read": chain(*ABC[1:], ABC[1], after=" PUBLISH Read"),
    "CEL: three steps, other key": chain(*ABC[1:], ABC[1], next="$2.name = '{s.other}'"),
    "CEL: three steps, passing": chain(*ABC[1:], ABC[1], next="$2.name = $1.name AND $2.volume > 1000"),
    "CEL: three steps, prefix": cel(
        "FILTER{{price > {s.a}}}(FILTER{{price < {s.b}}}(FILTER{{starts_with(name, '{prefix}') AND price > {s.a}}}"
        f"({STREAM}) NEXT{{{{$2.name = $1.name}}}} {STREAM}) NEXT{{{{$2.name = $1.name}}}} {STREAM})"
    ),
    "CEL: four steps": chain(*ABC[1:], "price > {s.c}", ABC[2]),
    "CEL: FOLD, own start": fold("$2.price > $.price", "cnt >= 4"),
    "CEL: FOLD, own count": fold("$2.price > $.price", "cnt >= {s.count}"),
    "CEL: FOLD, own factor": fold("$2.price > {s.factor} * $.price", "cnt >= 3"),
    "CEL: FOLD, own DUR": fold("$2.price > $.price", "cnt >= 4 AND DUR < {s.duration}"),
    "CEL: FOLD, then a step": fold("$2.price < $.price", "cnt >= {s.count}", "price > {s.a}"),
    # SASE+
    "SASE+: partition contiguity": pattern("a, b, c", ABC[0], "partition_contiguity"),
    "SASE+: strict contiguity, any next": other(
        "sase",
        f"PATTERN SEQ({STREAM} a, {STREAM} b) WHERE strict_contiguity(a, b) {{{{ a.name = '{{s.symbol}}' AND "
        f"a.price > {{s.a}} AND b.price < {{s.b}} }}}} WITHIN {WITHIN}",
    ),
    "SASE+: strict contiguity, other key": other(
        "sase",
        f"PATTERN SEQ({STREAM} a, {STREAM} b) WHERE strict_contiguity(a, b) {{{{ a.name = '{{s.symbol}}' AND "
        f"a.price > {{s.a}} AND b.name = '{{s.other}}' AND b.price < {{s.b}} }}}} WITHIN {WITHIN}",
    ),
    "SASE+: next match, two": pattern("a, b", "a.price > {s.a} AND b.price < {s.b}"),
    "SASE+: next match, prefix": lambda s: Query(
        "sase",
        f"PATTERN SEQ({STREAM} a, {STREAM} b) WHERE skip_till_next_match(a, b) {{ [name] AND "
        f"starts_with(a.name, '{s.symbol[:2]}') AND a.price > {s.a} AND b.price < {s.b} }} WITHIN {WITHIN}",
        {},
    ),
    "SASE+: next match, three": pattern("a, b, c", ABC[0]),
    "SASE+: next match, own c": pattern("a, b, c", "a.price > {s.a} AND b.price < {s.b} AND c.price > {s.c}"),
    "SASE+: next match, other key": other(
        "sase",
        f"PATTERN SEQ({STREAM} a, {STREAM} b) WHERE skip_till_next_match(a, b) {{{{ a.name = '{{s.symbol}}' AND "
        f"a.price > {{s.a}} AND b.name = '{{s.other}}' AND b.price < {{s.b}} }}}} WITHIN {WITHIN}",
    ),
    "SASE+: next match, three keys": other(
        "sase",
        f"PATTERN SEQ({STREAM} a, {STREAM} b, {STREAM} c) WHERE skip_till_next_match(a, b, c) {{{{ "
        f"a.name = '{{s.symbol}}' AND a.price > {{s.a}} AND b.name = '{{s.other}}' AND b.price < {{s.b}} AND "
        f"c.name = '{{s.symbol}}' AND c.price > {{s.c}} }}}} WITHIN {WITHIN}",
    ),
    "SASE+: next match, a key behind any event": other(
        "sase",
        f"PATTERN SEQ({STREAM} a, {STREAM} b) WHERE skip_till_next_match(a, b) {{{{ a.price > {{s.a}} AND "
        f"b.name = '{{s.other}}' AND b.price < {{s.b}} }}}} WITHIN {WITHIN}",
    ),
    "SASE+: next match, several": pattern("a, b", "a.price > {s.a} AND b.price < {s.b} AND b.volume > {s.volume}"),
    "SASE+: next match, own factor": pattern("a, b", "b.price > {s.factor} * a.price"),
    "SASE+: next match, own difference": pattern("a, b", "a.price > {s.a} AND b.price - a.price < -{s.factor}"),
    "SASE+: next match, one of several": pattern(
        "a, b", "a.price > {s.a} AND (b.price < {s.b} OR b.volume > {s.volume})"
    ),
    "SASE+: negation": pattern("a, ~n, c", "a.price > {s.a} AND n.price < {s.b} AND c.price > {s.a}"),
    "SASE+: negation, other key": other(
        "sase",
        f"PATTERN SEQ({STREAM} a, ~({STREAM} n), {STREAM} c) WHERE skip_till_next_match(a, c) {{{{ "
        f"a.name = '{{s.symbol}}' AND a.price > {{s.a}} AND n.name = '{{s.other}}' AND n.price < {{s.b}} AND "
        f"c.name = '{{s.symbol}}' AND c.price > {{s.a}} }}}} WITHIN {WITHIN}",
    ),
    "SASE+: negation at the end": pattern("a, b, ~n", "a.price > {s.a} AND b.price < {s.b} AND n.price > {s.c}"),
    "SASE+: negation at the end, other key": other(
        "sase",
        f"PATTERN SEQ({STREAM} a, {STREAM} b, ~({STREAM} n)) WHERE skip_till_next_match(a, b) {{{{ "
        f"a.name = '{{s.symbol}}' AND a.price > {{s.a}} AND b.name = '{{s.other}}' AND b.price < {{s.b}} AND "
        f"n.name = '{{s.symbol}}' AND n.price > {{s.c}} }}}} WITHIN {WITHIN}",
    ),
    "SASE+: next match, two streams": other(
        "sase",
        f"PATTERN SEQ({STREAM} a, {OTHER_STREAM} b) WHERE skip_till_next_match(a, b) {{{{ [name] AND "
        f"a.name = '{{s.symbol}}' AND a.price > {{s.a}} AND b.price < {{s.b}} }}}} WITHIN {WITHIN}",
    ),
    "SASE+: negation, two streams": other(
        "sase",
        f"PATTERN SEQ({STREAM} a, ~({OTHER_STREAM} n), {STREAM} c) WHERE skip_till_next_match(a, c) {{{{ [name] AND "
        f"a.name = '{{s.symbol}}' AND a.price > {{s.a}} AND n.price < {{s.b}} AND c.price > {{s.a}} }}}} "
        f"WITHIN {WITHIN}",
    ),
    "SASE+: negation, three steps": pattern(
        "a, b, ~n, c", "a.price > {s.a} AND b.price < {s.b} AND n.volume > {s.volume} AND c.price > {s.c}"
    ),
    "SASE+: any match, negation": pattern(
        "a, ~n, b", "a.price > {s.a} AND n.volume > {s.volume} AND b.price < {s.b}", "skip_till_any_match"
    ),
    "SASE+: any match, two": pattern("a, b", "a.price > {s.a} AND b.price < {s.b}", "skip_till_any_match"),
    "SASE+: rising, own start": rising("a[1].price > {s.a}"),
    "SASE+: rising, own start and count": rising("a[1].price > {s.a} AND a.LEN >= {s.count}"),
    "SASE+: rising, own factor": rising("b.volume < {s.factor} * a[a.LEN].volume", f", {STREAM} b"),
    "SASE+: rising, other key behind": other(
        "sase",
        f"PATTERN SEQ({STREAM}+ a[], {STREAM} b) WHERE skip_till_next_match(a[], b) {{{{ "
        f"a[1].name = '{{s.symbol}}' AND a[i].name = '{{s.symbol}}' AND a[1].price > {{s.a}} AND "
        f"a[i].price > a[i-1].price AND b.name = '{{s.other}}' AND b.price < {{s.b}} }}}} WITHIN {WITHIN}",
    ),
    "SASE+: repetition, own events": repeating("{s.a}", "a[1].price > {s.a} AND b.price < {s.b}", f", {STREAM} b"),
    "SASE+: repetition, own events and count": repeating(
        "{s.a}",
        "a[1].price > {s.a} AND a.LEN >= {s.count} AND b.price < {s.factor} * a[a.LEN].price",
        f", {STREAM} b",
    ),
    # P-ToPSS
    "P-ToPSS: a; b": composite("a; b", OWN, ABC[2]),
    "P-ToPSS: a; b, other key": other(
        "ptopss",
        f"FROM {STREAM} a: {OWN} b: name = '{{s.other}}' AND price < {{s.b}} MATCH a; b WITHIN {WITHIN}",
    ),
    "P-ToPSS: a AND b, other key": other(
        "ptopss",
        f"FROM {STREAM} a: {OWN} b: name = '{{s.other}}' AND price < {{s.b}} MATCH a AND b WITHIN {WITHIN}",
    ),
    "P-ToPSS: a; b; c, other key": other(
        "ptopss",
        f"FROM {STREAM} a: {OWN} b: name = '{{s.other}}' AND price < {{s.b}} "
        f"c: name = '{{s.symbol}}' AND price > {{s.c}} MATCH a; b; c WITHIN {WITHIN}",
    ),
    "P-ToPSS: a; b; c": composite("a; b; c", OWN, ABC[2], "price > {s.c}"),
    "P-ToPSS: a, b": composite("a, b", OWN, ABC[2]),
    "P-ToPSS: a; b, counts": composite("a; b", OWN, ABC[2], report="completions"),
    "P-ToPSS: a AND b": composite("a AND b", OWN, ABC[2]),
    "P-ToPSS: (a AND b); c": composite("(a AND b); c", OWN, ABC[2], "price > {s.c}"),
    "P-ToPSS: a AND b AND c": composite("a AND b AND c", OWN, ABC[2], "price > {s.c}"),
    "P-ToPSS: a OR b": composite("a OR b", OWN, "name = '{s.symbol}' AND volume > {s.volume}"),
    "P-ToPSS: a OR b, a text in a": composite("a OR b", OWN, ABC[2]),
    # AFA and windows
    "AFA: two states": other(
        "afa",
        f"FROM {STREAM} BY name START begin FINAL done "
        f"up: begin -> high WHEN {OWN} down: high -> done WHEN price < {{s.b}} WITHIN {WITHIN}",
    ),
    "AFA: three states": other(
        "afa",
        f"FROM {STREAM} BY name START begin FINAL done up: begin -> high WHEN {OWN} "
        f"down: high -> low WHEN price < {{s.b}} again: low -> done WHEN price > {{s.c}} WITHIN {WITHIN}",
    ),
    "AFA: a state that waits": other(
        "afa",
        f"FROM {STREAM} BY name START begin FINAL done up: begin -> high WHEN {OWN} "
        f"stay: high -> high WHEN price >= {{s.b}} down: high -> done WHEN price < {{s.b}} WITHIN {WITHIN}",
    ),
    "AFA: a state that waits, other key": other(
        "afa",
        f"FROM {STREAM} START begin FINAL done up: begin -> high WHEN {OWN} "
        f"stay: high -> high WHEN name = '{{s.other}}' AND price >= {{s.b}} "
        f"down: high -> done WHEN name = '{{s.other}}' AND price < {{s.b}} WITHIN {WITHIN}",
    ),
    "Windows: above, then below": other(
        "window", f"FROM {STREAM} BY name WINDOW AFTER any* MATCHING [{OWN}] [price < {{s.b}}] AGGREGATE count(*) AS n"
    ),
}
MIXED: Final = "Mixed: ten shapes"
MIXTURE: Final = (
    "CEL: filter, two numbers",
    "CEL: two steps",
    "CEL: two steps, own DUR",
    "CEL: three steps",
    "CEL: FOLD, own count",
    "SASE+: partition contiguity",
    "SASE+: next match, two",
    "SASE+: next match, three",
    "SASE+: negation at the end",
    "P-ToPSS: a, b",
)
FILTERS: Final = "CEL: filter, two numbers"
NAMES: Final = (*SHAPES, MIXED)


def streams(shape: str) -> tuple[str, ...]:
    """The streams whose batches come in turn."""
    return (STREAM, OTHER_STREAM) if shape.endswith("two streams") else (STREAM,)


def subscriptions(shape: str, members: list[Constants]) -> Iterator[tuple[str, Query]]:
    """The subscriptions of a shape by name, in turn of each of the ten where they are mixed; texts are made on the way.

    A stream that is read has one reader."""
    for number, each in enumerate(members):
        written = SHAPES[MIXTURE[number % len(MIXTURE)] if shape == MIXED else shape]
        yield f"s{number}", written(each)
    if shape.endswith("and read"):
        yield "reader", Query("cayuga", "SELECT * FROM FILTER{volume > 2000}(Read)", {})
