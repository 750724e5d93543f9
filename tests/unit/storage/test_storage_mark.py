"""The mark: a start, an examination and a copy refuse a journal whose end is missing, with file and place."""

from __future__ import annotations

from random import Random
from zlib import crc32

import pytest
from doubles.ledger import Ledger
from doubles.simulated_files import SimulatedFiles, forgetful

from broker.kernel.records import StreamRemoved
from broker.storage import Damaged, Durability, Store, framing
from broker.storage.copying import copy
from broker.storage.examination import examine
from broker.storage.mark import MARK, SLOT_BYTES, read_mark
from broker.storage.segments import segment_names

IDENTITY = b"m" * 16
SETTINGS = Durability(segment_bytes=300, growth_bytes=200, record_bytes=50)
RECORDS = 20


def store_of(files: SimulatedFiles) -> Store:
    store = Store(files, IDENTITY, SETTINGS, 0)
    store.recover(Ledger())
    return store


def filled(closed: bool) -> SimulatedFiles:
    """Durable records over some segments; no checkpoint, so that only the journal knows them."""
    files = SimulatedFiles(Random(0))
    store = store_of(files)
    for number in range(1, RECORDS + 1):
        store.reserve()
        store.append(StreamRemoved(str(number)), number)
        store.commit(number)
    if closed:
        store.close()
    else:
        files.kill()
    assert len(segment_names(files)) > 2
    return files


def without(contents: dict[str, bytes], *names: str) -> dict[str, bytes]:
    return {name: content for name, content in contents.items() if name not in names}


def assert_refused(contents: dict[str, bytes], message: str) -> None:
    """Everywhere in the same words, and nothing is changed by it."""
    with pytest.raises(Damaged, match=message):
        store_of(SimulatedFiles.holding(contents))
    assert any(finding.damage for finding in examine(SimulatedFiles.holding(contents)))
    with pytest.raises(Damaged, match=message):
        copy(SimulatedFiles.holding(contents), SimulatedFiles(Random(0)))


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("power", [False, True])
def test_a_last_segment_that_was_removed_is_missed(closed: bool, power: bool) -> None:
    files = filled(closed)
    contents = forgetful(files.contents()) if power else files.contents()
    newest = segment_names(files)[-1]
    first = int(newest[:20])
    assert_refused(
        without(contents, newest),
        rf"^{newest}: this segment is missing: the journal ends at position {first - 1}, but .* record \d+ was durable",
    )


def test_the_last_segments_that_were_removed_are_missed() -> None:
    files = filled(closed=True)
    names = segment_names(files)
    assert_refused(without(files.contents(), *names[1:]), f"^{names[-1]}: this segment is missing: the journal ends at")


def test_all_segments_that_were_removed_are_missed() -> None:
    files = filled(closed=False)
    names = segment_names(files)
    contents = without(files.contents(), *names)
    with pytest.raises(Damaged, match=f"^{names[-1]}: according to {MARK} this segment and all others are missing"):
        store_of(SimulatedFiles.holding(contents))
    assert [finding.damage for finding in examine(SimulatedFiles.holding(contents))] == [False, True]


def test_records_that_were_cut_off_are_missed() -> None:
    files = filled(closed=False)
    newest = segment_names(files)[-1]
    contents = files.contents()
    record = contents[newest].index(framing.RECORD_MAGIC)
    contents[newest] = contents[newest][:record]
    assert_refused(
        contents, f"^{newest}: offset {record}: the journal ends at position .*, but .* record {RECORDS} was durable"
    )


def test_a_mark_that_was_removed_or_belongs_to_another_journal_is_refused() -> None:
    contents = filled(closed=True).contents()
    assert_refused(without(contents, MARK), f"^{MARK}: expected the mark of this journal, found none")
    nothing = contents | {MARK: b"x" * 3 * SLOT_BYTES}
    assert_refused(nothing, f"^{MARK}: expected the mark of this journal, found no sound one")
    other = SimulatedFiles(Random(0))
    Store(other, b"o" * 16, SETTINGS, 0).recover(Ledger())
    foreign = contents | {MARK: other.read(MARK)}
    assert_refused(foreign, f"^{MARK}: expected the mark of this journal, found one of another")


def test_a_torn_slot_is_told_and_does_no_harm() -> None:
    contents = filled(closed=False).contents()
    for slot in range(3):
        torn = bytearray(contents[MARK])
        torn[slot * SLOT_BYTES + 40] ^= 1
        found = contents | {MARK: bytes(torn)}
        assert store_of(SimulatedFiles.holding(found)).journal.position == RECORDS
        told = [finding.line() for finding in examine(SimulatedFiles.holding(found)) if finding.name == MARK]
        assert len(told) == 1
        assert told[0].endswith("1 slots torn")


def test_a_copy_has_a_mark_of_its_own() -> None:
    target = SimulatedFiles(Random(0))
    assert copy(filled(closed=False), target).position == RECORDS
    mark = read_mark(target)
    assert mark is not None
    assert (mark.identity, mark.position, mark.torn) == (IDENTITY, RECORDS, 0)
    newest = segment_names(target)[-1]
    assert_refused(without(target.contents(), newest), f"^{newest}: this segment is missing")


def test_a_journal_of_a_version_without_marks_starts_and_has_one_from_then_on() -> None:
    contents = without(filled(closed=True).contents(), MARK)
    for name, content in contents.items():
        head = content[:12] + bytes(4) + content[16 : framing.SEGMENT_HEAD_BYTES - 4]
        contents[name] = head + crc32(head).to_bytes(4, "little") + content[framing.SEGMENT_HEAD_BYTES :]
    files = SimulatedFiles.holding(contents)
    assert not any(finding.damage for finding in examine(files))
    store = store_of(files)
    assert store.journal.position == RECORDS
    store.close()
    newest = segment_names(files)[-1]
    assert_refused(without(files.contents(), newest), f"^{newest}: this segment is missing")
    assert_refused(without(files.contents(), MARK), f"^{MARK}: expected the mark of this journal, found none")
