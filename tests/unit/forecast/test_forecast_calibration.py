"""Calibration against its definitions, and recalibration as the best monotone fit."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.forecast.calibration import BINS, SURPRISE_MAX, Calibration, bin_of, entropy, load_calibration, surprise
from broker.forecast.isotonic import fitted, load_correction, pooled
from broker.forecast.notifying import IssuedForecast, ResolvedForecast

outcomes = st.lists(st.tuples(st.integers(0, 1_000_000).map(lambda n: n / 1_000_000), st.booleans()), max_size=60)


def recorded(resolved: list[tuple[float, bool]]) -> Calibration:
    found = Calibration()
    for probability, outcome in resolved:
        found.record(probability, outcome)
        if outcome:
            found.matched(probability > 0.5)
    return found


@given(outcomes.filter(bool))
def test_measures_are_those_of_their_definitions(resolved: list[tuple[float, bool]]) -> None:
    calibration = recorded(resolved)
    calibration.check_invariants()
    found = calibration.summary()
    n = len(resolved)
    base = sum(outcome for _, outcome in resolved) / n
    assert found["predictions"] == n
    assert found["base_rate"] == base
    assert found["brier"] == pytest.approx(sum((p - o) ** 2 for p, o in resolved) / n, abs=1e-9)
    assert found["brier_base"] == pytest.approx(sum((base - o) ** 2 for _, o in resolved) / n, abs=1e-9)
    losses = [min(20.0, -log(q) if q > 0 else 20.0) for q in (p if o else 1 - p for p, o in resolved)]
    assert found["log_loss"] == pytest.approx(sum(losses) / n, abs=1e-5)
    assert found["log_loss_base"] == pytest.approx(entropy(base))
    bins = [[(p, o) for p, o in resolved if bin_of(p) // 5 == number] for number in range(20)]
    shown = [(sum(p for p, _ in b) / len(b), sum(o for _, o in b) / len(b), len(b)) for b in bins if b]
    for expected, row in zip(shown, calibration.reliability(), strict=True):
        assert row == pytest.approx(expected)
    assert found["ece"] == pytest.approx(sum(abs(p - o) * count for p, o, count in shown) / n, abs=1e-9)
    pairs = [(bin_of(p), bin_of(q)) for p, o in resolved if o for q, r in resolved if not r]
    wins = sum(1.0 if p > q else 0.5 if p == q else 0.0 for p, q in pairs)
    assert found["auc"] == (pytest.approx(wins / len(pairs)) if pairs else None)


@given(outcomes, outcomes)
def test_calibrations_do_not_depend_on_order(a: list[tuple[float, bool]], b: list[tuple[float, bool]]) -> None:
    assert recorded(a + b).dump() == recorded(b + a).dump()
    assert load_calibration(json.loads(json.dumps(recorded(a).dump()))).dump() == recorded(a).dump()


def test_probabilities_are_taken_to_the_nearest_millionth() -> None:
    for millionths in range(0, 1_000_001, 997):
        assert sum(recorded([(millionths / 1_000_000, True)]).said) == millionths


def test_notices_have_precision_recall_and_lead() -> None:
    calibration = Calibration()
    forecast = IssuedForecast("id", "a", 3, 8, 3, 0.9, 1)
    for outcome, lead in ((True, 2), (True, 5), (True, 5), (False, None), ("censored", None)):
        calibration.resolved(ResolvedForecast(forecast, outcome, lead))  # type: ignore[arg-type]
    for foretold in (True, True, True, False):
        calibration.matched(foretold)
    found = calibration.summary()
    assert (found["notices"], found["precision"], found["recall"], found["lead"]) == (5, 0.75, 0.75, 4.0)
    assert (found["brier"], found["ece"], found["auc"], found["base_rate"]) == (None, None, None, None)


def test_the_base_rate_has_no_skill() -> None:
    found = recorded([(0.25, outcome) for outcome in (True, False, False, False)]).summary()
    assert found["brier_skill"] == pytest.approx(0.0, abs=1e-12)
    assert found["log_loss"] == pytest.approx(found["log_loss_base"], abs=1e-6)
    assert found["ece"] == 0.0


points = st.lists(st.integers(1, 20).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1)


@given(points)
def test_pools_do_not_fall_and_keep_the_mean(drawn: list[tuple[int, int]]) -> None:
    values = pooled(drawn)
    assert len(values) == len(drawn)
    assert all(0.0 <= a <= b <= 1.0 for a, b in pairwise([0.0, *values, 1.0]))
    mean = sum(value * number for value, (number, _) in zip(values, drawn))
    assert mean == pytest.approx(sum(trues for _, trues in drawn))


@given(points, st.integers(0, 20), st.integers(0, 20))
def test_no_other_monotone_function_fits_better(drawn: list[tuple[int, int]], low: int, high: int) -> None:
    def error(values: list[float]) -> float:
        return sum(n * (v - t / n) ** 2 for v, (n, t) in zip(values, drawn))

    best = pooled(drawn)
    share = sum(t for _, t in drawn) / sum(n for n, _ in drawn)
    assert error(best) <= error([share] * len(drawn)) + 1e-9
    # Max-min formula of isotonic regression: the value at i is the greatest over a <= i of the least mean of a .. b.
    for place, value in enumerate(best):
        expected = max(
            min(sum(t for _, t in drawn[a:b]) / sum(n for n, _ in drawn[a:b]) for b in range(place + 1, len(drawn) + 1))
            for a in range(place + 1)
        )
        assert value == pytest.approx(expected)
    clipped = [min(max(v, low / 20), max(low, high) / 20) for v in best]
    assert error(best) <= error(clipped) + 1e-9


@given(outcomes.filter(bool))
def test_corrections_do_not_fall_and_keep_what_is_impossible(resolved: list[tuple[float, bool]]) -> None:
    calibration = recorded(resolved)
    correction = fitted(calibration.counts, calibration.hits, outcomes_min=1)
    assert correction is not None
    corrected = [correction.corrected(n / 1000) for n in range(1001)]
    assert all(a <= b for a, b in pairwise(corrected))
    assert (corrected[0], corrected[-1]) == (0.0, 1.0)
    inner = [(p, o) for p, o in resolved]
    mean = sum(correction.values[bin_of(p)] for p, _ in inner) / len(inner)
    assert mean == pytest.approx(calibration.summary()["base_rate"])
    assert load_correction(json.loads(json.dumps(correction.dump()))) == correction


def test_too_few_outcomes_are_not_corrected() -> None:
    assert fitted([199] + [0] * (BINS - 1), [3] + [0] * (BINS - 1)) is None


def test_bins_without_outcomes_belong_to_those_below() -> None:
    counts, hits = [0] * BINS, [0] * BINS
    counts[10], counts[20], hits[10], hits[20] = 100, 100, 10, 60
    correction = fitted(counts, hits)
    assert correction is not None
    assert correction.values == (*[0.1] * 20, *[0.6] * (BINS - 20))


def test_a_crooked_forecaster_is_put_right() -> None:
    chance = random.Random(17)
    training, test, raw = Calibration(), Calibration(), Calibration()
    for _ in range(20_000):
        said = chance.random()
        training.record(said, chance.random() < said**2)
    correction = fitted(training.counts, training.hits)
    assert correction is not None
    for _ in range(20_000):
        said = chance.random()
        outcome = chance.random() < said**2
        raw.record(said, outcome)
        test.record(correction.corrected(said), outcome)
    assert raw.summary()["ece"] > 0.15
    assert test.summary()["ece"] < 0.02
    assert test.summary()["brier"] < raw.summary()["brier"]


def test_surprise_is_a_bounded_loss() -> None:
    assert surprise(1.0) == 0
    assert surprise(0.5) == round(log(2) * 1e6)
    assert surprise(0.0) == surprise(-1.0) == SURPRISE_MAX
