"""The playground in the console: events of the journal by permission and time, and files that only their user has."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from doubles.opened_journal import opened
from doubles.running_broker import running
from doubles.served_console import served
from unit.server.test_server_console import Visitor

from broker.command.playground import journal_events
from broker.command.playground.application import playground_of_console
from broker.command.playground.journal_events import taken
from broker.console.signing_in import digest
from broker.engine import Engine
from broker.events import LimitExceeded
from broker.kernel import Access, Admission, Limits, Sources, User, flows, states, wires
from broker.server.console import ConsoleSettings
from broker.server.durability_gate import DurabilityGate
from broker.server.loop import Broker, wall_clock
from broker.server.opening import Journalling
from broker.storage import Durability
from client import Client

REPORTS: Final = "subscription 'pair': report: expected one of "
EXPECTED: Final = "expected float, found string '?'"
LATEST: Final = 2**60
STREAMS: Final = '[streams.Stock]\nattributes = { name = "string", price = "float" }\nkey = "name"\n'
USERS: Final = {
    "a" * 40: User("ann", publish=("*",), read=("Stock",), subscribe=("ann.*",)),
    "b" * 40: User("bob", publish=("*",), read=("*",), subscribe=("*",), declare=("*",)),
}


@contextmanager
def journalled(folder: Path, admitted: bool = False) -> Iterator[Broker]:
    """A broker in a thread with a journal of small segments; `admitted`: only two users may look at it."""
    declared = Engine()
    declared.add_stream("Stock", {"name": "string", "price": "float"}, key="name")
    declared.add_stream("Secret", {"x": "int"}, disorder="speculate", time_unit="ms")
    declared.subscribe("ann.rise", query="FILTER{price > price_1}(Stock NEXT{$2.name = $1.name} Stock)")
    store, state, _ = opened(
        Journalling(folder, Durability(segment_bytes=8_192, growth_bytes=4_096)), declared, None, 0
    )
    engine = state.engine

    def make_gate(notify: Any) -> DurabilityGate:
        return DurabilityGate(store, state, "always", 1 << 20, notify)

    admission = None
    if admitted:
        sources = Sources(wires(engine), engine.subscriptions)
        admission = Admission(Access(USERS), flows(engine), states(engine), sources)
    with running(Broker(engine, "tcp://127.0.0.1:0", Limits(), admission, make_gate=make_gate)) as broker:
        yield broker


class PlaygroundVisitor(Visitor):
    """Asks again while the playground's process starts, as a page does."""

    def post(self, path: str, body: object, **headers: str) -> tuple[int, Any]:
        while True:
            status, found = super().post(path, body, **headers)
            if not found.get("starting"):
                return status, found


def published(broker: Broker, count: int, first: int = 0) -> None:
    with Client(broker.endpoint, 60) as client:
        for at in range(first, first + count, 10):
            rows = [("IBM" if each % 2 else "FB", 100.0 + each) for each in range(at, at + 10)]
            client.publish_batch("Stock", list(range(at, at + 10)), rows)
            client.publish("Secret", {"x": at}, time=at + 1)
        gone = client.publish("Secret", {"x": -1}, time=first + count).first_id
        assert gone is not None
        client.retract(gone)


def test_the_newest_events_of_a_stream_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = wall_clock()
    with journalled(tmp_path / "data") as broker:
        published(broker, 600)
        middle = wall_clock()
        published(broker, 30, 600)
        assert len(list((tmp_path / "data").glob("*.journal"))) >= 3
        out = tmp_path / "taken.jsonl"
        found = taken(tmp_path / "data", STREAMS, before, LATEST, out)
        assert found == {"events": 630, "more": False}
        lines = out.read_text().splitlines()
        assert lines[0].startswith('{"stream": "Stock", "time": 0, "id": ')
        assert lines[0].endswith('"data": {"name": "FB", "price": 100.0}}')
        assert "Secret" not in out.read_text()
        assert taken(tmp_path / "data", STREAMS, middle, LATEST, out) == {"events": 30, "more": False}
        assert taken(tmp_path / "data", STREAMS, before, middle, out) == {"events": 600, "more": False}
        assert taken(tmp_path / "data", STREAMS, 0, before - 1, out) == {"events": 0, "more": False}
        seconds = iter(range(0, 10_000, 5))
        with pytest.raises(LimitExceeded, match="expected a journal that is read within 8 s"):
            taken(tmp_path / "data", STREAMS, before, LATEST, out, lambda: next(seconds))
        monkeypatch.setattr(journal_events, "EVENTS_MAX", 25)
        assert taken(tmp_path / "data", STREAMS, before, LATEST, out) == {"events": 25, "more": True}
        assert out.read_text().count("\n") == 25


def test_withdrawn_events_are_taken_with_what_withdrew_them(tmp_path: Path) -> None:
    with journalled(tmp_path / "data") as broker:
        published(broker, 20)
    out = tmp_path / "taken.jsonl"
    text = '[streams.Secret]\nattributes = { x = "int" }\ndisorder = "speculate"\n'
    assert taken(tmp_path / "data", text, 0, LATEST, out) == {"events": 3, "more": False}
    lines = out.read_text().splitlines()
    assert len(lines) == 4
    assert lines[-1].startswith('{"retract": ')


