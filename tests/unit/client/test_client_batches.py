"""A batch of any size goes out in messages that fit, with nothing lost, repeated or reordered."""

from __future__ import annotations

from typing import Any

import pytest

from broker.events import EventError, LimitExceeded, Schema, StreamDefinition
from broker.wire import BATCH_EVENTS_MAX, FRAME_BYTES_MAX, Publish, Published, Refusal, decode
from client.batches import check_batch, merged, parts
from client.receipt import Receipt
from client.session import Session

STREAM = StreamDefinition("S", Schema.declare({"text": "string", "price": "float"}))


def sent(rows: list[tuple[Any, ...]], **columns: Any) -> list[tuple[int, Publish]]:
    columns = {"times": list(range(len(rows))), "ids": None, "starts": None} | columns
    found = []
    session = Session()
    times, ids, starts = columns["times"], columns["ids"], columns["starts"]
    for first, last, (_, frame) in parts(session.request, "S", times, rows, ids, starts):
        message = decode(frame)
        assert isinstance(message, Publish)
        assert len(frame) <= FRAME_BYTES_MAX
        assert last == (first + len(message.rows) == len(rows))
        found.append((first, message))
    return found


@pytest.mark.parametrize("count", [0, 1, BATCH_EVENTS_MAX, BATCH_EVENTS_MAX + 1, 3 * BATCH_EVENTS_MAX])
def test_a_long_batch_is_cut_by_number(count: int) -> None:
    rows = [("x", float(n)) for n in range(count)]
    messages = sent(rows, ids=list(range(count)), starts=list(range(count)))
    assert len(messages) == max(1, -(-count // BATCH_EVENTS_MAX))
    assert [row for _, each in messages for row in each.rows] == rows
    for column in ("times", "ids", "starts"):
        assert [value for _, each in messages for value in getattr(each, column)] == list(range(count))
    assert [first for first, _ in messages] == list(range(0, max(1, count), BATCH_EVENTS_MAX))


def test_a_wide_batch_is_cut_by_size() -> None:
    rows = [(f"{n:06}" * 5_000, 1.0) for n in range(100)]
    messages = sent(rows, times=None)
    assert [row for _, each in messages for row in each.rows] == rows
    assert 3 <= len(messages) <= 7
    assert all(each.times is None for _, each in messages)


def test_an_event_that_fits_no_message_is_named() -> None:
    with pytest.raises(LimitExceeded, match=r"stream 'S', row 1: .*Publish takes"):
        sent([("x", 1.0), ("x" * FRAME_BYTES_MAX, 1.0), ("x", 1.0)])


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"rows": [("x", 1.0), ("x", "y")]}, "row 1, attribute 'price': expected float, found string 'y'"),
        ({"times": [1]}, "expected 2 times, one for each row, found 1"),
        ({"times": [1, True]}, "row 1: expected an integer time .* found bool true"),
        ({"times": [1, 2**62]}, "row 1: expected an integer time at most"),
        ({"times": [1, "2024-01-01"]}, "row 1: expected an integer time"),
        ({"ids": [1]}, "expected 2 ids, one for each row, found 1"),
        ({"ids": [1, 2**63]}, "row 1: expected an integer id of 64 bits"),
        ({"starts": [1]}, "expected 2 starts"),
        ({"starts": [1, 3]}, "row 1: expected a start"),
        ({"times": None, "starts": [1, 1]}, "expected times beside starts"),
    ],
)
def test_what_the_broker_would_refuse_as_a_whole_is_refused_before(columns: dict[str, Any], reason: str) -> None:
    given: dict[str, Any] = {"times": [1, 2], "rows": [("x", 1.0), ("x", 2.0)], "ids": None, "starts": None} | columns
    with pytest.raises(EventError, match=reason):
        check_batch(STREAM, **given)


def test_rows_are_converted_as_the_schema_allows() -> None:
    assert check_batch(STREAM, [1], [("x", 1)], [1], [1]) == [("x", 1.0)]


def test_the_answers_to_all_parts_are_one_receipt() -> None:
    assert merged([(0, Published(1, 0, 9, None, (Refusal(0, "late", "a"),)))]) == Receipt(
        0, 9, None, (Refusal(0, "late", "a"),)
    )
    answers = [
        (0, Published(1, 0, 5, None, ())),
        (10, Published(2, 9, 6, 41, (Refusal(3, "late", "b"),))),
        (20, Published(3, 2, 7, 50, ())),
    ]
    assert merged(answers) == Receipt(11, 7, 41, (Refusal(13, "late", "b"),))
