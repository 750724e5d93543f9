"""A real broker, killed under load again and again: nothing is lost, nothing is taken or told under two ids, and a
durable subscriber has every match of an engine that was never killed. The long form is torture.kills.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from torture.kills import kills


@pytest.mark.parametrize("fsync", ["always", "os"])
def test_killed_under_load_nothing_is_lost_and_nothing_taken_twice(tmp_path: Path, fsync: str) -> None:
    assert kills(3, 1, fsync, tmp_path).startswith("killed")


@pytest.mark.parametrize("kind", ["windows", "sessions", "clocks"])
def test_after_kills_windows_are_those_of_an_engine_without_any(tmp_path: Path, kind: str) -> None:
    assert kills(2, 2, "always", tmp_path, kind).startswith("killed")
