"""Each input and what comes of it: sessions, streams, subscriptions, and every refusal."""

from __future__ import annotations

import pytest
from doubles.kernel_rig import ANN, BEN, SECOND, Rig, publish, subscribe
from doubles.small_engine import SmallEngine

from broker.kernel import Gone, Kernel, Limits, Received, Send, Stop, Tick, Undecodable
from broker.kernel.subscribing import WARNING_CHARACTERS_MAX, WARNINGS_MAX
from broker.wire import (
    VERSION,
    AddStream,
    AskProbability,
    Closing,
    Credit,
    DescribeStream,
    Done,
    Failure,
    Goodbye,
    Hello,
    ListStreams,
    ListSubscriptions,
    Message,
    Notifications,
    Ping,
    Pong,
    ProbabilityReport,
    Probe,
    Publish,
    Published,
    Statistics,
    StatisticsReport,
    StreamEntry,
    Streams,
    Subscribe,
    Subscribed,
    SubscribedMany,
    SubscribeMany,
    SubscriptionEntry,
    SubscriptionOutcome,
    SubscriptionRequest,
    Subscriptions,
    Unsubscribe,
    Welcome,
    WireError,
    decode_result,
    encode,
)
from broker.wire.limits import SUBSCRIPTIONS_AT_ONCE_MAX
from broker.wire.messages import TABLE


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_every_request_of_the_table_is_carried_out_by_somebody() -> None:
    requests = {row.message for row in TABLE.values() if row.request}
    assert Kernel(SmallEngine())._handlers.keys() | {Hello, Publish} == requests


# ---- sessions ----


def test_a_session_begins_with_hello() -> None:
    kernel = Kernel(SmallEngine())
    (send,) = kernel.step(Received(ANN, Ping(3)), 0).sends
    assert isinstance(send.message, Failure)
    assert (send.message.correlation, send.message.code) == (3, "session")
    (send,) = kernel.step(Received(ANN, Hello(4, VERSION, "test")), 0).sends
    assert isinstance(send.message, Welcome)
    assert (send.message.correlation, send.message.version) == (4, VERSION)
    assert kernel.step(Received(ANN, Ping(5)), 0).sends == [Send(ANN, Pong(5))]


def test_another_version_is_refused_by_number() -> None:
    (send,) = Kernel(SmallEngine()).step(Received(ANN, Hello(4, VERSION + 1, "")), 0).sends
    assert isinstance(send.message, Failure)
    assert send.message.code == "version"
    assert f"version {VERSION + 1}" in send.message.message


def test_a_second_hello_is_refused_and_the_session_goes_on(rig: Rig) -> None:
    assert rig.refusal(Hello(7, VERSION, "test"))[0] == "protocol"
    assert rig.ask(Ping(8)) == Pong(8)


def test_there_are_at_most_so_many_sessions() -> None:
    rig = Rig(Limits(sessions=2))
    assert rig.refusal(Hello(1, VERSION, "third"), b"third") == (
        "limit",
        "sessions: this broker accepts at most 2 clients at a time",
    )
    rig.say(BEN, Goodbye(2))
    assert isinstance(rig.ask(Hello(1, VERSION, "third"), b"third"), Welcome)


def test_goodbye_releases_everything(rig: Rig) -> None:
    rig.say(ANN, subscribe())
    assert rig.ask(Goodbye(9)) == Done(9)
    assert rig.engine.subscriptions == {}
    assert rig.refusal(Ping(10))[0] == "session"


def test_silence_is_probed_and_loses_nothing(rig: Rig) -> None:
    rig.say(ANN, subscribe(credits=1))
    rig.now += 29 * SECOND
    rig.say(BEN, Ping(7))
    assert rig.kernel.step(Tick(), rig.now).sends == []
    rig.now += SECOND
    assert rig.kernel.step(Tick(), rig.now).sends == [Send(ANN, Probe(0))]
    assert rig.kernel.step(Tick(), rig.now).sends == []
    rig.now += 3_600 * SECOND
    assert rig.kernel.step(Tick(), rig.now).sends == [Send(ANN, Probe(0)), Send(BEN, Probe(0))]
    _, notified = rig.say(BEN, publish([1], [7]))
    assert isinstance(notified.message, Notifications)


def test_a_clock_that_steps_back_probes_once(rig: Rig) -> None:
    assert len(rig.kernel.step(Tick(), 5).sends) == 2
    assert rig.kernel.step(Tick(), 6).sends == []


def test_a_session_that_is_gone_releases_its_subscriptions(rig: Rig) -> None:
    rig.say(ANN, subscribe())
    rig.say(BEN, subscribe())
    rig.kernel.step(Gone(ANN), rig.now)
    rig.kernel.check_invariants()
    assert list(rig.engine.subscriptions) == ["all"]
    rig.kernel.step(Gone(BEN), rig.now)
    rig.kernel.step(Gone(BEN), rig.now)
    rig.kernel.check_invariants()
    assert rig.engine.subscriptions == {}


