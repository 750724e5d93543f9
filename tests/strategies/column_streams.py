"""Streams by key and patterns over them, such as go by columns, and such as just do not.

Here: texts over one stream and over two, in which a run waits for the next event of its key, or for one that satisfies
any condition; subscriptions of all languages beside them; events with ties, nulls and numbers that floats do not hold,
cut into batches; and each batch as columns of random kinds. Not here: what must hold.
"""

from __future__ import annotations

import random
from array import array
from typing import Any, Final, NamedTuple

from broker.engine import CodedTexts

SCHEMA: Final = {"k": "string?", "p": "float?", "v": "int?", "q": "float", "on": "bool?"}
STREAMS: Final = {"S": SCHEMA, "T": {name: SCHEMA[name] for name in ("k", "on", "v", "q", "p")}}
CUTS: Final = ("0.5", "1.0", "1.5", "2.0")
OPERATORS: Final = ("<", "<=", ">", ">=", "=", "!=")


class Part(NamedTuple):
    """A batch."""

    stream: str
    times: list[int]
    rows: list[tuple[Any, ...]]
    starts: list[int] | None


def texts(chance: random.Random) -> list[str]:
    """Queries, most of which go by columns; of most lists, over two streams."""
    streams = chance.choice(("S", "ST", "ST", "ST"))
    made = []
    for _ in range(chance.choice((1, 1, 2, 3))):
        made += _alike(chance, streams)
    if chance.random() < 0.2:
        made.append(made[0])
    chance.shuffle(made)
    return sorted(made, key=lambda text: "Pairs" in text and "PUBLISH" not in text)  # after its publisher


def guests(chance: random.Random) -> list[tuple[str, str]]:
    """Subscriptions of all languages that read the same streams beside others: (language, text)."""
    found = []
    for one, other in (("S", "T"), ("T", "S")):
        other = chance.choice((one, other))
        joined = f"SEQ({one} a, {other} b) WHERE skip_till_next_match(a, b) {{ [k] AND b.q > a.q }}"
        machines = (
            ("window", f"FROM {one} BY k WINDOW EVERY 5 EVENTS AGGREGATE sum(q) AS s, count(*) AS n"),
            ("window", f"FROM {one} WINDOW EVERY 3 EVENTS AGGREGATE count(*) AS n"),
            ("sase", f"PATTERN {joined} WITHIN 9"),
            ("ptopss", f"FROM {one} a: v > 1 b: v = 0 MATCH a; b WITHIN 5"),
            ("afa", f"FROM {one} REGISTER n INT = 0 START a FINAL b a -> b WHEN v > n SET n = v b -> b WHEN v > n"),
        )
        if chance.random() < 0.7:
            found.append(chance.choice(machines))
        if chance.random() < 0.1:
            found.append(("cayuga", f"SELECT * FROM {one} NEXT{{$2.k = $1.k}} {other}"))
    return found


def _waits(chance: random.Random) -> str:
    """A condition beyond the key on the event for which a run waits, of any kind; or none."""
    op, cut = chance.choice(OPERATORS), chance.choice(CUTS)
    kinds = (
        f"$2.p {op} {cut}",
        f"$2.v {op} {chance.randrange(3)}",
        f"$2.p {op} $1.p",
        f"$2.p > $1.p * {cut}",
        f"$2.v {chance.choice(('<', '>='))} $1.v + 1",
        f"$2.k {chance.choice(('=', '!='))} '{chance.choice('ABC')}'",
        f"$2.k {chance.choice(('', 'NOT '))}LIKE~ ('{chance.choice('abc')}*', '?{chance.choice('ABC')}')",
        f"$2.v IN (0, {chance.randrange(4)})",
        f"NOT ($2.p BETWEEN 0.9 AND {cut})",
        f"($2.on = TRUE OR $2.q {op} {cut})",
        "$2.p IS NOT NULL",
        f"DUR {chance.choice(('<', '<=', '>'))} {chance.choice((2, 4, 9))}",
        f"$2.p + $2.q > {cut} AND $2.v != $1.v",
    )
    return " AND " + chance.choice(kinds) if chance.random() < 0.9 else ""


