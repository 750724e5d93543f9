"""Who may do what: every verb, every way around a verb that was tried, and what a refusal gives away (nothing)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doubles.guarded_rig import ANN, BEN, OPS, USERS, Rig, publish, subscribe
from doubles.kernel_rig import lines
from hypothesis import given
from hypothesis import strategies as st

from broker.events import DefinitionError
from broker.kernel import Access, Drain, Gone, Limits, Received, Reconfigure, Send, Tick, User
from broker.kernel.records import (
    BatchTaken,
    CursorAdded,
    Record,
    StreamDeclared,
    SubscriptionAdded,
    SubscriptionRemoved,
)
from broker.kernel.sources import Flow, Sources
from broker.server.replicated_state import ReplicatedState
from broker.wire import (
    VERSION,
    Acknowledge,
    AddStream,
    Administer,
    AskProbability,
    AskReasons,
    Closing,
    Credit,
    DeadLetters,
    DescribeStream,
    Done,
    Failure,
    Forget,
    Goodbye,
    Hello,
    Inspect,
    ListDeadLetters,
    ListStreams,
    ListSubscriptions,
    Message,
    Notifications,
    Ping,
    Pong,
    ProbabilityReport,
    Published,
    Refuse,
    Settle,
    Statistics,
    StatisticsReport,
    Streams,
    Subscribe,
    Subscribed,
    SubscribedMany,
    SubscribeMany,
    SubscriptionRequest,
    Subscriptions,
    Unsubscribe,
    Welcome,
)


@pytest.fixture
def rig() -> Rig:
    return Rig()


# ---- sessions ----


def test_a_key_that_nobody_has_and_no_key_are_refused() -> None:
    rig = Rig()
    assert rig.refusal("x" * 40, Hello(1, VERSION, "")) == "this broker knows no user with this key"
    assert rig.refusal("", Hello(1, VERSION, "")) == "a key is needed here"
    assert isinstance(rig.ask("x" * 40, Ping(2)), Failure)


def test_a_session_belongs_to_the_key_that_opened_it(rig: Rig) -> None:
    """A forged routing id: ben's messages come under the id of ann's session."""
    rig.say(ANN, subscribe("ann.all", "SELECT * FROM Stock"))
    for message in (Ping(5), publish("Stock", 1), Unsubscribe(5, "ann.all"), Hello(5, VERSION, "")):
        (send,) = rig.say(BEN, message, b"a")
        assert isinstance(send.message, Failure)
        assert (send.message.code, send.message.message) == ("permission", "this session belongs to another key")
    assert rig.ask(ANN, Ping(6)) == Pong(6)
    assert rig.kernel.statistics()["broker"]["denied"] == 4


# ---- each verb ----


def test_publishing_needs_publish_and_a_refusal_does_not_say_what_exists(rig: Rig) -> None:
    assert isinstance(rig.ask(ANN, publish("Stock", 1)), Published)
    there, not_there = rig.refusal(ANN, publish("Secret", 1)), rig.refusal(ANN, publish("Sacred", 1))
    assert there == "stream 'Secret': user 'ann' has no permission to publish"
    assert there.replace("Secret", "Sacred") == not_there


def test_declaring_needs_declare_unless_it_is_there_and_known(rig: Rig) -> None:
    fields = ({"price": "int"}, None, "arrival", None, None)
    assert rig.ask(ANN, AddStream(2, "AnnStream", *fields)) == Done(2)
    assert rig.ask(ANN, AddStream(2, "Stock", *fields)) == Done(2)
    assert "no permission to declare" in rig.refusal(ANN, AddStream(2, "Secret", *fields))
    assert "no permission to declare" in rig.refusal(ANN, AddStream(2, "Other", *fields))


def test_subscribing_needs_the_name_and_every_stream(rig: Rig) -> None:
    assert isinstance(rig.ask(ANN, subscribe("ann.one", "SELECT * FROM Stock")), Subscribed)
    assert "no permission to subscribe" in rig.refusal(ANN, subscribe("one", "SELECT * FROM Stock"))
    query = "SELECT * FROM Stock NEXT{} Secret"
    assert rig.refusal(ANN, subscribe("ann.two", query)) == "stream 'Secret': user 'ann' has no permission to read"


def test_of_several_each_needs_what_it_needs_alone(rig: Rig) -> None:
    texts = {"ann.one": "SELECT * FROM Stock", "one": "SELECT * FROM Stock", "ann.two": "SELECT * FROM Secret"}
    answer = rig.ask(
        ANN, SubscribeMany(5, tuple(SubscriptionRequest(n, "cayuga", text) for n, text in texts.items()), 10)
    )
    assert isinstance(answer, SubscribedMany)
    assert [each.code for each in answer.outcomes] == [None, "permission", "permission"]
    assert answer.outcomes[2].message == "stream 'Secret': user 'ann' has no permission to read"
    assert rig.kernel.statistics()["broker"]["denied"] == 2
    assert list(rig.engine.subscriptions) == ["ann.one"]


def test_what_a_wrong_query_says_does_not_show_a_schema_that_may_not_be_read(rig: Rig) -> None:
    assert "price" not in rig.refusal(ANN, subscribe("ann.x", "SELECT * FROM FILTER{prise > 1}(Secret)"))
    assert "Secret" not in str(rig.ask(ANN, subscribe("ann.x", "SELECT * FROM Stick")))
    assert "did you mean 'Stock'" in str(rig.ask(BEN, subscribe("x", "SELECT * FROM Stick")))


def test_publishing_results_needs_publish_on_their_stream(rig: Rig) -> None:
    query = "SELECT * FROM Stock PUBLISH Jumps"
    assert rig.refusal(ANN, subscribe("ann.j", query)) == "stream 'Jumps': user 'ann' has no permission to publish"
    assert isinstance(rig.ask(BEN, subscribe("j", query)), Subscribed)


def test_asking_for_a_probability_needs_what_attaching_needs(rig: Rig) -> None:
    users = {**USERS, ANN: User("ann", read=("Stock",), subscribe=("*",))}
    rig = Rig(users)
    forecast = {"within": 2}
    secret, stock = "Secret NEXT{} Secret", "Stock NEXT{} Stock"
    rig.say(BEN, Subscribe(2, "j", "cayuga", secret, None, None, forecast, 9))
    rig.say(BEN, Subscribe(2, "k", "cayuga", stock, None, None, forecast, 9))
    assert isinstance(rig.ask(BEN, AskProbability(3, "j", (), None)), ProbabilityReport)
    assert isinstance(rig.ask(ANN, AskProbability(3, "k", (), 4)), ProbabilityReport)
    for name in ("j", "nobody"):
        refused = rig.answer(Failure, ANN, AskProbability(3, name, (), None))
        assert (refused.code, refused.message) == ("unknown-subscription", f"subscription {name!r} is not known")
    assert "no permission to subscribe" in rig.refusal(OPS, AskProbability(3, "j", (), None))


def test_asking_for_reasons_needs_what_attaching_needs() -> None:
    state = ReplicatedState()
    state.engine.add_stream("Stock", {"price": "int"})
    state.engine.add_stream("Secret", {"price": "int"})
    rig = Rig({**USERS, ANN: User("ann", read=("Stock",), subscribe=("*",))}, state)
    rig.say(BEN, subscribe("j", "SELECT * FROM Secret"))
    rig.say(BEN, subscribe("k", "SELECT * FROM Stock"))

    def asked(identity: str, name: str | None) -> tuple[str, ...]:
        request = AskReasons(3, name, "1f24f2c7f6cba6be7a2e8161")
        (wanted,) = rig.kernel.step(Received(identity[:1].encode(), request, identity), 1_000_000).reasons
        return wanted.subscriptions

    assert asked(BEN, "j") == ("j",)
    assert asked(BEN, None) == ("j", "k")
    assert (asked(ANN, "k"), asked(ANN, None)) == (("k",), ("k",))
    for name in ("j", "nobody"):
        refused = rig.answer(Failure, ANN, AskReasons(3, name, None))
        assert (refused.code, refused.message) == ("unknown-subscription", f"subscription {name!r} is not known")
    assert "no permission to subscribe" in rig.refusal(OPS, AskReasons(3, "j", None))
    assert rig.ask(BEN, AskReasons(3, None, None)).message.startswith("reasons: expected the id of a match")  # type: ignore[union-attr]


def test_statistics_need_admin(rig: Rig) -> None:
    assert "is not an administrator" in rig.refusal(ANN, Statistics(2))
    assert isinstance(rig.ask(OPS, Statistics(2)), StatisticsReport)


# ---- through published streams ----


def test_a_published_stream_is_read_with_all_that_flows_into_it(rig: Rig) -> None:
    rig.say(BEN, subscribe("j", "SELECT * FROM Secret PUBLISH Jumps"))
    refused = rig.refusal(ANN, subscribe("ann.j", "SELECT * FROM Jumps"))
    assert refused == "subscription 'ann.j': user 'ann' has no permission to read all that flows into it"
    rig.say(BEN, Unsubscribe(4, "j"))
    rig.say(BEN, subscribe("j", "SELECT * FROM Stock PUBLISH Jumps"))
    assert isinstance(rig.ask(ANN, subscribe("ann.j", "SELECT * FROM Jumps")), Subscribed)


def test_attaching_to_what_exists_needs_the_same(rig: Rig) -> None:
    users = {**USERS, ANN: User("ann", read=("Stock",), subscribe=("*",))}
    rig = Rig(users)
    rig.say(BEN, subscribe("j", "SELECT * FROM Secret"))
    unknown = rig.answer(Failure, ANN, subscribe("j", None))
    assert (unknown.code, unknown.message) == ("unknown-subscription", "subscription 'j' is not known")
    assert "'Secret'" in rig.refusal(ANN, subscribe("j", "SELECT * FROM Secret"))
    taken = rig.refusal(ANN, subscribe("j", "SELECT * FROM Stock"))
    assert taken == "subscription 'j': user 'ann' has no permission to read all that flows into it"


def test_nobody_adds_to_a_stream_what_its_readers_may_not_read(rig: Rig) -> None:
    rig.say(BEN, subscribe("j", "SELECT * FROM Stock PUBLISH Jumps"))
    rig.say(ANN, subscribe("ann.j", "SELECT * FROM Jumps"))
    refused = rig.refusal(BEN, subscribe("k", "SELECT * FROM Secret PUBLISH Jumps"))
    assert refused == "stream 'Jumps': a user who reads it has no permission to read 'Secret'"
    rig.say(ANN, Unsubscribe(4, "ann.j"))
    assert isinstance(rig.ask(BEN, subscribe("k", "SELECT * FROM Secret PUBLISH Jumps")), Subscribed)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.lists(st.sampled_from("ABCXYZ"), min_size=1, max_size=3)), max_size=20),
    st.sampled_from("ABCXYZ"),
)
def test_upstream_is_everything_that_can_be_reached(steps: list[tuple[int, list[str]]], stream: str) -> None:
    """Subscriptions come and go; what flows into a stream is the closure of what they read and publish, and of what
    each of them has been fed since it came."""
    current: dict[str, Flow] = {}
    ever: dict[str, set[str]] = {}

    def reached(reads: set[str]) -> set[str]:
        streams, past = set(reads), set()
        while True:
            feeding = [name for name, flow in current.items() if flow.publishes in streams]
            past = {each for name in feeding for each in ever[name]}
            more = streams | {each for name in feeding for each in current[name].reads}
            if more == streams:
                return streams | past
            streams = more

    sources = Sources(current.__getitem__)
    for number, reads in steps:
        name = str(number)
        if name in current:
            publishes = current[name].publishes
            readers = [other for other, flow in current.items() if publishes in flow.reads]
            if readers and not any(flow.publishes == publishes for other, flow in current.items() if other != name):
                continue  # the engine has it stay
            sources.remove(name)
            del current[name], ever[name]
        else:
            publishes = "XYZ"[number % 3]
            known = {flow.publishes for flow in current.values()} | set("ABC")
            reads = [each for each in reads if each in known]
            if not reads or publishes in reached(set(reads)):
                continue  # the engine knows no such stream, or finds a circle
            current[name] = Flow(tuple(dict.fromkeys(reads)), publishes)
            ever[name] = set()
            sources.add(name)
        for _ in current:  # what one has been fed it may hand on to the next one
            for other, flow in current.items():
                ever[other] |= reached(set(flow.reads))
        sources.check_invariants(current)
        assert {other: set(sources.into(other)) for other in current} == ever
    assert set(sources.upstream([stream])) == reached({stream})


# ---- readers that are not there ----

SECRETS = "SELECT * FROM Secret PUBLISH Jumps"
STOCKS = "SELECT * FROM Stock PUBLISH Jumps"


def kept(query: str | None = "SELECT * FROM Jumps", cursor: str = "mine") -> Subscribe:
    return Subscribe(2, "ann.j", "cayuga", query, None, None, None, 100, durable=cursor)


def prices(sends: list[Send]) -> list[int]:
    """Of all notifications to ann."""
    return [line["data"]["price"] for line in lines([send for send in sends if send.session == b"a"])]


def test_a_cursor_reads_also_while_its_owner_is_away(rig: Rig) -> None:
    rig.say(BEN, subscribe("j", STOCKS))
    assert isinstance(rig.ask(ANN, kept()), Subscribed)
    assert isinstance(rig.ask(ANN, Goodbye(3)), Done)
    refused = rig.refusal(BEN, subscribe("k", SECRETS))
    assert refused == "stream 'Jumps': a user who reads it has no permission to read 'Secret'"
    rig.say(BEN, publish("Secret", 41))
    rig.ask(ANN, Hello(1, VERSION, ""))
    assert prices(rig.say(ANN, kept())) == []


def test_what_a_subscription_has_begun_with_counts_when_its_publisher_has_gone(rig: Rig) -> None:
    """A subscription that stays by itself is fed what ann may not read; then she comes for it."""
    rig.say(BEN, subscribe("j", STOCKS))
    rig.say(BEN, subscribe("ann.j", "SELECT * FROM Jumps NEXT{} Stock"))
    rig.say(BEN, subscribe("k", SECRETS))
    rig.say(BEN, publish("Secret", 41))
    rig.say(BEN, Unsubscribe(4, "k"))
    assert isinstance(rig.ask(ANN, Ping(2)), Pong)
    assert "read all that flows into it" in rig.refusal(ANN, subscribe("ann.j", "SELECT * FROM Jumps NEXT{} Stock"))
    assert prices(rig.say(ANN, publish("Stock", 1, 2))) == []
    rig.say(BEN, Unsubscribe(4, "ann.j"))  # what is made anew has begun with nothing
    assert isinstance(rig.ask(ANN, subscribe("ann.j", "SELECT * FROM Jumps NEXT{} Stock")), Subscribed)


def replayed(*more: Record) -> ReplicatedState:
    """After a crash: ann reads what ben has published of Stock; then `more`."""
    history = ReplicatedState()
    records: list[Record] = [
        StreamDeclared("Stock", {"price": "int"}, None, "arrival", None, None),
        StreamDeclared("Secret", {"price": "int"}, None, "arrival", None, None),
        SubscriptionAdded("j", "cayuga", STOCKS, None, None, None, {}),
        SubscriptionAdded("ann.j", "cayuga", "SELECT * FROM Jumps", None, None, None, {}),
        *more,
    ]
    for position, record in enumerate(records, 1):
        history.replay(position, 0, record)
    return history


def test_a_crash_forgets_nothing_of_what_has_flowed_where() -> None:
    history = replayed(
        CursorAdded("mine", "ann.j", "ann", 10, 1_000),
        SubscriptionAdded("k", "cayuga", SECRETS, None, None, None, {}),  # as by the configuration: nobody is asked
        BatchTaken("Secret", (1,), ((41,),), (1,)),
        SubscriptionRemoved("k"),
    )
    again = ReplicatedState()
    again.restore(history.save())
    assert again.digest() == history.digest()
    for state in (history, again):
        assert set(state.sources.into("ann.j")) == {"Jumps", "Stock", "Secret"}
        rig = Rig(state=state)
        assert prices(rig.say(ANN, kept())) == []
        assert "read all that flows into it" in rig.refusal(ANN, kept())
        letters = rig.refusal(ANN, ListDeadLetters(2, "mine", 0))
        assert letters == "subscription 'ann.j': user 'ann' has no permission to read all that flows into it"


def test_who_may_come_back_after_a_crash_reads_until_it_is_known_that_nobody_does() -> None:
    rig = Rig(state=replayed())
    rig.say(BEN, subscribe("j", STOCKS))
    refused = rig.answer(Failure, BEN, subscribe("k", SECRETS))
    assert refused.code == "busy"
    assert isinstance(rig.ask(BEN, subscribe("l", "SELECT * FROM FILTER{price > 1}(Stock) PUBLISH Jumps")), Subscribed)
    rig.kernel.step(Tick(), 0)
    rig.kernel.step(Tick(), 61_000_000)
    assert isinstance(rig.ask(BEN, subscribe("k", SECRETS)), Subscribed)
    assert "read all that flows into it" in rig.refusal(ANN, subscribe("ann.j", "SELECT * FROM Jumps"))


def test_dead_letters_are_values_and_an_administrator_reads_none() -> None:
    rig = Rig()
    rig.say(BEN, Subscribe(2, "all", "cayuga", "SELECT * FROM Secret", None, None, None, 9, durable="mine"))
    rig.say(BEN, publish("Secret", 41))
    rig.say(BEN, Refuse(3, "all", 1, "no"))
    assert isinstance(rig.ask(BEN, ListDeadLetters(4, "mine", 0)), DeadLetters)
    assert "no permission" in rig.refusal(OPS, ListDeadLetters(4, "ben/mine", 0))
    assert rig.ask(OPS, Settle(5, "ben/mine", (1,), False)) == Done(5)


# ---- what a refusal gives away ----


def world(*, there: bool) -> Rig:
    """With everything that ben has, or without any of it."""
    history = ReplicatedState()
    for position, name in enumerate(("Stock", "Secret") if there else ("Stock",), 1):
        history.replay(position, 0, StreamDeclared(name, {"price": "int"}, None, "arrival", None, None))
    rig = Rig(state=history)
    if there:
        rig.say(BEN, Subscribe(2, "ann.x", "cayuga", "SELECT * FROM Secret", None, None, None, 9, durable="mine"))
        rig.say(BEN, subscribe("other", "SELECT * FROM Secret PUBLISH Jumps"))
        rig.say(BEN, publish("Secret", 41, 42))
        rig.say(BEN, Refuse(3, "ann.x", 1, "no"))
    return rig


OTHER = ("cayuga", "SELECT * FROM FILTER{price > 1}(Secret)", None, None, None, 1)
NAMING: list[Message] = [
    subscribe("ann.x", None),
    subscribe("ann.x", "SELECT * FROM Secret"),
    subscribe("ann.x", "SELECT * FROM FILTER{price > 1}(Secret)"),
    subscribe("ann.x", "SELECT * FROM FILTER{prise > 1}(Secret)"),
    subscribe("ann.x", "SELECT * FROM Stock PUBLISH Secret"),
    subscribe("ann.x", "SELECT"),
    subscribe("other", None),
    subscribe("other", "SELECT * FROM Stock"),
    subscribe("ann.y", "SELECT * FROM Secret"),
    subscribe("ann.y", "SELECT * FROM Jumps NEXT{} Secret"),
    subscribe("ann.othe", None),
    Subscribe(2, "ann.x", "cayuga", None, None, None, None, 1, durable="mine"),
    Subscribe(2, "ann.x", *OTHER, durable="mine"),
    Unsubscribe(2, "ann.x"),
    AskProbability(2, "ann.x", (7,), None),
    AskReasons(2, "other", None),
    AskReasons(2, "ann.othe", None),
    AskReasons(2, None, "1f24f2c7f6cba6be7a2e8161"),
    AskProbability(2, "other", (7,), None),
    AskProbability(2, "ann.othe", (7,), 3),
    Acknowledge(2, "ann.x", 1),
    Refuse(2, "ann.x", 1, "no"),
    Forget(2, "mine"),
    Forget(2, "min"),
    Forget(2, "ben/mine"),
    ListDeadLetters(2, "mine", 0),
    Settle(2, "mine", (1,), True),
    Settle(2, "ben/mine", (1,), False),
    DescribeStream(2, "Secret"),
    DescribeStream(2, "Jumps"),
    AddStream(2, "Secret", {"price": "int"}, None, "arrival", None, None),
    AddStream(2, "Secret", {"prize": "int"}, None, "arrival", None, None),
    publish("Secret", 50),
    publish("Sekret", 50),
    ListStreams(2, ""),
    ListSubscriptions(2, ""),
    Statistics(2),
    Inspect(2, "sessions"),
    Inspect(2, "cursors"),
    Inspect(2, "events", "Secret", "", 5),
    Inspect(2, "explanation", "text"),
    Administer(2, "close-session", "2"),
    Administer(2, "move-cursor", "ben/mine", 0),
    Administer(2, "delete-subscription", "other"),
]


@pytest.mark.parametrize("message", NAMING, ids=lambda each: f"{type(each).__name__}")
def test_what_one_may_not_have_is_answered_as_what_does_not_exist(message: Message) -> None:
    assert world(there=True).say(ANN, message) == world(there=False).say(ANN, message)


def test_a_cursor_may_be_called_as_that_of_somebody_else() -> None:
    rig = world(there=True)
    mine = Subscribe(2, "ann.mine", "cayuga", "SELECT * FROM Stock", None, None, None, 1, durable="mine")
    answer = rig.answer(Subscribed, ANN, mine)
    assert not answer.attached
    rig.say(ANN, publish("Stock", 60))
    assert rig.ask(ANN, Forget(3, "mine")) == Done(3)
    letters = rig.answer(DeadLetters, BEN, ListDeadLetters(4, "mine", 0))
    assert [each.position for each in letters.entries] == [1]


# ---- what is seen ----


def test_listings_show_what_one_has_to_do_with(rig: Rig) -> None:
    rig.say(BEN, subscribe("hidden", "SELECT * FROM Secret"))
    rig.say(ANN, subscribe("ann.one", "SELECT * FROM Stock"))

    def listed(identity: str) -> tuple[list[str], list[str]]:
        streams, subscriptions = rig.ask(identity, ListStreams(2, "")), rig.ask(identity, ListSubscriptions(2, ""))
        assert isinstance(streams, Streams)
        assert isinstance(subscriptions, Subscriptions)
        return [each.name for each in streams.entries], [each.name for each in subscriptions.entries]

    assert listed(ANN) == (["Stock"], ["ann.one"])
    assert listed(OPS) == (["Secret", "Stock"], ["ann.one", "hidden"])
    assert "no permission" in rig.refusal(ANN, DescribeStream(2, "Secret"))
    hint = rig.answer(Failure, ANN, subscribe("ann.on", None))
    assert hint.message == "subscription 'ann.on' is not known; did you mean 'ann.one'?"
    hint = rig.answer(Failure, ANN, subscribe("ann.hidden", None))
    assert "'hidden'" not in hint.message


# ---- rules that change ----


def test_who_loses_a_permission_in_use_is_ended_and_others_go_on(rig: Rig) -> None:
    rig.say(ANN, subscribe("ann.all", "SELECT * FROM Stock"))
    rig.say(BEN, subscribe("all", "SELECT * FROM Stock"))
    less = {**USERS, ANN: User("ann", subscribe=("ann.*",))}
    (send,) = rig.kernel.step(Reconfigure(Limits(), Access(less)), 0).sends
    rig.kernel.check_invariants()
    assert send.session == b"a"
    assert isinstance(send.message, Closing)
    assert "permissions have changed" in send.message.reason
    assert list(rig.engine.subscriptions) == ["all"]
    assert isinstance(rig.ask(ANN, Hello(1, VERSION, "")), Welcome)
    assert "no permission to read" in rig.refusal(ANN, subscribe("ann.all", "SELECT * FROM Stock"))
    _, told = rig.say(ANN, Ping(3)) + rig.say(BEN, publish("Secret", 1))
    assert isinstance(told.message, Published)


def test_who_may_not_publish_any_more_stays_and_is_refused(rig: Rig) -> None:
    less = {**USERS, ANN: replace(USERS[ANN], publish=())}
    assert rig.kernel.step(Reconfigure(Limits(), Access(less)), 0).sends == []
    assert "no permission to publish" in rig.refusal(ANN, publish("Stock", 1))


def test_publishers_of_one_name_are_each_its_own_users(rig: Rig) -> None:
    first = rig.ask(ANN, replace(publish("Stock", 1), publisher="p", number=1))
    assert rig.ask(BEN, replace(publish("Secret", 2), publisher="p", number=1)) != first
    assert rig.kernel.statistics()["broker"]["batches_repeated"] == 0


def test_a_key_that_is_withdrawn_ends_its_sessions_also_on_an_open_connection(rig: Rig) -> None:
    (send,) = rig.kernel.step(Reconfigure(Limits(), Access({ANN: USERS[ANN], OPS: USERS[OPS]})), 0).sends
    assert (send.session, type(send.message)) == (b"b", Closing)
    assert rig.refusal(BEN, Hello(1, VERSION, "")) == "this broker knows no user with this key"


def test_a_second_key_of_a_user_is_the_same_user() -> None:
    again = "A" * 40
    rig = Rig({**USERS, again: USERS[ANN]})
    assert isinstance(rig.ask(again, publish("Stock", 1)), Published)
    assert rig.kernel.statistics()["broker"]["users"] == 3


def test_limits_that_change_hold_for_what_waits_already(rig: Rig) -> None:
    rig.say(BEN, Subscribe(2, "all", "cayuga", "SELECT * FROM Stock", None, None, None, 1))
    rig.kernel.step(Reconfigure(Limits(queue_notifications=2), Access(USERS)), 0)
    rig.say(ANN, publish("Stock", *range(9)))
    assert rig.kernel.statistics()["broker"]["notifications_queued"] == 2


# ---- the end ----


def test_a_broker_that_drains_takes_nothing_new_and_delivers_what_waits(rig: Rig) -> None:
    rig.say(BEN, Subscribe(2, "all", "cayuga", "SELECT * FROM Stock", None, None, None, 1))
    rig.say(ANN, publish("Stock", 1, 2))
    assert [rig.kernel.drained] == [False]
    assert rig.kernel.step(Drain(), 0).sends == []
    for message in (publish("Stock", 3), subscribe("ann.x", "SELECT * FROM Stock")):
        answer = rig.answer(Failure, ANN, message)
        assert (answer.code, answer.message) == ("busy", "the broker is stopping and accepts nothing new")
        assert answer.retry == 1_000_000
    (send,) = rig.say(BEN, Credit(0, "all", 5))
    assert isinstance(send.message, Notifications)
    assert [rig.kernel.drained] == [True]
    rig.kernel.step(Gone(b"b"), 0)
    rig.kernel.check_invariants()


# ---- the rules themselves ----


@pytest.mark.parametrize("pattern", ["", "a b", "*a", "a*b", "**", "x" * 129, 1])
def test_a_pattern_that_fits_no_name_is_refused(pattern: object) -> None:
    with pytest.raises(DefinitionError, match=r"users\.u\.read: expected a name, or a prefix of names followed by \*"):
        User("u", read=(pattern,))  # type: ignore[arg-type]


@given(st.lists(st.text("ab.", min_size=1, max_size=3), max_size=3), st.text("ab.", min_size=1, max_size=4))
def test_a_pattern_is_a_name_or_a_beginning(names: list[str], asked: str) -> None:
    assert User("u", read=tuple(names)).may("read", asked) == (asked in names)
    beginnings = User("u", read=tuple(f"{name}*" for name in names))
    assert beginnings.may("read", asked) == any(asked.startswith(name) for name in names)
    assert not beginnings.may("publish", asked)
