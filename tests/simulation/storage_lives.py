"""One simulated history of a broker's folder from one seed: lives that append, commit, save and end badly, and a
checker that knows what each of them was told. No assertion of a test is here, only those of the checker.

What must hold after each end: the records found are an exact prefix of those appended, with everything that was called
durable (after a loss of power) or written (after the end of the process alone); a checkpoint that was announced is
found; a cursor whose records are gone has been told; and nothing is refused, for nothing was damaged.
"""

from __future__ import annotations

from random import Random

from doubles.ledger import Ledger
from doubles.simulated_files import PowerLoss, SimulatedFiles, Site

from broker.kernel.records import CursorMoved, Record, StreamRemoved, SubscriptionRemoved
from broker.storage import Durability, Retention, StorageFailed, StorageFull, Store
from broker.storage.settings import FSYNC

IDENTITY = b"0123456789abcdef"


class History:
    """All lives of one folder. `events` counts what the simulation has met, to see that it meets everything."""

    def __init__(self, seed: int, skipped: Site | None = None) -> None:
        self.random = random = Random(seed)
        self.disk = SimulatedFiles(random)
        self.disk.skipped = skipped
        self.settings = Durability(
            fsync=random.choice(FSYNC),
            interval=random.randrange(1, 2_000),
            segment_bytes=random.randrange(200, 1_500),
            growth_bytes=random.randrange(1, 600),
            record_bytes=200,
            retention=Retention(
                age=random.choice((None, random.randrange(1, 3_000))),
                size=random.choice((None, random.randrange(500, 4_000))),
            ),
        )
        self.now = 1_000_000
        self.written: list[bytes] = [Ledger().chain]  # the ledger's chain after each position
        self.times: list[int] = [0]
        self.durable = 0  # the position that has to be found again after a loss of power
        self.must = 0  # the same after what has happened
        self.announced = 0  # the checkpoint that has to be found again
        self.events: dict[str, int] = {}

    def met(self, event: str, count: int = 1) -> None:
        self.events[event] = self.events.get(event, 0) + count

    def run(self) -> None:
        """Some lives, and the last recovery."""
        for _ in range(self.random.randrange(2, 6)):
            self.live()
        self.disk.losing_power_after = self.disk.failing_after = self.disk.capacity = None
        store, ledger = self.start()
        self.check_reading(store, ledger)
        store.close()

    def live(self) -> None:
        random, disk = self.random, self.disk
        if random.random() < 0.6:
            disk.losing_power_after = random.randrange(0, 150)
        if random.random() < 0.2:
            disk.failing_after = random.randrange(0, 30)
        store: Store | None = None
        try:
            store, ledger = self.start()
            for _ in range(random.randrange(0, 40)):
                self.act(store, ledger)
                store.check_invariants()
            ending = random.choice(("kill", "power", "close", "close and power"))
            if "close" in ending:
                store.close()
                self.durable = self.must = store.journal.position
                self.met("closed")
            if "power" in ending:
                self.lose_power(store)
            else:
                self.durable = store.journal.durable
                self.must = store.journal.written  # whatever the mode: the system has it
                disk.kill()
        except PowerLoss:
            self.met("power lost within")
            self.lose_power(store)
        except StorageFailed:
            self.met("failed")
            self.durable = self.must = self.durable if store is None else store.journal.durable
            if random.random() < 0.5:
                self.lose_power(store)
            else:
                disk.kill()  # what was dropped can still be read
        except StorageFull:
            self.met("full at the start")
            disk.capacity = None
            disk.kill()

    def lose_power(self, store: Store | None) -> None:
        self.durable = self.must = self.durable if store is None else store.journal.durable
        self.disk.lose_power()
        self.met("power lost")

    def start(self) -> tuple[Store, Ledger]:
        store = Store(self.disk, IDENTITY, self.settings, self.now)
        ledger = Ledger()
        recovery = store.recover(ledger)
        found = store.journal.position
        assert recovery.aside == (), "no checkpoint is damaged"
        assert recovery.checkpoint >= self.announced, "a checkpoint that was announced is found"
        assert self.must <= found < len(self.written), (
            f"found {found} records of {len(self.written) - 1}, {self.must} told"
        )
        assert ledger.position == found
        assert ledger.chain == self.written[found], "an exact prefix"
        del self.written[found + 1 :], self.times[found + 1 :]
        self.times[0] = store.journal.time if found == 0 else self.times[0]  # when the journal was begun
        assert self.times[found] == store.journal.time
        self.durable, self.announced = found, recovery.checkpoint
        store.check_invariants()
        self.met("started")
        self.met("cut", recovery.torn)
        self.met("from a checkpoint", bool(recovery.checkpoint))
        return store, ledger

    def act(self, store: Store, ledger: Ledger) -> None:
        random, journal = self.random, store.journal
        self.now += random.choice((-50, 0, 1, 100, 1_000))
        match random.randrange(12):
            case 0:
                made = store.checkpoint(ledger, self.now)
                if made is not None:
                    self.announced = made.position
                    self.met("checkpoints")
            case 1:
                first = journal.first
                store.retain(self.now)
                self.met("removed", journal.first > first)
            case 2:
                self.check_reading(store, ledger)
            case 3:
                used = sum(map(self.disk.size, self.disk.names()))
                self.disk.capacity = None if self.disk.capacity else used + random.randrange(0, 300)
            case 4 | 5 | 6 | 7:
                for _ in range(random.randrange(1, 4)):
                    self.append(store, ledger)
            case 8 | 9 | 10:
                safe = store.commit(self.now)
                assert safe == journal.safe == journal.position
                assert self.settings.fsync != "always" or journal.durable == journal.position
            case _:
                sync = store.begin()
                if sync is not None:
                    self.append(store, ledger)  # while it is under way
                    sync.run()
                    store.settle(sync)
                    assert journal.durable >= sync.position

    def append(self, store: Store, ledger: Ledger) -> None:
        record = self.record()
        before = store.journal.position
        try:
            store.reserve()
        except StorageFull:
            self.met("full")
            assert store.journal.position == before
            self.disk.capacity = None
            store.reserve()  # there is room again, and it goes on
        self.appended(ledger, store.append(record, self.now), record)

    def record(self) -> Record:
        match self.random.randrange(6):
            case 0:
                return CursorMoved("c", self.random.randrange(100))
            case 1:
                return SubscriptionRemoved("s" * self.random.randrange(0, 150))
            case _:
                return StreamRemoved(str(self.random.randrange(100)))

    def appended(self, ledger: Ledger, position: int, record: Record) -> None:
        assert position == len(self.written)
        self.times.append(max(self.now, self.times[-1]))
        ledger.replay(position, self.times[-1], record)
        self.written.append(ledger.chain)
        self.met("records")

    def check_reading(self, store: Store, ledger: Ledger) -> None:
        journal = store.journal
        after = self.random.randrange(journal.first - 1, journal.position + 1)
        entries = list(journal.read(after))
        assert [entry.position for entry in entries] == list(range(after + 1, journal.written + 1))
        assert [entry.time for entry in entries] == self.times[after + 1 : journal.written + 1]
        wanted = self.random.randrange(self.times[-1] - 2_000, self.times[-1] + 2)
        kept = range(journal.first, journal.written + 1)
        later = [position for position in kept if self.times[position] >= wanted]
        assert journal.before(wanted) == (later[0] - 1 if later else journal.written)
