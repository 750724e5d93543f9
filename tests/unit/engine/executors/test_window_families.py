"""Families of windows with several constants and many members: each is told what it would be told alone.

The blocks of members that an event finds alike are the matter here; all else about families: the laws of windows.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, Final

import pytest

from broker.engine import Engine, Options
from broker.engine.index.columns import BLOCK

BODIES: Final = (
    "[v > {a}] [v < {b}]",
    "[v >= {a} OR x = {b}] [v != {b}]",
    "[v > {a} AND x <= {b}] [ty = 'B' OR v < {b}]",
    "[v = {a}] [x <= {b}] [v <= {a} OR x > {b}]",
)
NUMBERS: Final[dict[str, Callable[[random.Random], float]]] = {
    "few": lambda draw: draw.randrange(4),
    "many": lambda draw: draw.choice((draw.randrange(5), draw.uniform(0, 5), draw.randrange(30) / 2)),
    "beyond floats": lambda draw: draw.choice((draw.randrange(5), 2**60 + draw.randrange(3))),
}
COUNTS: Final = (1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5)
EVENTS: Final = 60


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("body", BODIES)
def test_members_of_many_blocks_are_told_what_each_is_told_alone(body: str, numbers: str) -> None:
    """Every sixth event one leaves or comes again, every seventeenth the engine is restored."""
    draw = random.Random(f"{body} {numbers}")
    number = NUMBERS[numbers]
    told = 0
    for count in COUNTS:
        queries = [body.format(a=number(draw), b=number(draw)) for _ in range(count)]
        together, alone = _engine(Options()), _engine(Options(executors_off=("window_families",)))
        for name in range(count):
            _subscribe((together, alone), name, queries)
        assert count < BLOCK or together.statistics()["family_members"] > count // 2
        assert alone.statistics()["family_members"] == 0
        gone: set[int] = set()
        for at in range(1, EVENTS):
            if at % 6 == 0:
                name = draw.randrange(count)
                if name in gone:
                    _subscribe((together, alone), name, queries)
                else:
                    together.unsubscribe(f"q{name}")
                    alone.unsubscribe(f"q{name}")
                gone ^= {name}
            if at % 17 == 0:
                together = Engine.restore(together.snapshot())
            row = draw.choice("AB"), draw.choice((None, 1, int(number(draw)))), draw.choice((None, 2, number(draw)))
            found = _lines(together, at, row)
            assert found == _lines(alone, at, row)
            told += len(found)
            together.check_invariants()
    assert told > 50


def _engine(options: Options) -> Engine:
    engine = Engine(options)
    engine.add_stream("S", {"ty": "string?", "v": "int?", "x": "float?"})
    return engine


def _subscribe(engines: tuple[Engine, ...], name: int, queries: list[str]) -> None:
    for engine in engines:
        engine.subscribe(f"q{name}", "window", f"FROM S WINDOW AFTER any* MATCHING {queries[name]}")


def _lines(engine: Engine, time: int, row: tuple[Any, ...]) -> list[str]:
    return sorted(json.dumps(match.line()) for match in engine.publish("S", [time], [row]))
