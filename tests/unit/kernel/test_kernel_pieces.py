"""A batch that is matched in pieces: what comes of it is what comes of it at once, and others are served in between."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doubles.kernel_rig import ANN, BEN, SECOND, Rig, lines, publish, subscribe
from doubles.packed_rows import packed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker.engine import Engine
from broker.engine import shares as shares_module
from broker.kernel import (
    Away,
    ContinueBatch,
    Cursors,
    Drain,
    Gone,
    Input,
    Kernel,
    Limits,
    MakeResults,
    Received,
    Record,
    Send,
    Stop,
    Tick,
)
from broker.kernel import cursors as cursors_module
from broker.kernel.records import BatchTaken
from broker.wire import (
    VERSION,
    Acknowledge,
    Closing,
    Credit,
    Failure,
    Hello,
    Message,
    Notifications,
    Ping,
    Pong,
    Probe,
    Publish,
    Published,
    Statistics,
    Subscribe,
    Unsubscribe,
    Welcome,
    decode_result,
)

CAY = b"cay"


class Pieces(Rig):
    """A rig with a batch of six events of ann's in work, of which two are matched."""

    def __init__(self, credits: int = 100) -> None:
        super().__init__()
        self.say(BEN, subscribe(credits=credits))
        self.first = self.begin(publish([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]), 2)

    def begin(self, message: Publish, events: int) -> list[Send]:
        return self.kernel.step(Received(ANN, message, "", events), self.now).sends

    def go_on(self, events: int | None) -> list[Send]:
        sends = self.kernel.step(ContinueBatch(events), self.now).sends
        self.kernel.check_invariants()
        return sends


def events(sends: list[Send]) -> list[int]:
    """The events that ben is told of."""
    return [line["end"] for line in lines([send for send in sends if send.session == BEN])]


def test_what_is_found_is_sent_at_once_and_the_answer_comes_with_the_last_piece() -> None:
    rig = Pieces()
    assert events(rig.first) == [1, 2]
    assert len(rig.first) == 1
    assert events(rig.go_on(1)) == [3]
    answer, *rest = rig.go_on(9)
    assert answer == Send(ANN, Published(6, 6, 6, 1, ()))
    assert events(rest) == [4, 5, 6]
    assert rig.kernel.work is None
    assert rig.go_on(1) == []
    assert rig.say(ANN, publish([7], [7]))[0] == Send(ANN, Published(6, 1, 7, 7, ()))


def test_others_are_answered_in_between() -> None:
    rig = Pieces(credits=1)
    assert events(rig.first) == [1]
    assert rig.ask(Ping(7), BEN) == Pong(7)
    assert events(rig.say(BEN, Credit(0, "all", 9))) == [2]
    assert rig.ask(Statistics(8), BEN).correlation == 8
    assert isinstance(rig.ask(Hello(1, VERSION, ""), CAY), Welcome)
    assert rig.kernel.work is not None
    assert rig.kernel.step(MakeResults(), rig.now).sends == []
    rig.now += 60 * SECOND
    assert {send.message for send in rig.kernel.step(Tick(), rig.now).sends} == {Probe(0)}
    assert rig.kernel.work is not None


@pytest.mark.parametrize("message", [publish([7], [7]), subscribe("other"), Unsubscribe(9, "all")])
def test_what_must_wait_and_is_not_held_back_ends_the_batch_first(message: Message) -> None:
    rig = Pieces()
    sends = rig.say(BEN, message)
    assert rig.kernel.work is None
    assert sends[0] == Send(ANN, Published(6, 6, 6, 1, ()))
    assert events(sends)[:4] == [3, 4, 5, 6]
    assert rig.engine.taken[:6] == [1, 2, 3, 4, 5, 6]


def test_a_batch_that_is_wrong_anywhere_is_refused_before_anything_is_matched() -> None:
    rig = Pieces()
    rig.go_on(None)
    (refused,) = rig.begin(publish([7, 8, 9], [1, 2, "x"]), 1)
    assert isinstance(refused.message, Failure)
    assert rig.kernel.work is None
    assert rig.engine.taken == [1, 2, 3, 4, 5, 6]


def test_a_session_that_is_away_is_sent_nothing_and_goes_after_the_batch() -> None:
    rig = Pieces()
    assert rig.kernel.step(Away(BEN), rig.now).sends == []
    assert rig.go_on(1) == []
    (answer,) = rig.kernel.step(Gone(BEN), rig.now).sends
    assert answer == Send(ANN, Published(6, 6, 6, 1, ()))
    assert rig.engine.subscriptions == {}
    assert rig.kernel.step(Away(BEN), rig.now).sends == []


def test_a_publisher_that_goes_takes_nothing_back() -> None:
    rig = Pieces()
    rig.kernel.step(Away(ANN), rig.now)
    rig.kernel.step(Gone(ANN), rig.now)
    assert rig.engine.taken == [1, 2, 3, 4, 5, 6]
    rig.kernel.check_invariants()


def test_sessions_that_expire_meanwhile_are_released_after_the_batch() -> None:
    rig = Rig(Limits(resume_seconds=1))
    rig.say(CAY, Hello(1, VERSION, "", b""))
    rig.say(CAY, subscribe())
    rig.kernel.step(Gone(CAY), rig.now)
    rig.kernel.step(Received(ANN, publish([1, 2], [1, 2]), "", 1), rig.now)
    rig.now += 2 * SECOND
    rig.kernel.step(Tick(), rig.now)
    assert "all" in rig.engine.subscriptions
    rig.kernel.step(ContinueBatch(None), rig.now)
    rig.kernel.step(Tick(), rig.now)
    assert rig.engine.subscriptions == {}


