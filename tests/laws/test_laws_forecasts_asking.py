"""Asking for a probability: it is what a forecast says, and nothing goes another way because somebody asked."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from strategies.forecasts import Case, engine_for, feed, played, subscribe
from strategies.typed_queries import Happening

from broker.engine import Engine
from broker.engine.notices import Forecast
from broker.forecast.model_file import write_model

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
few = settings(max_examples=settings().max_examples // 5, suppress_health_check=slow)  # an example is a whole engine


def engine_with(case: Case) -> Engine:
    engine = engine_for(case)
    assume(subscribe(engine, "q", case))
    return engine


def key_at(engine: Engine, happening: Happening) -> Any:
    """The key of an event, as whoever asks would write it; None for the whole stream."""
    positions = dict(engine.forecasts("q").subscriber.plan.positions)  # type: ignore[union-attr]
    return [happening.row[position] for position in positions[happening.stream]]


def reads(engine: Engine, happening: Happening) -> bool:
    return happening.stream in dict(engine.forecasts("q").subscriber.plan.positions)  # type: ignore[union-attr]


@few
@given(played(most=16))
def test_what_is_asked_is_what_was_told(case_and_history: tuple[Case, list[Happening]]) -> None:
    case, history = case_and_history
    note(case.query)
    engine = engine_with(case)
    for happening in history:
        for match in feed(engine, [happening]):
            if isinstance(match.notice, Forecast):
                told = match.notice
                asked = engine.probability("q", key_at(engine, happening))
                assert asked.run == told.run
                assert asked.probability == told.probability
                assert (asked.lower, asked.upper) == told.interval
                assert (asked.label, asked.within, asked.time) == (told.label, told.within, told.time)
                assert asked.calibrated == told.calibrated


@few
@given(played(most=24), st.data())
def test_asking_changes_nothing(case_and_history: tuple[Case, list[Happening]], data: st.DataObject) -> None:
    """Whatever is asked and whenever: forecasts, counts and what is said later are those of an engine left alone."""
    case, history = case_and_history
    note(case.query)
    alone, asked = engine_with(case), engine_with(case)
    within: list[int | str | None] = [None]
    if asked.forecasts("q").combination is None:
        within += [1, 7] if asked.forecasts("q").arrivals is None else [1, 7, "3us", "50us"]
    for happening in history:
        assert feed(asked, [happening]) == feed(alone, [happening])
        if reads(asked, happening) and None not in key_at(asked, happening):
            found = asked.probability("q", key_at(asked, happening), data.draw(st.sampled_from(within)))
            assert 0.0 <= found.lower <= found.probability <= found.upper <= 1.0
            asked.check_invariants()
    assert write_model(asked.model()) == write_model(alone.model())
    assert asked.statistics() == alone.statistics()
