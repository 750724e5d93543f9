"""The journal on a simulated disk: modes, room, failures, reading and removal, one case at a time."""

from __future__ import annotations

import errno
from random import Random

import pytest
from doubles.simulated_files import SimulatedFiles, forgetful

from broker.events import DefinitionError, LimitExceeded
from broker.storage import Damaged, Durability, Journal, StorageError, StorageFailed, StorageFull, framing
from broker.storage.mark import MARK
from broker.storage.settings import Fsync

IDENTITY = b"i" * 16
SMALL = Durability(segment_bytes=300, growth_bytes=200, record_bytes=50)


def opened(files: SimulatedFiles, settings: Durability = SMALL, now: int = 0) -> Journal:
    return Journal(files, IDENTITY, settings, now)


def disk() -> SimulatedFiles:
    return SimulatedFiles(Random(0))


def filled(files: SimulatedFiles, count: int, settings: Durability = SMALL, identity: bytes = IDENTITY) -> Journal:
    """With records of kind 7 whose payloads are their numbers, a second apart, all durable."""
    journal = Journal(files, identity, settings, 0)
    for number in range(1, count + 1):
        journal.reserve()
        assert journal.append(7, b"%03d" % number, number * 1_000_000) == number
    journal.sync()
    return journal


def until_full(journal: Journal) -> int:
    """The position of the last record that there was room for."""
    for _ in range(100):
        try:
            journal.reserve()
        except StorageFull:
            break
        journal.append(1, b"x" * 50, 0)
    return journal.position


def test_a_position_is_found_by_its_time() -> None:
    journal = filled(disk(), 30)
    for time, before in ((0, 0), (1_000_000, 0), (1_000_001, 1), (17_000_000, 16), (30_000_000, 29), (31_000_000, 30)):
        assert journal.before(time) == before


def test_time_in_the_journal_never_steps_back() -> None:
    journal = opened(disk())
    for now in (5, 3, 9):
        journal.append(1, b"", now)
    journal.write()
    assert [entry.time for entry in journal.read()] == [5, 5, 9]


@pytest.mark.parametrize(
    ("fsync", "synced"), [("always", [True, True, True]), ("interval", [False, True, False]), ("os", [False] * 3)]
)
def test_what_a_commit_waits_for_is_the_mode(fsync: Fsync, synced: list[bool]) -> None:
    journal = opened(disk(), Durability(fsync, interval=100, segment_bytes=10_000, record_bytes=50), 1_000)
    found = []
    for now in (1_050, 1_100, 1_150):
        journal.append(1, b"x", now)
        assert journal.safe < journal.position
        assert journal.commit(now) == journal.position
        found.append(journal.durable == journal.position)
    assert found == synced


def test_an_interval_says_when_it_is_due() -> None:
    journal = opened(disk(), Durability("interval", interval=100, record_bytes=50), 1_000)
    assert journal.due(1_000) is None
    journal.append(1, b"x", 1_010)
    assert journal.due(1_030) == 70
    assert journal.due(1_200) == 0
    assert journal.due(900) == 0, "a clock that steps back does not put a sync off"
    assert Durability("interval", interval=100).label() == "interval 100us"


def test_records_before_a_commit_are_one_write_and_one_sync() -> None:
    files = disk()
    journal = opened(files, Durability(record_bytes=50))
    calls, syncs = files.calls, files.syncs
    for _ in range(50):
        journal.append(1, b"payload", 0)
    journal.commit(0)
    assert files.calls == calls + 3, "the records, their sync, and the mark"
    assert files.syncs == syncs + 1


def test_a_sync_in_another_thread_covers_what_was_written_before_it() -> None:
    journal = opened(disk())
    journal.append(1, b"a", 0)
    sync = journal.begin()
    assert sync is not None
    journal.append(1, b"b", 0)
    assert journal.begin() is None, "one at a time"
    assert journal.safe == 0
    sync.run()
    journal.settle(sync)
    assert journal.safe == 1
    assert journal.written == 2


def test_a_full_disk_refuses_before_anything_has_changed_and_recovers() -> None:
    files = disk()
    journal = filled(files, 3)
    files.capacity = 0
    before = list(journal.read())
    reached = until_full(journal)
    for _ in range(3):
        with pytest.raises(StorageFull):
            journal.reserve()
    assert journal.commit(0) == reached, "what was taken has its room"
    files.capacity = None
    journal.reserve()
    journal.append(1, b"again", 0)
    journal.close()
    found = list(opened(files).read())
    assert found[:3] == before
    assert found[-1].payload == b"again"
    assert len(found) == reached + 1


def test_what_is_reserved_holds_the_largest_record_and_the_seal() -> None:
    files = disk()
    journal = opened(files, Durability(record_bytes=50, growth_bytes=1))
    files.capacity = 0
    journal.reserve()
    assert journal.append(1, bytes(50), 0) == 1
    journal.check_invariants()


def test_a_sync_that_fails_once_is_never_trusted_again() -> None:
    files = disk()
    journal = filled(files, 3)
    journal.append(1, b"x", 0)
    files.failing_after = 0
    with pytest.raises(StorageFailed, match="syncing failed"):
        journal.commit(0)
    assert not files.fails(), "the disk says that it is well again"
    for call in (journal.reserve, journal.write, journal.sync, lambda: journal.append(1, b"y", 0), journal.rotate):
        with pytest.raises(StorageFailed, match="syncing failed"):
            call()
    assert journal.safe == 3
    journal.close()
    files.kill()
    found = opened(files)
    assert found.position == 4, "it was written, and nobody was told"
    files.lose_power()
    assert opened(files).position == 4, "what a start has found is durable, though the failed sync had dropped it"


