"""Who may do what: every verb, every way around a verb that was tried, and what a refusal gives away (nothing)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doubles.guarded_rig import ANN, BEN, OPS, USERS, Rig, publish, subscribe
from hypothesis import given
from hypothesis import strategies as st

from broker.events import DefinitionError
from broker.kernel import Access, Change, Drain, Gone, Limits, User
from broker.kernel.sources import Flow, Sources
from broker.language.subscription import SubscriptionDefinition
from broker.wire import (
    VERSION,
    AddStream,
    Closing,
    Credit,
    DescribeStream,
    Done,
    Failure,
    Hello,
    ListStreams,
    ListSubscriptions,
    Notifications,
    Ping,
    Pong,
    Published,
    Statistics,
    StatisticsReport,
    Streams,
    Subscribe,
    Subscribed,
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


def test_what_a_wrong_query_says_does_not_show_a_schema_that_may_not_be_read(rig: Rig) -> None:
    assert "price" not in rig.refusal(ANN, subscribe("ann.x", "SELECT * FROM FILTER{prise > 1}(Secret)"))
    assert "Secret" not in str(rig.ask(ANN, subscribe("ann.x", "SELECT * FROM Stick")))
    assert "did you mean 'Stock'" in str(rig.ask(BEN, subscribe("x", "SELECT * FROM Stick")))


def test_publishing_results_needs_publish_on_their_stream(rig: Rig) -> None:
    query = "SELECT * FROM Stock PUBLISH Jumps"
    assert rig.refusal(ANN, subscribe("ann.j", query)) == "stream 'Jumps': user 'ann' has no permission to publish"
    assert isinstance(rig.ask(BEN, subscribe("j", query)), Subscribed)


def test_statistics_need_admin(rig: Rig) -> None:
    assert "no permission to administrate" in rig.refusal(ANN, Statistics(2))
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
    assert "'Secret'" in rig.refusal(ANN, subscribe("j", None))
    assert "'Secret'" in rig.refusal(ANN, subscribe("j", "SELECT * FROM Secret"))


def test_nobody_adds_to_a_stream_what_its_readers_may_not_read(rig: Rig) -> None:
    rig.say(BEN, subscribe("j", "SELECT * FROM Stock PUBLISH Jumps"))
    rig.say(ANN, subscribe("ann.j", "SELECT * FROM Jumps"))
    refused = rig.refusal(BEN, subscribe("k", "SELECT * FROM Secret PUBLISH Jumps"))
    assert refused == "stream 'Jumps': somebody reads it who has no permission to read 'Secret'"
    rig.say(ANN, Unsubscribe(4, "ann.j"))
    assert isinstance(rig.ask(BEN, subscribe("k", "SELECT * FROM Secret PUBLISH Jumps")), Subscribed)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.lists(st.sampled_from("ABCXYZ"), min_size=1, max_size=3)), max_size=15),
    st.sampled_from("ABCXYZ"),
)
def test_upstream_is_everything_that_can_be_reached(steps: list[tuple[int, list[str]]], stream: str) -> None:
    """Subscriptions come and go; what flows into a stream is the closure of what they read and publish."""
    current: dict[str, Flow] = {}
    asked = iter([Flow(tuple(reads), "XYZ"[number % 3]) for number, reads in steps])
    sources = Sources(lambda _: next(asked))
    for number, _ in steps:
        name = str(number)
        flow = sources.read(SubscriptionDefinition(name, "cayuga", ""))
        if name in current:
            sources.remove(name)
            del current[name]
        else:
            sources.add(name, flow)
            current[name] = flow
        sources.check_invariants()
    reached = {stream}
    while True:
        more = {s for flow in current.values() if flow.publishes in reached for s in flow.reads} | reached
        if more == reached:
            break
        reached = more
    assert set(sources.upstream([stream])) == reached


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
    hint = rig.ask(ANN, subscribe("ann.on", None))
    assert isinstance(hint, Failure)
    assert hint.message == "subscription 'ann.on' is not known; did you mean 'ann.one'?"
    hint = rig.ask(ANN, subscribe("ann.hidden", None))
    assert isinstance(hint, Failure)
    assert "'hidden'" not in hint.message


# ---- rules that change ----


def test_who_loses_a_permission_in_use_is_ended_and_others_go_on(rig: Rig) -> None:
    rig.say(ANN, subscribe("ann.all", "SELECT * FROM Stock"))
    rig.say(BEN, subscribe("all", "SELECT * FROM Stock"))
    less = {**USERS, ANN: User("ann", subscribe=("ann.*",))}
    (send,) = rig.kernel.step(Change(Limits(), Access(less)), 0)
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
    assert rig.kernel.step(Change(Limits(), Access(less)), 0) == []
    assert "no permission to publish" in rig.refusal(ANN, publish("Stock", 1))


def test_publishers_of_one_name_are_each_its_own_users(rig: Rig) -> None:
    first = rig.ask(ANN, replace(publish("Stock", 1), publisher="p", number=1))
    assert rig.ask(BEN, replace(publish("Secret", 2), publisher="p", number=1)) != first
    assert rig.kernel.statistics()["broker"]["batches_repeated"] == 0


def test_a_key_that_is_withdrawn_ends_its_sessions_also_on_an_open_connection(rig: Rig) -> None:
    (send,) = rig.kernel.step(Change(Limits(), Access({ANN: USERS[ANN], OPS: USERS[OPS]})), 0)
    assert (send.session, type(send.message)) == (b"b", Closing)
    assert rig.refusal(BEN, Hello(1, VERSION, "")) == "this broker knows no user with this key"


def test_a_second_key_of_a_user_is_the_same_user() -> None:
    again = "A" * 40
    rig = Rig({**USERS, again: USERS[ANN]})
    assert isinstance(rig.ask(again, publish("Stock", 1)), Published)
    assert rig.kernel.statistics()["broker"]["users"] == 3


def test_limits_that_change_hold_for_what_waits_already(rig: Rig) -> None:
    rig.say(BEN, Subscribe(2, "all", "cayuga", "SELECT * FROM Stock", None, None, None, 1))
    rig.kernel.step(Change(Limits(queue_notifications=2), Access(USERS)), 0)
    rig.say(ANN, publish("Stock", *range(9)))
    assert rig.kernel.statistics()["broker"]["notifications_queued"] == 2


# ---- the end ----


def test_a_broker_that_drains_takes_nothing_new_and_delivers_what_waits(rig: Rig) -> None:
    rig.say(BEN, Subscribe(2, "all", "cayuga", "SELECT * FROM Stock", None, None, None, 1))
    rig.say(ANN, publish("Stock", 1, 2))
    assert [rig.kernel.drained] == [False]
    assert rig.kernel.step(Drain(), 0) == []
    for message in (publish("Stock", 3), subscribe("ann.x", "SELECT * FROM Stock")):
        answer = rig.ask(ANN, message)
        assert isinstance(answer, Failure)
        assert (answer.code, answer.message) == ("busy", "the broker is stopping, and takes nothing new")
        assert answer.retry == 1_000_000
    (send,) = rig.say(BEN, Credit(0, "all", 5))
    assert isinstance(send.message, Notifications)
    assert [rig.kernel.drained] == [True]
    rig.kernel.step(Gone(b"b"), 0)
    rig.kernel.check_invariants()


# ---- the rules themselves ----


@pytest.mark.parametrize("pattern", ["", "a b", "*a", "a*b", "**", "x" * 129, 1])
def test_a_pattern_that_fits_no_name_is_refused(pattern: object) -> None:
    with pytest.raises(DefinitionError, match=r"users\.u\.read: expected a name or the beginning of names and \*"):
        User("u", read=(pattern,))  # type: ignore[arg-type]


@given(st.lists(st.text("ab.", min_size=1, max_size=3), max_size=3), st.text("ab.", min_size=1, max_size=4))
def test_a_pattern_is_a_name_or_a_beginning(names: list[str], asked: str) -> None:
    assert User("u", read=tuple(names)).may("read", asked) == (asked in names)
    beginnings = User("u", read=tuple(f"{name}*" for name in names))
    assert beginnings.may("read", asked) == any(asked.startswith(name) for name in names)
    assert not beginnings.may("publish", asked)
