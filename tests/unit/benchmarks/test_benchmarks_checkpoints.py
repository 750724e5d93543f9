"""The trial of a checkpoint, with a small state: that it runs, and that its figures are possible."""

from __future__ import annotations

from pathlib import Path

from benchmarks.checkpoint_trial import measure, prepare


def test_both_ways_are_measured_on_one_journal(tmp_path: Path) -> None:
    assert prepare(tmp_path / "data", 20, 3) > 1_000
    for way in ("fork", "loop"):
        found = measure({"folder": str(tmp_path), "way": way})
        assert 0 < found["held_ms"] <= 1_000 * found["took_s"]
        assert 0 < found["longest_ms"] <= 1_000 * found["took_s"]
        assert 0 < found["memory_before_mb"] <= found["memory_most_mb"]
