"""The benchmark of register automata measures what it says: every case runs, and lateness changes no result."""

from __future__ import annotations

import json

import pytest

from benchmarks.afa import trial, workloads
from benchmarks.questions import afa

EVENTS = 400
CASES = afa.cases(EVENTS)


@pytest.mark.parametrize("name", [name for name in CASES if name != "memory"])
def test_every_case_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "PASSES", 1)
    monkeypatch.setattr(trial, "unit_seconds", lambda batches: 1.0)
    monkeypatch.setattr(trial, "BATCHES", 1)
    found = trial.measure(json.loads(json.dumps(CASES[name])))
    assert found["events"] == CASES[name]["events"]
    late = CASES[name].get("late", 0.0)
    if late and "lineage" not in name:
        again = trial.measure({**CASES[name], "late": 0.0})
        assert found["inserted"] - found["retracted"] == again["inserted"]


def test_prices_go_up_as_often_as_asked() -> None:
    events = workloads.rows(10_000, 0.7)
    assert 0.68 < sum(1 for row in events if isinstance(row[1], float) and row[1] > 0) / len(events) < 0.72


def test_late_events_are_a_share_and_none_is_lost() -> None:
    came = workloads.arrivals(workloads.rows(10_000), 0.2)
    assert sorted(time for time, _ in came) == list(range(1, 10_001))
    newest, late = 0, 0
    for time, _ in came:
        late += time < newest
        newest = max(newest, time)
    assert 0.18 < late / len(came) < 0.22
