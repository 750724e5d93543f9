"""What operators see and change: sessions, cursors, subscriptions, events; what each may, and what is noted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from doubles.durable_reader import attached, durable
from doubles.guarded_rig import ANN as ANN_KEY
from doubles.guarded_rig import BEN as BEN_KEY
from doubles.guarded_rig import OPS as OPS_KEY
from doubles.guarded_rig import Rig as GuardedRig
from doubles.guarded_rig import subscribe as asks
from doubles.kernel_rig import ANN, BEN, SECOND, Rig, publish, subscribe
from doubles.small_engine import SmallEngine

from broker.engine import Engine
from broker.kernel import Gone, Kernel, Quota, Received, User
from broker.kernel.administration import PAGE_ENTRIES_MAX
from broker.kernel.inputs_and_effects import Audit
from broker.kernel.recent_events import RECENT_EVENTS_MAX
from broker.wire import (
    VERSION,
    Acknowledge,
    AddStream,
    Administer,
    Busy,
    Closing,
    DescribeStream,
    Done,
    Ended,
    Failure,
    Hello,
    Inspect,
    Inspected,
    Notifications,
    Publish,
    Refuse,
    Streams,
    Subscribe,
    Subscribed,
    Unsubscribe,
    decode_result,
)

OPS = b"ops"


def operated() -> Rig:
    rig = Rig()
    rig.say(OPS, Hello(1, VERSION, "operator"))
    return rig


def seen(rig: Rig, what: str, name: str = "", after: str = "", count: int = 0) -> dict[str, Any]:
    page = rig.answer(Inspected, Inspect(9, what, name, after, count), OPS)
    return page.entries


def do(rig: Rig, action: str, name: str, position: int | None = None) -> list[Any]:
    """What others are told."""
    answer, *others = rig.say(OPS, Administer(8, action, name, position))
    assert (answer.session, answer.message) == (OPS, Done(8))
    return [(each.session, each.message) for each in others]


def test_sessions_are_listed_and_closed() -> None:
    rig = operated()
    rig.say(BEN, subscribe("all", credits=1))
    rig.say(ANN, publish([1, 2], [1, 2]))
    rig.now += 3 * SECOND
    found = seen(rig, "sessions")
    assert list(found) == ["1", "2", "3"]
    assert found["2"] == {
        "user": "anybody", "software": "test", "connected": True, "subscriptions": 1, "queued": 1, "silent_seconds": 3,
    }  # fmt: skip
    assert list(seen(rig, "sessions", after="2")) == ["3"]
    assert do(rig, "close-session", "2") == [(BEN, Closing(0, "an administrator has closed it"))]
    assert list(seen(rig, "sessions")) == ["1", "3"]
    assert list(rig.engine.subscriptions) == []
    assert rig.refusal(Administer(8, "close-session", "2"), OPS) == ("definition", "session '2' is not known")
    code, message = rig.refusal(Administer(8, "close-session", "3"), OPS)
    assert (code, message) == ("definition", "session '3' is this client's own: close it")


def test_a_session_that_is_away_is_closed_for_good() -> None:
    rig = operated()
    cat = b"cat"
    rig.say(cat, Hello(1, VERSION, "away", b""))
    rig.say(cat, subscribe())
    rig.step(Gone(cat))
    assert seen(rig, "sessions")["4"]["connected"] is False
    assert do(rig, "close-session", "4") == []
    assert "4" not in seen(rig, "sessions")
    assert list(rig.engine.subscriptions) == []


def test_pages_of_sessions() -> None:
    rig = operated()
    for number in range(PAGE_ENTRIES_MAX):
        rig.say(b"%d" % number, Hello(1, VERSION, ""))
    page = rig.answer(Inspected, Inspect(9, "sessions"), OPS)
    assert page.more
    rest = rig.answer(Inspected, Inspect(9, "sessions", "", next(reversed(page.entries))), OPS)
    assert not rest.more
    assert [*page.entries, *rest.entries] == [str(number) for number in range(1, PAGE_ENTRIES_MAX + 4)]


def test_cursors_are_listed_and_moved() -> None:
    rig = operated()
    rig.ask(durable(retain=10))
    for number in range(1, 6):
        rig.say(BEN, publish([number], [number]))
    rig.ask(Acknowledge(7, "all", 4))
    assert seen(rig, "cursors") == {
        "mine": {
            "subscription": "all", "acknowledged": 4, "last": 5, "first": 1, "backlog": 1,
            "kept_bytes": seen(rig, "cursors")["mine"]["kept_bytes"], "dead_letters": 0, "attached": True,
        }
    }  # fmt: skip
    _, busy = rig.say(OPS, Administer(8, "move-cursor", "mine", 2))
    assert isinstance(busy.message, Failure)
    assert busy.message.code == Busy.code
    rig.ask(Unsubscribe(8, "all"))
    assert do(rig, "move-cursor", "mine", 2) == []
    assert attached(rig, durable())[1] == [(3, "all-3", True), (4, "all-4", True), (5, "all-5", True)]
    rig.ask(Unsubscribe(8, "all"))
    do(rig, "move-cursor", "mine", 5)
    assert seen(rig, "cursors")["mine"]["backlog"] == 0
    for position in (6, 2**62):
        code, message = rig.refusal(Administer(8, "move-cursor", "mine", position), OPS)
        assert (code, message) == ("definition", f"cursor 'mine': expected a position from 0 to 5, found {position}")
    assert "expected a position, found none" in rig.refusal(Administer(8, "move-cursor", "mine"), OPS)[1]
    assert "is not known; did you mean 'mine'?" in rig.refusal(Administer(8, "move-cursor", "mime", 1), OPS)[1]


def test_a_dead_letter_stays_one_when_its_cursor_is_moved_back() -> None:
    rig = operated()
    rig.ask(durable(retain=10))
    for number in range(1, 4):
        rig.say(BEN, publish([number], [number]))
    rig.ask(Acknowledge(7, "all", 1))
    rig.ask(Refuse(7, "all", 2, "no"))
    rig.ask(Acknowledge(7, "all", 3))
    rig.ask(Unsubscribe(8, "all"))
    do(rig, "move-cursor", "mine", 1)
    assert seen(rig, "cursors")["mine"]["acknowledged"] == 2
    do(rig, "move-cursor", "mine", 0)
    assert [position for position, _, _ in attached(rig, durable())[1]] == [1, 3]


def test_a_deleted_subscription_ends_for_all_who_have_it() -> None:
    rig = operated()
    (welcome,) = rig.say(b"cat", Hello(1, VERSION, "away", b""))
    rig.say(b"cat", subscribe(credits=1))
    rig.say(BEN, subscribe(credits=1))
    rig.say(ANN, publish([1, 2, 3], [1, 2, 3]))
    rig.step(Gone(b"cat"))
    (gap, ended) = do(rig, "delete-subscription", "all")
    assert isinstance(gap[1], Notifications)
    line = decode_result(gap[1].results[0])
    assert (line["kind"], line["limit"], line["missed"]) == ("incomplete", "deleted", 2)
    assert ended == (BEN, Ended(0, "all", "unknown-subscription", "an administrator has deleted it"))
    assert list(rig.engine.subscriptions) == []
    assert rig.refusal(Administer(8, "delete-subscription", "all"), OPS)[0] == "unknown-subscription"
    # the one that was away does not bring it back
    token = welcome.message.session  # type: ignore[union-attr]  # a Welcome
    rig.say(b"dog", Hello(1, VERSION, "away", token))
    again = Subscribe(5, "all", "cayuga", "every S", None, None, None, 1, 1)
    *_, last = rig.say(b"dog", again)
    assert isinstance(last.message, Ended)
    assert list(rig.engine.subscriptions) == []
    rig.say(BEN, subscribe())
    assert list(rig.engine.subscriptions) == ["all"]


def test_a_subscription_that_is_needed_is_not_deleted() -> None:
    rig = operated()
    rig.ask(durable())
    code, message = rig.refusal(Administer(8, "delete-subscription", "all"), OPS)
    assert (code, message) == ("definition", "subscription 'all' has cursors: forget them first")
    rig.say(ANN, subscribe("base"))
    rig.say(ANN, subscribe("other", "after base"))
    code, message = rig.refusal(Administer(8, "delete-subscription", "base"), OPS)
    assert (code, message) == ("definition", "subscription 'base' is read by others")
    assert len(rig.say(ANN, publish([1], [1]))) == 3, "nobody has lost anything"


REPLACED = {"language": "", "query": "every T", "keep_runs": False}


def replacement(name: str = "all", **details: Any) -> Administer:
    return Administer(8, "replace-subscription", name, None, {**REPLACED, **details})


def test_a_replaced_subscription_goes_on_for_all_who_have_it() -> None:
    rig = operated()
    rig.ask(AddStream(2, "T", {"x": "int"}, None, "arrival", None, None), OPS)
    rig.say(BEN, subscribe(credits=5))
    rig.ask(durable(retain=5))
    rig.say(BEN, publish([1], [1]))
    assert rig.ask(replacement(), OPS) == Done(8)
    assert rig.engine.subscriptions["all"].query == "every T"
    assert len(rig.say(BEN, publish([2], [2]))) == 1, "it reads another stream"
    sends = rig.say(BEN, Publish(6, "T", (3,), ((3,),), None, None))
    assert sorted(each.session for each in sends if isinstance(each.message, Notifications)) == [ANN, BEN]
    assert seen(rig, "cursors")["mine"]["last"] == 2, "its cursor goes on"
    code, message = rig.refusal(subscribe(), OPS)
    assert (code, message) == ("definition", "subscription 'all' exists with another text")


def test_what_cannot_be_replaced_stays() -> None:
    rig = operated()
    rig.say(BEN, subscribe())
    for message, code, reason in (
        (replacement("al"), "unknown-subscription", "subscription 'al' is not known; did you mean 'all'?"),
        (replacement(), "unknown-stream", "'T' is not known"),
        (replacement(query="all T"), "query", "expected every or after, found 'all'"),
        (replacement(keep_runs=True), "unsupported", "subscription 'all': it can only begin anew"),
        (replacement(query=5), "definition", "replace-subscription: query: expected text, found int 5"),
        (Administer(8, "replace-subscription", "all"), "definition", "language: expected text, found null"),
    ):
        found = rig.refusal(message, OPS)
        assert found[0] == code, found
        assert reason in found[1]
        assert rig.engine.subscriptions["all"].query == "every S"
    configured = SmallEngine()
    configured.add_stream("S", {"x": "int"})
    configured.subscribe("all", language="cayuga", query="every S")
    rig = Rig(engine=configured)
    rig.say(OPS, Hello(1, VERSION, "operator"))
    found = rig.refusal(replacement(query="every S"), OPS)
    assert found == ("definition", "subscription 'all' belongs to the broker's configuration")


def test_the_text_that_a_subscription_has_since_its_runs_were_kept_attaches() -> None:
    rig = Rig(engine=cast("SmallEngine", Engine()))
    rig.say(OPS, Hello(1, VERSION, "operator"))
    first = "FROM S START a FINAL b one: a -> b WHEN x > 1 two: a -> a WHEN TRUE WITHIN 9"
    second = "FROM S START a FINAL b two: a -> a WHEN TRUE  three: a -> b WHEN x > 2 WITHIN 9  -- as deployed"

    def attach(text: str) -> str:
        answer = rig.ask(replace(subscribe(query=text), language="afa"), BEN)
        if isinstance(answer, Failure):
            return str(answer.message)
        rig.ask(Unsubscribe(6, "all"), BEN)
        return ""

    assert isinstance(rig.ask(replace(subscribe(query=first), language="afa")), Subscribed)
    assert attach(second) == "subscription 'all' exists with another text"
    assert rig.ask(replacement(query=second, keep_runs=True), OPS) == Done(8)
    snapshot = cast("Engine", rig.engine).snapshot()
    for engine in (rig.engine, cast("SmallEngine", Engine.restore(snapshot))):
        rig.kernel._attachments._engine = engine
        assert attach(second) == ""
        assert attach(first) == "", "the text that it began with, of programs that update it"
        assert attach(second.replace("x > 2", "x > 3")) == "subscription 'all' exists with another text"
        assert attach("FROM") == "subscription 'all' exists with another text"


def test_a_new_text_is_for_those_who_have_the_subscription() -> None:
    users = {
        ANN_KEY: User("ann", read=("Stock", "Jumps"), subscribe=("ann.*",), quota=Quota(states=9)),
        BEN_KEY: User("ben", publish=("*",), read=("*",), subscribe=("*",)),
        OPS_KEY: User("ops", admin=True, publish=("Own",)),
    }
    rig = GuardedRig(users)
    rig.ask(ANN_KEY, asks("ann.x", "SELECT * FROM Stock"))

    def wanted(query: str) -> Administer:
        return replacement("ann.x", query=query)

    rig.refusal(BEN_KEY, wanted("SELECT * FROM Stock"))
    message = rig.refusal(OPS_KEY, wanted("SELECT * FROM Secret"))
    assert message == "subscription 'ann.x': a user who reads it has no permission to read 'Secret'"
    message = rig.refusal(OPS_KEY, wanted("SELECT * FROM Stock PUBLISH Jumps"))
    assert message == "stream 'Jumps': user 'ops' has no permission to publish"
    pairs = "SELECT * FROM Stock NEXT{} Stock PUBLISH Own"
    assert rig.ask(OPS_KEY, wanted(pairs)) == Done(8)
    rig.ask(BEN_KEY, asks("over", "SELECT * FROM Own"))
    rig.ask(BEN_KEY, asks("secrets", "SELECT * FROM Secret NEXT{} Secret PUBLISH Other"))
    rig.ask(BEN_KEY, Unsubscribe(3, "over"))
    rig.ask(BEN_KEY, Unsubscribe(3, "secrets"))
    assert rig.ask(ANN_KEY, Unsubscribe(3, "ann.x")) == Done(3), "its states are counted as they are"


def test_readers_of_what_a_replaced_subscription_publishes_are_asked_too() -> None:
    rig = GuardedRig()
    rig.ask(BEN_KEY, asks("base", "SELECT * FROM Stock PUBLISH Jumps"))
    rig.ask(ANN_KEY, asks("ann.x", "SELECT * FROM Jumps"))
    wanted = replacement("base", query="SELECT * FROM Secret PUBLISH Jumps")
    message = rig.refusal(OPS_KEY, wanted)
    assert message == "stream 'Jumps': a user who reads it has no permission to read 'Secret'"
    rig.ask(ANN_KEY, Unsubscribe(3, "ann.x"))
    assert rig.ask(OPS_KEY, wanted) == Done(8)
    assert rig.ask(OPS_KEY, replacement("base", query="SELECT * FROM Stock PUBLISH Jumps")) == Done(8)
    rig.refusal(ANN_KEY, asks("ann.x", "SELECT * FROM Jumps"))  # its partial matches and cursors may hold secrets


def test_a_deleted_stream_is_unknown_and_holds_nobody_up() -> None:
    rig = operated()
    rig.ask(AddStream(2, "T", {"x": "int"}, None, "arrival", None, None, 5 * SECOND), OPS)
    rig.say(ANN, Publish(6, "T", (1,), ((1,),), None, None))
    assert rig.kernel.statistics()["broker"]["unclocked_streams"] == 0
    rig.say(ANN, publish([1], [1]))
    assert rig.kernel.statistics()["broker"]["unclocked_streams"] == 1
    rig.say(BEN, subscribe())
    assert rig.refusal(Administer(8, "delete-stream", "S"), OPS) == ("definition", "stream 'S' is read")
    rig.ask(Unsubscribe(8, "all"), BEN)
    assert do(rig, "delete-stream", "S") == []
    assert rig.kernel.statistics()["broker"]["unclocked_streams"] == 0
    assert rig.refusal(publish([2], [2]), ANN)[0] == "unknown-stream"
    assert rig.refusal(Administer(8, "delete-stream", "S"), OPS)[0] == "unknown-stream"
    rig.ask(AddStream(2, "S", {"y": "string"}, None, "arrival", None, None), OPS)
    assert seen(rig, "events", "S", count=5) == {}


def widening(attribute: object = "y", kind: object = "string?", stream: str = "S") -> Administer:
    return Administer(8, "add-attribute", stream, None, {"attribute": attribute, "type": kind})


def test_an_added_attribute_is_null_in_earlier_events_and_for_those_who_do_not_know_it() -> None:
    rig = operated()
    rig.say(ANN, publish([1], [1], [101]))
    assert rig.ask(widening(), OPS) == Done(8)
    for message, reason in (
        (widening(), "expected a new attribute, found string 'y', which it has already"),
        (widening("z", "string"), "expected a type with ?, since events so far have null, found string 'string'"),
        (widening(5), "add-attribute: attribute: expected text, found int 5"),
    ):
        code, found = rig.refusal(message, OPS)
        assert (code, reason in found) == ("definition", True)
    assert rig.refusal(widening(stream="T"), OPS)[0] == "unknown-stream"
    rig.say(ANN, publish([2], [2], [102]))
    rig.say(ANN, Publish(6, "S", (3,), ((3, "new"),), (103,), None))
    assert [each["data"] for each in seen(rig, "events", "S", count=5).values()] == [
        {"x": 1, "y": None}, {"x": 2, "y": None}, {"x": 3, "y": "new"},
    ]  # fmt: skip
    for attributes in ({"x": "int"}, {"x": "int", "y": "string?"}):
        again = AddStream(2, "S", attributes, None, "arrival", None, None)
        assert rig.ask(again, OPS) == Done(2), "programs that know it and programs that do not"
    assert rig.refusal(AddStream(2, "S", {}, None, "arrival", None, None), OPS)[0] == "definition"


def test_a_stream_keeps_the_first_unit_of_time_that_is_declared() -> None:
    rig = operated()

    def declared(unit: str | None) -> str | None:
        assert rig.ask(AddStream(2, "S", {"x": "int"}, None, "arrival", None, None, None, unit), OPS) == Done(2)
        page = rig.answer(Streams, DescribeStream(3, "S"), OPS)
        return page.entries[0].time_unit

    assert [declared(unit) for unit in (None, "ms", None, "s")] == [None, "ms", "ms", "ms"]
    wrong = AddStream(2, "T", {"x": "int"}, None, "arrival", None, None, None, "sec")
    assert "time_unit: expected s, ms, us, ns or iso, found string 'sec'" in rig.refusal(wrong, OPS)[1]


def test_who_may_declare_a_stream_may_add_to_it() -> None:
    rig = GuardedRig()
    assert rig.ask(ANN_KEY, AddStream(2, "Anns", {"x": "int"}, None, "arrival", None, None)) == Done(2)
    assert rig.ask(ANN_KEY, widening(stream="Anns")) == Done(8)
    assert rig.ask(OPS_KEY, widening("z", stream="Anns")) == Done(8)
    rig.refusal(BEN_KEY, widening("a", stream="Anns"))
    rig.refusal(ANN_KEY, widening(stream="Stock"))


def test_a_stream_of_the_configuration_stays() -> None:
    configured = SmallEngine()
    configured.add_stream("S", {"x": "int"})
    rig = Rig(engine=configured)
    rig.kernel = Kernel(configured, configured_streams=("S",))
    rig.say(OPS, Hello(1, VERSION, "operator"))
    for message in (Administer(8, "delete-stream", "S"), widening()):
        found = rig.refusal(message, OPS)
        assert found == ("definition", "stream 'S' belongs to the broker's configuration")


def test_the_last_events_of_a_stream() -> None:
    rig = operated()
    assert seen(rig, "events", "S", count=5) == {}
    for number in range(30):
        rig.say(ANN, publish([number], [number], [100 + number]))
    found = seen(rig, "events", "S", count=2)
    assert found == {"128": {"time": 28, "data": {"x": 28}}, "129": {"time": 29, "data": {"x": 29}}}
    assert len(seen(rig, "events", "S", count=1_000)) == RECENT_EVENTS_MAX
    assert rig.refusal(Inspect(9, "events", "T", "", 1), OPS)[0] == "unknown-stream"


def test_the_explanation_of_what_runs() -> None:
    rig = operated()
    rig.say(ANN, subscribe())
    (text,) = seen(rig, "explanation", "text")["parts"]
    assert text.endswith("every S\nnow: 0 events\n")
    assert seen(rig, "explanation", "svg")["parts"][0].startswith("<svg")
    assert "expected text, dot, mermaid, svg, found 'png'" in rig.refusal(Inspect(9, "explanation", "png"), OPS)[1]


def test_words_that_are_not_known() -> None:
    rig = operated()
    assert "found 'session'; did you mean 'sessions'?" in rig.refusal(Inspect(9, "session"), OPS)[1]
    code, message = rig.refusal(Administer(9, "close-sessions", "1"), OPS)
    assert (code, message.rpartition(";")[2]) == ("definition", " did you mean 'close-session'?")


def test_changes_are_noted_with_who_asked_for_them() -> None:
    rig = operated()
    rig.ask(durable(retain=5))
    rig.say(BEN, publish([1], [1]))
    rig.ask(AddStream(2, "T", {"x": "int"}, None, "arrival", None, None), OPS)
    audits: list[Audit] = []
    for message in (
        Administer(8, "move-cursor", "mine", 1),
        Administer(8, "delete-subscription", "all"),
        Administer(8, "delete-stream", "S"),
        Administer(8, "delete-stream", "T"),
        replacement(query="every S"),
        replacement(),
        Administer(8, "close-session", "1"),
        Administer(8, "move-cursor", "mine", 1),
        Inspect(8, "sessions"),
    ):
        audits += rig.kernel.step(Received(OPS, message), rig.now).audits
    anew = {"language": "", "keep_runs": False}
    assert audits == [
        Audit("anybody", 3, "move-cursor", "mine", {"position": 1}, "refused", "busy", True),
        Audit("anybody", 3, "delete-subscription", "all", {}, "refused", "definition", True),
        Audit("anybody", 3, "delete-stream", "S", {}, "refused", "definition", True),
        Audit("anybody", 3, "delete-stream", "T", {}, "done", None, True),
        Audit("anybody", 3, "replace-subscription", "all", anew, "done", None, True),
        Audit("anybody", 3, "replace-subscription", "all", anew, "refused", "unknown-stream", True),
        Audit("anybody", 3, "close-session", "1", {}, "done", None, True),
        Audit("anybody", 3, "move-cursor", "mine", {"position": 1}, "done", None, True),
    ]


ANNS = [
    Inspect(2, "sessions"),
    Inspect(2, "explanation", "text"),
    Inspect(2, "events", "Secret", "", 1),
    Administer(2, "close-session", "3"),
    Administer(2, "delete-subscription", "ann.x"),
    Administer(2, "delete-stream", "Stock"),
    replacement("ann.x", query="SELECT * FROM Stock"),
]


@pytest.mark.parametrize("message", ANNS, ids=lambda each: f"{each}")
def test_who_is_no_administrator_may_not(message: Inspect | Administer) -> None:
    rig = GuardedRig()
    rig.ask(ANN_KEY, asks("ann.x", "SELECT * FROM Stock"))
    rig.refusal(ANN_KEY, message)


def test_events_are_for_readers_and_cursors_for_their_owners() -> None:
    rig = GuardedRig()
    rig.ask(BEN_KEY, Subscribe(2, "s", "cayuga", "SELECT * FROM Secret", None, None, None, 1, durable="mine"))
    rig.refusal(OPS_KEY, Inspect(2, "events", "Secret", "", 1))
    assert isinstance(rig.ask(BEN_KEY, Inspect(2, "events", "Secret", "", 1)), Inspected)
    for identity, names in ((ANN_KEY, []), (BEN_KEY, ["mine"]), (OPS_KEY, ["ben/mine"])):
        page = rig.answer(Inspected, identity, Inspect(2, "cursors"))
        assert list(page.entries) == names
    refused = rig.answer(Failure, ANN_KEY, Administer(2, "move-cursor", "ben/mine", 0))
    assert refused.code == "unknown-subscription"
    rig.ask(BEN_KEY, Unsubscribe(2, "s"))
    assert rig.ask(BEN_KEY, Administer(2, "move-cursor", "mine", 0)) == Done(2)
    assert rig.ask(OPS_KEY, Administer(2, "move-cursor", "ben/mine", 0)) == Done(2)
