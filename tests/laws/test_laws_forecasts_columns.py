"""Forecasts by columns: whether a batch goes by columns or event by event, the matches and notices are the same ones in
the same order, to the last digit of each probability, and the same was learnt.

Subscriptions come and go, and batches come as rows or as columns; the way may change at a snapshot, and models may be
packed or not. The meaning of forecasts is held by test_laws_forecasts.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from hypothesis import event, given, note, settings
from hypothesis import strategies as st
from strategies.column_streams import STREAMS, Part, columns, parts, texts

from broker.engine import Engine, Match, Options
from broker.events.errors import DefinitionError
from broker.forecast.model_file import write_model

ON, OFF = Options(), Options(batches=False)
NEVER: Final = 0.0
EXAMPLES: Final = settings(max_examples=max(30, settings().max_examples), deadline=None)
FAILS: Final = "SELECT * FROM FILTER{1 / (p - 3.0) > q_1}(S NEXT{$2.k = $1.k} S)"


class Member(NamedTuple):
    """A subscription; `forecast` is None where nothing is foretold."""

    query: str
    forecast: dict[str, Any] | None
    lineage: bool


def asked(chance: random.Random) -> dict[str, Any] | None:
    """What is asked of the future, or nothing."""
    if chance.random() < 0.25:
        return None
    found: dict[str, Any] = {
        "within": chance.choice((1, 2, 5, "3us", "9us")),
        "threshold": chance.choice((0.0, 0.05, 0.3, 0.5)),
        "effective": chance.choice((0, 1, 3.5)),
        "uncalibrated": True,
    }
    options = (("states", "set"), ("per", "stream"), ("cautious", True), ("recalibrate", True))
    found.update({name: value for name, value in options if chance.random() < 0.15})
    if chance.random() < 0.2:
        found["half_life"] = "20us"
    if chance.random() < 0.3 and "per" not in found:
        found["context"] = chance.choice((["k"], ["key"], ["v"], ["key", "v"]))
    return found


def members(chance: random.Random) -> list[Member]:
    """Subscriptions, most of which go by columns."""
    queries = [FAILS] if chance.random() < 0.1 else []
    return [Member(query, asked(chance), chance.random() < 0.15) for query in [*texts(chance), *queries]]


def join(engine: Engine, name: str, member: Member) -> None:
    """Put a subscription in force, without forecasts where there cannot be any."""
    try:
        engine.subscribe(name, query=member.query, lineage=member.lineage, forecast=member.forecast)
    except DefinitionError:
        engine.subscribe(name, query=member.query, lineage=member.lineage)


def told(matches: Iterable[Match]) -> list[str]:
    """What there is to compare of results, in their order."""
    return [repr((each.subscription, each.id, each.start, each.end, each.data, each.notice)) for each in matches]


def played(
    joining: list[Member], batches: list[Part], options: Options, chance: random.Random, switching: float, leaves: bool
) -> tuple[list[list[str]], str, str]:
    """By batch what it finds, in order; what was learnt; how good forecasts were. `switching`: how often the engine
    becomes another one between two batches, by columns or not. `leaves`: a subscription does."""
    engine = Engine(options)
    for name, schema in STREAMS.items():
        engine.add_stream(name, schema, key="k")
    for number, member in enumerate(joining):
        join(engine, f"s{number}", member)
    found: list[list[str]] = []
    for number, part in enumerate(batches):
        if chance.random() < switching:
            engine = Engine.restore(engine.snapshot(), chance.choice((ON, OFF)))
        if number == 2:
            join(engine, "again", joining[0])
        if number == 3 and leaves:
            found.append(told(engine.unsubscribe(f"s{len(joining) - 1}")))
        if chance.random() < 0.5:
            results = engine.publish(part.stream, part.times, part.rows, starts=part.starts)
        else:
            results = engine.publish_columns(
                part.stream, columns(chance, part.stream, part.rows), part.times, starts=part.starts
            )
        found.append(told(results))
        engine.check_invariants()
    quality = repr(engine.program.forecasts.statistics())
    learnt = write_model(engine.model())
    found.append(told(engine.finish()))
    return found, learnt, quality


@EXAMPLES
@given(st.integers(0, 2**40))
def test_columns_change_no_forecast(seed: int) -> None:
    joining, batches = members(random.Random(seed)), parts(random.Random(seed + 1))
    note(joining)
    note(batches)
    leaves = seed % 2 == 0
    expected = played(joining, batches, OFF, random.Random(seed + 2), NEVER, leaves)
    event(f"notices: {any('Forecast' in each for batch in expected[0] for each in batch)}")
    assert played(joining, batches, ON, random.Random(seed + 3), NEVER, leaves) == expected


@EXAMPLES
@given(st.integers(0, 2**40))
def test_the_way_may_change_between_batches(seed: int) -> None:
    joining, batches = members(random.Random(seed)), parts(random.Random(seed + 1))
    note(joining)
    note(batches)
    expected = played(joining, batches, OFF, random.Random(seed + 2), NEVER, False)
    assert played(joining, batches, ON, random.Random(seed + 3), 0.5, False) == expected
