"""When the clock punctuates, and what of that is recorded."""

from __future__ import annotations

from doubles.kernel_rig import ANN, SECOND, Rig, publish, subscribe

from broker.kernel import ClockDue, Tick
from broker.kernel.records import Punctuated, StreamClocked, StreamDeclared
from broker.server.replicated_state import ReplicatedState
from broker.wire import AddStream, Notifications, Publish, Published, ResetTime


class Clocked(Rig):
    """A rig with the stream I(x int), which says idle = 2 s, and one subscription to S."""

    def __init__(self) -> None:
        super().__init__()
        self.say(ANN, AddStream(3, "I", {"x": "int"}, None, "arrival", None, None, 2 * SECOND))
        self.say(ANN, subscribe())

    def wait(self, moment: int) -> None:
        """From now on the engine has a result that waits for this moment."""
        self.engine.due = moment

    def due(self) -> int | None:
        return self.kernel.due(self.now)

    def notified(self) -> int:
        sends = self.step(ClockDue())
        return sum(len(send.message.results) for send in sends if isinstance(send.message, Notifications))

    def publish(self, stream: str, time: int | None = None) -> None:
        times = None if time is None else (time,)
        assert isinstance(self.say(ANN, Publish(6, stream, times, ((1,),), None, None))[0].message, Published)


def test_a_stream_that_the_clock_stamps_is_punctuated_when_something_waits() -> None:
    rig = Clocked()
    rig.publish("S")
    assert rig.due() is None
    rig.wait(rig.now + 3)
    assert rig.due() == rig.now + 4
    assert rig.notified() == 0
    rig.now += 4
    assert rig.notified() == 1
    assert rig.engine.punctuated == [(rig.now, None, None)]
    assert rig.due() is None


def test_before_the_first_event_the_clock_may_promise() -> None:
    rig = Clocked()
    rig.wait(rig.now - 1)
    assert rig.notified() == 1


def test_what_a_publisher_stamps_waits_until_it_is_idle() -> None:
    rig = Clocked()
    rig.publish("I", rig.now - 5)
    rig.wait(rig.now + 3)
    assert rig.due() == rig.now + 2 * SECOND
    rig.now += SECOND
    rig.publish("I")
    assert rig.due() == rig.now + 2 * SECOND
    rig.now += 2 * SECOND
    assert rig.notified() == 1


def test_one_stream_that_is_never_idle_keeps_it_from_promising() -> None:
    rig = Clocked()
    rig.publish("S")
    rig.wait(rig.now + 3)
    rig.publish("S", rig.now)
    assert rig.due() is None
    assert rig.kernel.statistics()["broker"]["unclocked_streams"] == 1
    rig.now += 10 * SECOND
    assert rig.notified() == 0
    rig.say(ANN, ResetTime(7, "S"))
    assert rig.kernel.statistics()["broker"]["unclocked_streams"] == 0
    assert rig.notified() == 1


def test_a_stream_that_is_idle_is_released_beside_a_busy_one_that_no_subscription_relates() -> None:
    rig = Clocked()
    rig.publish("I", rig.now - 5)
    rig.engine.orders = [(["I"], rig.now - 5)]
    for _ in range(4):
        rig.now += SECOND // 2
        rig.publish("S", rig.now)
    assert rig.due() == rig.now
    rig.step(ClockDue())
    assert rig.engine.punctuated == [(rig.now, "I", None)]


def test_a_stream_that_is_idle_is_released_beside_a_busy_one_that_is_related() -> None:
    rig = Clocked()
    rig.publish("I", rig.now - 5)
    for _ in range(4):
        rig.now += SECOND // 2
        rig.publish("S", rig.now)  # S is never idle, and its own events say how far it has come
        rig.engine.orders = [(["I", "S"], rig.now - 1)]
    assert rig.due() == rig.now
    rig.step(ClockDue())
    assert rig.engine.punctuated == [(rig.now, "I", None)]
    assert rig.due() is None, "the promise is not made again for what waits for S"
    rig.engine.orders = [(["I", "S"], rig.now + 1)]
    assert rig.due() == rig.now + 2


