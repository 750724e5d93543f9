"""What is changed by the console: as the user who looks, through the broker's requests, and first in a copy of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from unit.server.test_server_console import Visitor, visited

from broker.console.signing_in import digest
from broker.console.typed_fields import WrongField, typed_row
from broker.engine import Engine
from broker.events import Schema
from broker.kernel import Access, Admission, Quota, Sources, User, flows, states, wires
from broker.kernel.recent_notes import NOTE_CHARACTERS_MAX, NOTED_NAMES_MAX, NOTES_OF_A_NAME_MAX, RecentNotes
from broker.server import read_configuration
from broker.server.audit_log import AuditLog, AuditSettings
from broker.server.console import ConsoleSettings
from broker.server.loop import Broker
from client import Client

RISE: Final = "FILTER{price > price_1}(Stock NEXT{$2.name = $1.name} Stock)"
PAIRS: Final = (
    "PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) { [name] AND a.price < b.price } WITHIN 10 min"
)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no failure."""
    monkeypatch.setattr("broker.server.rehearsal.REHEARSAL_SECONDS_MAX", 60.0)
    monkeypatch.setattr("broker.server.console_connections.CONNECTION_SECONDS_MAX", 90.0)
    monkeypatch.setattr("broker.server.console.PATIENCE_SECONDS", 60.0)


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.add_stream("Stock", {"name": "string", "price": "float", "note": "string?", "lot": "int?", "open": "bool?"})
    engine.add_stream("Secret", {"x": "int"})
    engine.subscribe("bob.all", query="SELECT * FROM Secret")
    return engine


@contextmanager
def written(engine: Engine, **more: Any) -> Iterator[tuple[Broker, Visitor]]:
    """A broker whose console may write."""
    broker = Broker(engine, "tcp://127.0.0.1:0", **more)
    with visited(broker, ConsoleSettings(writes=True)) as visitor:
        yield broker, visitor


def event(name: str, price: str, **more: str) -> dict[str, Any]:
    return {"values": {"name": name, "price": price, **more}}


def test_nothing_is_changed_unless_it_is_told_to(engine: Engine) -> None:
    with visited(Broker(engine, "tcp://127.0.0.1:0")) as visitor:
        assert not visitor.get("/api/session")[1]["writes"]
        for path, body in (
            ("/api/streams/Stock/events", event("IBM", "1")),
            ("/api/subscriptions", {"name": "new", "language": "cayuga", "query": RISE}),
            ("/api/subscriptions/bob.all/text", {"language": "cayuga", "query": RISE}),
            ("/api/subscriptions/bob.all/arcs", {"delete": ["warm"]}),
            ("/api/subscriptions/bob.all/end", {"how": "everybody"}),
        ):
            for dry in (True, False):
                status, found = visitor.post(path, {**body, "dry": dry})
                assert (status, found["error"]) == (
                    403, "the console is read-only: expected writes = true in [console]",
                )  # fmt: skip
        assert engine.now is None


def test_an_event_is_published_and_its_mistakes_have_their_fields(engine: Engine) -> None:
    with written(engine) as (_, visitor):
        path = "/api/streams/Stock/events"
        assert visitor.post(path, event("IBM", "ten")) == (
            400, {"error": "expected a number, found string 'ten'", "field": "price"},
        )  # fmt: skip
        assert visitor.post(path, event("IBM", "1", lot="1.5"))[1]["field"] == "lot"
        assert visitor.post(path, event("IBM", "1", open="maybe"))[1]["field"] == "open"
        assert visitor.post(path, event("IBM", "1", colour="red"))[1]["field"] == "colour"
        assert visitor.post(path, {"values": {"name": "IBM"}})[1]["field"] == "price"
        assert visitor.post(path, {**event("IBM", "1"), "time": "noon"})[1]["field"] == "time"
        assert visitor.post(path, event("IBM", "1"), **{"x-foretell-token": "guess"})[0] == 403
        assert visitor.post(path, event("IBM", "1"), origin="http://evil.example")[0] == 403
        rehearsed = visitor.post(path, {**event("IBM", "1.5", lot="7", open="true"), "time": "1970-01-02", "dry": True})
        assert (rehearsed[0], rehearsed[1]["answer"]["count"]) == (200, 1)
        assert visitor.get("/api/streams/Stock/events")[1] == {}
        status, found = visitor.post(path, {**event("IBM", "1.5", lot="7", open="true"), "time": "1970-01-02"})
        assert (status, found["answer"]["count"]) == (200, 1)
        (kept,) = visitor.get("/api/streams/Stock/events")[1].values()
        assert kept == {
            "time": 86_400_000_000, "data": {"name": "IBM", "price": 1.5, "note": None, "lot": 7, "open": True},
        }  # fmt: skip
        status, found = visitor.post(path, {**event("IBM", "2"), "time": "5"})
        assert (status, found["field"], found["code"]) == (400, "time", "late")
        half = {"values": {"name": "\ud83d", "price": "1"}}
        assert visitor.post(path, half) == (400, {"error": "expected texts of Unicode, found half a character"})
        assert visitor.post("/api/streams/Stok/events", event("IBM", "2"))[0] == 404


