"""Streams by key and patterns over them, such as go by columns, and such as just do not.

Here: texts, events with ties, nulls and numbers that floats do not hold, cut into batches; and each batch as columns of
random kinds. Not here: what must hold.
"""

from __future__ import annotations

import random
from array import array
from typing import Any, Final, NamedTuple

from broker.engine import CodedTexts

STREAM: Final = "S"
SCHEMA: Final = {"k": "string?", "p": "float?", "v": "int?", "q": "float", "on": "bool?"}
CUTS: Final = ("0.5", "1.0", "1.5", "2.0")
OPERATORS: Final = ("<", "<=", ">", ">=", "=", "!=")


class Part(NamedTuple):
    """A batch."""

    times: list[int]
    rows: list[tuple[Any, ...]]
    starts: list[int] | None


def texts(chance: random.Random) -> list[str]:
    """Queries, most of which go by columns."""
    made = []
    for _ in range(chance.choice((1, 1, 2, 3))):
        made += _alike(chance)
    if chance.random() < 0.2:
        made.append(made[0])
    chance.shuffle(made)
    return sorted(made, key=lambda text: "(Pairs)" in text)  # after its publisher


def _alike(chance: random.Random) -> list[str]:
    """One text, or several that differ in constants."""
    op, other = chance.choice(OPERATORS), chance.choice(OPERATORS)
    pair = "(S NEXT{$2.k = $1.k} S)"

    def cut() -> str:
        return chance.choice(CUTS)

    def key() -> str:
        return chance.choice("ABC")

    kind = chance.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, *range(16)))
    match kind:
        case 0:
            return [f"SELECT * FROM FILTER{{p {op} {cut()} * p_1}}{pair}"]
        case 1:
            return [f"SELECT * FROM FILTER{{p {op} p_1 AND v {other} v_1}}{pair}"]
        case 2:
            return [f"SELECT p, q_1 FROM FILTER{{q {op} {cut()} AND DUR < {chance.choice((2, 4, 9))}}}{pair}"]
        case 3:
            begun = f"FILTER{{v {other} {chance.randrange(3)}}}(S)"
            window = chance.choice(("", "", f" AND DUR < {chance.choice((3, 4, 9))}"))
            return [f"SELECT * FROM FILTER{{p {op} {cut()} * p_1{window}}}({begun} NEXT{{$2.k = $1.k}} S)"]
        case 4:
            return [
                f"SELECT * FROM FILTER{{p < {cut()}}}(FILTER{{k = '{key()}' AND p > {cut()}}}(S) NEXT{{$2.k = $1.k}} S)"
                for _ in range(chance.choice((1, 5)))
            ]
        case 5:
            return [
                f"SELECT * FROM FILTER{{k = '{key()}' AND p >= {cut()} AND p <= 2.0 AND v > {chance.randrange(3)}}}(S)"
                for _ in range(chance.choice((1, 5)))
            ]
        case 6:
            return [f"SELECT * FROM FILTER{{p {op} {cut()} AND v {other} {chance.randrange(3)}}}(S)"]
        case 7:
            return [f"SELECT q + 1 AS r FROM FILTER{{p {op} {cut()}}}(FILTER{{q > 0.5}}(S) NEXT{{$2.k = $1.k}} S)"]
        case 8:
            begun = "(SELECT *, 1 AS cnt FROM S)"
            op = op.replace("!=", "=")  # such runs seldom end, and simultaneous events make millions of them
            return [
                f"SELECT * FROM FILTER{{cnt >= {chance.choice((2, 3))}}}"
                f"({begun} FOLD{{$2.k = $.k, $2.p {op} $.p, $.cnt + 1 AS cnt}} S)"
            ]
        case 9:
            begun = f"(SELECT *, p AS low, 1 AS cnt FROM FILTER{{q > {cut()}}}(S))"
            return [
                f"SELECT k, low, cnt FROM FILTER{{cnt {other} 2 AND q {op} {cut()}}}"
                f"({begun} FOLD{{$2.k = $.k, $2.p > $.p, $.cnt + 1 AS cnt}} S)"
            ]
        case 10:  # waits under another key
            return [f"SELECT * FROM FILTER{{p > {cut()}}}(S NEXT{{$2.k = '{key()}'}} S)"]
        case 11:  # three steps
            return [f"SELECT * FROM FILTER{{p > {cut()}}}({pair} NEXT{{$2.k = $1.k}} S)"]
        case 12:  # three steps of one key
            return [
                f"SELECT * FROM FILTER{{p > 1.0}}(FILTER{{p > 0.5}}(FILTER{{k = '{key()}'}}(S)"
                f" NEXT{{$2.k = $1.k}} S) NEXT{{$2.k = $1.k}} S)"
            ]
        case 13:  # a condition on how long to wait that no key answers
            return [f"SELECT * FROM FILTER{{p > {cut()}}}(S NEXT{{$2.k = $1.k AND $2.q > {cut()}}} S)"]
        case 14:  # text, bools, another stream
            return [
                f"SELECT * FROM FILTER{{k != '{key()}' AND on = TRUE}}(S)",
                f"SELECT k, p FROM FILTER{{p > {cut()} * p_1}}{pair} PUBLISH Pairs",
                "SELECT * FROM FILTER{p > 1}(Pairs)",
            ]
        case _:  # another key
            return ["SELECT * FROM FILTER{p > p_1}(S NEXT{$2.v = $1.v} S)"]


def parts(chance: random.Random) -> list[Part]:
    """Batches, most of them long enough to go by columns."""
    keys = "ABCDEFGH"[: chance.choice((1, 3, 8))]
    ties, nulls = chance.choice((0.0, 0.0, 0.0, 0.03, 0.3)), chance.choice((0.0, 0.0, 0.1))
    large, late = chance.random() < 0.1, chance.random() < 0.1
    time = 0
    made = []
    for _ in range(chance.randrange(1, 6)):
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
            rows.append(tuple(row))
        starts = [each - chance.randrange(2) for each in times] if late and chance.random() < 0.5 else None
        made.append(Part(times, rows, starts))
        time += chance.choice((0, 0, 1))
    return made


def columns(chance: random.Random, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """The rows as columns, each of a kind that can hold it."""
    given: dict[str, Any] = {name: list(values) for name, values in zip(SCHEMA, zip(*rows, strict=True), strict=True)}
    for name, kind in (("p", "d"), ("q", "d"), ("v", "q")):
        if None not in given[name] and chance.random() < 0.6:
            given[name] = array(kind, given[name])
    if chance.random() < 0.6:
        known: dict[str, int] = {}
        codes = [-1 if text is None else known.setdefault(text, len(known)) for text in given["k"]]
        given["k"] = CodedTexts(array("b", codes), list(known))
    return given
