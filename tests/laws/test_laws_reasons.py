"""Reasons against the matches: every event named belongs to the match, every condition told of it holds, and every
condition blamed for a match that did not come is false in the meaning's own evaluation. A broker, which finds the
events in its journal, answers the same."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from doubles.journal_of_inputs import journal_of
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from laws.test_laws_engine import fresh, subscribe
from strategies import afa, composite_subscriptions, sase, windows
from strategies.typed_queries import Happening, histories, programs

from broker.algebra.afa.lowering import lower, lower_arcs
from broker.algebra.afa.register_automaton import NEVER_ENDED
from broker.algebra.afa.semantics import Configuration, LivingEvent
from broker.algebra.afa.semantics import step as step_of
from broker.algebra.semantics import holds
from broker.algebra.window import lowering as window_lowering
from broker.algebra.window import semantics as window_semantics
from broker.engine import Engine, Match
from broker.engine.reasons import AskedInput, WhyNot, budget
from broker.engine.reasons.conditions import NOTHING, JudgedCondition
from broker.events import Event
from broker.events.errors import DefinitionError
from broker.events.event import Retraction, UpdateLine
from broker.kernel import ReasonsWanted
from broker.language.afa import parse, parse_arc
from broker.language.cayuga.syntax import CelQuery
from broker.language.window import print_query
from broker.language.window.syntax import WindowQuery
from broker.server.journal_history import read_by
from broker.server.journal_reasons import reasons_of
from broker.wire import AskReasons

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
        same_from_a_journal(engine, events, match.subscription, match.id)
    name = data.draw(st.sampled_from(subscriptions))
    same_from_a_journal(engine, events, name, None)
    wanted = [event.id for event in events if event.id is not None and data.draw(st.booleans())]
    whole = engine.why_not(name, events, wanted=wanted)
    blamed(whole, events)
    blamed(cut_short(engine, name, events, wanted, whole, data), events)


def cut_short(
    engine: Engine, name: str, given: Sequence[AskedInput], wanted: list[int], whole: WhyNot, data: st.DataObject
) -> WhyNot:
    """The answer with few steps. Unless it says that it was cut short, it is the whole one."""
    with pytest.MonkeyPatch.context() as limited:
        limited.setattr(budget, "REASONS_STEPS_MAX", data.draw(st.integers(1, 60)))
        limited.setattr(budget, "RUNS_FOLLOWED_LEAST", 1)
        told = engine.why_not(name, given, wanted=wanted)
    assert whole.cut == ""
    assert told.cut or told == whole
    return told


def same_from_a_journal(engine: Engine, given: Sequence[AskedInput], name: str, match: str | None) -> None:
    """A broker whose journal has these inputs answers as the engine does of those that concern the subscription."""
    streams = read_by(engine, name)
    own = [each for each in given if not isinstance(each, Event) or each.stream in streams]
    journal = journal_of(given)
    wanted = [each.id for each in own if isinstance(each, Event) and each.id is not None][::2]
    questions = [
        (AskReasons(7, name, None), engine.why_not(name, own).line()),
        (AskReasons(7, name, None, events=tuple(wanted)), engine.why_not(name, own, wanted=wanted).line()),
    ]
    if match is not None:
        questions.append((AskReasons(7, name, match), engine.why(match, own, name).line()))
    for asked, expected in questions:
        found = reasons_of(journal, engine, ReasonsWanted(b"session", (name,), asked))
        assert found.pop("events")["number"] == sum(isinstance(each, Event) for each in own)
        assert found == expected


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


def asked_of(batches: list[list[Any]]) -> list[Any]:
    """A script's steps as an engine is given them, without punctuations, so that none is refused."""
    given: list[Any] = []
    newest = 0
    for step in (step for batch in batches for step in batch):
        match step:
            case afa.Insertion(event):
                newest = max(newest, event.time)
                given.append(Event("S", event.time, event.time, event.id, event.row))
            case afa.Withdrawal(id):
                given.append(Retraction(id))
            case afa.Update(arc, begin, end):
                inserts, deletes = ((arc,), ()) if ":" in arc else ((), (arc,))
                given.append(UpdateLine("q", inserts, deletes, newest + 1 if begin is None else begin, end))
    return given


def given_to(engine: Engine, asked: Any) -> list[Match]:
    match asked:
        case Event(stream, time, _, int() as number, tuple() as row):
            found: Any = engine.publish(stream, [time], [row], [number])
        case Retraction():
            found = engine.retract(asked.id)
        case _:
            found = engine.update("q", asked.insert, asked.delete, asked.since, asked.until)
    return [match for match in found if match.kind in ("match", "retraction")]


