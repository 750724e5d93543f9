"""What a shape of subscription costs an event in the engine, with groups and without.

Question: does an event cost what it completes, whatever the number of subscriptions that differ in constants? The
constants are those of `shapes`. Bias: results are made and counted, not read; the garbage collector is as Python starts
it; one process runs all, one after the other. CPU time an event, in units taken before and after.

`python -m benchmarks.groups.engine [--only NAME] [--sizes 100 1000] [--events 20000] [--without]`. It says whether the
engine is compiled: figures of one that is not say nothing about users'.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from time import process_time
from typing import Final, TypeAlias

from broker.engine import Engine, Options
from broker.engine import results as built

from ..ticks import ATTRIBUTES, BATCH, STANDARD, STREAM, market, packed
from ..unit import unit_seconds
from .shapes import SIZES, WITHIN, Constants, drawn

SECONDS_MAX: Final = 20.0  # of one run
Text: TypeAlias = Callable[[Constants], tuple[str, str]]  # language and query


def pattern(parts: str, conditions: str, strategy: str = "skip_till_next_match") -> Text:
    """A SASE+ query over `parts`, with conditions that name constants in braces."""
    names = ", ".join(part.split()[0] for part in parts.split(", ") if part[0] != "~")
    components = ", ".join(
        f"~({STREAM} {part[1:]})" if part[0] == "~" else f"{STREAM} {part}" for part in parts.split(", ")
    )
    asked = f"[name] AND a.name = '{{s.symbol}}' AND {conditions}"
    text = f"PATTERN SEQ({components}) WHERE {strategy}({names}) {{{{ {asked} }}}}"
    return lambda s: ("sase", f"{text} WITHIN {WITHIN}".format(s=s))


def chain(*conditions: str, joined: str = "$2.name = $1.name") -> Text:
    """A CEL query whose steps follow each other, at a symbol or as `joined` says."""
    text = f"FILTER{{{{name = '{{s.symbol}}' AND {conditions[0]}}}}}({STREAM})"
    for condition in conditions[1:]:
        text = f"FILTER{{{{{condition}}}}}({text} NEXT{{{{{joined}}}}} {STREAM})"
    return lambda s: ("cayuga", f"SELECT * FROM {text}".format(s=s))


def fold(condition: str, told: str) -> Text:
    """A CEL query for runs of events of a symbol that begin above a price."""
    begun = f"(SELECT *, 1 AS cnt FROM FILTER{{{{name = '{{s.symbol}}' AND price > {{s.a}}}}}}({STREAM}))"
    text = f"FILTER{{{{{told}}}}}({begun} FOLD{{{{$2.name = $.name, {condition}, $.cnt + 1 AS cnt}}}} {STREAM})"
    return lambda s: ("cayuga", f"SELECT * FROM {text}".format(s=s))


def published(text: Text) -> Text:
    """A CEL query whose results are events of a stream that nobody reads."""
    return lambda s: (text(s)[0], f"{text(s)[1]} PUBLISH Found")


def composite(match: str, *conditions: str) -> Text:
    """A P-ToPSS query over the events of a symbol; the operands are a, b, c in order."""
    defined = " ".join(f"{'abcd'[number]}: {condition}" for number, condition in enumerate(conditions))
    text = f"FROM {STREAM} BY name {defined} MATCH {match} WITHIN {WITHIN}"
    return lambda s: ("ptopss", text.format(s=s))


def rising(conditions: str, behind: str = "") -> Text:
    """A SASE+ query for ever higher prices of a symbol, and perhaps an event behind them."""
    asked = f"[name] AND a[1].name = '{{s.symbol}}' AND a[i].price > a[i-1].price AND {conditions}"
    names = "a[], b" if behind else "a[]"
    text = f"PATTERN SEQ({STREAM}+ a[]{behind}) WHERE skip_till_next_match({names}) {{{{ {asked} }}}} WITHIN {WITHIN}"
    return lambda s: ("sase", text.format(s=s))


def union(s: Constants) -> tuple[str, str]:
    own = f"name = '{s.symbol}' AND "
    return "cayuga", f"SELECT * FROM FILTER{{{own}price > {s.a} OR {own}volume > {s.volume}}}({STREAM})"


BEHIND: Final = f", {STREAM} b"
SHAPES: Final[dict[str, Text]] = {
    "filter with OR": union,
    "two steps": chain("price > {s.a}", "price < {s.b}"),
    "two steps, own DUR": chain("price > {s.a}", "price < {s.b} AND DUR < {s.duration}"),
    "two steps, own factor": chain("price > {s.a}", "price > {s.factor} * price_1"),
    "three steps": chain("price > {s.a}", "price < {s.b}", "price > {s.a}"),
    "four steps": chain("price > {s.a}", "price < {s.b}", "price > {s.c}", "price < {s.b}"),
    "three steps, published": published(chain("price > {s.a}", "price < {s.b}", "price > {s.a}")),
    "three steps, other key": chain(
        "price > {s.a}", "price < {s.b}", "price > {s.a}", joined="$2.name = '{s.other}'"
    ),
    "three steps, passing": chain(
        "price > {s.a}", "price < {s.b}", "price > {s.a}", joined="$2.name = $1.name AND $2.volume > 1000"
    ),
    "FOLD, own start": fold("$2.price > $.price", "cnt >= 4"),
    "FOLD, own count": fold("$2.price > $.price", "cnt >= {s.count}"),
    "FOLD, own factor": fold("$2.price > {s.factor} * $.price", "cnt >= 3"),
    "FOLD, own DUR": fold("$2.price > $.price", "cnt >= 4 AND DUR < {s.duration}"),
    "partition contiguity": pattern(
        "a, b, c", "a.price > {s.a} AND b.price < {s.b} AND c.price > {s.a}", "partition_contiguity"
    ),
    "next match, two": pattern("a, b", "a.price > {s.a} AND b.price < {s.b}"),
    "next match, three": pattern("a, b, c", "a.price > {s.a} AND b.price < {s.b} AND c.price > {s.a}"),
    "next match, own c": pattern("a, b, c", "a.price > {s.a} AND b.price < {s.b} AND c.price > {s.c}"),
    "negation": pattern("a, ~n, c", "a.price > {s.a} AND n.price < {s.b} AND c.price > {s.a}"),
    "negation at the end": pattern("a, b, ~n", "a.price > {s.a} AND b.price < {s.b} AND n.price > {s.c}"),
    "composite, two": composite("a; b", "name = '{s.symbol}' AND price > {s.a}", "price < {s.b}"),
    "composite, three": composite(
        "a; b; c", "name = '{s.symbol}' AND price > {s.a}", "price < {s.b}", "price > {s.c}"
    ),
    "composite, next": composite("a, b", "name = '{s.symbol}' AND price > {s.a}", "price < {s.b}"),
    "Kleene, own start": rising("a[1].price > {s.a}"),
    "Kleene, own start and count": rising("a[1].price > {s.a} AND a.LEN >= {s.count}"),
    "Kleene, own factor": rising("b.volume < {s.factor} * a[a.LEN].volume", BEHIND),
    "next match, other key": lambda s: (
        "sase",
        f"PATTERN SEQ({STREAM} a, {STREAM} b) WHERE skip_till_next_match(a, b) {{ a.name = '{s.symbol}' AND "
        f"a.price > {s.a} AND b.name = '{s.other}' AND b.price < {s.b} }} WITHIN {WITHIN}",
    ),
    "next match, several": pattern("a, b", "a.price > {s.a} AND b.price < {s.b} AND b.volume > {s.volume}"),
    "any match, two": pattern("a, b", "a.price > {s.a} AND b.price < {s.b}", "skip_till_any_match"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--only", nargs="*", default=[], help="names of shapes begin with one of these")
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--without", action="store_true", help="measure what comes where groups are switched off")
    asked = parser.parse_args()
    ticks = market(STANDARD)
    first = list(ticks.ticks[: asked.events])
    wire = packed(first)
    members = drawn(ticks, max(asked.sizes))
    print("compiled" if (built.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES)) else "not compiled")
    print("shape | N | units | us | matches | subscribe us")
    for size in asked.sizes:
        for name, text in SHAPES.items():
            if asked.only and not any(name.startswith(each) for each in asked.only):
                continue
            engine = Engine(Options(executors_off=("groups",) if asked.without else ()))
            engine.add_stream(STREAM, ATTRIBUTES, key="name")
            begun = process_time()
            for number, each in enumerate(members[:size]):
                language, query = text(each)
                engine.subscribe(f"s{number}", language=language, query=query)
            entered = 1e6 * (process_time() - begun) / size
            unit = unit_seconds(wire)
            matches = events = 0
            begun = process_time()
            for at in range(0, len(first), BATCH):
                rows = first[at : at + BATCH]
                matches += len(engine.publish(STREAM, list(range(at + 1, at + 1 + len(rows))), rows))
                events += len(rows)
                if process_time() - begun > SECONDS_MAX:
                    break
            cost = (process_time() - begun) / events
            unit = (unit + unit_seconds(wire)) / 2
            short = "" if events == len(first) else f" (first {events})"
            figures = f"{cost / unit:.1f} | {1e6 * cost:.2f} | {matches / events:.2f} | {entered:.0f}"
            print(f"{name}{short} | {size} | {figures}")


if __name__ == "__main__":
    main()
