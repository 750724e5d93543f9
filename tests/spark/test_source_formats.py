"""`spark.read.format("foretell")` reads histories and journals, `spark.readStream` the notifications of a broker."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any

import pytest
from doubles.broker_process import broker_process

from broker.command.archive import archive, open_journal
from broker.command.shell import perform
from broker.events import DefinitionError, ForetellError, Schema, StreamDefinition
from broker.kernel.records import BatchTaken, Punctuated, StreamDeclared
from broker.storage import Durability, Folder, Store
from client import Client
from spark_bridge import History, register
from spark_bridge.history.form import arrow_schema, batch_of, columns_of
from spark_bridge.history.writing import write_history
from spark_bridge.source.notifications import NotificationsReader, check_options, rows_of
from spark_bridge.source.spool import Spool

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

STREAMS = {"Stock": StreamDefinition("Stock", Schema.declare({"name": "string", "price": "float"}), "name")}
QUERY = "SELECT * FROM Stock NEXT{$2.price > $1.price} Stock"
DEADLINE_SECONDS = 120


def ticks(count: int) -> tuple[str, list[int], list[tuple[Any, ...]], list[int], list[int]]:
    times = list(range(count))
    return "Stock", times, [("IBM", float(n)) for n in times], [n + 1 for n in times], times


class Nothing:
    """A state that keeps nothing."""

    def restore(self, body: bytes) -> None: ...
    def replay(self, position: int, time: int, record: object) -> None: ...
    def save(self) -> bytes:
        return b""

    def digest(self) -> bytes:
        return bytes(32)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Of a broker that has taken 2,000 ticks in many segments, and a declaration among them."""
    folder = tmp_path / "journal"
    small = Durability(segment_bytes=4096, growth_bytes=4096, record_bytes=4096)
    store = Store(Folder.made(folder), bytes(range(16)), small, 0)
    store.recover(Nothing())
    _, times, rows, _, _ = ticks(2_000)
    store.append(StreamDeclared("Stock", {"name": "string", "price": "float"}, "name", "arrival", None, None), 0)
    for begin in range(0, 2_000, 50):
        part = slice(begin, begin + 50)
        store.reserve()
        taken = BatchTaken("Stock", times[part], rows[part], range(begin + 1, begin + 51), None, "c", begin)
        store.append(taken, begin)
        if begin == 1_000:
            store.append(StreamDeclared("News", {"text": "string?"}, None, "arrival", None, None), begin)
            store.append(Punctuated(1_000, None, None), begin)
            store.append(BatchTaken("News", [1_049], [(None,)], [9_000], [5]), begin)
        store.commit(begin)
    store.close()
    assert len(list(folder.glob("*.journal"))) > 5
    return folder


def test_a_prepared_history_is_a_format(spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path / "h", STREAMS, [batch_of(ticks(1_000), columns_of(STREAMS), arrow_schema(STREAMS))], 300)
    register(spark)
    found = spark.read.format("foretell").load(str(tmp_path / "h"))
    assert found.columns == ["time", "id", "start", "stream", "name", "price"]
    assert found.selectExpr("count(*)", "sum(price)", "max(id)").collect() == [(1_000, 499_500.0, 1_000)]
    with pytest.raises(Exception, match="expected a prepared history, found no"):
        spark.read.format("foretell").load(str(tmp_path / "nothing"))


def test_a_journal_is_a_format(spark: SparkSession, journal: Path) -> None:
    register(spark, journals=open_journal)
    found = spark.read.format("foretell").load(str(journal))
    assert found.columns == ["time", "id", "start", "stream", "text", "name", "price"]
    assert found.selectExpr("count(*)", "sum(price)", "max(id)").collect() == [(2_001, 1_999_000.0, 9_000)]
    assert [tuple(row) for row in found.where("stream = 'News'").collect()] == [
        (1_049, 9_000, 5, "News", None, None, None)
    ]


def test_archives_hold_what_the_broker_took(journal: Path, tmp_path: Path) -> None:
    archive(journal, tmp_path / "history")
    history = History.open(tmp_path / "history")
    assert history.rows == 2_001
    assert sorted(history.streams) == ["News", "Stock"]
    archive(journal, tmp_path / "history")  # nothing has changed: the same history again
    assert History.open(tmp_path / "history") == history
    archive(journal, tmp_path / "events.jsonl", "jsonl")
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert lines[0] == {"stream": "Stock", "time": 0, "id": 1, "data": {"name": "IBM", "price": 0.0}}
    assert [line for line in lines if line["stream"] == "News"] == [
        {"stream": "News", "time": 1_049, "id": 9_000, "start": 5, "data": {"text": None}}
    ]
    assert len(lines) == 2_001