def _alike(chance: random.Random, streams: str) -> list[str]:
    """One text, or several that differ in constants."""
    op, other = chance.choice(OPERATORS), chance.choice(OPERATORS)
    paths = ("SSS", "STT", "STT", "TSS", "STS", "SST", "TTS") if streams == "ST" else ("SSS",)
    one, then, last = list(chance.choice(paths))
    pair = f"({one} NEXT{{$2.k = $1.k}} {then})"

    def cut() -> str:
        return chance.choice(CUTS)

    def key() -> str:
        return chance.choice("ABC")

    kind = chance.choice((0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, *(13, 14, 15) * 3, *range(19)))
    match kind:
        case 0:
            return [f"SELECT * FROM FILTER{{p {op} {cut()} * p_1}}{pair}"]
        case 1:
            return [f"SELECT * FROM FILTER{{p {op} p_1 AND v {other} v_1}}{pair}"]
        case 2:
            return [f"SELECT p, q_1 FROM FILTER{{q {op} {cut()} AND DUR < {chance.choice((2, 4, 9))}}}{pair}"]
        case 3:
            begun = f"FILTER{{v {other} {chance.randrange(3)}}}({one})"
            window = chance.choice(("", "", f" AND DUR < {chance.choice((3, 4, 9))}"))
            return [f"SELECT * FROM FILTER{{p {op} {cut()} * p_1{window}}}({begun} NEXT{{$2.k = $1.k}} {then})"]
        case 4:
            waits = _waits(chance) if chance.random() < 0.5 else ""
            return [
                f"SELECT * FROM FILTER{{p < {cut()}}}(FILTER{{k = '{key()}' AND p > {cut()}}}({one})"
                f" NEXT{{$2.k = $1.k{waits}}} {then})"
                for _ in range(chance.choice((1, 5)))
            ]
        case 5:
            rest = f"p <= 2.0 AND v > {chance.randrange(3)}"
            return [
                f"SELECT * FROM FILTER{{k = '{key()}' AND p >= {cut()} AND {rest}}}({one})"
                for _ in range(chance.choice((1, 5)))
            ]
        case 6:
            return [f"SELECT * FROM FILTER{{p {op} {cut()} AND v {other} {chance.randrange(3)}}}({one})"]
        case 7:
            begun = f"FILTER{{q > 0.5}}({one})"
            return [f"SELECT q + 1 AS r FROM FILTER{{p {op} {cut()}}}({begun} NEXT{{$2.k = $1.k}} {then})"]
        case 8:
            begun = f"(SELECT *, 1 AS cnt FROM {one})"
            op = op.replace("!=", "=")  # such runs seldom end, and simultaneous events make millions of them
            return [
                f"SELECT * FROM FILTER{{cnt >= {chance.choice((2, 3))}}}"
                f"({begun} FOLD{{$2.k = $.k, $2.p {op} $.p, $.cnt + 1 AS cnt}} {then})"
            ]
        case 9:
            begun = f"(SELECT *, p AS low, 1 AS cnt FROM FILTER{{q > {cut()}}}({one}))"
            return [
                f"SELECT k, low, cnt FROM FILTER{{cnt {other} 2 AND q {op} {cut()}}}"
                f"({begun} FOLD{{$2.k = $.k, $2.p > $.p, $.cnt + 1 AS cnt}} {then})"
            ]
        case 10:  # waits under another key
            return [f"SELECT * FROM FILTER{{p > {cut()}}}({one} NEXT{{$2.k = '{key()}'}} {then})"]
        case 11:  # three steps
            return [f"SELECT * FROM FILTER{{p > {cut()}}}({pair} NEXT{{$2.k = $1.k}} {last})"]
        case 12:  # three steps of one key
            return [
                f"SELECT * FROM FILTER{{p > 1.0}}(FILTER{{p > 0.5}}(FILTER{{k = '{key()}'}}({one})"
                f" NEXT{{$2.k = $1.k}} {then}) NEXT{{$2.k = $1.k{_waits(chance)}}} {last})"
            ]
        case 13:  # a condition on how long to wait that no key answers
            return [f"SELECT * FROM FILTER{{p > {cut()}}}({one} NEXT{{$2.k = $1.k{_waits(chance)}}} {then})"]
        case 14:  # the same of one key, and of several subscriptions
            waits = _waits(chance)
            begun = f"FILTER{{k = '{key()}' AND p > {cut()}}}({one})"
            return [f"SELECT * FROM {begun} NEXT{{$2.k = $1.k{waits}}} {each}" for each in {then: 0, last: 0}]
        case 15:  # the same where a run goes on
            begun = f"(SELECT *, 1 AS cnt FROM FILTER{{k = '{key()}' AND q > {cut()}}}({one}))"
            goes_on = f"$2.p {op.replace('!=', '=')} $.p"
            return [
                f"SELECT k, p, cnt FROM FILTER{{cnt >= 2}}"
                f"({begun} FOLD{{$2.k = $.k{_waits(chance)}, {goes_on}, $.cnt + 1 AS cnt}} {then})"
            ]
        case 16:  # no key at all
            return [f"SELECT * FROM FILTER{{q > 1.5 AND p {op} {cut()}}}({one}) NEXT{{$2.p < 1.2}} {then}"]
        case 17:  # text, bools, another stream
            return [
                f"SELECT * FROM FILTER{{k != '{key()}' AND on = TRUE}}({one})",
                f"SELECT k, p FROM FILTER{{p > {cut()} * p_1}}{pair} PUBLISH Pairs",
                f"SELECT * FROM FILTER{{p > 1}}({chance.choice(('Pairs', f'{one} NEXT{{$2.k = $1.k}} Pairs'))})",
            ]
        case _:  # another key
            return [f"SELECT * FROM FILTER{{p > p_1}}({one} NEXT{{$2.v = $1.v}} {then})"]