def test_a_sync_that_fails_in_another_thread_stops_acknowledgements() -> None:
    files = disk()
    journal = filled(files, 3)
    journal.append(1, b"x", 0)
    sync = journal.begin()
    assert sync is not None
    files.failing_after = 0
    sync.run()
    with pytest.raises(StorageFailed):
        journal.settle(sync)
    assert journal.safe == 3


def test_a_record_that_is_too_large_is_refused() -> None:
    journal = opened(disk())
    with pytest.raises(LimitExceeded, match=r"record_bytes: .* at most 50 bytes, found one of 51"):
        journal.append(1, b"x" * 51, 0)
    assert journal.position == 0


def test_removal_is_from_the_old_end_and_reading_says_what_is_gone() -> None:
    files = disk()
    journal = filled(files, 30)
    gone = [extent.name for extent in journal.sealed[:2]]
    last = journal.sealed[1].last
    journal.remove(gone)
    assert journal.first == last + 1
    assert not set(gone) & set(files.names())
    assert next(journal.read(last)).position == last + 1
    with pytest.raises(StorageError, match=f"records 1 to {last} are no longer kept"):
        journal.read(0)


def test_a_bad_record_before_durable_ones_is_refused_with_its_place() -> None:
    files = disk()
    filled(files, 4, Durability(segment_bytes=10_000, record_bytes=50))
    files.kill()
    name = "00000000000000000001.journal"
    offset = files.read(name).index(b"002")
    files.flip(name, 8 * offset)
    # All four were made durable by one sync: nothing behind the second knows that it was. The mark does.
    lost = rf"^{name}: offset 99: the journal ends at position 1, but .* record 4 was durable"
    with pytest.raises(Damaged, match=lost):
        opened(SimulatedFiles.holding(files.contents()))
    # Without what the system had still to write of it, this is the torn end.
    assert opened(SimulatedFiles.holding(forgetful(files.contents()))).position == 1
    files.flip(name, 8 * offset)
    journal = opened(files)
    journal.close()
    files.flip(name, 8 * offset)
    with pytest.raises(Damaged, match=rf"^{name}: offset \d+: record 2 is bad, although it was durable"):
        list(opened(files).read())


def test_one_record_that_knows_the_bad_one_to_be_durable_is_witness_enough() -> None:
    files = disk()
    journal = opened(files)
    for payload in (b"001", b"002"):
        journal.append(7, payload, 0)
        journal.sync()
    files.kill()
    name = "00000000000000000001.journal"
    files.flip(name, 8 * files.read(name).index(b"001"))
    with pytest.raises(Damaged, match="record 1 is bad, although it was durable according to record 2"):
        opened(files)


def test_segments_of_another_journal_and_gaps_are_refused() -> None:
    files, other = disk(), disk()
    filled(files, 30).close()
    filled(other, 30, identity=b"o" * 16).close()
    contents = files.contents()
    names = sorted(name for name in contents if name != MARK)
    with pytest.raises(Damaged, match=r"expected \d+\.journal before it, which is missing"):
        opened(SimulatedFiles.holding({name: contents[name] for name in contents if name != names[1]}))
    foreign = contents | {names[1]: other.contents()[names[1]]}
    with pytest.raises(Damaged, match="of the same journal"):
        opened(SimulatedFiles.holding(foreign))
    renamed = {(f"{99:020}.journal" if name == names[-1] else name): content for name, content in contents.items()}
    with pytest.raises(Damaged, match="expected a segment from record 99 on"):
        opened(SimulatedFiles.holding(renamed))


def test_an_event_that_looks_like_a_record_is_none() -> None:
    files = disk()
    journal = filled(files, 2, Durability(segment_bytes=10_000, record_bytes=1_000))
    own = files.read("00000000000000000001.journal")
    # The payload of a torn record holds a whole record of another journal that claims to be later.
    forged = framing.record(framing.seed(b"f" * 16), 7, 50, 49, 0, b"")
    journal.append(7, forged, 0)
    journal.write()
    content = bytearray(files.read("00000000000000000001.journal"))
    content[len(own.rstrip(b"\0")) + 20] ^= 1
    files.kill()
    torn = files.contents() | {"00000000000000000001.journal": bytes(content)}
    assert opened(SimulatedFiles.holding(torn)).position == 2


def test_an_error_while_writing_is_final(monkeypatch: pytest.MonkeyPatch) -> None:
    files = disk()
    journal = filled(files, 1)
    journal.append(1, b"x", 0)
    # A file system that gives no room where it had promised some.
    monkeypatch.setattr(SimulatedFiles, "check_room", _no_room)
    with pytest.raises(StorageFailed, match="No space left on device"):
        journal.commit(0)
    with pytest.raises(StorageFailed):
        journal.commit(0)
    assert journal.safe == 1


def _no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"fsync": "sometimes"}, "fsync: expected one of always, interval, os, found string 'sometimes'"),
        ({"interval": 0}, "interval: expected a whole number from 1"),
        ({"segment_bytes": True}, "segment_bytes: expected a whole number from 1"),
    ],
)
def test_settings_are_checked(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        Durability(**wrong)  # type: ignore[arg-type]