def test_a_dry_run_says_what_an_event_would_complete(engine: Engine) -> None:
    with written(engine) as (broker, visitor), Client(broker.endpoint) as client:
        client.subscribe("rise", query=RISE)
        client.publish("Stock", {"name": "IBM", "price": 1.0}, time=1)
        body = {**event("IBM", "2"), "time": "2"}
        _, found = visitor.post("/api/streams/Stock/events", {**body, "dry": True})
        assert found["by_subscription"] == {"rise": 1}
        assert broker.report(5)["broker"]["results"] == 0
        assert visitor.post("/api/streams/Stock/events", body)[0] == 200
        assert broker.report(5)["broker"]["results"] == 1


def test_a_subscription_is_made_kept_and_ended(engine: Engine) -> None:
    with written(engine) as (broker, visitor):
        body = {"name": "rise", "language": "cayuga", "query": RISE}
        wrong = {**body, "query": RISE.replace("price >", "prise >"), "dry": True}
        status, found = visitor.post("/api/subscriptions", wrong)
        assert (status, found["line"], found["column"]) == (400, 1, 8)
        assert "'prise'" in found["error"]
        assert "did you mean 'price'" in found["error"]
        status, found = visitor.post("/api/subscriptions", {**body, "dry": True})
        assert (status, found["answer"]["attached"], found["before"]) == (200, False, None)
        assert (found["after"]["query"], found["after"]["clients"]) == (RISE, 1)
        assert "<title>The automaton of rise</title>" in found["svg"]
        assert "rise" not in broker.report(5)["by_subscription"]
        assert visitor.post("/api/subscriptions", body)[0] == 200
        for time in range(3):
            visitor.post("/api/streams/Stock/events", {**event("IBM", str(time)), "time": str(time)})
        assert broker.report(5)["by_subscription"]["rise"]["notifications_sent"] == 2
        (change,) = visitor.get("/api/subscriptions/rise/changes")[1]["changes"]
        assert (change["user"], change["action"], change["text"]) == ("anybody", "subscribe", RISE)
        assert visitor.get("/api/subscriptions/rise/changes")[1]["own"]
        assert visitor.post("/api/subscriptions/rise/end", {"how": "own", "dry": True})[1]["after"] is None
        assert visitor.post("/api/subscriptions/rise/end", {"how": "own"})[0] == 200
        assert visitor.get("/api/subscriptions/rise")[0] == 404
        status, found = visitor.post("/api/subscriptions/rise/end", {"how": "own"})
        assert (status, found["code"]) == (404, "unknown-subscription")


def test_a_text_is_checked_while_it_is_typed(engine: Engine) -> None:
    with written(engine) as (_, visitor):
        body = {"name": "new", "language": "cayuga", "query": "FILTER{prise > 1}\n  (Stock)"}
        (finding,) = visitor.post("/api/check", body)[1]["findings"]
        assert (finding["severity"], finding["line"], finding["column"]) == ("error", 0, 7)
        _, found = visitor.post("/api/check", {**body, "query": "FILTER{price > 1 AND price < 0}(Stock)"})
        assert [each["severity"] for each in found["findings"]] == ["warning"]
        assert found["findings"][0]["line"] == 0
        assert "<title>The automaton of new</title>" in found["svg"]


def test_a_subscription_with_a_cursor_is_there_for_its_reader(engine: Engine) -> None:
    with written(engine) as (broker, visitor), Client(broker.endpoint) as client:
        body = {"name": "all", "language": "cayuga", "query": "SELECT * FROM Stock", "cursor": "shop"}
        assert visitor.post("/api/subscriptions", body)[0] == 200
        visitor.post("/api/streams/Stock/events", event("IBM", "1"))
        with client.subscribe("all", durable="shop") as results:
            assert next(results).data["name"] == "IBM"
        assert [each["name"] for each in visitor.get("/api/cursors")[1]] == ["shop"]
        assert visitor.get("/api/subscriptions/all/changes")[1]["cursors"] == ["shop"]
        assert visitor.post("/api/subscriptions/all/end", {"how": "cursor", "cursor": "shop"})[0] == 200
        assert visitor.get("/api/subscriptions/all")[0] == 404