def test_garbage_is_answered_to_who_has_said_hello_only(rig: Rig) -> None:
    (send,) = rig.kernel.step(Undecodable(ANN, WireError("no message", 77)), rig.now).sends
    assert send == Send(ANN, Failure(77, "protocol", "no message", None, None, None))
    assert rig.kernel.step(Undecodable(b"who", WireError("no message")), rig.now).sends == []
    assert rig.ask(Ping(8)) == Pong(8)


def test_what_only_a_broker_says_is_refused(rig: Rig) -> None:
    assert rig.refusal(Pong(8)) == ("protocol", "Pong is not for the broker")


# ---- streams ----


def test_an_equal_stream_may_be_declared_again_and_another_not(rig: Rig) -> None:
    assert rig.ask(AddStream(3, "S", {"x": "int"}, None, "arrival", None, None)) == Done(3)
    assert rig.refusal(AddStream(3, "S", {"x": "float"}, None, "arrival", None, None)) == (
        "definition",
        "stream 'S' exists with other attributes",
    )
    assert rig.refusal(AddStream(3, "S", {"x": "int"}, "x", "arrival", None, None))[1].endswith("another key")


def test_a_wrong_declaration_is_refused_in_the_words_of_its_definition(rig: Rig) -> None:
    code, text = rig.refusal(AddStream(3, "T", {"x": "integer"}, None, "arrival", None, None))
    assert code == "definition"
    assert "did you mean 'int'?" in text
    assert rig.refusal(AddStream(3, "T", {"x": "int"}, None, "arival", None, None))[1].endswith("'arrival'?")


def test_there_are_at_most_so_many_streams() -> None:
    rig = Rig(Limits(streams=1))
    assert rig.refusal(AddStream(3, "T", {}, None, "arrival", None, None))[0] == "limit"
    assert rig.ask(AddStream(3, "S", {"x": "int"}, None, "arrival", None, None)) == Done(3)


def test_streams_are_described_and_listed_in_pages(rig: Rig) -> None:
    entry = StreamEntry("S", {"x": "int"}, None, "arrival", None, None)
    assert rig.ask(DescribeStream(3, "S")) == Streams(3, (entry,), False)
    assert rig.refusal(DescribeStream(3, "s")) == ("unknown-stream", "stream 's' is not known; did you mean 'S'?")
    wide = {f"attribute_{n}_{'x' * 100}": "int" for n in range(1_000)}
    for name in ("W1", "W2", "W3"):
        rig.say(ANN, AddStream(3, name, wide, None, "arrival", None, None))
    names: list[str] = []
    more, pages = True, 0
    while more:
        page = rig.answer(Streams, ListStreams(4, names[-1] if names else ""))
        encode(page)
        names += [each.name for each in page.entries]
        more, pages = page.more, pages + 1
    assert names == ["S", "W1", "W2", "W3"]
    assert pages > 1


# ---- subscriptions ----


def many(*wanted: SubscriptionRequest, credits: int = 100) -> SubscribeMany:
    return SubscribeMany(5, wanted, credits)


def test_each_of_several_is_judged_on_its_own(rig: Rig) -> None:
    every = [SubscriptionRequest(name, "cayuga", "every S") for name in ("one", "two", "one", "a b")]
    answer = rig.answer(SubscribedMany, many(*every, SubscriptionRequest("three", "cayuga", "nonsense"), every[1]))
    assert [(each.name, each.attached, each.code) for each in answer.outcomes] == [
        ("one", False, None),
        ("two", False, None),
        ("one", False, "definition"),
        ("a b", False, "definition"),
        ("three", False, "query"),
        ("two", False, "definition"),
    ]
    assert answer.outcomes[2].message == "subscription 'one': this client has subscribed to it already"
    assert rig.kernel.statistics()["broker"]["subscriptions"] == 2
    rig.kernel.check_invariants()
    assert rig.ask(subscribe("two"), BEN) == Subscribed(5, "two", True)
    found = rig.answer(SubscribedMany, many(every[0]), BEN)
    assert found.outcomes == (SubscriptionOutcome("one", True),)


def test_several_at_once_are_limited_and_their_records_come_together(rig: Rig) -> None:
    every = [SubscriptionRequest(f"q{n}", "cayuga", "every S") for n in range(SUBSCRIPTIONS_AT_ONCE_MAX + 1)]
    assert rig.refusal(many(*every)) == (
        "limit",
        "SUBSCRIPTIONS_AT_ONCE_MAX: expected at most 256 subscriptions in one request, found 257",
    )
    assert rig.kernel.statistics()["broker"]["subscriptions"] == 0
    answer = rig.answer(SubscribedMany, many(*every[1:]))
    assert all(each.code is None for each in answer.outcomes)
    assert rig.kernel.statistics()["broker"]["subscriptions"] == SUBSCRIPTIONS_AT_ONCE_MAX