def parts(chance: random.Random) -> list[Part]:
    """Batches, most of them long enough to go by columns."""
    keys = "ABCDEFGH"[: chance.choice((1, 3, 8))]
    ties, nulls = chance.choice((0.0, 0.0, 0.0, 0.03, 0.3)), chance.choice((0.0, 0.0, 0.1))
    large, late = chance.random() < 0.1, chance.random() < 0.1
    time = 0
    made = []
    streams = chance.choice(("S", "ST", "ST", "ST"))
    for _ in range(chance.choice((1, 2, 3, 4, 5))):
        stream = chance.choice(streams)
        times, rows = [], []
        for _ in range(chance.choice((1, 3, 30, 60, 120))):
            time += 0 if chance.random() < ties else chance.choice((1, 1, 3))
            times.append(time)
            row: list[Any] = [chance.choice(keys), chance.choice((0.5, 1.0, 1.5, 2.0, 3.0)), chance.randrange(4)]
            row += [chance.choice((0.25, 1.0, 2.0)), chance.random() < 0.5]
            if large and chance.random() < 0.2:
                row[2] = 2**53 + chance.randrange(3)
            for at in (0, 1, 2, 4):
                if chance.random() < nulls:
                    row[at] = None
            values = dict(zip(SCHEMA, row))
            rows.append(tuple(values[name] for name in STREAMS[stream]))
        starts = [each - chance.randrange(2) for each in times] if late and chance.random() < 0.5 else None
        made.append(Part(stream, times, rows, starts))
        time += chance.choice((0, 0, 1))
    return made


def pieces(chance: random.Random, part: Part) -> list[Part]:
    """A batch cut into others."""
    most = chance.choice((1, 2, 16, 17, 32, 64, 200))
    found = []
    at = 0
    while at < len(part.rows):
        upto = at + chance.choice((most, most, chance.randint(1, most)))
        starts = None if part.starts is None else part.starts[at:upto]
        found.append(Part(part.stream, part.times[at:upto], part.rows[at:upto], starts))
        at = upto
    return found


def columns(chance: random.Random, stream: str, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """The rows as columns, each of a kind that can hold it."""
    values = zip(*rows, strict=True)
    given: dict[str, Any] = {name: list(each) for name, each in zip(STREAMS[stream], values, strict=True)}
    for name, kind in (("p", "d"), ("q", "d"), ("v", "q")):
        if None not in given[name] and chance.random() < 0.6:
            given[name] = array(kind, given[name])
    if chance.random() < 0.6:
        known: dict[str, int] = {}
        codes = [-1 if text is None else known.setdefault(text, len(known)) for text in given["k"]]
        given["k"] = CodedTexts(array("b", codes), list(known))
    return given