def test_from_a_drain_on_the_batch_in_work_is_the_last_one() -> None:
    rig = Pieces()
    rig.kernel.step(Drain(), rig.now)
    assert rig.go_on(None)[0] == Send(ANN, Published(6, 6, 6, 1, ()))
    assert rig.refusal(publish([7], [7]))[0] == "busy"


def test_an_end_does_not_wait_for_the_batch() -> None:
    rig = Pieces()
    assert Send(ANN, Closing(0, "the end")) in rig.kernel.step(Stop("the end"), rig.now).sends
    assert rig.kernel.work is not None


# ---- the law ----

QUERIES = (
    ("cayuga", "SELECT * FROM S"),
    ("cayuga", "SELECT * FROM S NEXT{$2.x >= $1.x} S"),
    ("ptopss", "FROM S a, b: x = 1 c: x = 2 MATCH a; b; c"),
    ("ptopss", "FROM S a: x = 1 b: x = 2 MATCH a, b"),
    ("sase", "PATTERN SEQ(S a, S+ b[], S c) WHERE skip_till_next_match(a, b, c) { a.x = 1 AND c.x = 2 } WITHIN 20 us"),
)


class Played:
    """A kernel with a journal over an engine, and all that it says."""

    def __init__(self, kept: int) -> None:
        self.engine = Engine()
        self.engine.add_stream("S", {"x": "int"})
        self.cursors = Cursors()
        limits = Limits(durable_notifications=kept)
        self.kernel = Kernel(self.engine, limits, durability="always", cursors=self.cursors)
        self.records: list[Record] = []
        self.told: dict[tuple[bytes, str], list[bytes]] = {}
        self.positions: dict[tuple[str, int], bytes] = {}  # what the cursors' reader was told, also of gaps
        self.answers: dict[bytes, list[Message]] = {}
        for session in (ANN, BEN):
            self.say(session, Hello(1, VERSION, ""))
        for number, (language, query) in enumerate(QUERIES):
            name = f"q{number}"
            self.say(ANN, Subscribe(2, name, language, query, True, None, None, 1_000_000))
            self.say(BEN, Subscribe(2, name, language, query, True, None, None, 1_000_000, durable=f"c{number}"))

    def say(self, session: bytes, message: Message, events: int | None = None) -> None:
        self.step(Received(session, message, "", events))

    def step(self, given: Input) -> None:
        effects = self.kernel.step(given, 0)
        self.records += effects.records
        self.hear(effects.sends)

    def hear(self, sends: list[Send]) -> None:
        for send in sends:
            if isinstance(send.message, Notifications):
                self.told.setdefault((send.session, send.message.subscription), []).extend(send.message.results)
                if send.message.position is not None:
                    for position, result in enumerate(send.message.results, send.message.position):
                        self.positions[send.message.subscription, position] = result
            else:
                self.answers.setdefault(send.session, []).append(send.message)
        while self.kernel.has_work():
            self.step(MakeResults())

    def batches(self) -> list[BatchTaken]:
        """With rows, however they came."""
        batches = [record for record in self.records if isinstance(record, BatchTaken)]
        return [replace(batch, rows=tuple(batch.rows), times=tuple(batch.times)) for batch in batches]


batches = st.lists(st.lists(st.sampled_from((1, 1, 2, 3)), min_size=1, max_size=8), min_size=1, max_size=3)


few = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=max(20, settings().max_examples // 10),
)


@few
@given(batches, st.integers(1, 30), st.data())
def test_any_division_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, xs: list[list[int]], kept: int, data: st.DataObject
) -> None:
    """To each session of each subscription, to the cursors, and to whoever reads the records; also where there are more
    tuples than are made at once, and acknowledgements come between pieces."""
    for module in (shares_module, cursors_module):
        monkeypatch.setattr(module, "MADE_AT_ONCE_MAX", 4)
    whole, divided = Played(kept), Played(kept)
    time = 0
    for number, batch in enumerate(xs):
        times = tuple(time + at for at in range(len(batch)))
        message = Publish(10 + number, "S", times, tuple((x,) for x in batch), None, None, "p", number)
        time += data.draw(st.integers(0, 9))
        time = max(time, times[-1])
        cursor, share = data.draw(st.integers(0, len(QUERIES) - 1)), data.draw(st.floats(0, 1))
        (known,) = divided.cursors.of(f"q{cursor}")
        position = round(share * known.possibly_delivered)
        piecewise = replace(message, rows=packed({"x": "int"}, message.rows)) if data.draw(st.booleans()) else message
        divided.say(ANN, piecewise, data.draw(st.integers(1, 9)))
        while divided.kernel.work is not None:
            if position > known.acknowledged:
                divided.say(BEN, Acknowledge(9, f"q{cursor}", position))
            divided.step(ContinueBatch(data.draw(st.integers(1, 4))))
        whole.say(ANN, message)
        for each in (whole, divided):
            (own,) = each.cursors.of(f"q{cursor}")
            if position > own.acknowledged:
                each.say(BEN, Acknowledge(9, f"q{cursor}", position))
    for (session, name), found in whole.told.items():
        assert session == BEN or divided.told[session, name] == found, name
    # The sooner something is sent, the less of it is dropped.
    for at, result in whole.positions.items():
        assert divided.positions[at] == result or decode_result(result)["kind"] == "incomplete", at
    assert divided.answers == whole.answers
    assert divided.cursors.save() == whole.cursors.save()
    assert divided.batches() == whole.batches()
    assert divided.engine.snapshot() == whole.engine.snapshot()
    divided.kernel.check_invariants()