def test_a_batch_that_was_refused_as_late_keeps_it_too() -> None:
    rig = Clocked()
    rig.publish("I")
    rig.publish("S", rig.now - 5)
    rig.wait(rig.now)
    assert rig.due() is None


def test_a_clock_that_jumps_does_not_promise() -> None:
    rig = Clocked()
    rig.wait(rig.now + 3)
    rig.now += 10**15
    rig.step(Tick())
    assert rig.due() is None
    assert rig.notified() == 0
    for _ in range(11):
        rig.now += SECOND
        rig.step(Tick())
    assert rig.notified() == 1


def test_events_without_a_time_come_behind_what_was_promised() -> None:
    rig = Clocked()
    rig.publish("S")
    rig.wait(rig.now)
    rig.now += SECOND
    rig.step(ClockDue())
    rig.now -= 5
    rig.publish("S")
    assert rig.engine.now == rig.now + 5


def test_it_is_recorded_and_replayed() -> None:
    rig = Clocked()
    rig.kernel._durability = "always"  # a rig has no journal
    rig.publish("S")
    rig.publish("I", rig.now)
    rig.wait(rig.now)
    rig.now += 2 * SECOND
    rig.step(ClockDue())
    records = [each for each in rig.recorded() if isinstance(each, StreamClocked | Punctuated)]
    assert records == [StreamClocked("S", True), Punctuated(rig.now, None, None)]
    rig.publish("S", rig.now + 1)
    assert StreamClocked("S", False) in rig.recorded()


def test_a_state_keeps_which_streams_the_clock_stamps() -> None:
    state = ReplicatedState()
    before = state.save()
    state.replay(1, 0, StreamClocked("S", True))
    again = ReplicatedState()
    again.restore(state.save())
    assert again.receipts.clocked == {"S": True}
    assert again.digest() == state.digest()
    state.replay(2, 0, StreamClocked("S", False))
    assert state.receipts.clocked == {"S": False}
    assert len(before) < len(state.save())


def test_a_late_batch_of_the_kernel_is_sifted_by_the_promise() -> None:
    rig = Clocked()
    rig.publish("S", rig.now)
    rig.engine.punctuate(rig.now + 10)
    answer = rig.say(ANN, publish([rig.now + 9, rig.now + 10], [1, 2]))[0].message
    assert isinstance(answer, Published)
    assert (answer.count, [each.code for each in answer.refused]) == (1, ["late"])


def test_a_state_keeps_when_streams_are_idle() -> None:
    state = ReplicatedState()
    state.replay(1, 0, StreamDeclared("S", {"x": "int"}, None, "arrival", None, None, 5))
    state.replay(2, 0, StreamDeclared("D", {"x": "int"}, None, "speculate", 7, 8, 9))
    again = ReplicatedState()
    again.restore(state.save())
    assert again.engine.streams == state.engine.streams
    assert [stream.idle for stream in again.engine.streams.values()] == [5, 9]
    assert again.digest() == state.digest()


def test_a_stream_out_of_order_is_promised_its_lateness_behind_the_clock_when_it_is_idle() -> None:
    rig = Clocked()
    rig.say(ANN, AddStream(3, "D", {"x": "int"}, None, "buffer", 5 * SECOND, None, 2 * SECOND))
    rig.publish("D")  # also without a time: a late one may follow
    rig.wait(rig.now)
    assert rig.due() == rig.now + 5 * SECOND + 1
    rig.now += 5 * SECOND + 1
    assert rig.notified() == 1
    assert rig.engine.punctuated == [(rig.now - 5 * SECOND, None, None)]
    rig.say(ANN, AddStream(4, "E", {"x": "int"}, None, "speculate", None, None))
    rig.publish("E", rig.now)
    rig.wait(rig.now)
    assert rig.due() is None
