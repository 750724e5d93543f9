"""What retention removes, from numbers alone; and in a store, that a cursor is told before anything is gone."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from doubles.ledger import Ledger
from doubles.simulated_files import PowerLoss, SimulatedFiles

from broker.events import DefinitionError
from broker.storage import Durability, Retention, Store
from broker.storage.records import ClockTick, CursorMoved, CursorOvertaken
from broker.storage.retention import Extent, Overtaken, plan

SEGMENTS = [Extent(f"s{n}", 10 * n + 1, 10 * n + 10, 100, 1_000 * (n + 1)) for n in range(5)]
ALL = 1_000


@pytest.mark.parametrize(
    ("limits", "now", "needed_after", "removed"),
    [
        (Retention(), 10**9, ALL, 0),
        (Retention(age=1_000), 3_500, ALL, 2),
        (Retention(age=1_000), 3_000, ALL, 1),
        (Retention(age=1_000), 10**9, ALL, 5),
        (Retention(age=1_000), 10**9, 29, 2),
        (Retention(age=1_000), 10**9, 20, 2),
        (Retention(age=1_000), 10**9, 19, 1),
        (Retention(age=1_000), 10**9, 0, 0),
        (Retention(size=350), 0, ALL, 2),
        (Retention(size=350), 0, 10, 1),
        (Retention(size=450), 0, ALL, 1),
        (Retention(size=1), 0, ALL, 5),
        (Retention(age=1_000, size=350), 4_500, ALL, 3),
    ],
)
def test_segments_go_whole_from_the_old_end(limits: Retention, now: int, needed_after: int, removed: int) -> None:
    found = plan(SEGMENTS, 50, needed_after, {}, limits, now)
    assert found.remove == tuple(extent.name for extent in SEGMENTS[:removed])


def test_cursors_that_lose_something_are_named() -> None:
    cursors = {"done": 20, "new": 0, "middle": 15, "ahead": 40}
    found = plan(SEGMENTS, 50, ALL, cursors, Retention(age=1_000), 3_500)
    assert found.overtaken == (Overtaken("middle", 16, 20), Overtaken("new", 1, 20))


def test_limits_are_checked() -> None:
    with pytest.raises(DefinitionError, match=r"retention\.age: expected a whole number from 1 on, found int 0"):
        Retention(age=0)


SETTINGS = Durability(segment_bytes=300, growth_bytes=300, record_bytes=100, retention=Retention(age=10))


def with_a_slow_cursor() -> tuple[SimulatedFiles, Store]:
    files = SimulatedFiles(Random(0))
    store = Store(files, bytes(16), SETTINGS, 0)
    ledger = Ledger()
    store.recover(ledger)
    for number in range(1, 41):
        record = CursorMoved("slow", 0) if number == 1 else ClockTick(number)
        store.reserve()
        ledger.replay(store.append(record, number), number, record)
        if number in (20, 30):
            store.checkpoint(ledger, number)
    return files, store


def test_a_cursor_is_told_what_it_has_missed() -> None:
    files, store = with_a_slow_cursor()
    told = store.retain({"slow": 0}, 10**9)
    first = store.journal.first
    assert told == [(41, CursorOvertaken("slow", 1, first - 1))]
    assert 1 < first <= 21, "the older checkpoint is held"
    files.lose_power()
    recovered = Ledger()
    Store(files, bytes(16), SETTINGS, 0).recover(recovered)
    assert recovered.cursors == {"slow": first - 1}


def test_nothing_is_removed_before_it_is_durable_that_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    _, store = with_a_slow_cursor()
    durable: list[int] = []
    remove = SimulatedFiles.remove

    def watched(files: SimulatedFiles, name: str) -> None:
        durable.append(store.journal.durable)
        remove(files, name)

    monkeypatch.setattr(SimulatedFiles, "remove", watched)
    ((position, _),) = store.retain({"slow": 0}, 10**9)
    assert durable
    assert min(durable) >= position


def test_it_is_told_wherever_the_power_goes() -> None:
    for after in range(12):
        files, store = with_a_slow_cursor()
        files.losing_power_after = after
        with suppress(PowerLoss):
            store.retain({"slow": 0}, 10**9)
        files.lose_power()
        recovered = Ledger()
        store = Store(files, bytes(16), SETTINGS, 0)
        store.recover(recovered)
        assert recovered.cursors.get("slow", 0) >= store.journal.first - 1
