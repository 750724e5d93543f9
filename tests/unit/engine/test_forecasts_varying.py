"""Values of a context that vary: an approach, what is refused, what choose finds out, and horizons in time."""

from __future__ import annotations

import random
from typing import Any

import pytest

from broker.engine import Engine
from broker.events.errors import LimitExceeded

MINUTE = 60_000_000
RINGS = {"attribute": "distance", "cuts": [1, 2, 3, 4, 5]}


def harbour(**told: Any) -> Engine:
    """Ships: one that is out for two reports in a row, and then in the port."""
    engine = Engine()
    engine.add_stream("Ship", {"ship": "string", "distance": "float"}, key="ship")
    query = "FROM Ship BY ship\na: distance >= 1\nb: distance < 1\nMATCH a, b"
    forecast = {"threshold": 0.5, "effective": 0, **told}
    engine.subscribe("arrival", "ptopss", query, False, "completions", forecast)
    return engine


def sail(engine: Engine, distances: list[float], begin: int = 0, ship: str = "s") -> int:
    for at, distance in enumerate(distances, begin):
        engine.publish("Ship", [at * MINUTE], [(ship, distance)])
    return begin + len(distances)


def voyages(engine: Engine, number: int) -> int:
    """Far out for long, then ring by ring into the port."""
    at = 0
    for _ in range(number):
        at = sail(engine, [9.0] * 20 + [5.5, 4.5, 3.5, 2.5, 1.5, 0.5], at)
    return at


def test_an_approach_is_foretold_from_afar() -> None:
    """Held for the whole horizon, ring 4 would never lead into the port: of all steps from there none did."""
    moving, last = harbour(within=5, context=[RINGS]), harbour(within=5, context=[RINGS, {"last": 2}])
    for engine in (moving, last):
        at = voyages(engine, 100)
        sail(engine, [9.0, 9.0, 5.5, 4.5], at)
        outlook = engine.forecasts("arrival")
        track = outlook.stream.keys["s"].states[outlook.number]
        assert track.chain is not None
        held = track.chain.level().passage(5).next(int(track.state), 5)
        assert held < 0.1
        found = engine.probability("arrival", "s")
        assert found.lower < found.probability < found.upper
        assert found.probability > 0.5
        sail(engine, [3.5, 2.5], at + 4)
        assert engine.probability("arrival", "s", 3).probability > 0.7


def test_direction_and_distance_together_know_nearly_all() -> None:
    engine = Engine()
    engine.add_stream("Ship", {"ship": "string", "distance": "float", "closing": "float"}, key="ship")
    query = "FROM Ship BY ship\na: distance >= 1\nb: distance < 1\nMATCH a, b"
    context = [RINGS, {"attribute": "closing", "cuts": [0]}]
    forecast = {"within": 5, "effective": 0, "context": context}
    engine.subscribe("arrival", "ptopss", query, False, "completions", forecast)
    voyage = [(9.0, -1.0)] * 20 + [(d + 0.5, 1.0) for d in (5, 4, 3, 2, 1, 0)] + [(d + 0.5, -1.0) for d in (1, 2, 3, 4)]
    time = 0
    for _ in range(200):
        for distance, closing in voyage:
            engine.publish("Ship", [time], [("s", distance, closing)])
            time += MINUTE
    engine.publish("Ship", [time, time + 1], [("s", 5.5, 1.0), ("s", 4.5, 1.0)])
    assert engine.probability("arrival", "s").probability > 0.8
    assert engine.probability("arrival", "s", 3).probability < 0.1  # four more reports it takes
    engine.publish("Ship", [time + 2], [("s", 3.5, -1.0)])
    assert engine.probability("arrival", "s").probability < 0.2


def test_a_horizon_in_time_moves_marks_on_as_well() -> None:
    engine = harbour(within="5 min", context=[RINGS], uncalibrated=True)
    at = voyages(engine, 100)
    sail(engine, [9.0, 9.0, 5.5, 4.5], at)
    assert engine.probability("arrival", "s").probability > 0.5
    assert engine.probability("arrival", "s", "2 min").probability < 0.1


