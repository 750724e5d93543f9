"""The shell's clients against a broker process: publish, subscribe, the listings, and the demonstration as a whole."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from doubles.commands import complaint, printed

from broker.command.demo.command import broker_process
from broker.command.shell import perform
from client import Client

ROOT: Final = Path(__file__).parents[2]

SUBSCRIPTIONS: Final = """
[streams.Stock]
attributes = { name = "string", price = "float" }
key = "name"

[subscriptions.jumps]
language = "cayuga"
query = "SELECT * FROM FILTER{price > 1.05 * price_1}(Stock NEXT{$2.name = $1.name} Stock)"
lineage = true
"""


@pytest.fixture
def address() -> Iterator[str]:
    with broker_process() as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SUBSCRIPTIONS)
    return tmp_path


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "broker.command", *arguments]


def stock(time: int, price: object) -> str:
    return json.dumps({"stream": "Stock", "time": time, "data": {"name": "IBM", "price": price}}) + "\n"


@contextmanager
def killed_if_left(process: subprocess.Popen[str]) -> Iterator[None]:
    """So that a failure in the block does not wait for a process that waits for events."""
    try:
        yield
    finally:
        process.kill()


def test_publish_subscribe_and_listings(
    address: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETELL_BROKER", address)
    with (
        subprocess.Popen(
            command("subscribe", "jumps", "--file", str(folder / "s.toml"), "--count", "2", "--broker", address),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            stderr=subprocess.PIPE,
        ) as subscriber,
        killed_if_left(subscriber),
    ):
        assert subscriber.stderr is not None
        assert subscriber.stderr.readline() == "subscribed to jumps\n"
        (stream,) = map(json.loads, printed(capsys, "streams"))
        assert stream == {
            "name": "Stock",
            "attributes": {"name": "string", "price": "float"},
            "key": "name",
            "disorder": "arrival",
        }
        (subscription,) = map(json.loads, printed(capsys, "subscriptions", "--json"))
        assert (subscription["name"], subscription["subscribers"]) == ("jumps", 1)

        Path("e.jsonl").write_text(stock(1, 100) + stock(2, 110) + stock(1, 1) + stock(3, 120) + stock(2, 1))
        late = complaint(capsys, "publish", "Stock", "e.jsonl", "--batch", "2", "--subscriptions", "s.toml")
        assert re.fullmatch(r"e\.jsonl: line 3: .*\(and 1 more\)", late)

        Path("e.csv").write_text("time,name,price\n4,IBM,140\n")
        assert printed(capsys, "publish", "Stock", "e.csv") == ["1 events published to Stock"]
        out, _ = subscriber.communicate(timeout=60)
        Path("odd.csv").write_text("Symbol Name;price\nIBM;1,5\nMSFT;2,5\n")
        odd = ("--separator", ";", "--decimal", ",", "--column", "Symbol Name=name")
        assert printed(capsys, "publish", "Stock", "odd.csv", "--time", "now", *odd) == ["2 events published to Stock"]
        Path("odd.jsonl").write_text('{"price": 3, "name": "IBM"}\n')
        assert printed(capsys, "publish", "Stock", "odd.jsonl", "--time", "now") == ["1 events published to Stock"]
    assert subscriber.returncode == 0
    results = [json.loads(line) for line in out.splitlines()]
    assert [result["end"] for result in results] == [2, 3]
    statistics = [json.loads(line) for line in printed(capsys, "stats")]
    assert {"group": "broker", "name": "events", "value": 7} in statistics


def test_a_durable_subscription_goes_on_with_each_call(
    address: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETELL_BROKER", address)
    durable = ("subscribe", "jumps", "--file", "s.toml", "--durable", "mine", "--timeout")
    assert printed(capsys, *durable, "0") == []
    Path("e.jsonl").write_text("".join(stock(time, 100 * 2**time) for time in range(1, 4)))
    printed(capsys, "publish", "Stock", "e.jsonl")
    (kept,) = map(json.loads, printed(capsys, "subscriptions"))
    assert kept["cursors"] == {"mine": 2}
    for position in (1, 2):
        (line,) = map(json.loads, printed(capsys, *durable, "60", "--count", "1"))
        assert line["position"] == position
    (kept,) = map(json.loads, printed(capsys, "subscriptions"))
    assert kept["cursors"] == {"mine": 0}


def test_a_durable_subscription_is_replayed_and_its_dead_letters_are_settled(
    address: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETELL_BROKER", address)
    durable = ("subscribe", "jumps", "--file", "s.toml", "--durable", "mine", "--timeout", "60", "--count")
    printed(capsys, "subscribe", "jumps", "--file", "s.toml", "--durable", "mine", "--retain", "9", "--timeout", "0")
    Path("e.jsonl").write_text("".join(stock(time, 100 * 2**time) for time in range(1, 5)))
    printed(capsys, "publish", "Stock", "e.jsonl")
    for asked, first in (((), 1), (("--replay", "1"), 1), (("--since", "3"), 2), (("--replay", "2"), 2)):
        lines = [json.loads(line) for line in printed(capsys, *durable, str(4 - first), *asked)]
        assert [line["position"] for line in lines] == list(range(first, 4))
    with Client(address) as client:
        client.publish_batch("Stock", [5, 6], [("IBM", 9_000.0), ("IBM", 90_000.0)])
        with client.subscribe("jumps", durable="mine") as subscription:
            for notification in (subscription.next(60), subscription.next(60)):
                assert notification is not None
                notification.refuse("of no use")
    letters = [json.loads(line) for line in printed(capsys, "dead-letters", "mine")]
    assert [(each["position"], each["reason"], each["result"]["end"]) for each in letters] == [
        (4, "of no use", 5),
        (5, "of no use", 6),
    ]
    assert len(printed(capsys, "dead-letters", "mine", "--position", "4", "--discard")) == 1
    assert len(printed(capsys, "dead-letters", "mine", "--requeue")) == 1
    (line,) = map(json.loads, printed(capsys, *durable, "1"))
    assert (line["position"], line["end"]) == (6, 6)
    assert printed(capsys, "dead-letters", "mine") == []
    for refused, reason in (
        (("dead-letters", "mine", "--requeue", "--discard"), "expected --discard or --requeue, found both"),
        (("dead-letters", "mine", "--position", "9"), "position 9 is not a dead letter"),
        (("dead-letters", "none"), "cursor 'none' is not known"),
        (("subscribe", "jumps", "--replay", "1"), "expected --durable with --replay, found none"),
        (("subscribe", "jumps", "--durable", "mine", "--replay", "1", "--since", "1"), "expected replay or since"),
        (("subscribe", "jumps", "--durable", "mine", "--since", "noon"), "noon"),
    ):
        assert perform(refused) == 2
        error = capsys.readouterr().err
        assert reason in error
        assert len(error.splitlines()) == 1


def test_a_probability_is_asked_for_by_the_values_of_its_key(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETELL_BROKER", address)
    query = "FROM Stock BY name a, b: price > 100 MATCH a, b"
    with Client(address) as client:
        client.add_stream("Stock", {"name": "string", "price": "float"}, key="name")
        client.subscribe("up", "ptopss", query, forecast={"within": 1})
        client.publish_batch("Stock", list(range(42)), [("IBM", 90.0 + n % 4 * 10) for n in range(42)])
        asked = client.probability("up", "IBM")
        (line,) = printed(capsys, "probability", "up", "--key", "IBM")
        assert json.loads(line) == asked.line()
        assert (asked.run, asked.time, asked.within, asked.state) == ("IBM", 41, 1, 0)
        (line,) = printed(capsys, "probability", "up", "--key", "IBM", "--within", "3")
        later = client.probability("up", ["IBM"], within=3)
        assert json.loads(line) == later.line()
        assert later.probability > asked.probability
        assert "expected the values of name" in complaint(capsys, "probability", "up")
        assert "is not known" in complaint(capsys, "probability", "upp", "--key", "IBM")
        assert "times between events" in complaint(capsys, "probability", "up", "--key", "IBM", "--within", "1 day")


def test_stats_have_a_group_for_the_forecasts_of_each_subscription(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    query = "FROM Stock BY name a, b: price > 100 MATCH a, b"
    with Client(address) as client:
        client.add_stream("Stock", {"name": "string", "price": "float"}, key="name")
        for name in ("up", "soon"):
            client.subscribe(name, "ptopss", query, forecast={"within": 1 if name == "up" else 2, "effective": 0})
        client.publish_batch("Stock", list(range(40)), [("IBM", 90.0 + n % 4 * 10) for n in range(40)])
        rows = [json.loads(line) for line in printed(capsys, "stats", "--broker", address)]
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        table = printed(capsys, "stats", "--broker", address)

    assert all(row.keys() == {"group", "name", "value"} for row in rows)
    assert not [row for row in rows if isinstance(row["value"], dict)]
    groups = list(dict.fromkeys(row["group"] for row in rows))
    assert groups[-2:] == ["forecast up", "forecast soon"]
    found = {row["name"]: row["value"] for row in rows if row["group"] == "forecast up"}
    assert (found["within"], found["threshold"]) == (1, 0.5)
    assert found["predictions"] == sum(count for _, _, count in found["reliability"]) > 0
    assert found["ece"] is not None
    assert found["after_match.predictions"] > 0
    assert {"precision", "recall", "lead", "ece", "base_rate", "notices", "outstanding"} <= found.keys()
    assert {"group": "engine", "name": "events", "value": 40} in rows
    assert not any(row["name"] == "forecasts" for row in rows)
    assert sum("forecast soon" in line for line in table) == len(found)
    assert any("reliability" in line for line in table)


def test_what_others_wrote_gives_no_orders_to_a_terminal(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Window titles, colours, cursors: by 7-bit and 8-bit sequences, in a query and in the reason of a dead letter."""
    orders = "\x1b]0;owned\x07 \x1b[2J \x9b31m \x7f"
    with Client(address) as client:
        client.add_stream("Stock", {"name": "string", "price": "float"})
        query = f"SELECT * FROM FILTER{{name = '{orders}'}}(Stock)"
        client.subscribe("theirs", query=query)
        with client.subscribe("kept", query="SELECT * FROM Stock", durable="mine") as subscription:
            client.publish("Stock", {"name": orders, "price": 1.0}, time=1)
            notification = subscription.next(60)
            assert notification is not None
            notification.refuse(orders)
        plain = [*printed(capsys, "subscriptions", "--broker", address)]
        plain += printed(capsys, "dead-letters", "mine", "--broker", address)
        assert all(character.isprintable() for line in plain for character in line)
        assert json.loads(plain[-1])["reason"] == orders
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", "200")  # so that no cell is broken
        table = "\n".join(printed(capsys, "subscriptions", "--broker", address))
        assert r"\x1b]0;owned\x07" in "".join(table.split())
        for order in ("\x1b]", "\x07", "\x1b[2J", "\x9b", "\x7f"):
            assert order not in table


