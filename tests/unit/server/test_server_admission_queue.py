"""Who waits while a batch is in work, and in which order those who have waited come; and how large pieces are."""

from __future__ import annotations

from doubles.kernel_rig import ANN, BEN, Rig, publish, subscribe
from hypothesis import given
from hypothesis import strategies as st

from broker.kernel import (
    ContinueBatch,
    Gone,
    Input,
    Limits,
    MakeResults,
    Received,
    Reconfigure,
    Stop,
    Tick,
    TooManyBatches,
    Undecodable,
    open_access,
)
from broker.server.admission_queue import WAITING_BYTES_MAX, WAITING_MESSAGES_MAX, AdmissionQueue
from broker.server.slice_sizer import FIRST_EVENTS, PIECE_NANOSECONDS, SliceSizer
from broker.wire import (
    BATCH_EVENTS_MAX,
    VERSION,
    Credit,
    Failure,
    Goodbye,
    Hello,
    Message,
    Ping,
    Publish,
    Statistics,
    Unsubscribe,
    Welcome,
    WireError,
)

CAY, DAN = b"cay", b"dan"
PUBLISH = publish([9], [9])
GARBLED = Undecodable(ANN, WireError("what?"))


class Waiting:
    """A batch of ann's in work, and the queue behind it. Cay can be resumed."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.rig = Rig(limits)
        self.now = self.rig.now
        (welcome,) = self.rig.say(CAY, Hello(1, VERSION, "", b""))
        assert isinstance(welcome.message, Welcome)
        assert welcome.message.batches == self.rig.kernel.limits.session_batches
        self.token = welcome.message.session
        self.queue = AdmissionQueue(self.rig.kernel)
        assert self.admitted(BEN, Ping(1))
        self.rig.kernel.step(Received(ANN, publish([1, 2], [1, 2]), "", 1), self.now)

    def admitted(self, session: bytes, message: Message) -> bool:
        return self.comes(Received(session, message), 10)

    def comes(self, arrived: Input, size: int = 0) -> bool:
        admitted = self.queue.admit(arrived, size)
        self.queue.check_invariants()
        return admitted

    def end(self) -> list[Input]:
        """End the batch; who comes then."""
        self.rig.kernel.step(ContinueBatch(None), self.now)
        found: list[Input] = []
        while (waited := self.queue.next()) is not None:
            self.queue.check_invariants()
            found.append(waited)
        assert len(self.queue) == 0
        assert self.queue.statistics() == {"waiting": 0, "waiting_bytes": 0}
        return found


def test_what_changes_nothing_comes_at_once_and_the_rest_in_its_order() -> None:
    waiting = Waiting()
    for message in (Ping(1), Credit(0, "all", 1), Statistics(2)):
        assert waiting.admitted(BEN, message)
    assert waiting.admitted(DAN, Hello(1, VERSION, ""))
    for arrived in (Tick(), MakeResults(), Stop("")):
        assert waiting.comes(arrived)
    change = Reconfigure(Limits(), open_access())
    assert not waiting.admitted(DAN, PUBLISH)
    assert not waiting.comes(change)
    assert not waiting.admitted(BEN, subscribe())
    assert waiting.queue.statistics() == {"waiting": 3, "waiting_bytes": 20}
    assert waiting.queue.next() is None, "while the batch is in work"
    assert waiting.end() == [Received(DAN, PUBLISH), change, Received(BEN, subscribe())]


def test_a_session_is_answered_in_its_order() -> None:
    waiting = Waiting()
    assert not waiting.admitted(ANN, Ping(7)), "the receipt comes first"
    assert not waiting.comes(GARBLED)
    assert not waiting.admitted(BEN, PUBLISH)
    assert not waiting.admitted(BEN, Ping(8))
    assert waiting.admitted(CAY, Ping(9))
    found = waiting.end()
    assert found == [Received(ANN, Ping(7)), GARBLED, Received(BEN, PUBLISH), Received(BEN, Ping(8))]
    assert waiting.admitted(BEN, PUBLISH)


def test_who_comes_later_does_not_overtake_those_who_have_waited() -> None:
    waiting = Waiting()
    assert not waiting.admitted(BEN, PUBLISH)
    waiting.rig.kernel.step(ContinueBatch(None), waiting.now)
    assert not waiting.admitted(CAY, PUBLISH)
    assert waiting.admitted(CAY, Credit(0, "all", 1))
    assert waiting.end() == [Received(BEN, PUBLISH), Received(CAY, PUBLISH)]


def test_a_credit_waits_only_behind_what_may_be_about_its_subscription() -> None:
    waiting = Waiting()
    credit = Credit(0, "all", 1)
    assert waiting.admitted(ANN, credit), "the batch in work is its own"
    assert not waiting.admitted(BEN, PUBLISH)
    assert waiting.admitted(BEN, credit)
    assert not waiting.admitted(BEN, Unsubscribe(1, "all"))
    assert not waiting.admitted(BEN, credit)
    waiting.end()
    assert waiting.admitted(BEN, credit)


def test_an_end_waits_once_behind_all_that_came_before() -> None:
    waiting = Waiting()
    assert not waiting.admitted(BEN, PUBLISH)
    assert not waiting.queue.leaving(BEN)
    assert not waiting.comes(Gone(BEN))
    assert not waiting.comes(Gone(BEN))
    assert waiting.queue.leaving(BEN)
    assert waiting.end() == [Received(BEN, PUBLISH), Gone(BEN)]
    assert not waiting.queue.leaving(BEN)
    assert waiting.comes(Gone(BEN))


def test_a_session_is_resumed_behind_what_it_said_before() -> None:
    again = Hello(1, VERSION, "", Waiting().token)
    waiting = Waiting()
    assert waiting.token == again.session, "of the same secret"
    assert waiting.admitted(DAN, again), "cay has said nothing that waits"
    waiting = Waiting()
    assert not waiting.admitted(CAY, PUBLISH)
    assert not waiting.admitted(DAN, again)
    assert not waiting.admitted(DAN, Ping(2))
    assert waiting.end() == [Received(CAY, PUBLISH), Received(DAN, again), Received(DAN, Ping(2))]
    waiting = Waiting()
    assert not waiting.comes(Gone(CAY))
    assert not waiting.admitted(DAN, again)
    waiting.end()


def test_batches_beyond_those_that_may_wait_are_refused_in_their_order() -> None:
    waiting = Waiting(Limits(session_batches=2))
    for number in range(5):
        assert not waiting.admitted(BEN, publish([9], [number]))
    assert not waiting.admitted(BEN, Ping(7))
    assert not waiting.admitted(CAY, PUBLISH)
    *first, fourth, fifth, sixth, cay = waiting.end()
    served = [each.message for each in first if isinstance(each, Received)]
    assert [each.rows for each in served if isinstance(each, Publish)] == [((0,),), ((1,),)]
    assert [first[2], fourth, fifth] == [TooManyBatches(BEN, PUBLISH.correlation)] * 3
    assert [sixth, cay] == [Received(BEN, Ping(7)), Received(CAY, PUBLISH)]
    (send,) = waiting.rig.kernel.step(fourth, waiting.now).sends
    assert isinstance(send.message, Failure)
    assert (send.session, send.message.code, send.message.correlation) == (BEN, "busy", PUBLISH.correlation)
    assert "session_batches" in send.message.message
    assert waiting.rig.kernel.step(TooManyBatches(DAN, 1), waiting.now).sends == [], "nobody is there"


def crowded(waiting: Waiting) -> bool:
    return waiting.queue.crowded


def test_the_line_is_bounded_in_messages_and_bytes() -> None:
    waiting = Waiting()
    for _ in range(WAITING_MESSAGES_MAX):
        assert not crowded(waiting)
        waiting.queue.admit(Received(BEN, Goodbye(1)), 1)
    assert crowded(waiting)
    waiting = Waiting()
    waiting.comes(Received(BEN, PUBLISH), WAITING_BYTES_MAX - 1)
    assert not crowded(waiting)
    waiting.comes(Received(BEN, PUBLISH), 1)
    assert crowded(waiting)
    waiting.end()
    assert not crowded(waiting)


@given(st.integers(1, 100_000_000), st.integers(0, 50_000_000))
def test_pieces_become_as_large_as_there_is_time_for(nanoseconds: int, fixed: int) -> None:
    pace = SliceSizer()
    assert pace.events == FIRST_EVENTS
    for _ in range(40):
        pace.took(pace.events, fixed + pace.events * nanoseconds)
        assert 1 <= pace.events <= BATCH_EVENTS_MAX
    if not fixed:
        assert pace.events == min(BATCH_EVENTS_MAX, max(1, PIECE_NANOSECONDS // nanoseconds))


def test_a_piece_that_was_too_dear_makes_the_next_one_small_at_once() -> None:
    pace = SliceSizer()
    pace.took(64, 64 * PIECE_NANOSECONDS)
    assert pace.events == 1
    pace.took(1, 0)
    assert pace.events == 2
    pace.took(1, 0)
    assert pace.events == 2, "less than there was time for says nothing"