def test_a_text_is_replaced_after_a_dry_run(engine: Engine) -> None:
    with written(engine) as (broker, visitor), Client(broker.endpoint) as client:
        with client.subscribe("pairs", language="sase", query=PAIRS):
            client.publish("Stock", {"name": "IBM", "price": 1.0}, time=1)
            path, other = "/api/subscriptions/pairs/text", PAIRS.replace("10 min", "20 min")
            body = {"language": "sase", "query": other}
            status, found = visitor.post(path, {**body, "keep_runs": True, "dry": True})
            assert (status, found["code"]) == (400, "unsupported")
            assert "it can only begin anew" in found["error"]
            _, found = visitor.post(path, {**body, "dry": True})
            assert (found["before"]["query"], found["after"]["query"]) == (PAIRS, other)
            assert (found["before"]["runs"], found["after"]["runs"]) == (1, 0)
            assert visitor.get("/api/subscriptions/pairs")[1]["query"] == PAIRS
            assert visitor.post(path, body)[0] == 200
            assert visitor.get("/api/subscriptions/pairs")[1]["query"] == other
            newest = visitor.get("/api/subscriptions/pairs/changes")[1]["changes"][0]
            assert (newest["action"], newest["before"], newest["text"]) == ("replace-subscription", PAIRS, other)
        status, found = visitor.post("/api/subscriptions/bob.all/text", body)
        assert (status, "belongs to the broker's configuration" in found["error"]) == (400, True)


def test_arcs_are_changed_after_a_dry_run_that_tells_the_withdrawn_results() -> None:
    engine = Engine()
    engine.add_stream("S", {"x": "int"}, disorder="speculate")
    query = "FROM S START a FINAL b up: a -> b WHEN x > 5"
    engine.subscribe("high", "afa", query)
    with written(engine) as (broker, visitor), Client(broker.endpoint) as client:
        client.publish_batch("S", [1, 2, 3], [(6,), (7,), (8,)])
        path = "/api/subscriptions/high/arcs"
        status, found = visitor.post(path, {"insert": ["down: a -> b WHEN"], "dry": True})
        assert (status, found["code"]) == (400, "query")
        body = {"delete": ["up"], "start": "2"}
        status, found = visitor.post(path, {**body, "dry": True})
        assert (status, found["retractions"]) == (200, 2)
        assert len(found["first"]) == 2
        assert (len(found["before"]["updates"]), len(found["after"]["updates"])) == (0, 1)
        assert broker.report(5)["broker"]["retractions"] == 0
        assert visitor.post(path, body)[0] == 200
        assert broker.report(5)["broker"]["retractions"] == 2
        found = visitor.get("/api/subscriptions/high/changes")[1]
        assert found["updates"] == [[[], ["up"], 2, found["updates"][0][3]]]
        assert found["changes"][0]["delete"] == "up"


