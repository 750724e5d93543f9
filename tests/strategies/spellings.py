"""One meaning in random spellings, with constants and streams: the input of the laws that the meaning decides.

The families of benchmarks/spellings.py say where a condition stands; the writer here writes each one in any way:
turned, under NOT, with a negative sign, in a list, beside weaker ones and alternatives that add nothing, in any order.
Grids are coarse, so that members and events often meet exactly. Not here: what must hold.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from benchmarks.groups.shapes import Constants
from benchmarks.spellings import FAMILIES, OTHER, Asked, Condition, Way, Writer
from benchmarks.ticks import STREAM
from broker.events.schema import Row

SCHEMAS: Final = (
    {"name": "string", "price": "float", "volume": "int"},
    {"name": "string?", "price": "float?", "volume": "int?"},
    {"volume": "int", "name": "string", "price": "float?"},
)
NEGATIONS: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}
MIRRORS: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
SYMBOLS: Final = ("A", "A", "B")
PRICES: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
VOLUMES: Final = (0, 1, 2, 3, 4)


class Spelled(NamedTuple):
    """A text of a family, by one of its ways."""

    way: str
    language: str
    text: str

    @property
    def kin(self) -> str:
        """Texts of one kin must run as one: those of a language that tell the same values."""
        return f"{self.language} with $x" if "$x" in self.text else self.language


class RandomWriter(Writer):
    """Writes conditions in any way. `adding`: also with others that add nothing, of which one is an alternative."""

    def __init__(self, chance: random.Random, adding: bool = True) -> None:
        self.chance = chance
        self.adding = adding
        self.alternatives = 1

    def every(self, *conditions: Condition) -> str:
        waiting = list(conditions)
        self.chance.shuffle(waiting)
        found: list[str] = []
        while waiting:
            one = waiting.pop()
            other = waiting[-1] if waiting else None
            if isinstance(one, Asked) and isinstance(other, Asked) and alike(one, other) and self.chance.random() < 0.2:
                found.append(self.both(one, waiting.pop()))  # type: ignore[arg-type]
            else:
                found.append(self.one(one))
        return " AND ".join(found)

    def some(self, *conditions: Condition) -> str:
        several = list(conditions)
        self.chance.shuffle(several)
        if all(isinstance(each, Asked) for each in several) and self.chance.random() < 0.3:
            return f"NOT ({' AND '.join(self.simple(negated(each)) for each in several)})"
        return f"({' OR '.join(f'({self.one(each)})' for each in several)})"

    def both(self, one: Asked, other: Asked) -> str:
        if one.left == other.left and (one.operator, other.operator) == (">=", "<="):
            return f"{one.left} BETWEEN {one.right} AND {other.right}"
        return f"NOT ({self.simple(negated(one))} OR {self.simple(negated(other))})"

    def simple(self, asked: Asked) -> str:
        return self.written(asked, self.chance.choice(("plain", "turned", "not", "not turned")))

    def one(self, condition: Condition) -> str:
        """In parentheses where it is more than one comparison."""
        if isinstance(condition, str):
            return condition
        kinds = ["plain", "plain", "turned", "turned", "not", "not turned"]
        if isinstance(condition.right, float) and condition.left.endswith("price"):
            kinds += ["signs", "difference"]
        if condition.operator == "=" and not isinstance(condition.right, float) and "." not in str(condition.right):
            kinds.append("list")
        if condition.operator == "=" and isinstance(condition.right, int):
            kinds += ["range", "between"]
        if self.adding:
            kinds += ["twice", "not not"]
            if isinstance(condition.right, int | float) and condition.operator in "<=>=" and condition.operator != "=":
                kinds.append("weaker")
                if self.alternatives:
                    kinds.append("alternative")
                    kinds.append("absorbed")
        return self.written(condition, self.chance.choice(kinds))

    def written(self, asked: Asked, kind: str) -> str:
        left, operator, right = asked
        match kind:
            case "plain":
                return f"{left} {operator} {right}"
            case "turned":
                return f"{right} {MIRRORS[operator]} {left}"
            case "not":
                return f"NOT ({negated(asked)})"
            case "not turned":
                return f"NOT {right} {NEGATIONS[MIRRORS[operator]]} {left}"
            case "not not":
                return f"NOT (NOT ({asked}))"
            case "signs":
                return f"-{left} {MIRRORS[operator]} -{right}"
            case "difference":
                return f"{left} - {right} {operator} 0"
            case "list":
                return f"{left} IN ({right})"
            case "range":
                return f"({left} >= {right} AND {left} <= {right})"
            case "between":
                return f"{left} BETWEEN {right} AND {right}"
            case "twice":
                return f"({asked} AND {self.written(asked, self.chance.choice(('plain', 'turned', 'not')))})"
        step = -1 if operator.startswith(">") else 1
        assert isinstance(right, int | float)
        if kind == "weaker":
            return f"({asked} AND {left} {operator} {right + step})"
        self.alternatives -= 1
        tighter = f"{left} {operator} {right - step}"
        return f"({asked} OR {tighter})" if kind == "alternative" else f"({asked} OR ({tighter} AND {asked}))"


def negated(asked: Condition) -> Asked:
    assert isinstance(asked, Asked)
    return Asked(asked.left, NEGATIONS[asked.operator], asked.right)


def alike(one: Asked, other: Asked) -> bool:
    """Whether they are about the same event."""
    return one.left.rpartition(".")[0] == other.left.rpartition(".")[0] and one.operator + other.operator != "=="


def spelled(chance: random.Random, family: str, way: str, constants: Constants, adding: bool = True) -> Spelled:
    known: Way = FAMILIES[family][way]
    return Spelled(way, known.language, known.write(RandomWriter(chance, adding), constants))


def constants(chance: random.Random) -> Constants:
    """Of a member; numbers are often equal by chance. Mostly a, which prices are above, is at most b."""
    low, high = sorted(chance.choices(PRICES, k=2))
    a, b = (low, high) if chance.random() < 0.8 else (high, low)
    return Constants(
        symbol=chance.choice(SYMBOLS), other=chance.choice(SYMBOLS), a=a, b=b, c=chance.choice(PRICES[:4]),
        volume=float(chance.choice(VOLUMES)), duration=chance.randint(2, 24),
        factor=chance.choice((0.5, 0.75, 1.0, 1.5)), count=chance.choice((2, 2, 3)),
    )  # fmt: skip


def apart(chance: random.Random, duration: int) -> Constants:
    """Of a member, all numbers of which differ, in one order: then texts of one family have one form. Where events
    repeat, WITHIN is a part of it."""
    low, high, last = sorted(chance.sample(range(20, 40), 3))
    return Constants(
        symbol=chance.choice(SYMBOLS), other="C", a=float(high), b=float(low), c=float(last) + 20.0,
        volume=float(chance.randrange(100, 110)), duration=duration, factor=1.0 + chance.random(),
        count=chance.choice((4, 5)),
    )  # fmt: skip


class Batch(NamedTuple):
    stream: str
    times: list[int]
    rows: list[Row]
    starts: list[int] | None


def batches(chance: random.Random, schema: dict[str, str], events: int = 40, plain: bool = False) -> list[Batch]:
    """A random stream in batches, with ties, nulls where the schema has them and now and then events that last.
    `plain`: points only, each later than the last."""
    found: list[Batch] = []
    time = 0
    lasting = not plain and chance.random() < 0.3
    streams: Sequence[str] = (STREAM, STREAM, OTHER)
    while events > 0:
        number = min(events, chance.randrange(1, 8))
        times, rows = [], []
        for _ in range(number):
            time += chance.choice((1, 1, 1, 2) if plain else (0, 1, 1, 1, 2))
            times.append(time)
            rows.append(row(chance, schema))
        starts = [each - chance.choice((0, 0, 1, 3)) for each in times] if lasting else None
        found.append(Batch(chance.choice(streams), times, rows, starts))
        events -= number
    return found


def row(chance: random.Random, schema: dict[str, str]) -> Row:
    values: dict[str, Any] = {
        "name": chance.choice(SYMBOLS),
        "price": chance.choice((*PRICES, 0.5, 2.25, 5.0)),
        "volume": chance.choice((*VOLUMES, 5)),
    }
    return tuple(
        None if type.endswith("?") and chance.random() < 0.1 else values[attribute]
        for attribute, type in schema.items()
    )
