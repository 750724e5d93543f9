"""The trial of waits goes through broker and client, and its question makes a row of each batch. No time is judged."""

from __future__ import annotations

from benchmarks.broker_latency import message
from benchmarks.measuring import QUICK
from benchmarks.measuring import trial as run_trial
from benchmarks.questions import latency


def test_the_last_row_of_a_message_is_the_one_that_is_told() -> None:
    times, rows = message(7, 3)
    assert times == [7, 7, 7]
    assert [row[1:] for row in rows] == [(7, 0), (7, 0), (7, 1)]


def test_every_message_is_notified_of_once() -> None:
    found = run_trial(latency.MODULE, {**latency.job(100, QUICK), "messages": 40, "warm": 5})
    assert found["messages"] == 40
    assert found["capacity"] > 0
    assert 0 < found["p50"] <= found["p99"] <= found["longest"]


def test_answers_are_shown() -> None:
    spread = {"least": 1.0, "median": 2.0, "most": 3.0}
    case = {"name": "1", "capacity": spread, "p50": spread, "p99": spread, "longest": spread, "reached": ["no", "aim"]}
    assert latency.table({"cases": [case]}).row_count == 1
