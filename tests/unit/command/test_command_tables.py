"""Reading CSV and Parquet: columns by name, times of every kind, and a place for whatever is wrong."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.command.batch import BATCH_EVENTS, EventBatch
from broker.command.column_rows import ColumnRows
from broker.command.complaint import BadInput
from broker.command.csv_rows import read_csv
from broker.command.parquet_rows import CHUNK_ROWS, open_parquet, read_parquet
from broker.events import CodedTexts, Schema, StreamDefinition

STOCK = StreamDefinition(
    "Stock", Schema.declare({"name": "string", "price": "float", "volume": "int?", "hot": "bool?"})
)
SECOND = 1_000_000


def csv_batches(text: str | bytes, stream: StreamDefinition = STOCK, time: str = "time") -> list[EventBatch]:
    return list(read_csv(io.BytesIO(text if isinstance(text, bytes) else text.encode()), "e.csv", stream, time))


def csv_complaint(text: str | bytes) -> tuple[list[int], str]:
    """The times that came before the complaint, and the complaint."""
    came: list[EventBatch] = []
    source = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput) as caught:
        came.extend(read_csv(source, "e.csv", STOCK, "time"))
    return [time for batch in came for time in batch.times], str(caught.value)


def parquet_file(folder: Path, columns: dict[str, Any]) -> str:
    path = str(folder / "e.parquet")
    pq.write_table(pa.table(columns), path)
    return path


def parquet_batches(path: str, stream: StreamDefinition = STOCK, time: str = "time") -> list[EventBatch]:
    with open_parquet(path, "e.parquet") as file:
        return list(read_parquet(file, "e.parquet", stream, time))


def test_csv_columns_are_found_by_name_and_others_passed_over() -> None:
    (batch,) = csv_batches("what,volume,time,price,name\n,7,1,2.5,IBM\nx,,2,3,\n\n")
    assert batch.times == [1, 2]
    assert batch.rows == [("IBM", 2.5, 7, None), ("", 3.0, None, None)]
    assert (batch.ids, batch.starts, batch.places, batch.stream) == (None, None, [2, 3], "Stock")


def test_csv_values_of_every_type() -> None:
    (batch,) = csv_batches('time,name,price,volume,hot\n1,"a, ""b""",1e3, 5 ,true\n2,ü_1,-0.5,,\n3,z,.5,-1,0\n')
    assert batch.rows == [('a, "b"', 1000.0, 5, True), ("ü_1", -0.5, None, None), ("z", 0.5, -1, False)]


def test_csv_times_may_be_calendar_times() -> None:
    (batch,) = csv_batches("at,name,price\n1970-01-01T00:00:01Z,x,1\n2000000,x,1\n", time="at")
    assert batch.times == [SECOND, 2 * SECOND]


def test_csv_comes_in_batches() -> None:
    batches = csv_batches("time,name,price\n" + "".join(f"{n},x,1\n" for n in range(BATCH_EVENTS + 2)))
    assert [len(batch.times) for batch in batches] == [BATCH_EVENTS, 2]
    assert batches[1].places == [BATCH_EVENTS + 2, BATCH_EVENTS + 3]


def test_csv_of_a_stream_without_attributes() -> None:
    (batch,) = csv_batches("time\n1\n2\n", StreamDefinition("Tick", Schema.declare({})))
    assert batch.rows == [(), ()]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected a header"),
        ("time,name\n", "line 1: stream 'Stock': expected a column 'price', found none"),
        ("time,name,prize\n", "did you mean 'prize'?"),
        ("time,name,price,price\n", "line 1: expected the column 'price' once"),
        (
            "when,name,price\n",
            "line 1: expected a column 'time' with the times (--time COLUMN names it), found when, name, price",
        ),
        ("time,name,price\n1,x,1\n2,x\n", "line 3: expected 3 fields, found 2"),
        ("time,name,price\n1,x,1\n2,x,dear\n", "line 3: stream 'Stock', attribute 'price': expected float, found"),
        ("time,name,price\n1,x,1\n2,x,1_0\n", "line 3: stream 'Stock', attribute 'price': expected float"),
        ("time,name,price\n1,x,1\n2,x,\n", "attribute 'price': expected float, found empty text"),
        ("time,name,price\n1,x,1\nsoon,x,1\n", "line 3: expected a time"),
        ('time,name,price\n1,x,1\n2,"x,1\n', "line 4: expected CSV"),
        ("time,name,price,volume\n1,x,1,1\n2,x,1,1.5\n", "line 3: stream 'Stock', attribute 'volume': expected int"),
        ("time,name,price,hot\n1,x,1,1\n2,x,1,maybe\n", "line 3: stream 'Stock', attribute 'hot': expected bool"),
    ],
)
def test_csv_complaints_have_a_line_and_lose_nothing(text: str, words: str) -> None:
    times, message = csv_complaint(text)
    assert message.startswith("e.csv: ")
    assert words in message
    assert times == ([1] if text.count("\n") > 1 else [])


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
            st.floats(allow_nan=False, allow_infinity=False),
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | st.booleans(),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_csv_gives_back_what_was_written(rows: list[tuple[str, float, int | None, bool | None]]) -> None:
    import csv

    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["time", "name", "price", "volume", "hot"])
    writer.writerows((time, *row) for time, row in enumerate(rows))
    assert [row for batch in csv_batches(text.getvalue()) for row in batch.rows] == rows