def test_the_same_text_attaches_and_another_is_refused(rig: Rig) -> None:
    assert rig.ask(subscribe()) == Subscribed(5, "all", False)
    assert rig.ask(subscribe(), BEN) == Subscribed(5, "all", True)
    assert rig.refusal(subscribe())[1] == "subscription 'all': this client has subscribed to it already"
    rig.say(BEN, Unsubscribe(7, "all"))
    assert rig.refusal(subscribe(query="every  S"), BEN) == (
        "definition",
        "subscription 'all' exists with another text",
    )
    for query in ("every S", None):
        assert rig.refusal(subscribe(query=query, lineage=True), BEN)[1].endswith(
            "subscription 'all' exists with another lineage: expected false, found true"
        )
        assert (
            "another forecast: expected none, found"
            in rig.refusal(subscribe(query=query, forecast={"within": 3}), BEN)[1]
        )
    assert rig.ask(subscribe(query=None), BEN) == Subscribed(5, "all", True)


@pytest.mark.parametrize(
    ("language", "lineage", "report"),
    [("cayuga", False, None), ("window", False, None), ("sase", True, None), ("ptopss", True, "all")],
)
def test_an_option_that_is_left_out_means_its_default(
    rig: Rig, language: str, lineage: bool, report: str | None
) -> None:
    def ask(session: bytes, lineage: bool | None, report: str | None, query: str | None = "every S") -> Message:
        return rig.ask(Subscribe(5, "all", language, query, lineage, report, None, 9), session)

    for first, second in (((None, None), (lineage, report)), ((lineage, report), (None, None))):
        assert ask(ANN, *first) == Subscribed(5, "all", False)
        assert ask(BEN, *second) == Subscribed(5, "all", True)
        rig.say(BEN, Unsubscribe(7, "all"))
        other = ask(BEN, not lineage, report)
        assert isinstance(other, Failure)
        assert "another lineage: expected" in other.message
        for query in ("every S", None):
            other = ask(BEN, lineage, "completions", query)
            assert isinstance(other, Failure)
            assert other.message == (
                "subscription 'all' exists with another report: expected "
                f"{'none' if report is None else 'all'}, found completions"
            )
        rig.say(ANN, Unsubscribe(7, "all"))


def test_attaching_by_name_needs_the_name(rig: Rig) -> None:
    rig.say(ANN, subscribe())
    assert rig.refusal(subscribe("al", None), BEN) == (
        "unknown-subscription",
        "subscription 'al' is not known; did you mean 'all'?",
    )


def test_a_wrong_query_points_to_its_place(rig: Rig) -> None:
    answer = rig.ask(subscribe(query="each S"))
    assert answer == Failure(5, "query", "line 1, column 1: expected every or after, found 'each'", 1, 1, "each S\n^")
    assert rig.ask(subscribe()) == Subscribed(5, "all", False)


def test_a_wrong_definition_is_refused_before_the_engine(rig: Rig) -> None:
    assert rig.refusal(subscribe("a b"))[0] == "definition"
    assert rig.refusal(subscribe(report="everything"))[0] == "definition"
    assert rig.engine.subscriptions == {}


def test_the_last_one_to_leave_takes_the_subscription_along(rig: Rig) -> None:
    rig.say(ANN, subscribe())
    rig.say(BEN, subscribe())
    assert rig.ask(Unsubscribe(7, "all")) == Done(7)
    assert "all" in rig.engine.subscriptions
    assert rig.ask(Unsubscribe(7, "all"), BEN) == Done(7)
    assert rig.engine.subscriptions == {}
    assert rig.refusal(Unsubscribe(7, "all")) == (
        "unknown-subscription",
        "subscription 'all': this client has not subscribed to it",
    )


def test_a_subscription_that_others_read_goes_after_them(rig: Rig) -> None:
    rig.say(ANN, subscribe())
    rig.say(BEN, subscribe("later", "after all"))
    assert rig.ask(Unsubscribe(7, "all")) == Done(7)
    assert sorted(rig.engine.subscriptions) == ["all", "later"]
    rig.say(BEN, Unsubscribe(7, "later"))
    rig.kernel.check_invariants()
    assert rig.engine.subscriptions == {}


def test_a_subscription_that_waits_to_go_can_be_attached_to(rig: Rig) -> None:
    rig.say(ANN, subscribe())
    rig.say(BEN, subscribe("later", "after all"))
    rig.say(ANN, Unsubscribe(7, "all"))
    assert rig.ask(subscribe()) == Subscribed(5, "all", True)
    rig.say(BEN, Unsubscribe(7, "later"))
    assert list(rig.engine.subscriptions) == ["all"]


