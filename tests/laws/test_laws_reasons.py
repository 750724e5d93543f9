"""Reasons against the matches: every event named belongs to the match, every condition told of it holds, and every
condition blamed for a match that did not come is false in the meaning's own evaluation."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from laws.test_laws_engine import fresh, subscribe
from strategies import composite_subscriptions, sase
from strategies.typed_queries import Happening, histories, programs

from broker.algebra.semantics import holds
from broker.engine import Engine, Match
from broker.engine.reasons.conditions import NOTHING, JudgedCondition
from broker.engine.reasons.unmatched import WhyNot
from broker.events import Event
from broker.events.errors import DefinitionError
from broker.language.cayuga.syntax import CelQuery

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
few = settings(suppress_health_check=slow)


def played(engine: Engine, events: list[Event]) -> list[Match]:
    found: list[Match] = []
    for event in events:
        assert isinstance(event.data, tuple)
        assert event.id is not None
        found += engine.publish(event.stream, [event.time], [event.data], [event.id], [event.start]).expanded()
    return found + list(engine.finish().expanded())


def judged(condition: JudgedCondition) -> bool:
    """What the meaning of terms says."""
    return condition.holds if condition.term is None else holds(condition.term, NOTHING)


def check(engine: Engine, events: list[Event], data: st.DataObject) -> None:
    subscriptions = list(engine.subscriptions)
    if not subscriptions:
        return
    matches = [match for match in played(engine, events) if match.kind == "match"]
    if matches:
        match = data.draw(st.sampled_from(matches))
        note(match)
        told = engine.why(match.id, events, match.subscription)
        ids = [number for step in told.steps for number in step.events]
        if match.tuples is None and match.lineage is not None:
            assert sorted(ids) == sorted(match.lineage)
        assert set(ids) <= {event.id for event in events}
        for step in told.steps:
            assert all(condition.holds and judged(condition) for condition in step.conditions)
            assert not set(step.passed) & set(step.events)
    name = data.draw(st.sampled_from(subscriptions))
    wanted = [event.id for event in events if event.id is not None and data.draw(st.booleans())]
    blamed(engine.why_not(name, events, wanted=wanted), events)


def blamed(told: WhyNot, events: list[Event]) -> None:
    known: set[Any] = {event.id for event in events}
    for nearest in told.nearest:
        assert nearest.missing >= 0
        assert set(nearest.ended_by) <= known
        for step in nearest.steps:
            assert set(step.events) <= known
            assert all(condition.holds and judged(condition) for condition in step.conditions)
    for refusal in [*(each for nearest in told.nearest for each in nearest.refused), *told.beginnings]:
        assert refusal.failed
        assert set(refusal.events) <= known
        assert not any(judged(condition) for condition in refusal.failed)


@few
@given(programs(most=3), histories(most=10), st.data())
def test_of_cel(program: dict[str, CelQuery], history: list[Happening], data: st.DataObject) -> None:
    engine = fresh()
    subscribe(engine, program)
    check(engine, [Event(h.stream, h.time, h.start, h.id, h.row) for h in history], data)


@few
@given(st.one_of(sase.queries(), sase.lacking()), sase.histories(10), st.data())
def test_of_sase(text: str, history: list[Any], data: st.DataObject) -> None:
    note(text)
    engine = Engine()
    for stream, schema in sase.SCHEMAS.items():
        engine.add_stream(stream, schema.declared())
    engine.subscribe("q", "sase", text, lineage=True)
    check(engine, [Event(s, time, time, at, row) for at, (s, time, row) in enumerate(history, 1)], data)


@few
@given(composite_subscriptions.subscriptions(4), composite_subscriptions.histories(10), st.booleans(), st.data())
def test_of_composites(text: str, history: list[Any], each: bool, data: st.DataObject) -> None:
    note(text)
    engine = Engine()
    for stream, attributes in composite_subscriptions.STREAMS.items():
        engine.add_stream(stream, attributes)
    with suppress(DefinitionError):
        engine.subscribe("q", "ptopss", text, report="all" if each else "completions")
    check(engine, [Event(s, time, time, at, row) for at, (s, time, row) in enumerate(history, 1)], data)
