"""What retention removes, from numbers alone; and in a store, whose power goes meanwhile."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from doubles.ledger import Ledger
from doubles.simulated_files import PowerLoss, SimulatedFiles

from broker.events import DefinitionError
from broker.kernel.records import StreamRemoved
from broker.storage import Durability, Retention, Store
from broker.storage.retention import Extent, plan

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
    found = plan(SEGMENTS, 50, needed_after, limits, now)
    assert found == [extent.name for extent in SEGMENTS[:removed]]


def test_limits_are_checked() -> None:
    with pytest.raises(DefinitionError, match=r"retention\.age: expected a whole number from 1 on, found int 0"):
        Retention(age=0)


SETTINGS = Durability(segment_bytes=300, growth_bytes=300, record_bytes=100, retention=Retention(age=10))


def test_a_store_starts_after_a_loss_of_power_wherever_it_was_removing_segments() -> None:
    for after in (*range(12), None):
        files = SimulatedFiles(Random(0))
        store = Store(files, bytes(16), SETTINGS, 0)
        ledger = Ledger()
        store.recover(ledger)
        for number in range(1, 41):
            record = StreamRemoved(str(number))
            store.reserve()
            ledger.replay(store.append(record, number), number, record)
            if number in (20, 30):
                store.checkpoint(ledger, number)
        files.losing_power_after = after
        with suppress(PowerLoss):
            store.retain(10**9)
        assert store.journal.first <= 21, "the older checkpoint is held"
        assert after is not None or store.journal.first > 1
        files.lose_power()
        recovered = Ledger()
        Store(files, bytes(16), SETTINGS, 0).recover(recovered)
        assert recovered.position >= 30
