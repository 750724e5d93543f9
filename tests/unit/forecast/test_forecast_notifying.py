"""Notices: on the upward crossing, once a run until resolved, each resolved once; nothing is lost on the way."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.forecast.notifying import IssuedForecast, Notifier, ResolvedForecast, forecast_id, load_notifier
from broker.forecast.pending import OpenPredictions, PredictionQueue, load_open_predictions

WITHIN = 4
THRESHOLD = 0.5


def watch() -> Notifier:
    return Notifier("s", THRESHOLD, WITHIN)


def told(of: Notifier, clock: int, probability: float, run: str = "a") -> bool:
    return of.update(run, clock, 1000 * clock, probability, 1) is not None


def test_the_upward_crossing_is_told_once() -> None:
    w = watch()
    assert [told(w, clock, p) for clock, p in enumerate([0.4, 0.5, 0.6, 0.9])] == [False, False, True, False]
    assert not told(w, 4, 0.1)
    assert not told(w, 5, 0.9)  # crosses again, but what was told is not resolved
    assert [f.clock for f in w.outstanding()] == [2]
    assert told(w, 5, 0.9, run="b")
    w.check_invariants()
    assert w.statistics() == {"outstanding": 2, "above": 2}


def test_a_match_in_time_is_true_and_begins_anew() -> None:
    w = watch()
    told(w, 2, 0.6)
    resolution = w.matched("a", 6)
    assert resolution is not None
    assert (resolution.outcome, resolution.lead, resolution.forecast.deadline) == (True, 4, 6)
    assert w.matched("a", 7) is None
    assert told(w, 7, 0.6)  # no need to fall first


def test_without_a_match_in_time_it_is_false_and_must_fall_first() -> None:
    w = watch()
    told(w, 2, 0.6)
    assert w.advance("a", 5) is None
    assert w.advance("a", 6, time_passes=True) is None  # a match may still come in this microsecond
    assert w.advance("a", 6) == ResolvedForecast(
        IssuedForecast(forecast_id("s", "a", 2), "a", 2, 6, 2000, 0.6, 1), False
    )
    assert not told(w, 6, 0.7)
    assert not told(w, 7, 0.3)
    assert told(w, 8, 0.7)
    late = w.matched("a", 13)
    assert late is not None
    assert (late.outcome, late.lead) == (False, None)


def test_a_new_run_of_the_same_name_may_cross_while_the_old_notice_stands() -> None:
    w = watch()
    told(w, 1, 0.9)
    w.reset("a")
    assert not told(w, 2, 0.9)
    assert len(w.outstanding()) == 1


def test_on_a_common_clock_deadlines_pass_in_order() -> None:
    w = watch()
    for clock, run in enumerate("abc"):
        told(w, clock, 0.9, run)
    assert [r.forecast.run for r in w.expire(4)] == []
    assert [(r.forecast.run, r.outcome) for r in w.expire(6)] == [("a", False), ("b", False)]
    assert [(r.forecast.run, r.outcome) for r in w.close()] == [("c", "censored")]
    assert w.close() == []
    assert told(w, 9, 0.9, "c")


def test_a_long_queue_keeps_each_prediction_with_its_clock() -> None:
    queue = PredictionQueue()
    for clock in range(200):
        queue.predict(clock, clock / 200, clock % 3 == 0)
    assert [queue.take() for _ in range(150)] == [clock / 200 for clock in range(150)]
    assert queue.open() == [[clock, clock / 200, clock % 3 == 0] for clock in range(150, 200)]
    for clock in range(200, 300):  # in the place of those that were taken
        queue.predict(clock, clock / 200, clock % 3 == 0)
    assert queue.open() == [[clock, clock / 200, clock % 3 == 0] for clock in range(150, 300)]


def test_ids_tell_forecasts_apart_and_are_always_the_same() -> None:
    ids = [forecast_id(s, r, c) for s in ("s", "t") for r in ("1", 1, "a") for c in (0, 1)]
    assert len(set(ids)) == len(ids)
    assert len(forecast_id("s", "a", 2)) == 16


def test_limits_of_a_watch() -> None:
    for threshold, within in ((1.0, 5), (-0.1, 5), (0.5, 0)):
        with pytest.raises(ValueError, match="expected 0 <= threshold < 1 <= within"):
            Notifier("s", threshold, within)


@dataclass
class Told:
    """What one run should have been told, step by step from the definition."""

    probabilities: list[float] = field(default_factory=list)
    open_since: int | None = None


events = st.tuples(st.sampled_from(["a", "b", 3]), st.floats(0, 1), st.sampled_from([False, False, False, True]))


@given(st.lists(events, max_size=60), st.sets(st.integers(0, 60), max_size=4))
def test_notices_and_outcomes_are_those_of_the_definition(
    happened: list[tuple[str | int, float, bool]], saved: set[int]
) -> None:
    w = watch()
    clocks: dict[str | int, int] = {}
    model: dict[str | int, Told] = {}
    made: list[str] = []
    ended: list[str] = []
    for number, (run, probability, match) in enumerate(happened):
        if number in saved:
            w = load_notifier(json.loads(json.dumps(w.dump())))
        clock = clocks[run] = clocks.get(run, 0) + 1
        expected = model.setdefault(run, Told())
        resolution = w.matched(run, clock) if match else w.advance(run, clock)
        since = expected.open_since
        if since is not None and (match or clock == since + WITHIN):
            assert resolution is not None
            assert (resolution.forecast.clock, resolution.outcome) == (since, match)
            assert resolution.lead == (clock - since if match else None)
            ended.append(resolution.forecast.id)
            expected.open_since = None
        else:
            assert resolution is None
        if match:
            expected.probabilities.clear()
        found = w.update(run, clock, number, probability, 2)
        below_before = not expected.probabilities or expected.probabilities[-1] <= THRESHOLD
        expected.probabilities.append(probability)
        if probability > THRESHOLD and below_before and expected.open_since is None:
            assert found == IssuedForecast(
                forecast_id("s", run, clock), run, clock, clock + WITHIN, number, probability, 2
            )
            made.append(found.id)
            expected.open_since = clock
        else:
            assert found is None
        w.check_invariants()
    ended += [resolution.forecast.id for resolution in w.close()]
    assert sorted(ended) == sorted(made)


@given(st.lists(events, max_size=60), st.sets(st.integers(0, 60), max_size=4))
def test_every_prediction_gets_its_outcome(happened: list[tuple[str | int, float, bool]], saved: set[int]) -> None:
    pending = OpenPredictions()
    clocks: dict[str | int, int] = {}
    made: dict[str | int, list[tuple[int, float]]] = {}
    matches: dict[str | int, list[int]] = {}
    trues: list[float] = []
    falses: list[float] = []
    for number, (run, probability, match) in enumerate(happened):
        if number in saved:
            pending = load_open_predictions(json.loads(json.dumps(pending.dump())))
        clock = clocks[run] = clocks.get(run, 0) + 1
        queue = pending.of(run)
        while queue.due(clock - WITHIN - (1 if match else 0)):
            falses.append(queue.take())
        if match:
            matches.setdefault(run, []).append(clock)
            while len(queue):
                trues.append(queue.take())
        queue.predict(clock, probability)
        made.setdefault(run, []).append((clock, probability))
    censored = pending.close()
    expected: dict[bool | None, list[float]] = {True: [], False: [], None: []}
    for run, predictions in made.items():
        for clock, probability in predictions:
            came = any(clock < m <= clock + WITHIN for m in matches.get(run, []))
            known = came or clock + WITHIN <= clocks[run]
            expected[came if known else None].append(probability)
    assert sorted(trues) == sorted(expected[True])
    assert sorted(falses) == sorted(expected[False])
    assert censored == (len(expected[None]), 0)
    assert len(pending) == 0
