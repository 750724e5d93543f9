"""One simulated backup from one seed: a source in which somebody works between two reads, a target that loses its
power as soon as the copy is said to be done, and a checker of what starts from it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from doubles.ledger import Ledger
from doubles.simulated_files import SimulatedFiles, Site

from broker.kernel.records import StreamRemoved
from broker.storage import Durability, Store
from broker.storage.copying import copy

IDENTITY = b"b" * 16
SETTINGS = Durability(segment_bytes=400, growth_bytes=300, record_bytes=100)


class Interfering(SimulatedFiles):
    """A folder that changes after each read of it."""

    between: Callable[[], None] | None = None

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        data = super().read(name, offset, length)
        if self.between is not None:
            self.between()
        return data


def back_up(seed: int, skipped: Site | None = None) -> set[Site]:
    """The lines that synced the copy. AssertionError or StorageError where the copy is not what was promised."""
    random = Random(seed)
    source = Interfering(random)
    store = Store(source, IDENTITY, SETTINGS, 0)
    ledger = Ledger()
    store.recover(ledger)
    chains = {0: ledger.chain}

    def work() -> None:
        if random.random() < 0.2:
            store.reserve()
            record = StreamRemoved(str(random.randrange(9)))
            ledger.replay(store.append(record, 0), 0, record)
            chains[ledger.position] = ledger.chain
            store.commit(0)
        if random.random() < 0.02:
            store.checkpoint(ledger, 0)

    for _ in range(random.randrange(50, 300)):
        work()
    source.between = work
    durable = store.journal.durable
    target = SimulatedFiles(random)
    target.skipped = skipped
    copied = copy(source, target)
    assert copied.position >= durable
    target.lose_power()
    target.skipped = None
    restored = Ledger()
    Store(target, IDENTITY, SETTINGS, 0).recover(restored)
    assert restored.position == copied.position
    assert restored.chain == chains[copied.position]
    return target.sites
