"""The trial of open pages goes through broker, pages and client, and its question makes a row of each. No time is
judged."""

from __future__ import annotations

from benchmarks.measuring import QUICK
from benchmarks.measuring import trial as run_trial
from benchmarks.questions import console


def test_stretches_with_and_without_pages_are_measured_in_turn() -> None:
    job = {**console.job(QUICK), "busy": 40, "warm": 5, "messages": 30, "pages": [1, 3], "rounds": 2}
    found = run_trial(console.MODULE, job)
    assert found["capacity"] > 0
    assert [case["pages"] for case in found["cases"]] == [0, 1, 3]
    for case in found["cases"]:
        assert 0 < case["p50"] <= case["p99"]
        assert len(case["p99_relative"]) == len(case["cpu_relative"]) == 2
    assert found["cases"][0]["p99_relative"] == [1.0, 1.0]


def test_pages_are_judged_by_the_median_of_rounds() -> None:
    trial = {"pages": 50, "p50": 1.0, "p99": 2.0, "p99_relative": [0.9, 1.05, 9.0], "cpu_relative": [1.0, 1.1, 1.2]}
    case = console.summary([trial])
    assert case["reached"]
    assert console.table({"cases": [case]}).row_count == 1
    assert not console.summary([{**trial, "p99_relative": [1.05, 1.2, 1.3]}])["reached"]
