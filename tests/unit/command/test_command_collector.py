"""The collector of cycles looks rarely at the objects of a process that is Foretell's own."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.collector import YOUNG_MAX
from broker.command.shell import perform


@pytest.fixture
def as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("as_before")
def test_a_run_lets_the_collector_look_rarely(tmp_path: Path) -> None:
    subscriptions, events = tmp_path / "s.toml", tmp_path / "e.jsonl"
    subscriptions.write_text('[streams.S]\nattributes = { p = "int" }\n')
    events.write_text("")
    gc.set_threshold(700, 10, 10)
    assert perform(["run", str(subscriptions), "--events", str(events)]) == 0
    assert gc.get_threshold()[0] == YOUNG_MAX
    assert gc.isenabled()
