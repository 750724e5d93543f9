"""Repeated messages: the same receipt, nothing taken twice, a table with bounds, and records that say all of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doubles.kernel_rig import ANN, BEN, Rig, publish
from doubles.small_engine import SmallEngine
from hypothesis import given
from hypothesis import strategies as st

from broker.events import LimitExceeded
from broker.kernel import Kernel, Received, Taken, taken
from broker.kernel.records import Batch, StreamDeclared
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
    table = Taken()
    for number in range(taken.PUBLISHER_RECEIPTS_MAX + 3):
        table.note(Batch("S", [number], [(1,)], [number], client="a", message=number), number)
    table.check_invariants()
    for number in range(3):
        with pytest.raises(LimitExceeded, match=f"message {number}: .* 1,024 receipts"):
            table.receipt("a", number)
    assert table.receipt("a", 3) == Published(0, 1, 3, 3, ())
    assert table.receipt("a", 9_999) is None
    assert table.receipt("b", 0) is None


def test_too_many_receipts_forget_the_publisher_that_was_silent_for_longest() -> None:
    table = Taken(bytes_max=10_000)
    for number in range(200):
        for name in ("a", "b") if number == 0 else ("b", f"c{number // 4}"):
            table.note(Batch("S", [number], [(1,)], [number], client=name, message=number), number)
            table.check_invariants()
            assert table.statistics()["receipts_bytes"] <= 10_000
            assert table.receipt(name, number) is not None
    assert table.receipt("a", 0) is None


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 20), st.integers(1, 3), st.booleans()),
        max_size=30,
    )
)
def test_a_restored_table_goes_on_as_the_saved_one(messages: list[tuple[str, int, int, bool]]) -> None:
    table = Taken()
    for name, number, count, late in messages:
        if table.receipt(name, number) is None:
            refused = ((count, "late", "too late"),) if late else ()
            ids = range(table.events, table.events + count)
            table.note(Batch("S", [1] * count, [(1,)] * count, ids, None, name, number, refused), 1)
    again = Taken()
    again.restore(table.save())
    again.check_invariants()
    assert again.save() == table.save()
    assert all(again.receipt(name, number) == table.receipt(name, number) for name, number, _, _ in messages)


def test_a_kernel_with_a_journal_says_what_is_to_be_recorded_and_what_it_promises() -> None:
    kernel = Kernel(SmallEngine(), durability="always")
    for message in (Hello(1, VERSION, "test"), AddStream(2, "S", {"x": "int"}, None, "arrival", None, None)):
        kernel.step(Received(ANN, message), 0)
    (answer,) = kernel.step(Received(ANN, numbered(publish([5, 3], [1, 2]), 4)), 0)
    assert isinstance(answer.message, Published)
    assert answer.message.durability == "always"
    refused = ((1, "late", "expected a time of 5 or later, found 3"),)
    assert kernel.records() == [
        StreamDeclared("S", {"x": "int"}, None, "arrival", None, None),
        Batch("S", [5], [(1,)], range(1, 2), None, "anybody/p", 4, refused),
    ]
    kernel.step(Received(ANN, publish([1], [1])), 0)  # wholly late: nothing has changed
    assert kernel.records() == []
