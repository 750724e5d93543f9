"""The shell against a broker whose stream is disordered: files that withdraw, promise and update; what is told, listed
and refused."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from doubles.broker_process import broker_process

from broker.command.shell import perform
from client import Client, Durable, EventError, LateEvent, QueryError
from client.aio import Client as AioClient

QUERY = "FROM Reading\\nSTART a\\nFINAL c\\none: a -> b WHEN value > 10\\ntwo: b -> c WHEN value < 5"
SUBSCRIPTIONS = f"""
[streams.Reading]
attributes = {{ value = "int" }}
disorder = "speculate"
idle = "1 hour"

[subscriptions.drops]
language = "afa"
query = "{QUERY}"
"""


def event(id: int, time: int, value: int) -> dict[str, object]:
    return {"stream": "Reading", "time": time, "id": id, "data": {"value": value}}


LINES = [
    event(1, 10, 20),
    event(2, 30, 1),
    event(3, 20, 7),  # late: between the two
    {"retract": 3},
    {"retract": 99},
    {"update": {"subscription": "drops", "insert": ["three: b -> c WHEN value = 6"], "delete": ["two"]}},
    {"punctuation": 40},
    event(4, 39, 1),
    event(5, 50, 12),
    event(6, 60, 6),
]


def kinds(notifications: list[tuple[str, list[int] | None]]) -> list[str]:
    return [kind for kind, _ in notifications]


def test_a_file_that_revises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SUBSCRIPTIONS)
    Path("lines.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    with broker_process() as broker, Client(broker.address) as client:
        monkeypatch.setenv("FORETELL_BROKER", broker.address)
        assert perform(["publish", "Reading", "none.jsonl", "--subscriptions", "s.toml"]) == 2
        capsys.readouterr()
        definition = QUERY.replace("\\n", "\n")
        with client.subscribe("drops", "afa", definition, durable=Durable("desk")) as subscription:
            assert perform(["publish", "Reading", "lines.jsonl", "--batch", "1"]) == 2
            told = capsys.readouterr()
            assert told.out == "5 events published to Reading\n"
            assert "lines.jsonl: line 5" in told.err
            assert "(and 1 more)" in told.err
            found = [(each.kind, each.lineage) for each in iter(lambda: subscription.next(2.0), None)]
        matches = [each for each in found if each[0] in ("match", "retraction")]
        assert matches == [
            ("match", [1, 2]), ("retraction", [1, 2]), ("match", [1, 2]), ("match", [5, 6]),
        ]  # fmt: skip
        assert "punctuation" in kinds(found)
        assert perform(["subscriptions"]) == 0
        (line,) = map(json.loads, capsys.readouterr().out.splitlines())
        assert line["version"] == 2
        assert line["updates"][0]["delete"] == ["two"]
        seen = client.statistics()["broker"]
        assert (seen["events_withdrawn"], seen["updates"], seen["punctuations"]) == (
            1,
            1,
            1,
        )
        assert seen["retractions"] == 1
        assert perform(["subscribe", "final", "--query", "Reading", "--results", "fin"]) == 2
        assert "'each', 'final'" in capsys.readouterr().err
        asked = ["subscribe", "final", "--language", "afa", "--query", definition, "--timeout", "0.1"]
        assert perform([*asked, "--results", "final"]) == 0
        capsys.readouterr()
        assert perform(["update", "drops", "--delete", "three", "--insert", "four: b -> c WHEN value = 8"]) == 0
        assert capsys.readouterr().out == "updated drops\n"
        for wrong, message in (
            (["drops"], "expected --insert or --delete, found neither"),
            (["drop", "--delete", "x"], "subscription 'drop' is not known; did you mean 'drops'?"),
            (["drops", "--insert", "b -> "], "expected"),
        ):
            assert perform(["update", *wrong]) == 2
            assert message in capsys.readouterr().err
        assert len(client.subscriptions()[0].updates) == 2


def test_both_clients_promise_withdraw_and_update() -> None:
    definition = QUERY.replace("\\n", "\n")

    async def asynchronous(address: str) -> None:
        async with AioClient(address) as client:
            await client.publish("Reading", {"value": 20}, time=10, id=11)
            with pytest.raises(EventError, match="may be withdrawn"):
                await client.retract(7)
            assert (await client.retract(11)).count == 1
            with pytest.raises(QueryError):
                await client.update("drops", insert=["b -> "])
            await client.update("drops", delete=["two"])
            await client.punctuate(100, "Reading")
            with pytest.raises(LateEvent):
                await client.publish("Reading", {"value": 20}, time=99)

    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("Reading", {"value": "int"}, disorder="speculate")
        assert client.streams()[0].disorder == "speculate"
        with client.subscribe("drops", "afa", definition, results="final") as subscription:
            client.publish_batch("Reading", [2, 1], [(1,), (20,)], [1, 2])
            assert subscription.next(0.2) is None
            asyncio.run(asynchronous(broker.address))
            notification = subscription.next(10)
            assert notification is not None
            assert (notification.kind, notification.lineage, notification.lifetime) == ("match", [2, 1], (2, None))
            receipt = client.publish_batch("Reading", [101, 5, 101, 102], [(1,), (1,), (1,), (1,)], [3, 4, 3, 6])
            assert [(each.index, each.code) for each in receipt.refused] == [(1, "late"), (2, "duplicate-event")]
            assert receipt.count == 2
            seen = client.statistics()["broker"]
            assert (seen["events_refused_late"], seen["events_refused_duplicate"]) == (2, 1)


def test_both_clients_promise_some_events_which_are_late_alone() -> None:
    definition = "FROM Reading BY key START a FINAL c a -> b WHEN value > 10 b -> c WHEN value < 5"

    async def asynchronous(address: str) -> None:
        async with AioClient(address) as client:
            await client.punctuate(60, "Reading", "key = 'a'")
            with pytest.raises(QueryError, match="stream 'Reading': line 1, column 7: expected an attribute compared"):
                await client.punctuate(70, "Reading", "value < value")
            with pytest.raises(EventError, match="a stream beside the predicate"):
                await client.punctuate(70, where="value < 5")

    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("Reading", {"key": "string", "value": "int"}, disorder="speculate")
        with client.subscribe("drops", "afa", definition) as subscription:
            client.publish_batch("Reading", [10, 20], [("a", 20), ("a", 1)], [1, 2])
            client.punctuate(50, "Reading", where="value > 10")
            asyncio.run(asynchronous(broker.address))
            rows = [("a", 1), ("b", 11), ("b", 10), ("b", 10)]
            receipt = client.publish_batch("Reading", [59, 49, 49, 48], rows, [3, 4, 5, 5])
            assert [(each.index, each.code) for each in receipt.refused] == [
                (0, "late"), (1, "late"), (3, "duplicate-event"),
            ]  # fmt: skip
            assert "a time of 60 or later of such an event" in receipt.refused[0].reason
            told = [subscription.next(10) for _ in range(2)]
            assert [(each.kind, each.time, each.key) for each in told if each is not None] == [
                ("match", None, None), ("punctuation", 60, {"key": "a"}),
            ]  # fmt: skip
            client.punctuate(60, "Reading", "key != 'a'")
            notification = subscription.next(10)
            assert notification is not None
            assert (notification.kind, notification.time, notification.key) == ("punctuation", 60, None)


def test_both_clients_and_the_shell_number_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    definition = "FROM Tick START a FINAL c a -> b WHEN n > 0 b -> c WHEN n > 0"
    stream = {"attributes": {"n": "int"}, "disorder": "buffer", "sequence": "n"}

    async def asynchronous(address: str) -> None:
        async with AioClient(address) as client:
            await client.add_stream("Tick", stream["attributes"], disorder="buffer", sequence="n")  # type: ignore[arg-type]
            receipt = await client.publish_batch("Tick", [10, 30, 20], [(1,), (4,), (4,)])
            assert [(each.index, each.code) for each in receipt.refused] == [(2, "duplicate-event")]
            with pytest.raises(EventError, match="expected a gap of numbers that have not come"):
                await client.declare_gap("Tick", 2, 4)

    monkeypatch.chdir(tmp_path)
    lines = [
        {"gap": {"stream": "Tick", "from": 2}},
        {"stream": "Tick", "time": 31, "data": {"n": 3}},
        {"stream": "Tick", "time": 20, "data": {"n": 3}},
    ]
    Path("lines.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with broker_process() as broker, Client(broker.address) as client:
        asyncio.run(asynchronous(broker.address))
        assert client.streams()[0].sequence == "n"
        monkeypatch.setenv("FORETELL_BROKER", broker.address)
        with client.subscribe("pairs", "afa", definition) as subscription:
            assert perform(["publish", "Tick", "lines.jsonl"]) == 2
            assert "lines.jsonl: line 2: expected a time of number 3 that is earlier than 30" in capsys.readouterr().err
            found = [subscription.next(10) for _ in range(1)]
            assert [each.lineage for each in found if each is not None] == [[3, 2]]
            client.declare_gap("Tick", 5)
            with pytest.raises(LateEvent):
                client.publish("Tick", {"n": 5}, time=40)
            seen = client.statistics()["broker"]
            assert (seen["gaps"], seen["events_refused_misnumbered"]) == (2, 1)


def test_what_is_published_before_it_is_final_comes_to_readers_in_order_when_it_is() -> None:
    rises = "FROM S REGISTER low INT = 0 START a FINAL c a -> b SET low = x b -> c WHEN x > low PUBLISH D"
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("S", {"x": "int"}, disorder="speculate", lateness=20)

        def come(time: int, x: int) -> None:
            client.publish("S", {"x": x}, time)

        def told(name: str) -> list[tuple[str, int | None]]:
            found = [(each.kind, each.end) for each in iter(lambda: readers[name].next(0.2), None)]
            return [each for each in found if each[0] != "punctuation"]

        readers = {"rises": client.subscribe("rises", "afa", rises)}
        readers["cel"] = client.subscribe("cel", "cayuga", "D", results="final")
        come(10, 1)
        come(30, 5)
        come(20, 9)
        assert told("rises") == [("match", 30), ("match", 20), ("retraction", 30)]
        assert told("cel") == []
        readers["sase"] = client.subscribe(
            "sase", "sase", "PATTERN SEQ(D a) WHERE strict_contiguity(a) { a.low >= 0 }", results="final"
        )
        come(41, 0)  # 20 is final behind it
        assert told("cel") == told("sase") == [("match", 20)]
        come(45, 7)
        assert told("cel") == []
        client.punctuate(46)
        assert told("cel") == told("sase") == [("match", 45)]