def test_archives_are_whole_or_not_there(journal: Path, tmp_path: Path) -> None:
    def refused(words: str, *arguments: Any) -> None:
        with pytest.raises(ForetellError) as refusal:
            archive(*arguments)
        assert words in str(refusal.value)

    (tmp_path / "there").write_text("")
    refused("there: expected a file that does not exist yet", journal, tmp_path / "there", "jsonl")
    (tmp_path / "empty").mkdir()
    refused("empty: expected a journal, found none", tmp_path / "empty", tmp_path / "out")
    first = min(journal.glob("*.journal"))
    content = first.read_bytes()
    first.write_bytes(content[:200] + bytes([content[200] ^ 1]) + content[201:])
    refused(f"{first.name}: offset", journal, tmp_path / "out")
    first.unlink()  # as retention does, and the declaration of Stock is in it
    refused("expected the declaration of the stream 'Stock', which is in the journal no", journal, tmp_path / "out")
    refused("--streams SUBS.toml says it", journal, tmp_path / "out.jsonl", "jsonl")
    subscriptions = tmp_path / "subs.toml"
    subscriptions.write_text('[streams.Stock]\nattributes = { name = "string", price = "float" }\n')
    archive(journal, tmp_path / "out", "parquet", subscriptions)
    assert 1_000 < History.open(tmp_path / "out").rows < 2_001
    subscriptions.write_text('[streams.News]\nattributes = { text = "int" }\n')
    refused("stream 'News': expected the attributes {'text': 'int'}, found {'text': 'string?'}",
            journal, tmp_path / "out", "parquet", subscriptions)  # fmt: skip
    assert not list(tmp_path.glob("*.partial"))
    assert not (tmp_path / "out.jsonl").exists()


def test_the_command_refuses_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    for folder, words in (("empty", "expected a journal, found none"), ("nowhere", "No such file or directory")):
        assert perform(["archive", str(tmp_path / folder), "--out", str(tmp_path / "out")]) == 2
        told = capsys.readouterr().err
        assert told == f"foretell: {tmp_path / folder}: {words}\n"
    assert not (tmp_path / "out").exists()