def test_a_user_may_change_what_the_permissions_allow_and_the_audit_log_says_who(
    engine: Engine, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("".join(f"{name} {digest(name + ' secret')}\n" for name in ("ann", "eve", "root")))
    quota = Quota(subscriptions=1)
    ann = User("ann", publish=("Stock",), read=("Stock",), subscribe=("ann.*",), quota=quota)
    users = {"key of ann": ann, "key of eve": User("eve"), "key of root": User("root", admin=True)}
    admission = Admission(Access(users), flows(engine), states(engine), Sources(wires(engine), engine.subscriptions))
    log = AuditLog(AuditSettings(tmp_path / "audit.jsonl"))
    broker = Broker(engine, "tcp://127.0.0.1:0", admission=admission, audit_log=log)
    rise = {"name": "ann.rise", "language": "cayuga", "query": RISE}
    with visited(broker, ConsoleSettings(tokens, anybody=False, writes=True)) as visitor:
        for dry in (True, False):
            assert visitor.post("/api/subscriptions", {**rise, "dry": dry})[0] == 401
        visitor.post("/api/sign-in", {"token": "eve secret"})
        for path, body in (
            ("/api/streams/Stock/events", event("IBM", "1")),
            ("/api/streams/None/events", event("IBM", "1")),
            ("/api/subscriptions", rise),
            ("/api/subscriptions/bob.all/text", {"language": "cayuga", "query": RISE}),
            ("/api/subscriptions/bob.all/arcs", {"delete": ["up"]}),
            ("/api/subscriptions/bob.all/end", {"how": "everybody"}),
        ):
            for dry in (True, False):
                status, found = visitor.post(path, {**body, "dry": dry})
                assert status == 403, (path, found)
                assert "user 'eve'" in found["error"]
        assert visitor.get("/api/subscriptions/bob.all/changes")[0] == 403
        assert visitor.get("/api/streams/Stock/refused")[0] == 403
        assert [each["name"] for each in visitor.get("/api/users")[1]] == ["eve"]
        assert visitor.get("/api/subscriptions")[1]["entries"] == []
        assert visitor.get("/api/streams")[1] == []
        visitor.cookie = ""
        visitor.post("/api/sign-in", {"token": "ann secret"})
        assert visitor.post("/api/streams/Secret/events", {"values": {"x": "1"}})[0] == 403
        assert visitor.post("/api/subscriptions", {**rise, "query": "SELECT * FROM Secret"})[0] == 403
        assert visitor.post("/api/subscriptions", rise)[0] == 200
        status, found = visitor.post("/api/subscriptions", {**rise, "name": "ann.more"})
        assert (status, found["code"]) == (400, "limit")
        assert visitor.post("/api/subscriptions/ann.rise/end", {"how": "everybody"})[0] == 403
        (own,) = visitor.get("/api/users")[1]
        assert (own["quota"]["subscriptions"], own["used"]) == (
            1, {"connections": 1, "subscriptions": 1, "states": own["used"]["states"]},
        )  # fmt: skip
        visitor.cookie = ""
        visitor.post("/api/sign-in", {"token": "root secret"})
        assert visitor.post("/api/subscriptions/ann.rise/end", {"how": "everybody"})[0] == 200
        assert [each["name"] for each in visitor.get("/api/users")[1]] == ["ann", "eve", "root"]
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    done = [(line["user"], line["action"], line["name"]) for line in lines if line["outcome"] == "done"]
    assert done == [("ann", "subscribe", "ann.rise"), ("root", "delete-subscription", "ann.rise")]
    assert "secret" not in (tmp_path / "audit.jsonl").read_text()


def test_refused_events_are_shown_with_reason_and_place(engine: Engine) -> None:
    with written(engine) as (broker, visitor), Client(broker.endpoint) as client:
        client.publish("Stock", {"name": "IBM", "price": 1.0}, time=100)
        client.publish_batch("Stock", [100, 7], [("IBM", 1.0, None, 1, True), ("FB" * 100, 2.0, None, None, None)])
        visitor.post("/api/streams/Stock/events", {**event("IBM", "2"), "time": "5"})
        newest, before = visitor.get("/api/streams/Stock/refused")[1]
        assert (newest["code"], newest["event_time"]) == ("late", 5)
        assert (before["index"], before["data"]["price"]) == (1, 2.0)
        assert before["reason"] == "expected a time of 100 or later, found 7"
        assert len(before["data"]["name"]) == 100
        stock = next(each for each in visitor.get("/api/streams")[1] if each["name"] == "Stock")
        assert stock["refused"] == 2


def test_notes_are_bounded() -> None:
    notes = RecentNotes()
    for number in range(NOTES_OF_A_NAME_MAX + 5):
        notes.add("S", {"number": number, "text": "x" * (NOTE_CHARACTERS_MAX + number)})
    assert [each["number"] for each in notes.of("S")][:2] == [NOTES_OF_A_NAME_MAX + 4, NOTES_OF_A_NAME_MAX + 3]
    assert {len(each["text"]) for each in notes.of("S")} == {NOTE_CHARACTERS_MAX}
    for number in range(NOTED_NAMES_MAX):
        notes.add(f"T{number}", {})
    assert (notes.count("S"), notes.count("T0")) == (0, 1)
    notes.forget("T0")
    assert notes.of("T0") == []
    notes.check_invariants()


@pytest.mark.parametrize(
    ("text", "value"),
    [("9223372036854775807", 2**63 - 1), ("-9223372036854775808", -(2**63)), (" 7 ", 7), ("+7", 7)],
)
def test_whole_numbers_are_those_of_64_bits(text: str, value: int) -> None:
    assert typed_row(Schema.declare({"x": "int"}), {"x": text}) == (value,)


@pytest.mark.parametrize(
    ("kind", "text"),
    [("int", "9223372036854775808"), ("int", "1e3"), ("int", ""), ("float", "nan"), ("float", "1_0"), ("float", "inf"),
     ("bool", "1"), ("string", None), ("string", 7)],
)  # fmt: skip
def test_what_is_no_value_of_its_type_is_refused(kind: str, text: object) -> None:
    with pytest.raises(WrongField):
        typed_row(Schema.declare({"x": kind}), {"x": text})


def test_an_empty_text_is_one_and_of_a_nullable_attribute_null() -> None:
    schema = Schema.declare({"x": "string", "y": "string?", "z": "bool?"})
    assert typed_row(schema, {"x": "", "y": ""}) == ("", None, None)


def test_the_configuration_says_whether_it_may_write() -> None:
    text = '[console]\naddress = "http://127.0.0.1:0"\n'
    assert not read_configuration(text, "foretell.toml").console_writes
    assert read_configuration(text + "writes = true\n", "foretell.toml").console_writes