@few
@given(st.one_of(afa.query_texts(), afa.waiting_texts()), afa.scripts().map(afa.without_ends), st.data())
def test_of_afa(text: str, batches: list[list[Any]], data: st.DataObject) -> None:
    note(text)
    engine = Engine()
    engine.add_stream("S", afa.SCHEMA.declared(), disorder="speculate")
    engine.subscribe("q", "afa", text, lineage=True)
    told: list[tuple[int, Match]] = []
    kept: list[Any] = []
    for asked in asked_of(batches):
        with suppress(DefinitionError):
            told += [(len(kept), match) for match in given_to(engine, asked)]
            kept.append(asked)
    note(kept)
    registers = lower(parse(text), text, {"S": afa.SCHEMA}.get, lambda: ["S"])
    standing: dict[int, LivingEvent] = {}
    for asked in kept:
        match asked:
            case Event():
                assert asked.id is not None
                assert isinstance(asked.data, tuple)
                standing[asked.id] = LivingEvent(asked.id, asked.time, 0, asked.data)
            case Retraction():
                del standing[asked.id]
            case UpdateLine():
                assert asked.since is not None
                bounds = asked.since, NEVER_ENDED if asked.until is None else asked.until
                for arc in asked.insert:
                    registers = registers.inserted(lower_arcs(registers, parse_arc(arc), arc), *bounds)
                for name in asked.delete:
                    registers = registers.deleted(name, *bounds)
    if told:
        _, match = data.draw(st.sampled_from(told))
        reasons = engine.why(match.id, kept, "q")
        ids = [number for step in reasons.steps for number in step.events]
        assert ids == match.lineage
        for step in reasons.steps:
            assert all(condition.holds and judged(condition) for condition in step.conditions)
            assert not set(step.passed) & set(ids)
        assert [(each.kind) for each in reasons.told] == [other.kind for _, other in told if other.id == match.id]
        causes = [at for at, other in told if other.id == match.id]
        for at, each in zip(causes, reasons.told):
            assert each.events == ((kept[at].id,) if isinstance(kept[at], Event | Retraction) else ())
        assert reasons.steps[-1].registers is not None
        assert reasons.steps[-1].registers[1] == match.data
    same_from_a_journal(engine, kept, "q", told[-1][1].id if told else None)
    wanted = [number for number in standing if data.draw(st.booleans())]
    found = engine.why_not("q", kept, wanted=wanted)
    cut = cut_short(engine, "q", kept, wanted, found, data)
    for told_of in (found, cut):
        blamed(told_of, [each for each in kept if isinstance(each, Event)])
    for nearest in (*found.nearest, *cut.nearest):
        taken = tuple(number for step in nearest.steps for number in step.events)
        assert set(taken) <= set(standing)
        if nearest.ended_by:
            last = nearest.steps[-1]
            assert last.registers is not None
            state = registers.states.index(nearest.state)
            here = Configuration(state, tuple(last.registers[1].values()), taken)
            assert list(step_of(registers, here, standing[nearest.ended_by[0]])) == []
    for gone in found.withdrawn:
        newest = [other for _, other in told if other.id == gone.id][-1]
        assert newest.withdrawn
        assert newest.lineage == list(gone.lineage)


@few
@given(windows.queries(), windows.streams(10), st.data())
def test_of_windows(query: WindowQuery, stream: list[windows.Event], data: st.DataObject) -> None:
    text = print_query(query)
    note(text)
    engine = Engine()
    engine.add_stream("S", windows.SCHEMA.declared())
    engine.subscribe("q", "window", text, lineage=True)
    events = [Event("S", time, time, at, row) for at, (time, row) in enumerate(stream, 1)]
    check(engine, events, data)
    expression = window_lowering.lower(query, text, lambda name: windows.SCHEMA, lambda: ["S"])
    timed = [window_semantics.TimedEvent(at, time, row) for at, (time, row) in enumerate(stream, 1)]
    for nearest in engine.why_not("q", events).nearest:
        taken = [number for step in nearest.steps for number in step.events]
        (part,) = [
            part for part in window_semantics.partitions(expression, timed) if taken[0] in [event.id for event in part]
        ]
        first = [event.id for event in part].index(taken[0])
        assert [event.id for event in part[first : first + len(taken)]] == taken
        meant = window_semantics.windows(expression, part)
        assert not [upto for begun, upto in meant if begun == first] or len(expression.pairs) > 1
        for refusal in nearest.refused:
            assert refusal.events == nearest.ended_by == (part[first + len(taken)].id,)