def test_parquet_columns_by_name_and_type(tmp_path: Path) -> None:
    path = parquet_file(
        tmp_path,
        {
            "extra": ["?", "?"],
            "hot": pa.array([True, None]),
            "volume": pa.array([1, None], pa.int16()),
            "price": pa.array([1, 2], pa.int32()),
            "name": pa.array(["IBM", "A"]).dictionary_encode(),
            "time": [5, 6],
        },
    )
    (batch,) = parquet_batches(path)
    assert batch.rows == [("IBM", 1.0, 1, True), ("A", 2.0, None, None)]
    assert (batch.times, batch.ids, list(batch.places), batch.position) == ([5, 6], None, [1, 2], 2)


@pytest.mark.parametrize(
    "times",
    [
        pa.array([datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)], pa.timestamp("ns", "UTC")),
        pa.array([1000], pa.timestamp("ms")),
        pa.array([1], pa.timestamp("s", "America/New_York")),
        pa.array([SECOND], pa.uint64()),
        pa.array(["1970-01-01T00:00:01Z"]),
    ],
)
def test_parquet_times_are_instants(tmp_path: Path, times: pa.Array) -> None:
    path = parquet_file(tmp_path, {"time": times, "name": ["x"], "price": [1.0]})
    assert parquet_batches(path)[0].times == [SECOND]


def test_parquet_comes_in_batches(tmp_path: Path) -> None:
    count = CHUNK_ROWS + BATCH_EVENTS + 1
    path = parquet_file(tmp_path, {"time": range(count), "name": ["x"] * count, "price": [1.0] * count})
    batches = parquet_batches(path)
    assert [len(batch.times) for batch in batches] == [CHUNK_ROWS, BATCH_EVENTS + 1]
    assert [time for batch in batches for time in batch.times] == list(range(count))
    assert list(batches[-1].places)[-1] == count


def test_texts_of_parquet_are_numbers_as_in_the_file(tmp_path: Path) -> None:
    names = [f"x{at % 3}" if at % 5 else None for at in range(600)]
    nullable = StreamDefinition("Stock", Schema.declare({"name": "string?", "code": "string", "price": "float"}))
    columns: dict[str, Any] = {"time": range(600), "name": names, "code": [str(at) for at in range(600)]}
    columns |= {"price": [1.0] * 600, "other": [["x"]] * 600}
    path = parquet_file(tmp_path, columns)
    with open_parquet(path, "e.parquet", {"name", "code", "price", "other", "missing"}) as file:
        assert str(file.schema_arrow.field("name").type).startswith("dictionary")
        [batch] = read_parquet(file, "e.parquet", nullable, "time")
    assert [row[:2] for row in batch.rows] == list(zip(names, map(str, range(600))))
    assert isinstance(batch.rows, ColumnRows)
    assert isinstance(batch.rows.columns["name"], CodedTexts)
    assert isinstance(batch.rows.columns["code"], list), "each differs: a dictionary would be as long as the column"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"time": [1], "name": ["x"]}, "stream 'Stock': expected one column 'price', found 0"),
        ({"time": [1], "name": ["x"], "prize": [1.0]}, "did you mean 'prize'?"),
        ({"time": [1], "name": ["x"], "price": ["dear"]}, "column 'price': expected float, found the type string"),
        ({"time": [1], "name": [1], "price": [1.0]}, "column 'name': expected string, found the type int64"),
        ({"when": [1], "name": ["x"], "price": [1.0]}, "expected a column 'time' with the times"),
        ({"time": [1.5], "name": ["x"], "price": [1.0]}, "column 'time': expected ints, timestamps or ISO-8601"),
        ({"time": [1, None], "name": ["x"] * 2, "price": [1.0] * 2}, "row 2: expected a time, found null"),
        ({"time": ["1970-01-01", "soon"], "name": ["x"] * 2, "price": [1.0] * 2}, "row 2: expected a time in micro"),
        ({"time": pa.array([1], pa.duration("us")), "name": ["x"], "price": [1.0]}, "column 'time': expected ints"),
    ],
)
def test_parquet_complaints_have_a_place(tmp_path: Path, columns: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        parquet_batches(parquet_file(tmp_path, columns))
    assert str(caught.value).startswith("e.parquet: ")
    assert words in str(caught.value)


def test_a_parquet_file_with_a_hole_is_refused(tmp_path: Path) -> None:
    path = parquet_file(tmp_path, {"time": list(range(1000)), "name": ["x"] * 1000, "price": [1.0] * 1000})
    content = bytearray(Path(path).read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    Path(path).write_bytes(content)
    with pytest.raises(BadInput, match=r"^e.parquet: expected columns that can be read, found after row 0"):
        parquet_batches(path)
