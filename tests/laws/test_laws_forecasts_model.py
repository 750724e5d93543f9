"""What is learnt of a stream, whole or in parts, and the probabilities drawn from it."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.chain_counts import plan_of
from doubles.chain_ways import Ways, exact
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from strategies import composite_subscriptions as ptopss
from strategies.forecast_chains import matrix_of, power
from strategies.forecasts import Case, engine_for, feed, played, subscribe
from strategies.typed_queries import Happening

from broker.automaton.automaton import Stay
from broker.automaton.constructions.composite import automaton_of, decompose
from broker.engine import Engine
from broker.engine.executors.tuple_counts.progress import CountedProgress
from broker.engine.notices import Forecast
from broker.events.errors import DefinitionError
from broker.events.instant import FOREVER, parse_duration
from broker.forecast.chain import MarkovChain
from broker.forecast.key_state import KeyState
from broker.forecast.model_file import Model, read_model, write_model
from broker.forecast.plan import ForecastPlan

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
few = settings(max_examples=max(10, settings().max_examples // 5), suppress_health_check=slow)  # whole engines

Played = tuple[Case, list[Happening]]
OTHERS = {
    "cayuga": "S NEXT{$2.a > 100} S",
    "ptopss": "FROM S\nz: k > 100\nMATCH z",
    "window": "FROM S WINDOW AFTER any* MATCHING [v > 100]",
}
MOST = 40
"""Steps within a horizon in time."""


def engine_with(case: Case) -> Engine:
    engine = engine_for(case)
    assume(subscribe(engine, "q", case))
    return engine


def parts_of(case: Case, plan: ForecastPlan, history: list[Happening]) -> list[list[Happening]]:
    """The events of each key, where keys have nothing to do with each other; else all in one."""
    apart = any(positions for _, positions in plan.positions)
    if case.language == "ptopss":
        automaton = automaton_of(decompose(ptopss.lowered(case.query)))
        (_, positions), *_ = plan.positions
        # What is adjacent is so in the partition, whatever the variables.
        contiguous = any(state.stay is Stay.FOREIGN for state in automaton.states)
        apart = apart and not (contiguous and len(positions) > len(automaton.partition))
    found: dict[Any, list[Happening]] = {}
    places = dict(plan.positions)
    for happening in history:
        positions = places.get(happening.stream, ())
        key = tuple(happening.row[position] for position in positions) if apart else ()
        found.setdefault(key, []).append(happening)
    return list(found.values())


@few
@given(played(), st.data())
def test_parts_add_up_to_the_whole(case_and_history: Played, data: st.DataObject) -> None:
    """Parts are what keys have; and the stream in batches of any size is one stream."""
    case, history = case_and_history
    whole, pieces = engine_with(case), engine_with(case)
    note(case.query)
    told = feed(whole, history)
    again = []
    at = 0
    while at < len(history):
        upto = data.draw(st.integers(at + 1, len(history)))
        again += feed(pieces, history[at:upto])
        at = upto
    assert again == told
    assert write_model(pieces.model()) == write_model(whole.model())
    merged = Model()
    for part in parts_of(case, plan_of(whole, "q"), history):
        engine = engine_with(case)
        feed(engine, part)
        merged.merge(engine.model())
    if history:
        assert write_model(merged) == write_model(whole.model())


@few
@given(played(), st.data())
def test_training_goes_on_where_it_ended(case_and_history: Played, data: st.DataObject) -> None:
    """A model of the events of some keys, or of an earlier life, and what is counted after are one model."""
    case, history = case_and_history
    first, second, loaded = engine_with(case), engine_with(case), engine_for(case)
    parts = parts_of(case, plan_of(first, "q"), history)
    if "half_life" in case.forecast:  # what is counted is filed under the newest time that is known, never before it
        cut = data.draw(st.integers(0, len(history)))
        parts, trained, rest = [], history[:cut], history[cut:]
    else:
        taken = data.draw(st.sets(st.integers(0, max(0, len(parts) - 1))))
        split = [[h for at, part in enumerate(parts) if (at in taken) == own for h in part] for own in (True, False)]
        trained, rest = (sorted(half, key=lambda h: h.id) for half in split)
    feed(first, trained)
    model = read_model(write_model(first.model()), "here")
    early = data.draw(st.booleans())
    if early:
        loaded.load_model(model)
    assert subscribe(loaded, "q", case)
    if not early:
        loaded.load_model(model)
    assert write_model(loaded.model()) == write_model(model)
    at = data.draw(st.integers(0, len(rest)))
    feed(loaded, rest[:at])
    loaded = Engine.restore(loaded.snapshot())
    feed(loaded, rest[at:])
    loaded.check_invariants()
    feed(second, rest)
    model.merge(second.model())
    assert write_model(loaded.model()) == write_model(model)
    whole = engine_with(case)
    feed(whole, history)
    if len(parts) > 1:
        assert write_model(loaded.model()) == write_model(whole.model())


@few
@given(played(), st.sampled_from(["states", "half_life", "query"]), st.booleans())
def test_a_model_of_something_else_is_refused(case_and_history: Played, what: str, early: bool) -> None:
    case, history = case_and_history
    other = dict(case.forecast)
    query = case.query
    if what == "states":
        other["states"] = "furthest" if other.get("states") == "set" else "set"
    elif what == "half_life":
        other["half_life"] = "3 days"
    else:
        query = OTHERS[case.language]
        other["context"] = []
        other["per"] = "key"
        other.pop("exceeds", None)
    trained = engine_with(case)
    feed(trained, history)
    model = trained.model()
    assume(bool(model.counts.versions()))
    engine = engine_for(case)
    different = Case(case.language, query, case.report, other, case.keyed)
    assume(subscribe(engine_for(case), "q", different))
    if early:
        engine.load_model(model)
        with pytest.raises(DefinitionError) as refusal:
            engine.subscribe("q", different.language, different.query, None, different.report, different.forecast)
        assert not engine.subscriptions
    else:
        assert subscribe(engine, "q", different)
        before = engine.snapshot()
        with pytest.raises(DefinitionError) as refusal:
            engine.load_model(model)
        assert engine.snapshot() == before
    assert "\n" not in str(refusal.value)
    assert "q" in str(refusal.value)
    engine.check_invariants()


def came(chain: MarkovChain, state: int, steps: int) -> list[float]:
    """P(the next match within n steps), n = 0 .. steps, by powers of the matrix, or by every path where these are few;
    what follows a match is the chain's continuation."""
    rows = matrix_of(chain)
    found = [0.0]
    for n in range(1, steps + 1):
        before = power(rows, n - 1)
        first = chain.continuations[state] if state in chain.finals else chain.rows[state]
        total = 0.0
        for target, chance in zip(first.targets, first.chances):
            total += chance * sum(before[target][final] for final in chain.finals)
        found.append(total)
        if n <= 3:
            assert total == pytest.approx(along(chain, state, n, True))
    return found


