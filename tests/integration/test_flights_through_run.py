"""Acceptance: a year of real flights through `foretell run`, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from doubles.nothing_wrong import NOTHING_WRONG
from integration.flights_by_schedule import KEPT, MATCHES, SUBSCRIPTIONS, counted, departures


@pytest.mark.slow
def test_three_late_departures_in_a_row_through_run(tmp_path: Path) -> None:
    rows = departures()
    expected = counted(rows)
    assert (len(rows), len(expected)) == (KEPT, MATCHES)

    events, subscriptions = tmp_path / "departures.csv", tmp_path / "subscriptions.toml"
    lines = (f"{position},{tail},{flight},{delay}\n" for position, (tail, flight, delay) in enumerate(rows, 1))
    events.write_text("time,tail,flight,delay\n" + "".join(lines))
    subscriptions.write_text(SUBSCRIPTIONS)

    command = [sys.executable, "-m", "broker.command", "run", str(subscriptions), "--events", str(events)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stderr) == (0, NOTHING_WRONG)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [result["lineage"] for result in results] == expected
    first = results[0]
    tail, (a, b, c) = rows[first["end"] - 1][0], [rows[position - 1][2] for position in first["lineage"]]
    assert first["data"] == {"tail": tail, "first": a, "second": b, "third": c}
