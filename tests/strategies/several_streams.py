"""Programs of all languages over two streams, long runs of events of each, and every way to cut them into batches.

Here: texts with conditions of every kind (on texts, on numbers, on nulls, between events, on keys) on both streams, and
events in blocks of one stream, drawn from a seed. Long blocks are what `sase`, `composite_subscriptions` and
`typed_queries` cannot have, whose meaning takes time exponential in the events. Not here: what must hold.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from broker.engine import CodedTexts

FIRST: Final = {"k": "string", "c": "int", "p": "float", "w": "float?"}
LAYOUTS: Final = (
    {"S": FIRST, "T": FIRST},
    {"S": FIRST, "T": {"k": "string?", "c": "int", "p": "int", "w": "float?", "more": "bool"}},
    {"S": FIRST, "T": {"w": "float?", "p": "int", "k": "string?", "c": "int"}},
)
"""Two streams with the same names: in the same places, with other types there, and in other places. What takes an
attribute of one stream for one of the other is wrong only with the third; what takes the streams for one, only with the
first two. `p` is of types that can be equal."""

Layout: TypeAlias = dict[str, dict[str, str]]

OWN: Final = (
    *("{e}k = 'A'", "{e}k = 'A'", "{e}k = 'B'", "{e}k != 'A'", "{e}k IN ('A', 'C')", "{e}p > {n}", "{e}p > {n}"),
    *("{e}p <= {n}", "{e}p < {n} AND {e}k = 'A'", "{e}c = {i}", "{e}c >= {i}", "{e}c != {i}", "{e}w IS NULL"),
    *("{e}w < {n}", "({e}k = 'A' OR {e}p > {n})", "NOT {e}c = {i}", "{e}p BETWEEN {n} AND 3", "{e}w IS NOT NULL"),
    "CASE WHEN {e}k = 'A' THEN {e}p ELSE {e}c END > {n}",
    *("{e}k LIKE 'A*'", "{e}k NOT LIKE~ ('a', '?c')", "{e}k MATCHES 'A|C'"),
)
"""On one event: `e` is its name with the dot, or nothing."""
BETWEEN: Final = (
    *("{e}k = {o}k", "{e}k = {o}k", "{e}k = {o}k", "{e}c = {o}c", "{e}p > {o}p", "{e}p > {o}p", "{e}p < 0.8 * {o}p"),
    *("{e}p >= {o}c", "{e}w > {o}w", "{e}c != {o}c", "{e}p = {o}p", "{e}k != {o}k", "{e}p + {e}c > {o}p + 1"),
)
"""On an event and an earlier one."""
STRATEGIES: Final = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")


class Block(NamedTuple):
    """Events of one stream that follow each other; `starts` only if some began before their time."""

    stream: str
    times: list[int]
    rows: list[tuple[Any, ...]]
    starts: list[int] | None


def condition(chance: random.Random, forms: Sequence[str], event: str, other: str = "") -> str:
    chosen = chance.choice(forms)
    return chosen.format(e=event, o=other, n=chance.choice(("0.5", "1", "1.5", "2")), i=chance.randrange(3))


def program(chance: random.Random, languages: Sequence[str], most: int = 3) -> list[tuple[str, str]]:
    """Some subscriptions, each a language and a text; some of them differ in constants only."""
    made = []
    for _ in range(chance.randrange(1, most + 1)):
        language = chance.choice(languages)
        text = MAKERS[language](chance)
        made += [(language, text)] + [(language, alike(chance, text)) for _ in range(chance.choice((0, 0, 0, 1, 4)))]
    return made


def alike(chance: random.Random, text: str) -> str:
    """The same with other constants in comparisons."""
    text = re.sub(r"(?<=[<>=] )(?:0\.5|1\.5|1|2)\b(?! \*)", lambda _: chance.choice(("0.5", "1", "1.5", "2")), text)
    return re.sub(r"(?<== )'[AB]'", lambda _: chance.choice(("'A'", "'B'", "'C'")), text)


def _streams(chance: random.Random, number: int) -> list[str]:
    """Those of the components: mostly both."""
    found = [chance.choice("ST") for _ in range(number)]
    if number > 1 and len(set(found)) == 1 and chance.random() < 0.7:
        found[chance.randrange(number)] = "T" if found[0] == "S" else "S"
    return found


def cayuga(chance: random.Random) -> str:
    """NEXT and FOLD over both streams, with keys and thetas beyond them."""
    first, second = _streams(chance, 2)
    key = chance.choice(("$2.k = $1.k", "$2.k = $1.k", "$2.c = $1.c", "TRUE"))
    theta = [key] if key != "TRUE" else []
    theta += [condition(chance, (*OWN, *BETWEEN), "$2.", "$1.") for _ in range(chance.choice((0, 0, 1, 1, 2)))]
    begun = f"FILTER{{{condition(chance, OWN, '')}}}({first})" if chance.random() < 0.8 else first
    if chance.random() < 0.7:
        body = f"({begun} NEXT{{{' AND '.join(theta)}}} {second})"
        if chance.random() < 0.3:
            third = _streams(chance, 1)[0]
            body = f"({body} NEXT{{$2.k = $1.k AND {condition(chance, OWN, '$2.')}}} {third})"
    else:
        moving = f", $2.p {chance.choice(('>', '<='))} $.p" if chance.random() < 0.7 else ""
        counted = f"(SELECT k, c, w, p + 0.0 AS p, 1 AS n FROM {begun})"
        second = f"(SELECT k, c, w, p + 0.0 AS p FROM {second})"
        body = f"FILTER{{n >= {chance.choice('23')}}}({counted} FOLD{{$2.k = $.k{moving}, $.n + 1 AS n}} {second})"
    bound = chance.choice(("", "", f"DUR < {chance.choice((3, 6, 20))}"))
    last = condition(chance, OWN, "") if chance.random() < 0.3 else ""
    filters = " AND ".join(part for part in (bound, last) if part)
    return f"SELECT * FROM FILTER{{{filters}}}({body})" if filters else f"SELECT * FROM {body}"


def sase(chance: random.Random) -> str:
    """Single, Kleene and negated components, one strategy or several."""
    number = chance.choice((1, 2, 2, 3, 3, 4))
    streams = _streams(chance, number)
    kinds = ["single"] * number
    if chance.random() < 0.5:
        kinds[chance.randrange(number)] = "kleene"
    names = "abcd"[:number]
    elements = [f"{s}+ {n}[]" if kind == "kleene" else f"{s} {n}" for s, n, kind in zip(streams, names, kinds)]
    key = chance.choice(("", "[k]", "[k]", "[k]", "[c]"))
    possible = [each for each in STRATEGIES if key or each != "partition_contiguity"]
    one = chance.choice(possible)
    chosen = [one if chance.random() < 0.8 else chance.choice(possible) for _ in names]
    parts = [key] if key else []
    for at, name in enumerate(names):
        event = f"{name}[i]." if kinds[at] == "kleene" else f"{name}."
        if chance.random() < 0.8:
            parts.append(condition(chance, OWN, event))
        if at and chance.random() < 0.6:
            before = chance.randrange(at)
            other = f"{names[before]}[1]." if kinds[before] == "kleene" else f"{names[before]}."
            parts.append(condition(chance, BETWEEN, event, other))
        if kinds[at] == "kleene" and chance.random() < 0.5:
            parts.append(condition(chance, ("{e}p > {o}p", "{e}p >= {o}p", "{e}c != {o}c"), event, f"{name}[i-1]."))
        if kinds[at] == "kleene" and chance.random() < 0.4:
            parts.append(f"{name}.LEN {chance.choice(('>=', '=', '<='))} {chance.choice('23')}")
    if chance.random() < 0.25:
        place = chance.randrange(number + 1)
        negated = chance.choice("ST")
        elements.insert(place, f"~({negated} m)")
        parts.append(condition(chance, OWN, "m."))
        if place and kinds[0] == "single" and chance.random() < 0.5:
            parts.append(condition(chance, BETWEEN, "m.", "a."))
    order: dict[str, list[str]] = {}
    for at, name in enumerate(names):
        order.setdefault(chosen[at], []).append(f"{name}[]" if kinds[at] == "kleene" else name)
    where = " AND ".join(f"{strategy}({', '.join(own)})" for strategy, own in order.items())
    output = chance.choice(("", "", "", " OUTPUT nonoverlap"))
    block = f" {{ {' AND '.join(parts)} }}" if parts else ""
    within = f" WITHIN {chance.choice((2, 4, 9))}"
    return f"PATTERN SEQ({', '.join(elements)}) WHERE {where}{block}{within}{output}"


def ptopss(chance: random.Random) -> str:
    """Sequences, AND and OR of operands on both streams."""
    number = chance.choice((1, 2, 2, 3, 3))
    streams = _streams(chance, number)
    names = "abc"[:number]
    joined = chance.random() < 0.3
    lines = []
    for name, stream in zip(names, streams):
        parts = [condition(chance, OWN, "")]
        if joined:
            parts.append(chance.choice(("k = $x", "c = $y")))
        lines.append(f"{name} ON {stream}: {' AND '.join(parts)}")
    text = names[0]
    for name in names[1:]:
        text = chance.choice((f"{text}, {name}", f"{text}; {name}", f"{text}; {name}", f"({text}) AND {name}",
                              f"({text}) OR {name}"))  # fmt: skip
    by = chance.choice(("", " BY k", " BY k", " BY c"))
    return f"FROM S, T{by}\n" + "\n".join(lines) + f"\nMATCH {text} WITHIN {chance.choice((2, 4, 9))}"


def afa(chance: random.Random) -> str:
    """A line of states with loops, whose arcs read one stream or the other."""
    number = chance.choice((1, 2, 2, 3))
    streams = _streams(chance, max(number, 2))
    arcs = []
    for at in range(number):
        target = "abcd"[at + 1]
        update = chance.choice(("", "", " SET r = c", " SET f = p, n = n + 1"))
        forms = (*OWN, "p > f", "c >= r", "c = r", "w > f AND k = 'A'") if at else OWN
        arcs.append(f"{'abcd'[at]} -> {target} ON {streams[at]} WHEN {condition(chance, forms, '')}{update}")
        if at and chance.random() < 0.8:
            loop = chance.choice(("TRUE", condition(chance, (*OWN, "p > f", "c != r"), "")))
            update = chance.choice(("", "", " SET n = n + 1"))
            for stream in chance.choice(("S", "T", "ST", "ST")):
                arcs.append(f"{'abcd'[at]} -> {'abcd'[at]} ON {stream} WHEN {loop}{update}")
    by = chance.choice(("", " BY k", " BY k", " BY c"))
    registers = "REGISTER r INT = 0, f FLOAT = 0.5, n INT = 0"
    final = "abcd"[number]
    within = f" WITHIN {chance.choice((2, 4, 9))}"
    return f"FROM S, T{by}\n{registers}\nSTART a\nFINAL {final}\n" + "\n".join(arcs) + within


def window(chance: random.Random) -> str:
    """Windows of each kind over one of the streams."""
    aggregates = ["count(*) AS n", "sum(p) AS s", "max(c) AS m", "last(k) AS l", "avg(w) AS v", "median(p) AS h"]
    chance.shuffle(aggregates)
    own, other = condition(chance, OWN, ""), condition(chance, (*OWN, "p > prev.p"), "")
    kind = chance.choice(
        (
            f"EVERY {chance.randrange(1, 5)} EVENTS",
            f"LAST {chance.randrange(2, 6)} EVENTS EVERY {chance.randrange(1, 4)} EVENTS",
            f"LAST {chance.randrange(2, 9)} EVERY {chance.randrange(1, 5)}",
            f"LAST {chance.randrange(2, 9)}",
            f"EVERY {chance.randrange(1, 9)}",
            f"SESSION {chance.randrange(0, 4)}",
            f"AFTER any* MATCHING [{own}] any* [{other}] WITHIN 6",
            f"AFTER any* MATCHING [{own}] [{other}]* & any{{1,4}}",
            f"AFTER [{own}] MATCHING any [{other}]{{1,3}}",
        )
    )
    by = chance.choice(("", " BY k", " BY k", " BY c"))
    return f"FROM {chance.choice('ST')}{by} WINDOW {kind} AGGREGATE {', '.join(aggregates[: chance.randrange(1, 4)])}"


MAKERS: Final = {"cayuga": cayuga, "sase": sase, "ptopss": ptopss, "afa": afa, "window": window}


def blocks(chance: random.Random, layout: Layout, most: int) -> list[Block]:
    """At most so many events, in long and short blocks of one stream, with ties and nulls or without."""
    keys = "ABCDEFGH"[: chance.choice((1, 3, 3, 8))]
    ties, nulls = chance.choice((0.0, 0.0, 0.05, 0.3)), chance.choice((0.0, 0.0, 0.15))
    steps = chance.choice(((1,), (1, 1, 3), (1, 1, 1, 12)))
    sizes = chance.choice(((1, 2, 3), (1, 5, 20), (1, 3, 33, 64), (40, 64), (40, 64)))
    time, left = 0, most
    found: list[Block] = []
    stream = chance.choice("ST")
    while left > 0 and len(found) < 12:
        size = min(left, chance.choice(sizes))
        left -= size
        times, rows = [], []
        for _ in range(size):
            time += 0 if chance.random() < ties else chance.choice(steps)
            times.append(time)
            rows.append(row(chance, layout[stream], keys, nulls))
        late = chance.random() < 0.1
        found.append(Block(stream, times, rows, [each - chance.randrange(3) for each in times] if late else None))
        stream = chance.choice("ST") if chance.random() < 0.3 else ("T" if stream == "S" else "S")
    return found


def row(chance: random.Random, attributes: dict[str, str], keys: str, nulls: float) -> tuple[Any, ...]:
    """An event's values, which are seldom null."""
    values: dict[str, Any] = {"k": chance.choice(keys), "c": chance.randrange(3), "w": chance.choice((0.25, 1.0, 2.0))}
    values["p"] = chance.choice((0.5, 1.0, 1.5, 2.0, 3.0) if attributes["p"] == "float" else (0, 1, 2, 3))
    values["more"] = chance.random() < 0.5
    for name, kind in attributes.items():
        if kind.endswith("?") and chance.random() < nulls:
            values[name] = None
    return tuple(values[name] for name in attributes)


def cut(chance: random.Random, block: Block) -> list[Block]:
    """The block in batches: all of one length, or of any."""
    size = chance.choice((1, 2, 16, 32, len(block.rows), len(block.rows), 0))
    found: list[Block] = []
    at = 0
    while at < len(block.rows):
        upto = at + (size or chance.randrange(1, len(block.rows) - at + 1))
        starts = None if block.starts is None else block.starts[at:upto]
        found.append(Block(block.stream, block.times[at:upto], block.rows[at:upto], starts))
        at = upto
    return found


def columns(chance: random.Random, layout: Layout, block: Block) -> dict[str, Any]:
    """The rows as columns, texts as they are or as numbers of different texts."""
    given: dict[str, Any] = dict(zip(layout[block.stream], map(list, zip(*block.rows, strict=True)), strict=True))
    if chance.random() < 0.5:
        known: dict[str, int] = {}
        codes = [-1 if text is None else known.setdefault(text, len(known)) for text in given["k"]]
        given["k"] = CodedTexts(codes, list(known))
    return given