def test_a_page_takes_events_and_runs_on_them(tmp_path: Path) -> None:
    with journalled(tmp_path / "data") as broker:
        published(broker, 20)
        settings = ConsoleSettings(playground=playground_of_console, journal=tmp_path / "data")
        with served(broker, "http://127.0.0.1:0", settings) as address:
            visitor = PlaygroundVisitor(address)
            assert visitor.get("/api/session")[1]["playground"]
            assert visitor.get("/playground/session")[1]["console"]
            assert visitor.get("/playground/broker")[1] == {"journal": True, "streams": ["Secret", "Stock"]}
            status, found = visitor.post("/playground/journal", {"streams": ["Stock", "Secret"], "minutes": 5})
            assert (status, found["more"], found["taken"]) == (200, False, 23)
            assert found["file"] == "Stock, Secret from the journal"
            assert '[streams.Secret]\nattributes = { x = "int" }\ndisorder = "speculate"\n\n' in found["text"]
            status, run = visitor.post("/playground/ask/run", {"text": found["text"], "file": found["events"]})
            assert (status, run["trouble"], len(run["events"]["id"])) == (200, None, 23)
            assert run["subscriptions"][0]["counts"]["match"] == 18
            text = visitor.get("/playground/subscriptions/ann.rise")[1]["text"]
            assert visitor.post("/playground/ask/run", {"text": text, "file": found["events"]})[1]["findings"] == []
            bodies: list[dict[str, Any]] = [{}, {"streams": []}, {"streams": [1]}, {"streams": ["Stock"]}]
            for wrong in [*bodies, {"streams": ["Stock"], "minutes": 0}]:
                assert visitor.post("/playground/journal", wrong)[0] == 400
            assert visitor.post("/playground/journal", {"streams": ["Stok"], "minutes": 1})[0] == 404


def test_each_user_has_what_permissions_allow_and_files_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("".join(f"{name} {digest(f'secret of {name}')}\n" for name in ("ann", "bob")))
    with journalled(tmp_path / "data", admitted=True) as broker:
        made, journal = playground_of_console, tmp_path / "data"
        settings = ConsoleSettings(tmp_path / "tokens", anybody=False, playground=made, journal=journal)
        with served(broker, "http://127.0.0.1:0", settings) as address:
            stranger = PlaygroundVisitor(address)
            for path in ("/playground/session", "/playground/broker", "/playground/examples/stocks"):
                assert stranger.get(path)[0] == 401
            assert stranger.post("/playground/ask/run", {"text": ""})[0] == 401
            ann, bob = PlaygroundVisitor(address), PlaygroundVisitor(address)
            assert ann.post("/api/sign-in", {"token": "secret of ann"})[0] == 200
            assert bob.post("/api/sign-in", {"token": "secret of bob"})[0] == 200
            assert ann.get("/playground/broker")[1]["streams"] == ["Stock"]
            status, refused = ann.post("/playground/journal", {"streams": ["Secret"], "minutes": 5})
            assert (status, refused["error"]) == (403, "stream 'Secret': user 'ann' has no permission to read")
            found = bob.post("/playground/journal", {"streams": ["Secret"], "minutes": 5})[1]
            asked = {"text": found["text"], "file": found["events"]}
            assert bob.post("/playground/ask/run", asked)[0] == 200
            assert ann.post("/playground/ask/run", asked)[0] == 404
            upload = urllib.request.Request(
                f"{address}/playground/upload?name=own.csv",
                b"time,name,price\n1,IBM,5\n2,IBM,?\n",
                {"x-foretell-token": ann.token, "cookie": ann.cookie},
            )
            with urllib.request.urlopen(upload) as answer:
                own = answer.read().decode()
            assert '"file":"own.csv"' in own
            known = own.partition('"events":"')[2].partition('"')[0]
            run = ann.post("/playground/ask/run", {"text": STREAMS, "file": known, "stream": "Stock"})[1]
            assert run["trouble"] == f"own.csv: line 3: stream 'Stock', attribute 'price': {EXPECTED}"
            assert bob.post("/playground/ask/run", {"text": STREAMS, "file": known, "stream": "Stock"})[0] == 404


def test_what_is_right_is_subscribed_with_its_options(tmp_path: Path) -> None:
    with journalled(tmp_path / "data") as broker:
        settings = ConsoleSettings(playground=playground_of_console, writes=True)
        with served(broker, "http://127.0.0.1:0", settings) as address:
            visitor = PlaygroundVisitor(address)
            assert visitor.get("/api/session")[1]["writes"]
            query = "FROM Stock a, b: price > 1 MATCH a; b"
            text = f'''{STREAMS}
[subscriptions.pair]
language = "ptopss"
query = "{query}"
lineage = false
report = "completions"
'''
            (own,) = visitor.post("/playground/ask/run", {"text": text})[1]["subscriptions"]
            assert (own["query"], own["options"]) == (query, {"lineage": False, "report": "completions"})
            wanted = {name: own[name] for name in ("name", "language", "query")} | own["options"]
            status, found = visitor.post("/api/subscriptions", wanted)
            assert status == 200, found
            anybody = User("anybody", admin=True)
            made = broker.ask(lambda kernel: kernel.consulting.definition(anybody, "pair"), 60)
            assert (made.query, made.lineage, made.report) == (query, False, "completions")
            status, found = visitor.post("/api/subscriptions", {**wanted, "report": "some"})
            assert status == 400
            assert found["error"].startswith(REPORTS)
