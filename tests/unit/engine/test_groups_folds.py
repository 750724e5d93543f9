"""Groups of lines with FOLD: before and behind NEXT, behind another FOLD, and with events that runs let pass."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from broker.engine import Engine, Match, Options
from broker.events.schema import Row

ATTRIBUTES = {"ty": "string", "v": "int", "p": "float"}
BEGUN = "(SELECT *, 1 AS cnt FROM FILTER{{ty = 'A' AND p > {0}}}(S))"
FALLING = "FOLD{{$2.ty = $.ty, $2.p < $.p, $.cnt + 1 AS cnt}} S"
LINES = {
    "before a step": (
        f"FILTER{{{{p > {{1}}}}}}(FILTER{{{{cnt >= {{2}}}}}}({BEGUN} {FALLING}) NEXT{{{{$2.ty = $1.ty}}}} S)"
    ),
    "before two": (
        f"FILTER{{{{p < {{0}}}}}}(FILTER{{{{p > {{1}}}}}}(FILTER{{{{cnt >= {{2}}}}}}({BEGUN} {FALLING})"
        " NEXT{{$2.ty = $1.ty}} S) NEXT{{$2.ty = $1.ty}} S)"
    ),
    "behind a step": (
        "FILTER{{cnt >= {2}}}((SELECT ty, v, p, 1 AS cnt FROM FILTER{{p > {1}}}(FILTER{{ty = 'A' AND p > {0}}} S"
        f" NEXT{{{{$2.ty = $1.ty}}}} S)) {FALLING})"
    ),
    "behind another": (
        f"FILTER{{{{n >= {{2}}}}}}((SELECT ty, v, p, 1 AS n FROM FILTER{{{{cnt >= {{2}}}}}}({BEGUN} {FALLING}))"
        " FOLD{{$2.ty = $.ty, $2.p > $.p, $.n + 1 AS n}} S)"
    ),
    "some events pass": (
        f"FILTER{{{{cnt >= {{2}} AND p < {{1}}}}}}({BEGUN} FOLD{{{{$2.ty = $.ty AND $2.v > 1, $2.p < $.p, "
        "$.cnt + 1 AS cnt}} S)"
    ),
    "some pass by what came before": (
        f"FILTER{{{{cnt >= {{2}} AND p < {{1}}}}}}({BEGUN} FOLD{{{{$2.ty = $.ty AND $2.v != $.v, $2.p < $.p, "
        "$.cnt + 1 AS cnt}} S)"
    ),
}


def events(count: int) -> list[Row]:
    chance = random.Random(7)
    return [
        ("A" if chance.random() < 0.8 else "B", chance.randrange(4), float(chance.randrange(9))) for _ in range(count)
    ]


def by_subscription(matches: Iterable[Match]) -> dict[str, list[Match]]:
    """The matches of one subscription have an order."""
    found: dict[str, list[Match]] = {}
    for match in matches:
        found.setdefault(match.subscription, []).append(match)
    return found


def subscribed(line: str, options: Options, joins: int) -> Engine:
    engine = Engine(options)
    engine.add_stream("S", ATTRIBUTES)
    for number in range(joins):
        constants = number % 5, number % 7, 2 + number % 3
        engine.subscribe(f"s{number}", language="cayuga", query=LINES[line].format(*constants), lineage=True)
    return engine


@pytest.mark.parametrize("line", LINES)
def test_a_line_with_folds_is_one_group(line: str) -> None:
    rows = events(400)
    times = [number // 2 if number % 5 == 0 else number for number in range(400)]
    times = [max(times[: number + 1]) for number in range(400)]  # some events are simultaneous
    alone, grouped = subscribed(line, Options(executors_off=("groups",)), 12), subscribed(line, Options(), 12)
    wanted = by_subscription(alone.publish("S", times, rows))
    assert by_subscription(grouped.publish("S", times, rows)) == wanted
    assert len(wanted) > 6
    assert grouped.statistics()["groups"] == 1


@pytest.mark.parametrize("line", LINES)
def test_a_snapshot_has_the_runs_of_all_steps(line: str) -> None:
    rows = events(120)
    alone, engine = subscribed(line, Options(executors_off=("groups",)), 6), subscribed(line, Options(), 6)
    for first in range(0, 120, 3):
        times = list(range(first, first + 3))
        wanted = by_subscription(alone.publish("S", times, rows[first : first + 3]))
        engine = Engine.restore(engine.snapshot(), Options())
        assert by_subscription(engine.publish("S", times, rows[first : first + 3])) == wanted
        engine.check_invariants()


def test_alternatives_before_the_last_step_are_no_group() -> None:
    line = LINES["before a step"].replace("p > {0}", "(p > {0} OR v > 2)")
    rows, times = events(200), list(range(200))
    found = []
    for options in (Options(executors_off=("groups",)), Options()):
        engine = Engine(options)
        engine.add_stream("S", ATTRIBUTES)
        for number in range(6):
            engine.subscribe(f"s{number}", language="cayuga", query=line.format(number % 5, number % 7, 2))
        found.append(by_subscription(engine.publish("S", times, rows)))
        assert engine.statistics()["groups"] == 0
    assert found[0] == found[1] != {}
