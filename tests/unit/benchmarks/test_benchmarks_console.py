"""The trial of open pages goes through broker, pages and client, and its question makes a row of each. No time is
judged."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.intervals import Interval
from benchmarks.measuring import QUICK
from benchmarks.measuring import trial as run_trial
from benchmarks.questions import console


def test_blocks_with_and_without_pages_are_measured_in_turn() -> None:
    job = {**console.job(QUICK), "busy": 40, "warm": 5, "messages": 30, "pages": [1, 3], "rounds": 2}
    found = run_trial(console.MODULE, job)
    assert found["capacity"] > 0
    assert found["seconds"] > 0
    assert [case["pages"] for case in found["cases"]] == [0, 1, 3]
    for case in found["cases"]:
        assert 0 < case["p50"] <= case["p99"]
        assert case["longest"] > 0
        for name in ("p99_control", "p99_relative", "loop_cpu_relative", "cpu_relative", "held"):
            assert len(case[name]) == 2
            assert all(each >= 0 for each in case[name])
    for name in ("p99_control", "p99_relative", "loop_cpu_relative", "cpu_relative"):
        assert found["cases"][0][name] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("p99", "reached"),
    [([0.98, 1.0, 1.02] * 10, True), ([1.2, 1.3, 1.25] * 10, False), ([0.5, 1.1, 1.8] * 4, None)],
)
def test_pages_are_judged_by_the_interval_of_the_median(p99: list[float], reached: bool | None) -> None:
    more = {"loop_cpu_relative": [1.0, 1.1], "cpu_relative": [1.0, 1.1], "held": [0.001, 0.002]}
    own = {"pages": 50, "p50": 1.0, "p99": 2.0, "longest": 0.8}
    trial: dict[str, Any] = {**own, "p99_control": [2.0, 3.0], "p99_relative": p99, **more}
    case = console.summary(trial)
    assert case["reached"] is reached
    assert console.table({"cases": [case]}).row_count == 1


def test_an_interval_has_the_median_and_grows_with_the_spread() -> None:
    narrow, wide = (Interval.of([1 + most * at / 30 for at in range(-30, 31)]) for most in (0.01, 0.5))
    for found in (narrow, wide):
        assert found.low < found.median < found.high
        assert found.median == 1.0
    assert wide.high - wide.low > 10 * (narrow.high - narrow.low)
    assert Interval.of([1 + 0.5 * at / 30 for at in range(-30, 31)]) == wide
