"""Columns that a client publishes: they travel as columns, and mean what the same rows mean."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from doubles.answering_kernel import AnsweringKernel

from broker.engine import CodedTexts, Engine
from broker.events import EventError, Schema, StreamDefinition
from broker.events.batch import COMPILED
from broker.events.column_checks import FEW, event_columns
from broker.events.event_columns import EventColumns
from broker.events.joined_columns import joined_columns
from broker.kernel import Kernel
from broker.kernel.records import BatchTaken
from broker.storage.records import decode as decode_record
from broker.storage.records import encode as encode_record
from broker.wire import BATCH_EVENTS_MAX, FRAME_BYTES_MAX, Failure, Message, Publish
from client import Receipt
from client.arguments import checked_column
from client.calls import Calls, run
from client.held_batches import HeldBatch, HeldBatches, messages
from client.session import Session

PAIR = "SELECT * FROM FILTER{price >= 0.5 * price_1}(S NEXT{$2.name = $1.name} S)"
SCHEMA = {"name": "string", "price": "float?", "volume": "int?", "on": "bool?"}
ROWS = [("a", 1.0, 5, True), ("b", None, None, None), ("a", 2.0, -7, False), ("é", 3.0, 2**62, True)]
NAMES, PRICES, VOLUMES, FLAGS = (list(column) for column in zip(*ROWS, strict=True))
TIMES = [10, 10, 20, 30]
SECOND = 1_000_000

BATCH = pa.record_batch({"name": NAMES, "price": PRICES, "volume": VOLUMES, "on": FLAGS})
CODED = CodedTexts(np.array([1, 2, 1, 0], "int8"), ["é", "a", "b", "never"])
WAYS: list[tuple[str, Any]] = [
    ("lists", {"name": NAMES, "price": PRICES, "volume": VOLUMES, "on": FLAGS}),
    ("texts with numbers", {"name": CODED, "price": PRICES, "volume": VOLUMES, "on": FLAGS}),
    ("arrow", BATCH),
    ("arrow's dictionary", {**dict(zip(SCHEMA, BATCH.columns, strict=True)), "name": BATCH[0].dictionary_encode()}),
    ("a part of arrow's", pa.Table.from_batches([BATCH] * 2).combine_chunks().to_batches()[0].slice(4)),
]


class Line(AnsweringKernel):
    """A client's calls, a broker's kernel, and the batches that it gets and records."""

    def __init__(self, schema: dict[str, str], **options: Any) -> None:
        self.engine = Engine()
        super().__init__(Session(), Kernel(self.engine, durability="always"), 2**50)
        self.calls = Calls(self.session)
        run(self.calls.open(), self.exchange)
        run(self.calls.add_stream("S", schema, None, "arrival", None, None, **options), self.exchange)
        self.engine.subscribe("all", query="S", lineage=True)

    def exchange(self, correlation: int, frame: bytes) -> Message:
        assert len(frame) <= FRAME_BYTES_MAX
        return super().exchange(correlation, frame)

    @property
    def published(self) -> list[Publish]:
        return [each for each in self.heard if isinstance(each, Publish)]

    @property
    def taken(self) -> list[BatchTaken]:
        return [each for each in self.records if isinstance(each, BatchTaken)]

    def columns(self, columns: Any, times: Any = None, ids: Any = None, starts: Any = None) -> Receipt:
        return run(self.calls.publish_columns("S", columns, times, ids, starts), self.exchange)

    def rows(self, rows: Any, times: Any = None, ids: Any = None, starts: Any = None) -> Receipt:
        return run(self.calls.publish_batch("S", times, rows, ids, starts), self.exchange)


@pytest.mark.parametrize("columns", [way[1] for way in WAYS], ids=[way[0] for way in WAYS])
def test_columns_mean_what_rows_mean(columns: Any) -> None:
    by_rows, by_columns = Line(SCHEMA), Line(SCHEMA)
    for line in (by_rows, by_columns):
        line.engine.subscribe("pair", query=PAIR, lineage=True)
    expected = by_rows.rows(ROWS, TIMES, [7, 9, 8, 2**40], [9, 10, 20, 0])
    assert by_columns.columns(columns, array("q", TIMES), np.array([7, 9, 8, 2**40]), [9, 10, 20, 0]) == expected
    assert isinstance(by_columns.published[0].rows, EventColumns)
    assert list(by_columns.published[0].rows) == ROWS
    assert by_columns.engine.snapshot() == by_rows.engine.snapshot()
    (record,) = by_columns.taken
    read = decode_record(*encode_record(record))
    assert isinstance(read, BatchTaken)
    assert read.rows == record.rows
    both: list[Any] = [ROWS, read.rows]
    found = [
        [match.line() for match in Engine.restore(by_rows.engine.snapshot()).publish("S", [40] * 4, rows)]
        for rows in both
    ]
    assert found[0] == found[1]
    assert len(found[0]) > 4


@pytest.mark.parametrize("rows_between", [False, True])
def test_held_columns_travel_as_columns_and_mean_what_each_means(rows_between: bool) -> None:
    """Of all ways to give columns, one behind the other, empty ones too, and with rows between them."""
    alone, held = Line(SCHEMA), Line(SCHEMA)
    batches = HeldBatches(1_000)
    for number, (_, columns) in enumerate([*WAYS, ("none", {name: [] for name in SCHEMA}), *WAYS]):
        count = len(NAMES) if len(columns["name"]) else 0
        times = [40 * number + each for each in TIMES[:count]]
        stream = held.engine.streams["S"]
        rows: Any = ROWS[:count] if rows_between and number % 3 == 1 else event_columns(stream, columns, count)
        assert not batches.add(HeldBatch(times, rows, None, None, None))
        alone.columns(columns, times)
    for _, _, _, (correlation, frame) in messages(held.session.request, stream, batches.take()):
        held.exchange(correlation, frame)
    (message,) = held.published
    assert (type(message.rows) is EventColumns) == (not rows_between)
    assert list(message.rows) == 2 * len(WAYS) * ROWS
    assert held.engine.snapshot() == alone.engine.snapshot()


def test_columns_of_another_schema_are_joined_as_rows() -> None:
    stream = StreamDefinition("S", Schema.declare({"x": "int", "y": "int?"}))
    parts = [event_columns(stream, {"x": [1], "y": [None]}, 1), event_columns(stream, {"x": [2], "y": [3]}, 1)]
    packed = [each for each in parts if isinstance(each, EventColumns)]
    joint = joined_columns(stream, packed)
    assert joint is not None
    assert list(joint) == [(1, None), (2, 3)]
    assert joined_columns(StreamDefinition("S", Schema.declare({"x": "int"})), packed) is None


def test_late_events_are_refused_alone() -> None:
    line = Line({"x": "int"})
    receipt = line.columns({"x": array("q", range(5))}, [5, 6, 4, 2**60, 6])
    assert (receipt.count, [each.index for each in receipt.refused]) == (3, [2, 3])
    assert [tuple(row) for row in line.taken[0].rows] == [(0,), (1,), (4,)]
    assert list(line.taken[0].times) == [5, 6, 6]


@pytest.mark.filterwarnings("ignore::client.RefusedWarning")  # the broker's clock stands still
def test_times_of_any_kind() -> None:
    moment = np.datetime64("2024-05-01T07:30", "us")
    own = [moment, moment + np.timedelta64(1, "s")]
    expected = [int(each.astype("int64")) for each in own]
    for times in (np.array(own), pa.array(np.array(own)), pa.array(expected, pa.timestamp("us", "UTC")), expected):
        line = Line({"x": "int"})
        line.columns({"x": [1, 2]}, times)
        assert line.published[0].times == expected
    seconds = Line({"x": "int"}, time_unit="s")
    for times in ([5, 6], pa.array([5, 6]), array("i", [5, 6]), np.array([5, 6])):
        seconds.columns({"x": [1, 2]}, times)
        assert seconds.published[-1].times == [5 * SECOND, 6 * SECOND]
    plain = Line({"x": "int"})
    assert plain.columns({"x": [1, 2]}).newest == 2**50
    assert plain.published[0].times is None
    for times in (pa.array([1_700_000_000]), array("q", [1_700_000_000])):
        with pytest.raises(EventError, match=r'set_time_unit\(.S., "s"\)'):
            Line({"x": "int"}).columns({"x": [1]}, times)


def test_a_long_batch_is_cut() -> None:
    line = Line({"x": "int", "t": "string"})
    count = 2 * BATCH_EVENTS_MAX + 5
    texts = [f"{at % 3}" * 9 for at in range(count)]
    receipt = line.columns({"x": np.arange(count) * 3, "t": texts}, range(count), range(1, count + 1))
    assert receipt.count == count
    assert [len(message.rows) for message in line.published] == [BATCH_EVENTS_MAX, BATCH_EVENTS_MAX, 5]
    assert [row for message in line.published for row in message.rows] == [(at * 3, texts[at]) for at in range(count)]
    assert [each for message in line.published for each in message.ids or ()] == list(range(1, count + 1))


@pytest.mark.parametrize(
    "odd", [(None,) * 4, ("é", 1.5, 2**63 - 1, True), ("longer than a word", -1e300, -(2**63), None), ("k", 1, 1, True)]
)
def test_many_rows_arrive_as_they_are(odd: tuple[Any, ...]) -> None:
    """As columns where that is compiled, even if a value has to be converted."""
    line = Line({"k": "string?", "x": "float?", "n": "int?", "on": "bool?"})
    count = 2 * FEW
    rows: list[Any] = [(f"k{at % 7}", at / 3, at, at % 2 == 0) for at in range(count)]
    rows[FEW] = odd
    assert line.rows(rows, range(count), range(1, count + 1)).count == count
    (message,) = line.published
    assert isinstance(message.rows, EventColumns) == COMPILED
    rows[FEW] = (odd[0], float(odd[1]) if odd[1] else None, *odd[2:])
    assert repr([*message.rows]) == repr(rows)
    assert [*(message.times or ())] == list(range(count))
    assert [*(message.ids or ())] == list(range(1, count + 1))


def test_what_must_be_converted_travels_as_rows() -> None:
    line = Line({"price": "float"})
    line.columns({"price": [1, 2.5]}, [1, 2])
    assert line.published[0].rows == ((1.0,), (2.5,))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (({"x": [1, "2"]}, [1, 2]), "row 1, attribute 'x': expected int, found string '2'"),
        (({"x": [1, 2]}, [1]), "attribute 'x': expected 1 values, one for each time, found 2"),
        (({"x": [1, 2], "y": [1, 2]}, [1, 2]), "'y'"),
        (({}, [1, 2]), "attribute 'x': expected int, found nothing"),
        ((5, [1, 2]), "expected columns by attribute, as {'x': [...]}, or a record batch of Arrow, found int 5"),
        ((5,), "expected columns by attribute"),
        (({"x": 5},), "expected a column of values, found int 5"),
        (({"x": [1]}, [2**62]), "row 0: expected an integer time at most"),
        (({"x": [1]}, 5), "expected a sequence of times, found int 5"),
        (({"x": [1]}, [1], 5), "expected a sequence of ids, found int 5"),
        (({"x": [1]}, [1], [2**63]), "expected an integer id of 64 bits"),
        (({"x": [1]}, [1], None, [2]), "expected a start"),
    ],
)
def test_wrong_columns_are_refused_before_they_are_sent(arguments: tuple[Any, ...], reason: str) -> None:
    line = Line({"x": "int"})
    with pytest.raises(EventError) as raised:
        line.columns(*arguments)
    assert reason in str(raised.value)
    assert not line.published


def test_columns_that_fit_another_stream_are_taken_as_rows_are() -> None:
    made = Line({"x": "int"})
    made.columns({"x": [1, 2]}, [1, 2])
    rows = made.published[0].rows
    for kind, taken in (("float", [(1.0,), (2.0,)]), ("string", "row 0, attribute 'x': expected string, found int 1")):
        other = Line({"x": kind})
        answer = other.exchange(*other.session.request(lambda number: Publish(number, "S", [1, 2], rows, None, None)))
        if isinstance(answer, Failure):
            assert str(taken) in answer.message
        else:
            assert [match.data["x"] for match in other.engine.publish("S", [3, 3], rows)] == [1.0, 2.0]
            assert [type(match.data["x"]) for match in other.engine.publish("S", [3, 3], rows)] == [float, float]


def test_a_frame_is_refused_with_what_to_give_instead() -> None:
    frame = pd.DataFrame({"name": NAMES, "price": PRICES, "volume": VOLUMES, "on": FLAGS}).convert_dtypes()
    stream = StreamDefinition("S", Schema.declare(SCHEMA))
    hint = r"publish_columns takes pyarrow\.RecordBatch\.from_pandas\(frame\)"
    with pytest.raises(EventError, match=hint):
        event_columns(stream, frame, 4)
    with pytest.raises(EventError, match=hint):
        checked_column("S", "rows", frame)
    engine = Engine()
    engine.add_stream("S", SCHEMA)
    with pytest.raises(EventError, match=hint):
        engine.publish_columns("S", frame, TIMES)
    engine.publish_columns("S", pa.RecordBatch.from_pandas(frame), TIMES)