def test_what_the_configuration_declares_stays() -> None:
    engine = SmallEngine()
    engine.add_stream("S", {"x": "int"})
    engine.subscribe("all", language="cayuga", query="every S")
    rig = Rig(engine=engine)
    assert rig.ask(subscribe(query=None)) == Subscribed(5, "all", True)
    rig.say(ANN, Goodbye(7))
    assert list(engine.subscriptions) == ["all"]
    assert rig.ask(publish([1], [1]), BEN) == Published(6, 1, 1, 1, ())


def test_a_client_has_at_most_so_many_subscriptions() -> None:
    rig = Rig(Limits(session_subscriptions=1))
    rig.say(ANN, subscribe())
    assert rig.refusal(subscribe("more"))[0] == "limit"
    assert rig.ask(subscribe("more"), BEN) == Subscribed(5, "more", False)


def test_subscriptions_are_listed_with_their_clients(rig: Rig) -> None:
    rig.say(ANN, subscribe("b", credits=1))
    rig.say(BEN, subscribe("b", credits=2))
    rig.say(BEN, subscribe("a"))
    rig.say(BEN, publish([1, 2, 3], [1, 2, 3]))
    assert rig.ask(ListSubscriptions(8, "")) == Subscriptions(
        8,
        (SubscriptionEntry("a", "cayuga", "every S", 1, 0), SubscriptionEntry("b", "cayuga", "every S", 2, 3)),
        False,
    )
    assert rig.ask(ListSubscriptions(8, "b")) == Subscriptions(8, (), False)


def test_a_probability_is_asked_of_the_engine(rig: Rig) -> None:
    rig.say(ANN, subscribe("a"))
    answer = rig.ask(AskProbability(8, "a", ("u", 7), "5 min"), BEN)
    assert answer == ProbabilityReport(8, {"probability": 0.5, "key": ["u", 7], "within": "5 min"})
    code, message = rig.refusal(AskProbability(8, "b", (), None))
    assert code == "unknown-subscription"
    assert "'b'" in message


def test_credit_for_what_is_not_subscribed_is_ignored(rig: Rig) -> None:
    assert rig.say(ANN, Credit(0, "all", 5)) == []


# ---- numbers, and the end ----


def test_statistics_can_be_sent(rig: Rig) -> None:
    rig.say(ANN, subscribe(credits=1))
    rig.say(BEN, publish([4, 5, 1], [1, 2, 3]))
    answer = rig.ask(Statistics(8))
    assert isinstance(answer, StatisticsReport)
    encode(answer)
    assert answer.groups["engine"] == {"events": 2, "by_kind": {"every": 0.5}}
    expected = {"sessions": 2, "streams": 1, "events": 2, "events_refused_late": 1, "results": 2}
    expected |= {"notifications_sent": 1, "notifications_queued": 1, "notifications_missed": 0, "attachments": 1}
    assert expected.items() <= answer.groups["broker"].items()


def test_the_end_tells_what_was_not_delivered(rig: Rig) -> None:
    rig.say(ANN, subscribe(credits=1))
    rig.say(BEN, publish([4, 5, 6], [1, 2, 3]))
    gap, closing, other = rig.kernel.step(Stop("the broker is stopping"), rig.now).sends
    assert isinstance(gap.message, Notifications)
    assert gap.message.first == 2
    assert decode_result(gap.message.results[0]) == {
        "kind": "incomplete",
        "subscription": "all",
        "limit": "closing",
        "since": 5,
        "missed": 2,
    }
    assert closing == Send(ANN, Closing(0, "the broker is stopping"))
    assert other == Send(BEN, Closing(0, "the broker is stopping"))


def test_the_answer_warns_of_streams_whose_publishers_give_times_where_absence_is_asked_for(rig: Rig) -> None:
    rig.ask(publish([rig.now], [1]))
    answer = rig.answer(Subscribed, subscribe("absent", "every S"))
    assert answer.warnings == ("absence in S",)


def test_the_answer_has_the_warnings_on_the_text_of_the_request(rig: Rig) -> None:
    for name, query, warned, expected in (
        ("one", "every S", [], ()),
        ("two", "every S", ["line 1, column 1: so"], ("line 1, column 1: so",)),
        ("two", None, ["so"], ()),
        ("three", "every S", ["x" * 1_000] * 100, ("x" * WARNING_CHARACTERS_MAX,) * WARNINGS_MAX),
    ):
        rig.engine.warned = warned
        answer = rig.answer(Subscribed, subscribe(name, query), BEN if query is None else ANN)
        assert answer.warnings == expected