def test_choose_judges_at_the_horizon() -> None:
    """A mark that is another one with each event says nothing; fixed values that tell keys apart do."""
    draw = random.Random(7)
    engine = Engine()
    engine.add_stream("S", {"k": "string", "x": "int", "w": "float"}, key="k")
    query = "FROM S BY k\na, b: x > 0\nMATCH a, b"
    told = {"within": 4, "effective": 0, "context": ["key", {"attribute": "w", "cuts": [0.25, 0.5, 0.75]}]}
    engine.subscribe("q", "ptopss", query, False, "completions", {**told, "choose": True})
    for time in range(6_000):
        key = draw.choice("AB")
        engine.publish("S", [time], [(key, int(draw.random() < (0.2 if key == "A" else 0.6)), draw.random())])
    forecaster = engine.forecasts("q").forecaster
    assert forecaster.choice is not None
    assert forecaster.choice.best() == 2  # the key alone
    assert forecaster.choice.steps > 1_000
    again = Engine.restore(engine.snapshot())
    assert again.forecasts("q").forecaster.choice is not None
    assert again.forecasts("q").forecaster.dump() == forecaster.dump()
    engine.finish()
    assert forecaster.dump()["trials"] == []


def test_parts_choose_by_their_own_matches() -> None:
    draw = random.Random(3)
    engine = Engine()
    engine.add_stream("S", {"k": "string", "x": "int", "w": "float"}, key="k")
    query = "FROM S BY k\na, b: x > 0\nc: x < -5\nMATCH (a, b) AND c"
    context = ["key", {"attribute": "w", "cuts": [0.5]}]
    told = {"within": 4, "effective": 0, "context": context, "choose": True, "parts": True}
    engine.subscribe("q", "ptopss", query, False, "completions", told)
    for time in range(1_500):
        key = draw.choice("AB")
        rate = 0.2 if key == "A" else 0.7
        x = -9 if draw.random() < 0.05 else int(draw.random() < rate)
        engine.publish("S", [time], [(key, x, draw.random())])
    combination = engine.forecasts("q").combination
    assert combination is not None
    choice = combination.parts[0].forecaster.choice
    assert choice is not None
    assert choice.steps > 500
    assert choice.best() in (2, 3)
    assert 0.0 < engine.probability("q", "A").probability < engine.probability("q", "B").probability
    assert Engine.restore(engine.snapshot()).probability("q", "B") == engine.probability("q", "B")


@pytest.mark.parametrize(
    ("context", "within", "most", "found"),
    [
        ([{"attribute": "distance", "cuts": list(range(100))}, RINGS | {"attribute": "speed"}], 5, "8,192", "2,142"),
        ([{"attribute": "distance", "cuts": list(range(100))}, {"last": 6}], 5, "8,192", "111,384"),
        ([RINGS], 10_000, "104", "21"),
        ([{"attribute": "distance", "cuts": list(range(50))}], 10_000, "104", "156"),
    ],
)
def test_what_is_too_large_is_refused(context: list[Any], within: int, most: str, found: str) -> None:
    engine = Engine()
    engine.add_stream("Ship", {"ship": "string", "distance": "float", "speed": "float"}, key="ship")
    query = "FROM Ship BY ship\na: distance >= 1\nb: distance < 1\nMATCH a, b"
    forecast = {"within": within, "context": context}
    if int(found.replace(",", "")) <= int(most.replace(",", "")):
        engine.subscribe("q", "ptopss", query, False, "completions", forecast)
        return
    with pytest.raises(LimitExceeded) as refusal:
        engine.subscribe("q", "ptopss", query, False, "completions", forecast)
    assert str(refusal.value).endswith(
        f"forecast: context: expected at most {most} pairs of one of 3 states and values that vary (cuts, last)"
        f" for this horizon, found {found}"
    )
