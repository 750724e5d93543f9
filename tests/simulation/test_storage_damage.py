"""Every cut and many turned bits of a journal and its checkpoints: an exact prefix, or a refusal; never silence."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import settings
from simulation.storage_damage import SETTINGS, Sample, cut, flip, flips, outcome, sample

from broker.storage.mark import MARK, SLOT_BYTES

FLIPS = 20 * settings().max_examples


@pytest.fixture(scope="module")
def journal() -> Sample:
    return sample(1)


@pytest.fixture(scope="module")
def saved() -> Sample:
    """With two checkpoints, the newer one in the last segment."""
    return sample(2, 25, checkpoints=(8, 24))


def test_the_samples_have_what_is_to_be_damaged(journal: Sample, saved: Sample) -> None:
    assert sum(name.endswith(".journal") for name in journal.contents) >= 3
    assert sum(name.endswith(".checkpoint") for name in saved.contents) == 2


def test_a_last_segment_that_is_cut_or_missing_is_refused(journal: Sample) -> None:
    name = journal.last_segment
    found = Counter(cut(journal, name, size) for size in range(-1, len(journal.contents[name])))
    assert found["shorter"] == 0
    assert found["whole"] > 0, "the room behind the records may go"
    assert cut(journal, name, -1) == "refused"


def test_where_the_power_took_the_newest_mark_a_last_segment_that_is_cut_gives_a_prefix(journal: Sample) -> None:
    name, least = journal.last_segment, journal.forgetful()
    found = Counter(cut(least, name, size) for size in range(len(journal.contents[name])))
    assert found["shorter"] > 0
    assert found["whole"] > 0
    assert cut(least, name, 30) == "refused", "a segment has its head before it has its name"
    assert cut(least, name, -1) == "refused"


def test_a_mark_that_is_cut_or_missing_is_refused_or_not_needed(journal: Sample, saved: Sample) -> None:
    for whole in (journal, saved):
        found = [cut(whole, MARK, size) for size in range(-1, len(whole.contents[MARK]))]
        assert found == sorted(found), "refused, then whole"
        assert found[SLOT_BYTES + 1] == "whole", "one slot is enough"


def test_any_other_segment_that_is_cut_or_missing_is_refused(journal: Sample) -> None:
    for name in sorted(journal.contents):
        if name.endswith(".journal") and name != journal.last_segment:
            assert {cut(journal, name, size) for size in range(-1, len(journal.contents[name]))} == {"refused"}


def test_a_journal_that_ends_before_a_checkpoint_is_refused(saved: Sample) -> None:
    name = saved.last_segment
    least = saved.forgetful()
    found = [cut(least, name, size) for size in range(len(saved.contents[name]))]
    assert found == sorted(found, key=("refused", "shorter", "whole").index)
    assert found.count("shorter") <= len(saved.contents[name]) // 3, "only what came after the checkpoint may go"


def test_a_checkpoint_that_is_cut_gives_way_to_the_older_one(saved: Sample) -> None:
    for name in saved.contents:
        if name.endswith(".checkpoint"):
            assert {cut(saved, name, size) for size in range(-1, len(saved.contents[name]))} == {"whole"}


def test_turned_bits_are_never_passed_over(journal: Sample, saved: Sample) -> None:
    random = Random(3)
    for whole in (journal, saved):
        found = flips(random, whole, FLIPS // 2)
        assert found["refused"] > FLIPS // 40, found
        assert found["shorter"] == 0, found
        found = flips(random, whole.forgetful(), FLIPS // 2)
        assert found["refused"] > FLIPS // 40, found
        assert found["shorter"] > 0, found


def test_every_bit_of_a_checkpoint_is_guarded(saved: Sample) -> None:
    name = max(name for name in saved.contents if name.endswith(".checkpoint"))
    assert {flip(saved, name, bit) for bit in range(0, 8 * len(saved.contents[name]), 3)} == {"whole"}


def test_every_bit_of_a_segment_is_guarded_also_before_the_checkpoint_that_a_start_needs(saved: Sample) -> None:
    older = sorted(name for name in saved.contents if name.endswith(".journal") and name != saved.last_segment)
    assert older
    for name in older:
        assert {flip(saved, name, bit) for bit in range(0, 8 * len(saved.contents[name]), 3)} == {"refused"}


def test_what_a_start_does_not_need_is_not_read_where_that_was_chosen(saved: Sample) -> None:
    first = min(name for name in saved.contents if name.endswith(".journal"))
    content = bytearray(saved.contents[first])
    content[len(content) // 2] ^= 1
    needed = replace(SETTINGS, check="needed")
    assert outcome(saved, {**saved.contents, first: bytes(content)}, needed) == "whole"
