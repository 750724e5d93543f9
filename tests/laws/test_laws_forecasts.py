"""Forecasts in the engine: what is told, counted and saved does not depend on how or beside whom it is asked."""

from __future__ import annotations

import re
from typing import Any

from doubles.chain_counts import beats, plan_of, run_of
from doubles.chain_states import Beat
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from strategies.forecasts import Case, cases, engine_for, feed, played, subscribe
from strategies.typed_queries import Happening

from broker.engine import Engine, Match
from broker.engine.executors.keyed_runs.program import KeyedAutomata
from broker.engine.notices import Forecast, Resolution
from broker.events.instant import parse_duration
from broker.forecast.counts import Record
from broker.forecast.model_file import write_model

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
few = settings(max_examples=max(10, settings().max_examples // 5), suppress_health_check=slow)  # whole engines

Played = tuple[Case, list[Happening]]


def own(matches: list[Match], name: str) -> tuple[list[Match], list[Match]]:
    """The matches of a subscription, sorted, and its notices as they came."""
    mine = [m for m in matches if m.subscription == name]
    return sorted((m for m in mine if m.notice is None), key=repr), [m for m in mine if m.notice is not None]


def counts_of(engine: Engine, name: str) -> list[Record]:
    """What was counted for a subscription."""
    return [record for record in engine.model().counts.records() if record[0].startswith(f"{name}@")]


def gaps_of(engine: Engine, name: str) -> list[Any]:
    """Which gaps between events were measured for it."""
    return [
        (context, list(found.records()))
        for (version, context), found in sorted(engine.model().gaps.items(), key=repr)
        if version.startswith(f"{name}@") and found.count
    ]


def timed(case: Case) -> bool:
    """Whether its horizon is one in time."""
    return isinstance(case.forecast["within"], str)


def standing(engine: Engine, name: str) -> dict[str, Any]:
    """How good its forecasts were."""
    found: dict[str, Any] = engine.program.forecasts.statistics()[name]
    return found


@few
@given(played(), st.data())
def test_inspection_and_snapshots_change_nothing(case_and_history: Played, data: st.DataObject) -> None:
    case, history = case_and_history
    plain, other = engine_for(case), engine_for(case)
    if not (subscribe(plain, "q", case) and subscribe(other, "q", case)):
        return
    note(case.query)
    expected: list[Match] = []
    found: list[Match] = []
    for happening in history:
        expected += feed(plain, [happening])
        found += feed(other, [happening])
        match data.draw(st.integers(0, 4)):
            case 0:
                other = Engine.restore(other.snapshot())
                assert Engine.restore(other.snapshot()).snapshot() == other.snapshot()
            case 1:
                other.model()
                other.program.forecasts.statistics()
                assert other.forecasts("q").subscriber.name == "q"
                other.statistics()
            case _:
                pass
        other.check_invariants()
    assert own(found, "q") == own(expected, "q")
    assert write_model(other.model()) == write_model(plain.model())
    assert standing(other, "q") == standing(plain, "q")
    assert own(list(other.finish()), "q") == own(list(plain.finish()), "q")


@few
@given(played())
def test_who_comes_late_counts_as_if_nothing_had_been_before(case_and_history: Played) -> None:
    case, history = case_and_history
    for at in {0, len(history) // 3, len(history) // 2}:
        late, fresh = engine_for(case), engine_for(case)
        feed(late, history[:at])
        if not (subscribe(late, "q", case) and subscribe(fresh, "q", case)):
            return
        since = history[at - 1].time if at else None
        rest = [h for h in history[at:] if case.language != "cayuga" or since is None or h.time > since]
        found = feed(late, history[at:])
        expected = feed(fresh, rest)
        assert counts_of(late, "q") == counts_of(fresh, "q")
        assert own(found, "q")[0] == own(expected, "q")[0]
        if not timed(case) or len(rest) + at == len(history):
            assert own(found, "q")[1] == own(expected, "q")[1]
            assert gaps_of(late, "q") == gaps_of(fresh, "q")
            assert standing(late, "q") == standing(fresh, "q")


@st.composite
def guests_of(draw: st.DrawFn, case: Case) -> dict[str, tuple[Case, bool]]:
    """Others on the same streams: alike, with other windows, or anything; with or without forecasts."""
    found: dict[str, tuple[Case, bool]] = {}
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.integers(0, 3))
        query = case.query
        if kind == 0:
            query = draw(cases(case.language[0])).query
        elif kind == 1:
            longer = str(draw(st.integers(1, 9)))
            query = re.sub(r"(?<=DUR <= )\d+|(?<=DUR < )\d+|(?<=WITHIN )\d+", longer, query)
        other = draw(cases(case.language[0]))
        told = draw(st.sampled_from([case.forecast, other.forecast]))
        found[f"g{number}"] = (Case(case.language, query, case.report, told, case.keyed), draw(st.booleans()))
    return found


@few
@given(played(), st.data())
def test_coming_and_going_disturbs_no_forecast(case_and_history: Played, data: st.DataObject) -> None:
    case, history = case_and_history
    quiet, busy = engine_for(case), engine_for(case)
    guests = data.draw(guests_of(case))
    enters = data.draw(st.integers(0, len(history)))
    present: set[str] = set()
    expected: list[Match] = []
    found: list[Match] = []
    for at, happening in enumerate(history):
        for name, (guest, forecast) in guests.items():
            if data.draw(st.integers(0, 3)) == 0:
                if name in present:
                    busy.unsubscribe(name)
                    present.remove(name)
                elif subscribe(busy, name, guest, forecast):
                    note(f"{name} {guest} {forecast} before {at}")
                    present.add(name)
        if at == enters and not (subscribe(quiet, "q", case) and subscribe(busy, "q", case)):
            return
        expected += feed(quiet, [happening])
        found += feed(busy, [happening])
        busy.check_invariants()
    assert own(found, "q")[0] == own(expected, "q")[0]
    if enters < len(history):
        assert counts_of(busy, "q") == counts_of(quiet, "q")
        if not timed(case) or enters == 0:  # gaps of a key are those of all who count them, from when one does
            assert own(found, "q")[1] == own(expected, "q")[1]
            assert gaps_of(busy, "q") == gaps_of(quiet, "q")
            assert standing(busy, "q") == standing(quiet, "q")
            assert own(list(busy.finish()), "q") == own(list(quiet.finish()), "q")
        busy.unsubscribe("q")
    for name in sorted(present):
        busy.unsubscribe(name)
    busy.check_invariants()
    assert not busy.program.forecasts.scopes
    merged = busy.program.merged
    assert isinstance(merged, KeyedAutomata)
    assert not any(place.watches for place in merged.places.values())


@few
@given(played(), st.booleans())
def test_every_forecast_is_resolved_once_and_rightly(case_and_history: Played, leaves: bool) -> None:
    case, history = case_and_history
    engine, plain = engine_for(case), engine_for(case)
    if not (subscribe(engine, "q", case) and subscribe(plain, "q", case, forecast=False)):
        return
    note(case.query)
    told: list[list[Match]] = [feed(engine, [happening]) for happening in history]
    ended = list(engine.unsubscribe("q") if leaves else engine.finish())
    everything = [m for matches in told for m in matches]
    assert own(everything, "q")[0] == own(feed(plain, history), "q")[0]
    if not leaves:
        outstanding = engine.forecasts("q").notifier.outstanding()
        assert not outstanding
    plan = plan_of_case(case)
    check_notices(case, plan, history, told, ended)


def plan_of_case(case: Case) -> Any:
    engine = engine_for(case)
    assert subscribe(engine, "q", case)
    return plan_of(engine, "q")


def check_notices(case: Case, plan: Any, history: list[Happening], told: list[list[Match]], ended: list[Match]) -> None:
    """Each notice against what has truly happened, event by event."""
    truth = iter(beats(case, plan, history))
    places = dict(plan.positions)
    seen: dict[Any, list[Beat]] = {}  # beats of each run
    open_: dict[Any, tuple[Forecast, int]] = {}  # with the number of the key's event
    ids: set[str] = set()
    within = case.forecast["within"]
    span = parse_duration(within) if isinstance(within, str) else 0
    for happening, matches in zip(history, told):
        key = tuple(happening.row[p] for p in places[happening.stream]) if happening.stream in places else (None,)
        run: Any = None
        if None not in key:
            beat = next(truth)
            run = run_of(key)
            seen.setdefault(run, []).append(beat)
        matched = run is not None and seen[run][-1].state == plan.states.final
        must: dict[Any, bool] = {}
        for other, (forecast, made) in open_.items():
            if span:
                if happening.time > forecast.time + span:
                    must[other] = False
                elif other == run and matched:
                    must[other] = True
            elif other == run and matched:
                must[other] = True
            elif other == run and len(seen[run]) >= made + within:
                must[other] = False
        for match in matches:
            if isinstance(match.notice, Resolution):
                resolution = match.notice
                forecast, made = open_.pop(resolution.run)
                assert resolution.forecast == forecast.id
                assert resolution.outcome is must.pop(resolution.run)
                if resolution.outcome:
                    lead = happening.time - forecast.time if span else len(seen[resolution.run]) - made
                    assert resolution.lead == lead
            elif isinstance(match.notice, Forecast):
                forecast = match.notice
                assert forecast.run == run
                assert forecast.run not in open_
                assert forecast.time == happening.time
                assert forecast.state == seen[run][-1].state
                assert case.forecast["threshold"] < forecast.probability <= 1.0
                assert 0.0 <= forecast.interval[0] <= forecast.interval[1] <= 1.0
                open_[run] = (forecast, len(seen[run]))
            if match.notice is not None:
                assert match.id not in ids
                ids.add(match.id)
        assert not must, "what is known was not told"
    assert next(truth, None) is None
    notices = [m.notice for m in ended]
    assert all(isinstance(n, Resolution) and n.outcome == "censored" and n.lead is None for n in notices)
    assert sorted(n.forecast for n in notices if isinstance(n, Resolution)) == sorted(
        forecast.id for forecast, _ in open_.values()
    )