def test_a_spool_gives_again_what_was_not_done_with(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    assert [spool.add(["a", "b"]), spool.add([]), spool.add(["c"]), spool.add(["d", "e"])] == [2, 2, 3, 5]
    with pytest.raises(DefinitionError, match="expected a spool of one query, found another query at it"):
        Spool(str(tmp_path))
    assert spool.begun == 0
    assert spool.between(1, 4) == ["b", "c", "d"]
    assert spool.between(5, 5) == []
    spool.forget(3)
    spool.close()
    (tmp_path / "lines-x.new").write_text("cut off")
    again = Spool(str(tmp_path))
    assert (again.begun, again.last) == (3, 5)
    assert again.between(3, 5) == ["d", "e"]
    with pytest.raises(DefinitionError, match="expected the notifications 2 to 5, which Spark has not committed"):
        again.between(1, 5)
    again.forget(5)
    again.begin_after(4)
    assert again.add(["f"]) == 6
    again.close()
    other = Spool(str(tmp_path / "other"))
    other.begin_after(10)
    assert other.add(["x"]) == 11
    assert other.between(10, 11) == ["x"]
    other.close()


def test_options_are_checked() -> None:
    good = {"Subscription": "s", "spool": "x"}
    assert check_options(good) == {"subscription": "s", "spool": "x"}
    for more, words in (
        ({"adress": "x"}, "unknown option string 'adress' of a stream of notifications; did you mean 'address'"),
        ({"spool": ""}, "option 'spool': expected a folder to keep what Spark has not done with, found nothing"),
        ({"Subscription": ""}, "option 'subscription': expected the name of one, found nothing"),
        ({"rows": "0"}, "option 'rows': expected 1 or more, found string '0'"),
    ):
        with pytest.raises(DefinitionError) as refused:
            check_options({**good, **more})
        assert words in str(refused.value)


def test_notifications_are_rows() -> None:
    lines: list[dict[str, Any]] = [
        {"kind": "match", "subscription": "s", "id": "1", "start": 1, "end": 2, "lineage": [1, 2], "data": {}},
        {"kind": "forecast", "subscription": "s", "id": "2", "time": 5, "probability": 0.5, "within": 3, "state": 1},
        {"kind": "resolution", "subscription": "s", "id": "3", "time": 7, "forecast": "2", "outcome": True},
        {"kind": "incomplete", "subscription": "s", "limit": "queue", "time": 8},
    ]
    found = rows_of([json.dumps(line) for line in lines]).to_pylist()
    assert [json.loads(row["line"]) for row in found] == lines
    assert [row["end"] for row in found] == [2, 5, 7, 8]
    assert (found[0]["lineage"], found[1]["within"], found[2]["outcome"]) == ([1, 2], "3", "true")


def wait(until: Callable[[], bool], query: StreamingQuery | None = None) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not until():
        assert query is None or query.exception() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_reader_takes_in_all_that_the_broker_has(tmp_path: Path) -> None:
    """As Spark asks it, of both kinds: from 4.2 on, and before."""
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("Stock", STREAMS["Stock"].schema.declared())
        options = {"address": broker.address, "subscription": "up", "query": QUERY, "rows": "700"}
        reader = NotificationsReader({**options, "spool": str(tmp_path / "one")})
        assert reader.initialOffset() == {"notifications": 0}
        older = NotificationsReader({**options, "spool": str(tmp_path / "two")})
        older.initialOffset()
        _, times, rows, _, _ = ticks(2_000)
        client.publish_batch("Stock", times, rows)
        assert reader.latestOffset({"notifications": 0}) == {"notifications": 700}
        assert reader.initialOffset() == {"notifications": 0}  # as Spark asks once more
        assert reader.latestOffset({"notifications": 700}) == {"notifications": 1_400}
        reader.prepareForTriggerAvailableNow()
        client.publish_batch("Stock", [2_000, 2_001], [("IBM", 1e6), ("IBM", 2e6)])
        assert reader.latestOffset({"notifications": 1_400}) == {"notifications": 1_999}
        assert reader.latestOffset({"notifications": 1_999}) == {"notifications": 1_999}
        wait(lambda: older.latestOffset() == {"notifications": 2_001})
        parts = reader.partitions({"notifications": 500}, {"notifications": 1_999})
        found = [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]
        assert [row["start"] for row in found] == list(range(500, 1_999))
        reader.commit({"notifications": 1_999})
        reader.stop()
        older.stop()


def test_a_stream_follows_a_subscription(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    got: list[int] = []

    def take(rows: DataFrame, number: int) -> None:
        got.extend(row.start for row in rows.collect())

    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("Stock", STREAMS["Stock"].schema.declared())
        stream = spark.readStream.format("foretell").option("address", broker.address).option("subscription", "up")
        rows = stream.option("query", QUERY).option("spool", str(tmp_path / "spool")).load()
        writer = rows.writeStream.foreachBatch(take).option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = writer.trigger(processingTime="0 seconds").start()
        try:
            wait(lambda: any(entry.name == "up" for entry in client.subscriptions()), query)
            _, times, values, _, _ = ticks(300)
            client.publish_batch("Stock", times, values)
            wait(lambda: len(got) == 299, query)
        finally:
            query.stop()
    assert got == list(range(299))


def test_the_example_publishes_what_comes_into_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    example = run_path(str(Path(__file__).parents[2] / "examples" / "spark_stream.py"))
    source = tmp_path / "in"
    prices = spark.range(40).selectExpr("id as time", "'IBM' as name", "cast(id as double) as price")
    prices.repartition(2).write.parquet(str(source))
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("Stock", STREAMS["Stock"].schema.declared())
        with client.subscribe("rising", query=example["QUERY"]) as subscription:
            publish = example["publisher"](broker.address)
            events = spark.readStream.schema(example["PRICES"]).parquet(str(source))
            query = events.writeStream.foreachBatch(publish).trigger(availableNow=True)
            assert query.option("checkpointLocation", str(tmp_path / "c")).start().awaitTermination(DEADLINE_SECONDS)
            found = [subscription.next(DEADLINE_SECONDS) for _ in range(39)]
            publish(spark.read.parquet(str(source)), 0)  # again, as after a failure: all but the last time is late
            client.publish("Stock", {"name": "IBM", "price": 100.0}, time=40)
            after = subscription.next(DEADLINE_SECONDS)
            while after is not None and after.end == 39:
                after = subscription.next(DEADLINE_SECONDS)
    assert [match.start for match in found if match is not None] == list(range(39))
    assert after is not None
    assert (after.start, after.end) == (39, 40)
