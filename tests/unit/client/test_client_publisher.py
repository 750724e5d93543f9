"""Batches under way: each is told of once and in order, and after an error it is known what became of every one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from doubles.small_engine import SmallEngine, SmallResult
from hypothesis import example, given
from hypothesis import strategies as st

from broker.events import DefinitionError, Schema, StreamDefinition
from broker.kernel import Kernel, Limits, Received
from broker.wire import BATCH_EVENTS_MAX, VERSION, AddStream, Done, Hello, Message, Publish, decode, encode
from client import ConnectionLost, EventError, ForetellError, LimitExceeded, ProtocolError, Receipt, RequestTimeout
from client.held_batches import checked_message_events
from client.ownership import ThreadOwner
from client.publisher import Publisher
from client.session import Session

STREAM = StreamDefinition("S", Schema.declare({"x": "string"}))
WHOLE = BATCH_EVENTS_MAX


class Picky(SmallEngine):  # type: ignore[misc]  # final for everyone but this test, which needs a refusal
    """Refuses a batch in which an event says `no`."""

    def publish(self, stream: str, times: Sequence[int], rows: Any, *columns: Any) -> list[SmallResult]:
        if ("no",) in rows:
            raise LimitExceeded("enough of this")
        return super().publish(stream, times, rows, *columns)


class Way:
    """A connection without a socket. The broker answers `pace` messages whenever somebody looks, until it `ends`."""

    def __init__(self, pace: int = 0, batches: int = 1_000) -> None:
        self.engine = Picky()
        self.kernel = Kernel(self.engine, Limits(session_batches=batches))
        self.session = Session()
        self.owner = ThreadOwner()
        self.pace = pace
        self.ends: ForetellError | None = None
        self.under_way: deque[bytes] = deque()
        self.most_under_way = 0
        declare = partial(AddStream, key=None, disorder="arrival", lateness=None, speculation=None)
        for make in (
            partial(Hello, version=VERSION, software="test"),
            partial(declare, name="S", attributes={"x": "string"}),
        ):
            number, frame = self.session.request(make)
            self.send(frame)
            self.answer(number)

    repeats = False

    def connected(self) -> int:
        return self.session.begun

    def send(self, frame: bytes, correlation: int = 0, begun: int | None = None) -> None:
        if self.session.lost is not None:
            raise self.session.lost
        self.under_way.append(frame)
        self.most_under_way = max(self.most_under_way, len(self.under_way))

    def collect(self) -> None:
        for _ in range(min(self.pace, len(self.under_way))):
            self._step()

    def answer(self, correlation: int) -> Message:
        while True:
            answer = self.session.answer(correlation)
            if answer is not None:
                return answer
            if self.ends is not None:
                raise self.ends
            self._step()

    def _step(self) -> None:
        for effect in self.kernel.step(Received(b"it", decode(self.under_way.popleft())), 0).sends:
            self.session.receive(encode(effect.message))


def batches(count: int, *, no: Sequence[int] = ()) -> Iterator[tuple[list[int], list[tuple[str]]]]:
    for number in range(count):
        yield [2 * number, 2 * number + 1], [("yes",), ("no" if number in no else "yes",)]


@given(
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(0, 3),
    st.lists(st.sampled_from([0, 1, 3, WHOLE + 1, 2 * WHOLE + 5]), max_size=8),
)
def test_every_batch_has_its_receipt_in_order_and_windows_are_kept(
    window: int, credits: int, pace: int, sizes: list[int]
) -> None:
    way = Way(pace, credits)
    told: list[tuple[int, Receipt]] = []
    begin = 0
    expected = []
    with Publisher(way, STREAM, window, lambda batch, receipt: told.append((batch, receipt))) as publisher:
        for number, size in enumerate(sizes):
            publisher.publish_batch(range(begin, begin + size), [("x",)] * size)
            newest = begin + size - 1 if begin + size else None
            expected.append((number, Receipt(size, newest, begin + 1 if size else None)))
            begin += size
    assert told == expected
    assert way.engine.taken == list(range(1, begin + 1))
    assert (publisher.sent, publisher.taken, publisher.count, publisher.late) == (len(sizes), len(sizes), begin, 0)
    assert way.most_under_way <= min(window, credits)


def test_a_window_of_one_reports_an_error_in_its_own_call() -> None:
    publisher = Publisher(Way(), STREAM, 1, None)
    one, two = batches(2, no=[1])
    publisher.publish_batch(*one)
    assert publisher.taken == 1
    with pytest.raises(LimitExceeded, match=r"^batch 1: enough of this$"):
        publisher.publish_batch(*two)
    assert (publisher.sent, publisher.taken, publisher.count) == (2, 1, 2)


@pytest.mark.parametrize(
    ("refused", "text"),
    [
        ([3], "batch 3: enough of this; of 2 sent after it, 2 were taken"),
        ([5], "batch 5: enough of this"),
        ([3, 5], "batch 3: enough of this; of 2 sent after it, 1 were taken, 1 were refused"),
    ],
)
def test_a_refusal_in_the_middle_is_named_and_the_later_ones_accounted_for(refused: list[int], text: str) -> None:
    way = Way()
    told: list[int] = []
    publisher = Publisher(way, STREAM, 10, lambda batch, _: told.append(batch))
    for batch in batches(6, no=refused):
        publisher.publish_batch(*batch)
    assert told == [], "nothing was answered so far"
    with pytest.raises(LimitExceeded) as caught:
        publisher.flush()
    assert str(caught.value) == text
    assert told == [number for number in range(6) if number not in refused]
    assert (publisher.sent, publisher.taken, publisher.count) == (6, len(told), 2 * len(told))
    assert len(way.engine.taken) == publisher.count
    for again in (publisher.flush, lambda: publisher.publish_batch([90], [("x",)])):
        with pytest.raises(LimitExceeded, match=r"batch [35]: "):
            again()
    assert publisher.sent == 6


def test_a_part_of_a_long_batch_that_is_refused_is_named_by_its_row() -> None:
    publisher = Publisher(Way(), STREAM, 8, None)
    rows = [("yes",)] * (3 * WHOLE)
    rows[WHOLE + 7] = ("no",)
    publisher.publish_batch(range(len(rows)), rows)
    publisher.publish_batch([len(rows)], [("yes",)])
    with pytest.raises(LimitExceeded) as caught:
        publisher.flush()
    expected = f"batch 0, from row {WHOLE} on: enough of this; of 1 sent after it, 1 were taken"
    assert str(caught.value) == expected
    assert (publisher.sent, publisher.taken, publisher.count) == (2, 1, 2 * WHOLE + 1)


def test_a_batch_that_does_not_fit_is_refused_before_it_is_sent_and_others_may_follow() -> None:
    way = Way()
    told: list[int] = []
    with Publisher(way, STREAM, 8, lambda batch, _: told.append(batch)) as publisher:
        publisher.publish_batch([1], [("x",)])
        with pytest.raises(EventError, match="row 0, attribute 'x': expected string, found int 7"):
            publisher.publish_batch([2], [(7,)])
        with pytest.raises(LimitExceeded, match="row 0: Publish takes"):
            publisher.publish_batch([2], [("x" * 2_000_000,)])
        publisher.publish_batch([2], [("x",)])
    assert told == [0, 1]
    assert way.engine.taken == [1, 2]


def test_an_error_in_the_block_waits_for_what_is_under_way_and_comes_through() -> None:
    way = Way()
    publisher = Publisher(way, STREAM, 8, None)

    def publish(time: int, error: BaseException) -> None:
        with publisher:
            publisher.publish_batch([time], [("x",)])
            raise error

    with pytest.raises(ZeroDivisionError):
        publish(1, ZeroDivisionError())
    assert (publisher.sent, publisher.taken) == (1, 1)
    with pytest.raises(KeyboardInterrupt):
        publish(2, KeyboardInterrupt())
    assert (publisher.sent, publisher.taken) == (2, 1), "who is interrupted is not made to wait"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConnectionLost("it has ended"), "it has ended; the outcome of batches 2 to 4 is unknown"),
        (RequestTimeout("no answer"), "no answer; the outcome of batches 2 to 4 is unknown"),
        (ProtocolError("what was that"), "what was that; the outcome of batches 2 to 4 is unknown"),
    ],
)
def test_when_no_answers_come_any_more_it_says_of_which_batches(error: ForetellError, text: str) -> None:
    way = Way()
    told: list[int] = []
    publisher = Publisher(way, STREAM, 8, lambda batch, _: told.append(batch))
    for batch in batches(2):
        publisher.publish_batch(*batch)
    publisher.flush()
    for times, rows in list(batches(5))[2:]:
        publisher.publish_batch(times, rows)
    way.ends = error
    with pytest.raises(type(error)) as caught:
        publisher.flush()
    assert str(caught.value) == text
    assert told == [0, 1]
    assert (publisher.sent, publisher.taken, publisher.count) == (5, 2, 4)


def test_a_batch_that_could_not_be_sent_is_not_among_the_unknown_ones() -> None:
    way = Way()
    publisher = Publisher(way, STREAM, 8, None)
    first, second = batches(2)
    publisher.publish_batch(*first)
    way.session.lost = ConnectionLost("it has ended")
    with pytest.raises(ConnectionLost, match=r"^it has ended; the outcome of batch 0 is unknown$"):
        publisher.publish_batch(*second)
    assert publisher.sent == 1


def test_an_end_after_a_refusal_leaves_the_refusal_and_tells_of_the_rest() -> None:
    way = Way()
    publisher = Publisher(way, STREAM, 8, None)
    for batch in batches(4, no=[0]):
        publisher.publish_batch(*batch)
    way.pace = 2
    way.collect()
    way.pace, way.ends = 0, ConnectionLost("it has ended")
    with pytest.raises(LimitExceeded) as caught:
        publisher.flush()
    text = "batch 0: enough of this; of 3 sent after it, 1 were taken, the outcome of 2 is unknown"
    assert str(caught.value) == text


def test_an_answer_of_another_kind_is_a_mistake_in_the_protocol() -> None:
    way = Way()
    publisher = Publisher(way, STREAM, 8, None)
    publisher.publish_batch([1], [("x",)])
    published = decode(way.under_way[0])
    assert isinstance(published, Publish)
    way.session.receive(encode(Done(published.correlation)))
    with pytest.raises(ProtocolError, match="expected Published as the answer, found Done; the outcome of batch 0"):
        publisher.flush()


# ---- batches that wait for each other ----

Batch = tuple[list[int] | None, list[tuple[str]], list[int] | None, list[int] | None]


@st.composite
def any_batches(draw: st.DrawFn) -> list[Batch]:
    """Batches with late events, with and without ids, starts and times of their own, and empty ones."""
    found: list[Batch] = []
    id = 0
    for size in draw(st.lists(st.integers(0, 4), max_size=12)):
        times = draw(st.lists(st.integers(0, 30), min_size=size, max_size=size))
        ids = list(range(id + 1, id + 1 + 2 * size, 2)) if draw(st.booleans()) else None
        id += 2 * size
        starts = list(times) if draw(st.booleans()) else None
        found.append((times, [("x",)] * size, ids, starts))
    return found


@pytest.mark.filterwarnings("ignore::client.RefusedWarning")
@given(any_batches(), st.sampled_from([1, 2, 5, 9, WHOLE]), st.integers(1, 4), st.integers(0, 2))
@example([([], [], None, None), ([0], [("x",)], None, None)], 1, 2, 0)  # the batch that fills a message changes later
def test_batches_that_wait_have_the_receipts_that_they_would_have_alone(
    made: list[Batch], message_events: int, window: int, pace: int
) -> None:
    told: list[dict[int, Receipt]] = []
    taken = []
    for events in (0, message_events):
        way = Way(pace)
        receipts: dict[int, Receipt] = {}
        with Publisher(way, STREAM, window, receipts.__setitem__, message_events=events) as publisher:
            for times, rows, ids, starts in made:
                rows = list(rows)
                publisher.publish_batch(times, rows, ids, starts)
                rows.clear()  # what waits is the publisher's own
        assert list(receipts) == list(range(len(made)))
        count = sum(each.count for each in receipts.values())
        late = sum(len(each.refused) for each in receipts.values())
        assert (publisher.sent, publisher.taken, publisher.count, publisher.late) == (len(made), len(made), count, late)
        assert way.most_under_way <= window
        taken.append(way.engine.taken)
        told.append(receipts)
    assert taken[0] == taken[1]
    for alone, joint in zip(told[0].values(), told[1].values(), strict=True):
        assert replace(joint, newest=alone.newest) == alone
        assert (joint.newest or 0) >= (alone.newest or 0), "it is that of the whole message"


def test_batches_wait_until_they_have_enough_events_and_flush_sends_the_rest() -> None:
    way = Way()
    publisher = Publisher(way, STREAM, 8, None, message_events=5)
    for number in range(4):
        publisher.publish_batch([2 * number, 2 * number + 1], [("x",)] * 2)
        assert (publisher.sent, len(way.under_way)) == ((0, 0) if number < 2 else (3, 1))
    publisher.publish_batch(range(8, 13), [("x",)] * 5)
    assert (publisher.sent, len(way.under_way)) == (5, 2)
    publisher.publish_batch([13], [("x",)])
    publisher.publish_batch([14], [("x",)], [99])  # others have no ids: it has a message of its own
    publisher.flush()
    assert (publisher.sent, publisher.taken, publisher.count) == (7, 7, 15)
    assert way.engine.taken == [*range(1, 15), 99]


def test_joint_batches_that_are_too_large_for_a_message_travel_in_several() -> None:
    way = Way()
    receipts: dict[int, Receipt] = {}
    text = "x" * 200_000
    with Publisher(way, STREAM, 8, receipts.__setitem__, message_events=7) as publisher:
        for number in range(7):
            publisher.publish_batch([number], [(text,)])
    assert receipts == {number: Receipt(1, receipts[number].newest, number + 1) for number in range(7)}
    assert 2 <= way.most_under_way < 7


def test_a_refusal_of_joint_batches_names_them_all() -> None:
    way = Way()
    told: list[int] = []
    publisher = Publisher(way, STREAM, 10, lambda batch, _: told.append(batch), message_events=4)
    for batch in batches(8, no=[3]):
        publisher.publish_batch(*batch)
    with pytest.raises(LimitExceeded) as caught:
        publisher.flush()
    assert str(caught.value) == "batches 2 to 3: enough of this; of 4 sent after it, 4 were taken"
    assert told == [0, 1, 4, 5, 6, 7]
    assert (publisher.sent, publisher.taken, publisher.count) == (8, 6, 12)


def test_an_event_that_fits_no_message_is_named_when_its_batch_leaves() -> None:
    way = Way()
    told: list[int] = []
    publisher = Publisher(way, STREAM, 10, lambda batch, _: told.append(batch), message_events=6)
    for number in range(5):
        publisher.publish_batch([number], [("x" * (2_000_000 if number == 3 else 1),)])
    with pytest.raises(LimitExceeded, match=r"^batch 3: stream 'S', row 0: Publish takes"):
        publisher.flush()
    assert told == [0, 1, 2]
    assert (publisher.sent, publisher.taken) == (3, 3)
    with pytest.raises(LimitExceeded, match=r"^batch 3: "):
        publisher.publish_batch([9], [("x",)])


def test_when_the_connection_ends_batches_that_wait_were_not_sent() -> None:
    way = Way()
    publisher = Publisher(way, STREAM, 8, None, message_events=4)
    for batch in batches(5):
        publisher.publish_batch(*batch)
    way.session.lost = ConnectionLost("it has ended")
    with pytest.raises(ConnectionLost, match=r"^it has ended; the outcome of batches 0 to 3 is unknown$"):
        publisher.flush()
    assert (publisher.sent, publisher.taken) == (4, 0)


@pytest.mark.parametrize("events", [-1, WHOLE + 1, 2.5, True])
def test_the_events_of_a_message_are_a_number(events: Any) -> None:
    with pytest.raises(DefinitionError, match="expected message_events of 0 to 8,192"):
        checked_message_events(events)