def test_what_is_wrong_is_told_with_its_place(
    address: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETELL_BROKER", address)
    Path("e.jsonl").write_text(stock(1, 100) + stock(2, "dear") + stock(3, 1))
    declaring = ("--subscriptions", "s.toml")
    assert "expected a declared stream, found 'Stock'" in complaint(capsys, "publish", "Stock", "e.jsonl")
    assert "did you mean 'Stock'?" in complaint(capsys, "publish", "Stok", "e.jsonl", *declaring)
    wrong = complaint(capsys, "publish", "Stock", "e.jsonl", *declaring)
    assert wrong == "e.jsonl: line 2: stream 'Stock', attribute 'price': expected float, found string 'dear'"
    Path("e.jsonl").write_text('{"unsubscribe": "x"}\n')
    assert "e.jsonl: line 1: expected an event" in complaint(capsys, "publish", "Stock", "e.jsonl")
    assert "line 1, column 22: unknown attribute 'prise'" in complaint(
        capsys, "subscribe", "q", "--query", "SELECT * FROM FILTER{prise > 1}(Stock)"
    )
    assert "did you mean 'jumps'?" in complaint(capsys, "subscribe", "jumbs", "--file", "s.toml")
    assert "'nosuch'" in complaint(capsys, "subscribe", "nosuch")
    both = ("--durable", "mine", "--when-slow", "disconnect")
    assert "expected either durable or when_slow" in complaint(capsys, "subscribe", "jumps", *both)
    slow = ("--when-slow", "drop_oldest", "--timeout", "0.1")
    assert printed(capsys, "subscribe", "q", "--query", "SELECT * FROM Stock", *slow) == []
    Path("s.toml").write_text(SUBSCRIPTIONS.replace("float", "int"))
    assert complaint(capsys, "publish", "Stock", "e.jsonl", *declaring).startswith("s.toml: stream 'Stock'")


def test_no_broker_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.command.connection.ANSWER_SECONDS_MAX", 0.2)
    assert "tcp://127.0.0.1:1" in complaint(capsys, "streams", "--broker", "tcp://127.0.0.1:1")


@pytest.mark.verify
def test_the_demonstration_ends_by_itself_with_a_summary() -> None:
    done = subprocess.run(
        command("demo", "--days", "1", "--seconds", "1"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Notifications" in done.stdout
    assert re.search(r"[\d,]+ events, \d+ notifications", done.stdout)
