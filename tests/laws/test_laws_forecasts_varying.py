"""Values of a context that vary move on with the chain: what an engine says is what all ways through it say."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest
from doubles.chain_ways import Ways, exact
from doubles.read_columns import in_columns
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.engine import Engine
from broker.forecast.model_file import write_model

HOUR = 3_600_000_000
QUERY = "FROM S BY k\na, b, c: x > 1\nMATCH a, b, c"
CUTS = {"attribute": "x", "cuts": [1.2, 2]}
WIND = {"attribute": "w", "cuts": [5]}
CONTEXTS: list[list[Any]] = [
    [CUTS],
    [{"last": 2}],
    [{"last": 1}],
    ["key", CUTS],
    ["key", {"last": 2}],
    ["hour", CUTS],
    [CUTS, "hour", {"last": 2}],
    ["key", "hour", CUTS, WIND],
    ["key", WIND, {"last": 1}, "hour", CUTS],
]
Beat: TypeAlias = tuple[str, float | None, int | None, int]

rows = st.tuples(
    st.sampled_from("AB"), st.sampled_from([None, 0.0, 1.1, 1.5, 2.0]), st.sampled_from([None, 3, 7]), st.integers(0, 1)
)
histories = st.lists(rows, min_size=8, max_size=40)
options = st.fixed_dictionaries(
    {"context": st.sampled_from(CONTEXTS), "within": st.integers(1, 5), "choose": st.booleans()},
    optional={"half_life": st.just("30 hours")},
)
most = max(40, settings().max_examples // 2)


def engine_of(told: dict[str, Any]) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"k": "string", "x": "float?", "w": "int?"}, key="k")
    engine.subscribe("q", "ptopss", QUERY, False, "completions", {"threshold": 0.3, "effective": 0, **told})
    return engine


def published(engine: Engine, history: list[Beat], begin: int = 0) -> list[Any]:
    found: list[Any] = []
    for at, (key, x, w, hours) in enumerate(history, begin):
        found += in_columns(engine.publish("S", [(at * 12 + hours) * HOUR], [(key, x, w)]))
    return found


@settings(max_examples=most)
@given(options, histories)
def test_what_is_asked_is_what_all_ways_say(told: dict[str, Any], history: list[Beat]) -> None:
    engine = engine_of(told)
    outlook = engine.forecasts("q")
    exact(outlook.forecaster)
    for at, beat in enumerate(history):
        published(engine, [beat], at)
        asked = engine.probability("q", beat[0])
        track = next(p for p in outlook.stream.keys.values() if p.run == beat[0]).states[outlook.number]
        assert track.chain is not None
        ways = Ways(outlook.forecaster.counts, outlook.forecaster.version, outlook.states.shape, told["context"])
        choice = outlook.forecaster.choice
        model = -1 if choice is None else choice.best()
        expected = ways.curve(int(track.state), track.chain.context, told["within"], model)[-1]
        assert asked.probability == pytest.approx(expected, abs=1e-9)
        assert asked.lower <= asked.probability <= asked.upper


@settings(max_examples=most)
@given(options, histories, st.data())
def test_what_is_restored_goes_on_as_if_nothing_had_happened(
    told: dict[str, Any], history: list[Beat], data: st.DataObject
) -> None:
    """To the last digit, with estimates that lag behind counts."""
    engine = engine_of(told)
    cut = data.draw(st.integers(0, len(history)))
    published(engine, history[:cut])
    again = Engine.restore(engine.snapshot())
    assert published(again, history[cut:], cut) == published(engine, history[cut:], cut)
    again.check_invariants()
    for key in "AB":
        assert again.probability("q", key) == engine.probability("q", key)
    assert again.statistics() == engine.statistics()
    loaded = engine_of(told)
    loaded.load_model(engine.model())
    assert write_model(loaded.model()) == write_model(engine.model())
