"""Recovery: an engine that was lost with the power goes on as one that was not: the same results with the same ids."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from doubles.journaled_engine import JournaledEngine
from doubles.ledger import Ledger
from doubles.simulated_files import SimulatedFiles
from hypothesis import given
from hypothesis import strategies as st

from broker.kernel.records import (
    BatchTaken,
    Record,
    StreamDeclared,
    StreamRemoved,
    SubscriptionAdded,
    SubscriptionRemoved,
)
from broker.storage import Damaged, Durability, StorageFull, Store
from broker.storage.recovery import compare

IDENTITY = b"r" * 16
SETTINGS = Durability(segment_bytes=3_000, growth_bytes=2_000, record_bytes=2_000)

FORECAST = {"within": 10, "threshold": 0.5}
QUERIES: dict[str, tuple[str, str, bool | None]] = {
    "jumps": ("cayuga", "FILTER{price > 1.1 * price_1}(Stock NEXT{$2.name = $1.name} Stock)", True),
    "rising": ("cayuga", "Stock FOLD{$2.name = $.name, $2.price > $.price} Stock", None),
    "pair": ("ptopss", "FROM Stock a: price > 60 b: price < 50 MATCH a ; b WITHIN 12", None),
}


def workload(random: Random) -> Iterator[Record]:
    """Subscriptions that come and go between batches of events."""
    yield StreamDeclared("Stock", {"name": "string", "price": "float"}, "name", "arrival", None, None)
    time, count = 0, 0
    there: list[str] = []
    for _ in range(random.randrange(5, 25)):
        if random.random() < 0.3 or not there:
            name = random.choice(sorted(QUERIES))
            if name in there:
                there.remove(name)
                yield SubscriptionRemoved(name)
            else:
                there.append(name)
                language, query, lineage = QUERIES[name]
                forecast = FORECAST if language == "cayuga" and random.random() < 0.5 else None
                yield SubscriptionAdded(name, language, query, lineage, None, forecast, {})
            continue
        size = random.randrange(1, 8)
        times = []
        for _ in range(size):
            time += random.randrange(3)
            times.append(time)
        rows = [(random.choice("AB"), float(random.randrange(40, 70))) for _ in range(size)]
        yield BatchTaken("Stock", times, rows, range(count + 1, count + size + 1))
        count += size


@given(st.integers(0, 2**32))
def test_replay_between_checkpoints_gives_the_same_digest(seed: int) -> None:
    random = Random(seed)
    records = list(workload(random))
    files = SimulatedFiles(random)
    store = Store(files, IDENTITY, SETTINGS, 0)
    state = JournaledEngine()
    store.recover(state)
    saved = sorted(random.sample(range(1, len(records) + 1), 2))
    for record in records:
        state.replay(store.append(record, 0), 0, record)
        if store.journal.position in saved:
            store.checkpoint(state, 0)
    assert list(compare(files, store.journal.read, JournaledEngine)) == saved


def test_a_state_with_another_digest_than_it_had_is_refused() -> None:
    files = filled()

    class Forgetful(Ledger):
        def restore(self, body: bytes) -> None:
            super().restore(body)
            self.chain = b""

    with pytest.raises(Damaged, match=r"checkpoint: the restored state has another digest than the saved one"):
        Store(files, IDENTITY, SETTINGS, 0).recover(Forgetful())


def filled(identity: bytes = IDENTITY) -> SimulatedFiles:
    """Twenty records, checkpoints after the fifth and the fifteenth."""
    files = SimulatedFiles(Random(0))
    store = Store(files, identity, SETTINGS, 0)
    state = Ledger()
    store.recover(state)
    for number in range(1, 21):
        state.replay(store.append(StreamRemoved(str(number)), number), number, StreamRemoved(str(number)))
        if number in (5, 15):
            store.checkpoint(state, number)
    store.close()
    return files


def test_an_unreadable_checkpoint_is_put_aside_and_kept() -> None:
    files = filled()
    name = f"{15:020}.checkpoint"
    files.flip(name, 300)
    store = Store(files, IDENTITY, SETTINGS, 0)
    state = Ledger()
    recovery = store.recover(state)
    assert (recovery.checkpoint, recovery.position, recovery.replayed) == (5, 20, 15)
    assert f"{name}.bad" in files.names()
    assert next(iter(recovery.lines())).startswith(f"{name}: its digest is not that of its")
    state.replay(store.append(StreamRemoved("21"), 21), 21, StreamRemoved("21"))
    store.checkpoint(state, 21)
    assert f"{5:020}.checkpoint" in files.names(), "the newest that could be read is still one of two"


def test_a_checkpoint_of_another_journal_is_refused() -> None:
    name = f"{15:020}.checkpoint"
    contents = filled().contents() | {name: filled(b"x" * 16).contents()[name]}
    with pytest.raises(Damaged, match="expected a checkpoint of this journal, found one of another"):
        Store(SimulatedFiles.holding(contents), IDENTITY, SETTINGS, 0).recover(Ledger())


def test_a_journal_without_its_beginning_needs_a_checkpoint() -> None:
    files = filled()
    contents = files.contents()
    for name in list(contents):
        if name.endswith(".checkpoint"):
            del contents[name]
    assert Store(SimulatedFiles.holding(contents), IDENTITY, SETTINGS, 0).recover(Ledger()).replayed == 20
    del contents[min(contents)]
    with pytest.raises(Damaged, match="expected a checkpoint at position"):
        Store(SimulatedFiles.holding(contents), IDENTITY, SETTINGS, 0).recover(Ledger())


def test_checkpoints_without_a_journal_are_refused() -> None:
    contents = {name: content for name, content in filled().contents().items() if name.endswith(".checkpoint")}
    with pytest.raises(Damaged, match="expected the journal of this checkpoint beside it, found none"):
        Store(SimulatedFiles.holding(contents), IDENTITY, SETTINGS, 0)


def test_a_full_disk_makes_no_checkpoint_and_nothing_worse() -> None:
    files = filled()
    store = Store(files, IDENTITY, SETTINGS, 0)
    state = Ledger()
    store.recover(state)
    state.replay(store.append(StreamRemoved("21"), 21), 21, StreamRemoved("21"))
    files.capacity = 0
    with pytest.raises(StorageFull, match="a checkpoint of"):
        store.checkpoint(state, 21)
    files.capacity = None
    assert store.commit(0) == 21
    made = store.checkpoint(state, 21)
    assert made is not None
    assert made.position == 21
    assert store.checkpoint(state, 21) is None, "it is there already"