def along(chain: MarkovChain, state: int, steps: int, begins: bool = False) -> float:
    """The same path by path."""
    if state in chain.finals and not begins:
        return 1.0
    if steps == 0:
        return 0.0
    row = chain.continuations[state] if state in chain.finals else chain.rows[state]
    return sum(p * along(chain, target, steps - 1) for target, p in zip(row.targets, row.chances))


def arrived(atoms: list[tuple[float, float]], time: int, most: int) -> list[float]:
    """P(n gaps last no longer than `time`), n = 0 .. most, gap by gap; short gaps are whole numbers."""
    sums = {0: 1.0}
    found = [1.0]
    for _ in range(most):
        onward: dict[int, float] = {}
        for past, mass in sums.items():
            for gap, chance in atoms:
                if past + round(gap) <= time:
                    onward[past + round(gap)] = onward.get(past + round(gap), 0.0) + mass * chance
        sums = onward
        found.append(sum(sums.values()))
    return found


@few
@given(played(most=16))
def test_probabilities_are_those_of_all_ways_through_the_chain(case_and_history: Played) -> None:
    """The rows of the chain are estimated from what was counted (chain_ways)."""
    case, history = case_and_history
    engine = engine_with(case)
    outlook = engine.forecasts("q")
    if outlook.states.final > 20:
        return
    exact(outlook.forecaster)
    within = case.forecast["within"]
    for happening in history:
        for match in feed(engine, [happening]):
            if not isinstance(match.notice, Forecast):
                continue
            told = match.notice
            track = track_of(engine, told.run)
            assert track.chain is not None
            chain = track.chain.level().chain()
            for row in [*chain.rows, *chain.continuations.values()]:
                assert sum(row.chances) == pytest.approx(1.0)
                assert min(row.chances) >= 0.0
            forecaster = outlook.forecaster
            ways = Ways(forecaster.counts, forecaster.version, outlook.states.shape, case.forecast["context"])
            steps = within if isinstance(within, int) else MOST
            curve = ways.curve(told.state, track.chain.context, steps)
            assert track.chain.curve(told.state)[: steps + 1] == pytest.approx(curve[: forecaster.horizon + 1])
            assert curve == pytest.approx(came(chain, told.state, steps), abs=1e-9)
            expected = curve[-1]
            machine = isinstance(outlook.progress, CountedProgress)
            verified, after_match = outlook.verification, told.state == outlook.states.final
            learnt = verified.recalibration_after_match if after_match else verified.recalibration
            correction = None if learnt is None else learnt.correction
            if not isinstance(within, int):
                expected = within_time(engine, curve, told, parse_duration(within))
                if any(window < FOREVER for window in outlook.plan.windows) or machine:
                    expected = min(expected, told.probability) if correction is None else expected
            if correction is not None:
                expected = correction.corrected(expected)
            if correction is None or isinstance(within, int):
                assert told.probability == pytest.approx(expected, abs=1e-6)


def within_time(engine: Engine, curve: list[float], told: Forecast, horizon: int) -> float:
    arrivals = engine.forecasts("q").arrivals
    assert arrivals is not None
    fits = arrived(arrivals.known[told.run].atoms, horizon, MOST)
    return sum((curve[n] - curve[n - 1]) * fits[n] for n in range(1, MOST + 1))


def track_of(engine: Engine, run: str | int) -> KeyState:
    outlook = engine.forecasts("q")
    (pulse,) = [pulse for pulse in outlook.stream.keys.values() if pulse.run == run]
    return pulse.states[outlook.number]
