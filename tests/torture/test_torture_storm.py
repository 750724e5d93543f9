"""A broker's restart, and all its clients at once: each is back, nothing is told twice. Long form: torture.storm."""

from __future__ import annotations

from torture.storm import storm


def test_all_clients_come_back_after_a_restart_and_are_told_everything_once() -> None:
    assert storm(100, 1) > 0
