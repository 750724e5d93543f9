"""The trial of waits goes through broker and client, and its questions make a row of each case. No time is judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.broker_latency import message
from benchmarks.measuring import QUICK
from benchmarks.measuring import trial as run_trial
from benchmarks.questions import durability, latency


def test_the_last_row_of_a_message_is_the_one_that_is_told() -> None:
    times, rows = message(7, 3)
    assert times == [7, 7, 7]
    assert [row[1:] for row in rows] == [(7, 0), (7, 0), (7, 1)]


@pytest.mark.parametrize("mode", [durability.NONE, durability.JUDGED])
def test_every_message_is_notified_of_once(mode: str, tmp_path: Path) -> None:
    job = {**latency.job(100, QUICK), "messages": 40, "warm": 5}
    if mode != durability.NONE:
        job |= {"fsync": mode, "folder": str(tmp_path)}
    found = run_trial(latency.MODULE, job)
    assert found["messages"] == 40
    assert found["capacity"] > 0
    assert 0 < found["p50"] <= found["p99"] <= found["longest"]
    assert 0 < found["sent_p99"] <= found["p99"]
    assert found["machine_p99"] > 0
    for part in latency.CPU:
        assert set(found[part]) == set(latency.PROCESSES)
        assert all(used >= 0 for used in found[part].values())
    assert list(tmp_path.iterdir()) == [], "the journal goes with its trial"


def test_a_journal_goes_where_it_is_told_to() -> None:
    there = QUICK.__class__(10, 0, 10_000, 1, 1, {durability.FOLDER: Path("/there")})
    assert durability.job("always", there)["folder"] == "/there"
    assert durability.job("os", QUICK)["folder"] is None
    assert "fsync" not in durability.job(durability.NONE, there)


def test_a_file_system_is_that_of_the_longest_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    monkeypatch.setattr(durability, "_MOUNTS", mounts)
    assert durability.file_system(tmp_path) == "unknown"
    mounts.write_text(f"a / ext4 rw\nb {tmp_path.resolve()} tmpfs rw\nc {tmp_path.resolve()}/other xfs rw\n")
    assert durability.file_system(tmp_path / "journal") == "tmpfs"
    assert durability.file_system(Path("/")) == "ext4"


def test_answers_are_shown() -> None:
    spread = {"least": 1.0, "median": 2.0, "most": 3.0}
    case: dict[str, Any] = {"name": "1"} | dict.fromkeys(latency.FIGURES, spread)
    case |= {part: dict.fromkeys(latency.PROCESSES, spread) for part in latency.CPU}
    assert latency.processors(case, "busy_cpu") == "2.00 + 2.00 + 2.00"
    assert latency.table({"cases": [case | {"reached": ["no", "aim"]}]}).row_count == 1
    answer = {"file_system": "ext4", "cases": [case | {"kept": spread, "reached": "must"}]}
    assert durability.table(answer).row_count == 1
