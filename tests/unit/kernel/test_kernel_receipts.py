"""Repeated messages: the same receipt, nothing taken twice, a table with bounds, and records that say all of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doubles.kernel_rig import ANN, BEN, Rig, publish
from doubles.small_engine import SmallEngine
from hypothesis import given
from hypothesis import strategies as st

from broker.events import LimitExceeded
from broker.kernel import Kernel, Receipts, Received, receipts
from broker.kernel.records import BatchTaken, StreamDeclared
from broker.wire import VERSION, AddStream, Failure, Hello, Publish, Published, Refusal


def numbered(batch: Publish, number: int, publisher: str = "p") -> Publish:
    return replace(batch, publisher=publisher, number=number)


def test_a_repeated_message_is_answered_as_before_and_not_taken_twice() -> None:
    rig = Rig()
    first = rig.ask(numbered(publish([5, 3, 7], [1, 2, 3]), 1))
    assert first == Published(6, 2, 7, 1, (Refusal(1, "late", "expected a time of 5 or later, found 3"),))
    rig.ask(numbered(publish([8], [4]), 2))
    assert rig.ask(replace(numbered(publish([5, 3, 7], [1, 2, 3]), 1), correlation=9)) == replace(first, correlation=9)
    assert rig.engine.taken == [1, 2, 3]
    assert rig.kernel.statistics()["broker"]["batches_repeated"] == 1


def test_another_connection_is_the_same_publisher_and_another_name_is_not() -> None:
    rig = Rig()
    assert rig.ask(numbered(publish([1], [1]), 1), ANN) == rig.ask(numbered(publish([1], [1]), 1), BEN)
    rig.ask(numbered(publish([1], [1]), 1, "q"), BEN)
    assert rig.engine.taken == [1, 2]


def test_what_was_refused_as_a_whole_is_not_remembered() -> None:
    rig = Rig()
    assert isinstance(rig.ask(numbered(publish([1], ["x"]), 1)), Failure)
    assert rig.ask(numbered(publish([1], [1]), 1)) == Published(6, 1, 1, 1, ())


def test_a_number_whose_receipt_may_be_gone_is_refused() -> None:
    table = Receipts()
    for number in range(receipts.PUBLISHER_RECEIPTS_MAX + 3):
        table.note(BatchTaken("S", [number], [(1,)], [number], client="a", message=number), number)
    table.check_invariants()
    for number in range(3):
        with pytest.raises(LimitExceeded, match=f"message {number}: .* 1,024 receipts"):
            table.receipt("a", number)
    assert table.receipt("a", 3) == Published(0, 1, 3, 3, ())
    assert table.receipt("a", 9_999) is None
    assert table.receipt("b", 0) is None


def late(count: int) -> list[tuple[int, str, str]]:
    return [(at, "late", "expected a time of 5 or later, found 3") for at in range(count)]


def batch(publisher: str, number: int, refused: int = 0) -> BatchTaken:
    return BatchTaken("S", [number], [(1,)], [number], None, publisher, number, late(refused))


@pytest.mark.parametrize("flood", ["ben/p", "ann/q"])
def test_what_another_publisher_floods_with_late_events_pushes_no_receipt_out(flood: str) -> None:
    """Of another user, and of the same."""
    table = Receipts()
    receipts = [table.note(batch("ann/p", number), number) for number in range(100)]
    for number in range(60):
        table.note(batch(flood, number, 8_191), number)
    table.check_invariants()
    assert [table.receipt("ann/p", number) for number in range(100)] == receipts
    with pytest.raises(LimitExceeded, match="does not know any more whether it has accepted"):
        table.receipt(flood, 0)
    assert table.receipt(flood, 59) is not None


def test_a_flood_of_names_is_its_users_own_and_what_it_forgets_is_refused() -> None:
    table = Receipts(bytes_max=20_000, publishers_max=10)
    table.note(batch("ann/p", 7), 7)
    for number in range(200):
        table.note(batch(f"ben/{number}", number, number % 5), number)
        table.check_invariants()
    assert table.receipt("ann/p", 7) is not None
    for number in range(191):
        with pytest.raises(LimitExceeded, match=f"message {number}: .* of user 'ben' with numbers up to 190"):
            table.receipt(f"ben/{number}", number)
    assert table.receipt("ben/new", 191) is None, "one that has a number which no forgotten one can have had"
    assert table.receipt("ann/new", 1) is None


def test_of_a_flooded_broker_a_repeated_batch_is_refused_or_answered_as_before() -> None:
    rig = Rig()
    rig.ask(publish([10], [0]))
    first = rig.ask(numbered(publish([11], [1]), 1, "victim"))
    for number in range(60):
        times = [11] + [1] * 8_191
        rig.ask(numbered(publish(times, [0] * len(times)), number, "flood"), BEN)
    events = len(rig.engine.taken)
    assert rig.ask(numbered(publish([11], [1]), 1, "victim")) == first
    assert len(rig.engine.taken) == events


class Remembering:
    """What must hold of any table: everything that was noted, and for ever."""

    def __init__(self, table: Receipts) -> None:
        self.table = table
        self.known: dict[tuple[str, int], Published] = {}

    def say(self, publisher: str, number: int, refused: int) -> None:
        known = self.known.get((publisher, number))
        try:
            found = self.table.receipt(publisher, number)
        except LimitExceeded:
            return
        assert found == known, "taken twice, or answered as another one"
        if found is None:
            self.known[publisher, number] = self.table.note(batch(publisher, number, refused), number)


SAYING = st.tuples(
    st.sampled_from([f"{user}/{name}" for user in "xyz" for name in "abcd"]), st.integers(0, 9), st.integers(0, 12)
)


@given(st.lists(SAYING, max_size=60), st.lists(SAYING, max_size=60), st.integers(1, 6), st.integers(300, 6_000))
def test_nothing_is_taken_twice_however_small_the_table_and_a_restored_one_forgets_the_same(
    before: list[tuple[str, int, int]], behind: list[tuple[str, int, int]], most: int, size: int
) -> None:
    table = Receipts(size, most)
    remembering = Remembering(table)
    for each in before:
        remembering.say(*each)
        table.check_invariants()
    again = Receipts(size, most)
    again.restore(table.save())
    restored = Remembering(again)
    restored.known = dict(remembering.known)
    for each in behind:
        remembering.say(*each)
        restored.say(*each)
        again.check_invariants()
    assert again.save() == table.save()


@given(st.lists(SAYING, max_size=60), st.integers(600, 6_000))
def test_who_stays_within_its_share_loses_nothing(others: list[tuple[str, int, int]], size: int) -> None:
    """Of four users with a quarter of the table each, ann has one publisher and takes no more than that."""
    table = Receipts(size)
    mine = {number: table.note(batch("ann/p", number), number) for number in range(size // 4 // receipts.RECEIPT_BYTES)}
    for at, (publisher, _, refused) in enumerate(others):
        table.note(batch(publisher, at, refused), at)
    assert {number: table.receipt("ann/p", number) for number in mine} == mine


def test_a_kernel_with_a_journal_says_what_is_to_be_recorded_and_what_it_promises() -> None:
    kernel = Kernel(SmallEngine(), durability="always")
    kernel.step(Received(ANN, Hello(1, VERSION, "test")), 0)
    declared = kernel.step(Received(ANN, AddStream(2, "S", {"x": "int"}, None, "arrival", None, None)), 0)
    assert declared.records == [StreamDeclared("S", {"x": "int"}, None, "arrival", None, None)]
    effects = kernel.step(Received(ANN, numbered(publish([5, 3], [1, 2]), 4)), 0)
    (answer,) = effects.sends
    assert isinstance(answer.message, Published)
    assert answer.message.durability == "always"
    refused = ((1, "late", "expected a time of 5 or later, found 3"),)
    assert effects.records == [BatchTaken("S", [5], [(1,)], range(1, 2), None, "anybody/p", 4, refused)]
    late = kernel.step(Received(ANN, publish([1], [1])), 0)  # wholly late: nothing has changed
    assert late.records == ()
