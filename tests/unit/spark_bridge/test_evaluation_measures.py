"""Measures from histograms are those that a slow reading of the forecasts themselves finds, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.events import DefinitionError
from broker.forecast.calibration import MILLIONTHS
from broker.forecast.judging import COLUMNS, Bin, StateForecast
from spark_bridge.evaluation.measures import MEASURES, added, event_horizons, measures, reliability, thousandths

NAMES = [name for name, _ in MEASURES]
chances = st.one_of(st.floats(0.0, 1.0), st.integers(0, 1000).map(lambda n: n / 1000))
predictions = st.lists(st.tuples(chances, st.booleans()), max_size=30)


def histogram_of(values: list[tuple[float, bool]], censored: Sequence[float] = ()) -> dict[int, Any]:
    bins: list[dict[int, Bin]] = [{}]
    for chance, came in values:
        StateForecast((), [chance], bins).record(0, came, 1)
    for chance in censored:
        StateForecast((), [chance], bins).bins[0].censored += 1
    return {bucket: own.sums() for bucket, own in bins[0].items()}


@given(values=predictions, censored=st.lists(chances, max_size=3))
def test_measures_are_those_of_the_forecasts(values: list[tuple[float, bool]], censored: list[float]) -> None:
    thresholds = [0, 1, 300, 500, 999]
    for threshold, row in zip(thresholds, measures(histogram_of(values, censored), thresholds)):
        found = dict(zip(NAMES, row, strict=True))
        told = [(p, came) for p, came in values if p > threshold / 1000]
        positives = sum(came for _, came in values)
        assert found["predictions"] == len(values)
        assert found["censored"] == len(censored)
        assert found["told"] == len(told)
        true = sum(came for _, came in told)
        assert found["precision"] == (true / len(told) if told else None)
        assert found["recall"] == (true / positives if positives else None)
        if not values:
            assert found["brier"] is None
            continue
        base = positives / len(values)
        assert found["base_rate"] == base
        said = [(int(p * MILLIONTHS + 0.5) / MILLIONTHS, came) for p, came in values]
        assert found["brier"] == pytest.approx(sum((p - came) ** 2 for p, came in said) / len(said), abs=1e-12)
        loss = -sum(log(max(p if came else 1.0 - p, 1e-6)) for p, came in values) / len(values)
        if all(1e-6 <= p <= 1.0 - 1e-6 for p, _ in values):
            assert found["log_loss"] == pytest.approx(loss, abs=1e-5)
        pairs = [(p, q) for p, came in values if came for q, other in values if not other]
        if pairs and len({p for p, _ in values}) == len({int(p * 1000) for p, _ in values}):
            assert found["auc"] is not None


@given(values=predictions)
def test_reliability_is_that_of_the_forecasts(values: list[tuple[float, bool]]) -> None:
    found = reliability(histogram_of(values))
    assert sum(count for *_, count in found) == len(values)
    for place, said, came, count in found:
        low, high = place / 20, (place + 1) / 20
        own = [(p, hit) for p, hit in values if low < p <= high or (p == 0.0 and place == 0)]
        assert count == len(own)
        assert said == pytest.approx(sum(p for p, _ in own) / count, abs=1e-6)
        assert came == sum(hit for _, hit in own) / count


@given(one=predictions, other=predictions)
def test_histograms_add_up(one: list[tuple[float, bool]], other: list[tuple[float, bool]]) -> None:
    together = added([histogram_of(one), histogram_of(other)])
    assert measures(together, [0, 500]) == measures(histogram_of(one + other), [0, 500])


def test_matches_are_told_of_over_the_thresholds_that_were_exceeded() -> None:
    """One match, announced at 0.2 five events before it and at 0.7 two events before it; another one never."""
    sums = {name: [0, 0, 0] for name in COLUMNS}
    sums["matches"][0] = 2
    sums["foretold"] = [-1, 0, 1]
    sums["lead"] = [-5, 3, 2]
    buckets = dict(zip((0, 200, 700), zip(*[sums[name] for name in COLUMNS])))
    found = [dict(zip(NAMES, row)) for row in measures(buckets, [0, 199, 200, 699, 700])]
    assert [row["foretold"] for row in found] == [1, 1, 1, 1, 0]
    assert [row["lead"] for row in found] == [5, 5, 2, 2, None]
    assert [row["match_recall"] for row in found] == [0.5, 0.5, 0.5, 0.5, 0.0]


@pytest.mark.parametrize("thresholds", [[], [1.0], [-0.1], [0.1234], [True], ["0.5"], [float("nan")]])
def test_thresholds_are_whole_thousandths(thresholds: list[Any]) -> None:
    with pytest.raises(DefinitionError, match="threshold"):
        thousandths(thresholds)


@pytest.mark.parametrize("horizons", [[], [0], [10_001], [True], ["5 min"], [2.0]])
def test_horizons_are_events(horizons: list[Any]) -> None:
    with pytest.raises(DefinitionError, match="horizon"):
        event_horizons(horizons)


def test_thresholds_and_horizons_are_put_in_order() -> None:
    assert thousandths([0.9, 0.001, 0.9, 0]) == [0, 1, 900]
    assert event_horizons([5, 1, 5]) == [1, 5]
