"""CSV, JSON lines and Parquet become the events that `foretell run` reads in them; what is none is told, with a reason.

No Spark here: a piece of a source is read as a worker reads it.
"""

from __future__ import annotations

import datetime
import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.command.batch import EventBatch
from broker.command.csv_rows import read_csv as read_csv_for_run
from broker.command.json_lines import Gathering
from broker.command.json_lines import read_json_lines as read_json_lines_for_run
from broker.engine import Engine
from broker.events import LARGEST, DefinitionError, ForetellError, Row, Schema, StreamDefinition
from spark_bridge.history.form import batches
from spark_bridge.history.mapping import Columns, Files, Format
from spark_bridge.history.reading import pieces_of, read_piece
from spark_bridge.history.tables import reject_columns

STOCK = StreamDefinition(
    "Stock", Schema.declare({"name": "string", "price": "float", "volume": "int?", "open": "bool?"}), "name"
)
NEWS = StreamDefinition("News", Schema.declare({"text": "string?"}))
STREAMS = {"Stock": STOCK, "News": NEWS}
DAY = 24 * 60 * 60 * 10**6

Found = tuple[list[tuple[str, int, Row, int, int]], list[dict[str, Any]]]


def read(files: Files, streams: dict[str, StreamDefinition] | None = None) -> Found:
    """The events (stream, time, row, id, start), and the rejects."""
    declared = streams or STREAMS
    names = reject_columns(declared)
    events, rejects = [], []
    for piece in pieces_of([files], declared):
        for batch in read_piece(piece, declared):
            records = batch.select(list(names)).to_pylist()
            if records[0][names[2]] is not None:
                rejects += [dict(zip(("file", "place", "reason", "raw", "fatal"), r.values())) for r in records]
            else:
                for stream, times, rows, ids, starts in batches(batch, declared):
                    events += [(stream, *event) for event in zip(times, rows, ids, starts)]
    return events, rejects


def columns(**other: Any) -> Columns:
    return Columns(STOCK, **other)


def written(folder: Path, name: str, text: str | bytes) -> Files:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Files((str(file),), None if name.endswith("l") else columns())


def test_csv_with_its_bad_records(tmp_path: Path) -> None:
    text = (
        "\ufefftime,name,price,volume,open,other\r\n"
        '5,IBM,1.5,,true,\r\n'
        "\r\n"
        '2024-05-01T09:30:00Z,"a ""b""\n, c", 2 ,7,,x\r\n'
        "x,IBM,1,1,true,\r\n"
        "6,IBM,nan,1,true,\r\n"
        "7,IBM,1\r\n"
        '8,"IBM" x,1,1,true,\r\n'
        "9,IBM,1_0,1,true,\r\n"
        "10,IBM,1,1,maybe,\r\n"
        f"{2**62},IBM,1,1,true,\r\n"
    )
    events, rejects = read(written(tmp_path, "x.csv", text + "11,\xff,1,,,\r\n"))
    assert events == [
        ("Stock", 5, ("IBM", 1.5, None, True), 1, 5),
        ("Stock", 1714555800 * 10**6, ('a "b"\n, c', 2.0, 7, None), 2, 1714555800 * 10**6),
        ("Stock", 11, ("\xff", 1.0, None, None), 10, 11),
    ]
    assert [(reject["place"], reject["raw"]) for reject in sorted(rejects, key=lambda r: int(r["place"][5:]))] == [
        ("line 6", "x,IBM,1,1,true,"),
        ("line 7", "6,IBM,nan,1,true,"),
        ("line 8", "7,IBM,1"),
        ("line 9", '8,"IBM" x,1,1,true,'),
        ("line 10", "9,IBM,1_0,1,true,"),
        ("line 11", "10,IBM,1,1,maybe,"),
        ("line 12", f"{2**62},IBM,1,1,true,"),
    ]
    reasons = {reject["place"]: reject["reason"] for reject in rejects}
    assert reasons["line 6"].startswith("column 'time': expected a time in microseconds or ISO-8601")
    assert reasons["line 7"].startswith("stream 'Stock', attribute 'price': expected float, found string 'nan'; leave")
    assert reasons["line 8"] == "expected 6 fields, found 3"
    assert reasons["line 9"].startswith("expected CSV, ")
    assert "at most 2**61 microseconds" in reasons["line 12"]
    assert {reject["file"] for reject in rejects} == {str(tmp_path / "x.csv")}


def test_bytes_that_are_no_text_are_rejected_and_the_rest_is_read(tmp_path: Path) -> None:
    events, rejects = read(written(tmp_path, "x.csv", b"time,name,price\n1,a,1\n2,\xff,1\n3,b,1\n"))
    assert [event[1] for event in events] == [1, 3]
    assert "not valid Unicode" in rejects[0]["reason"]


def test_columns_may_be_called_otherwise(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("when,no,since,sym,p\n5,70,3,IBM,1\n6,71,,IBM,2\n7,72,8,IBM,3\n8,x,1,IBM,3\n")
    mapped = columns(time="when", id="no", start="since", attributes={"name": "sym", "price": "p"})
    events, rejects = read(Files((str(tmp_path / "x.csv"),), mapped))
    assert events == [
        ("Stock", 5, ("IBM", 1.0, None, None), 70, 3),
        ("Stock", 6, ("IBM", 2.0, None, None), 71, 6),
    ]
    assert [reject["reason"] for reject in rejects] == [
        "column 'since': expected a start not after the time 7, found 8",
        "column 'no': expected an id, an int of 64 bits, found string 'x'",
    ]


TEXTS = st.sampled_from(["", "1", "2.5", " 3 ", "x", "true", "False", "1_0", "1e400", "nan", "٣", "9" * 30, "-0.0"])


@given(st.lists(st.tuples(st.sampled_from(["1", "2", " 3", "x"]), TEXTS, TEXTS, TEXTS, TEXTS), max_size=6))
def test_csv_is_what_run_reads(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[str, str, str, str, str]]
) -> None:
    """One record at a time, as `run` stops at the first that is none."""
    folder = tmp_path_factory.mktemp("csv")
    header = "time,name,price,volume,open\n"
    wanted = []
    for record in records:
        source = io.BytesIO((header + ",".join(record) + "\n").encode())
        try:
            for batch in read_csv_for_run(source, "x", STOCK, "time"):
                engine = Engine()
                engine.add_stream("Stock", STOCK.schema.declared())
                engine.publish(batch.stream, batch.times, batch.rows)
                wanted += list(zip(batch.times, batch.rows))
        except ForetellError:
            continue
    events, rejects = read(written(folder, "x.csv", header + "".join(",".join(r) + "\n" for r in records)))
    assert sorted((time, repr(row)) for _, time, row, _, _ in events) == sorted((t, repr(row)) for t, row in wanted)
    assert len(events) + len(rejects) == len(records)


LINES = [
    '{"stream": "Stock", "time": 5, "data": {"name": "IBM", "price": 1, "volume": null}}',
    '{"stream": "News", "time": "1970-01-01T00:00:01Z", "id": 99, "start": 3, "data": ["hello"]}',
    '{"punctuation": 7}',
    "",
    '{"stream": "Stock", "time": 8, "data": {"name": "IBM"}}',
    '{"stream": "Stok", "time": 8, "data": {"name": "IBM"}}',
    '{"retract": 4}',
    "{",
    '{"stream": "News", "time": 9, "data": ["a", "b"]}',
    '{"stream": "News", "time": 10, "data": {}}',
]


def test_the_brokers_json_lines(tmp_path: Path) -> None:
    events, rejects = read(written(tmp_path, "x.jsonl", "\n".join(LINES)))
    assert sorted(events) == [
        ("News", 10, (None,), 8, 10),
        ("News", 10**6, ("hello",), 99, 3),
        ("Stock", 5, ("IBM", 1.0, None, None), 1, 5),
    ]
    assert [(reject["place"], reject["reason"]) for reject in rejects] == [
        ("line 5", "stream 'Stock', attribute 'price': expected float, found nothing"),
        ("line 6", "expected a declared stream, found 'Stok'; did you mean 'Stock'?"),
        ("line 7", "expected events in a history, found a retraction"),
        ("line 8", rejects[3]["reason"]),
        ("line 9", "stream 'News': expected 1 values, found 2"),
    ]
    assert rejects[3]["reason"].startswith("expected a JSON object, found no JSON at column ")


def test_json_lines_have_the_ids_that_run_gives_them(tmp_path: Path) -> None:
    lines = [{"stream": "Stock", "time": n // 3, "data": {"name": "IBM", "price": n}} for n in range(9_000)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    events, rejects = read(written(tmp_path, "x.jsonl", text))
    assert not rejects
    engine, wanted = Engine(), []
    engine.add_stream("Stock", STOCK.schema.declared())
    for item in read_json_lines_for_run(io.BytesIO(text.encode()), "x", Gathering(STREAMS)):
        assert isinstance(item, EventBatch)
        assert item.ids is None
        wanted += list(zip(item.times, item.rows))
    assert [(t, row) for _, t, row, _, _ in events] == [(t, (n, float(p), v, o)) for t, (n, p, v, o) in wanted]  # type: ignore[arg-type]
    assert [number for _, _, _, number, _ in events] == list(range(1, 9_001))


def test_flat_json_lines(tmp_path: Path) -> None:
    good = '{"when": 5, "name": "a", "price": 2, "x": []}'
    (tmp_path / "x.jsonl").write_text("\n".join([good, good.replace("5", "5.5"), "[]", '{"name": 1}']))
    events, rejects = read(Files((str(tmp_path / "x.jsonl"),), columns(time="when")))
    assert events == [("Stock", 5, ("a", 2.0, None, None), 1, 5)]
    assert [reject["reason"] for reject in rejects] == [
        "column 'when': expected a time exact in microseconds, found float 5.5",
        "expected a JSON object, found another value",
        "column 'when': expected a time, found nothing",
    ]


def test_packed_files_and_those_cut_off(tmp_path: Path) -> None:
    text = b"time,name,price\n" + b"".join(b"%d,a,%d\n" % (n, n * n) for n in range(20_000))
    packed = gzip.compress(text)
    (tmp_path / "x.csv.gz").write_bytes(packed)
    (tmp_path / "y.csv.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "z.csv.gz").write_bytes(b"no gzip at all")
    assert len(read(Files((str(tmp_path / "x.csv.gz"),), columns()))[0]) == 20_000
    _, rejects = read(Files((str(tmp_path / "y.csv.gz"),), columns()))
    assert rejects[-1]["fatal"]
    assert rejects[-1]["reason"].startswith(f"{tmp_path}/y.csv.gz: expected a file that can be read, found:")
    with pytest.raises(DefinitionError, match=r"z.csv.gz: expected a file that can be read, found: Not a gzipped file"):
        read(Files((str(tmp_path / "z.csv.gz"),), columns()))


UTC = datetime.UTC
MAY = datetime.datetime(2024, 5, 1, 9, 30, tzinfo=UTC)
MAY_MICROSECONDS = 1714555800 * 10**6


@pytest.mark.parametrize(
    ("values", "kind", "wanted"),
    [
        ([5, None], pa.int32(), [5, None]),
        ([2**63, 7], pa.uint64(), [None, 7]),
        ([LARGEST + 1, -LARGEST], pa.int64(), [None, -LARGEST]),
        ([5.0, 5.5], pa.float64(), [5, None]),
        ([MAY, None], pa.timestamp("s", "UTC"), [MAY_MICROSECONDS, None]),
        ([MAY], pa.timestamp("ms", "Europe/Berlin"), [MAY_MICROSECONDS]),
        ([MAY.replace(tzinfo=None)], pa.timestamp("us"), [MAY_MICROSECONDS]),
        ([MAY_MICROSECONDS * 1000, MAY_MICROSECONDS * 1000 + 1], pa.timestamp("ns"), [MAY_MICROSECONDS, None]),
        ([2**62, 3], pa.timestamp("ms"), [None, 3_000]),
        ([datetime.date(1970, 1, 3), None], pa.date32(), [2 * DAY, None]),
        ([datetime.date(1969, 12, 31)], pa.date64(), [-DAY]),
        (["2024-05-01T09:30:00Z", "yesterday", "17"], pa.string(), [MAY_MICROSECONDS, None, 17]),
        (["2024-05-01T09:30"], pa.dictionary(pa.int8(), pa.string()), [MAY_MICROSECONDS]),
    ],
    ids=str,
)
def test_times_of_every_type(tmp_path: Path, values: list[Any], kind: pa.DataType, wanted: list[int | None]) -> None:
    count = len(values)
    table = pa.table({"t": pa.array(values, kind), "name": ["a"] * count, "price": [1.0] * count})
    pq.write_table(table, tmp_path / "x.parquet")
    events, rejects = read(Files((str(tmp_path / "x.parquet"),), columns(time="t")))
    assert [(event[1], event[3]) for event in events] == [(t, n + 1) for n, t in enumerate(wanted) if t is not None]
    assert [reject["place"] for reject in rejects] == [f"row {n + 1}" for n, t in enumerate(wanted) if t is None]
    assert all(reject["reason"].startswith("column 't': expected a time") for reject in rejects)


def parquet(folder: Path, **other: pa.Array) -> Files:
    own = {"time": [1, 2, 3], "name": ["a", "b", "c"], "price": [1, 2, 3], **other}
    pq.write_table(pa.table(own), folder / "x.parquet")
    return Files((str(folder / "x.parquet"),), columns())


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("price", pa.array([1.0, float("nan"), 2.0]), "expected float, found float nan"),
        ("price", pa.array([1.0, None, 2.0]), "expected float, found null"),
        ("name", pa.array(["a", None, "b"]).dictionary_encode(), "expected string, found null"),
        ("name", pa.array([b"a", b"\xff", b"b"]).view(pa.string()), "which is not valid Unicode"),
        ("volume", pa.array([1, 2**64 - 1, None], pa.uint64()), "which does not fit 64 bits"),
        ("time", pa.array([1, None, 3]), "expected a time exact in microseconds, found null"),
    ],
)
def test_values_that_do_not_fit(tmp_path: Path, name: str, values: pa.Array, reason: str) -> None:
    events, rejects = read(parquet(tmp_path, **{name: values}))
    assert [event[3] for event in events] == [1, 3]
    assert [reject["place"] for reject in rejects] == ["row 2"]
    assert reason in rejects[0]["reason"]
    assert json.loads(rejects[0]["raw"])["time"] in (2, None)


def test_columns_that_cannot_fit_are_refused_before(tmp_path: Path) -> None:
    def refused(words: str, files: Files) -> None:
        with pytest.raises(DefinitionError) as refusal:
            pieces_of([files], STREAMS)
        assert words in str(refusal.value)
        assert "\n" not in str(refusal.value)

    path = str(tmp_path / "x.parquet")
    for name, values, words in (
        ("price", ["1"] * 3, "expected float, found the type string"),
        ("time", [True] * 3, "expected a time, found the type bool"),
        ("volume", [1.5] * 3, "expected int, found the type double"),
    ):
        refused(f"{path}: column {name!r}: {words}", parquet(tmp_path, **{name: pa.array(values)}))
    plain = parquet(tmp_path)
    refused("expected one column 'nam' (attribute 'name'), found 0; did you mean 'name'?",
            Files(plain.paths, columns(attributes={"name": "nam"})))  # fmt: skip
    refused("expected one column 'when' (time), found 0", Files(plain.paths, columns(time="when")))
    refused(f"{path}: expected the column 'id' of a history, found none", Files(plain.paths))
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and so on")
    refused(f"{path}: expected a Parquet file, found a damaged one", plain)
    refused("x.csv: stream 'Stock': expected one column 'price'", written(tmp_path, "x.csv", "time,name\n"))
    refused("y.csv: expected a header with the names of the columns, found an empty", written(tmp_path, "y.csv", ""))
    refused("y.csv: expected a mapping of the CSV file's columns", Files((str(tmp_path / "y.csv"),)))
    refused("expected a file or a folder of events, found none", Files((str(tmp_path / "nowhere"),)))
    (tmp_path / "empty").mkdir()
    refused("expected files of events, found none", Files((str(tmp_path / "empty"),)))
    refused("expected files of events, found none", Files((f"{tmp_path}/*.nothing",)))
    with pytest.raises(DefinitionError, match="expected the name of an attribute, found string 'prize'; did you mean"):
        columns(attributes={"prize": "p"})
    with pytest.raises(DefinitionError, match="expected a format, one of jsonl, csv, parquet, found string 'cvs'"):
        Files(("x",), format="cvs")  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="expected a tuple of paths, found string 'x'"):
        Files("x")  # type: ignore[arg-type]


def test_a_file_that_is_damaged_inside_is_told_by_its_name(tmp_path: Path) -> None:
    files = parquet(tmp_path)
    content = bytearray((tmp_path / "x.parquet").read_bytes())
    content[4:60] = b"\xff" * 56
    (tmp_path / "x.parquet").write_bytes(content)
    events, rejects = read(files)
    assert not events
    assert rejects[0]["fatal"]
    assert rejects[0]["reason"].startswith(f"{tmp_path}/x.parquet: expected a Parquet file, found a damaged one")


@pytest.mark.parametrize("sizes", [[1, 1], [5], [3, 0, 2]])
def test_row_groups_are_read_in_pieces_with_the_same_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: Sequence[int]
) -> None:
    monkeypatch.setattr("spark_bridge.history.reading.PIECE_ROWS", 2)
    schema = pa.schema([("time", pa.int64()), ("name", pa.string()), ("price", pa.float64())])
    with pq.ParquetWriter(tmp_path / "x.parquet", schema) as writer:
        for size in sizes:
            writer.write_table(pa.table({"time": [1] * size, "name": ["a"] * size, "price": [1.0] * size}, schema))
    files = Files((str(tmp_path / "x.parquet"),), columns())
    assert len(pieces_of([files], STREAMS)) == (1 if sizes in ([1, 1], [5]) else 2)
    assert [event[3] for event in read(files)[0]] == list(range(1, sum(sizes) + 1))


def test_files_are_taken_by_name_and_the_second_has_ids_of_its_own(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", ".hidden.csv", "note.txt"):
        (tmp_path / name).write_text("time,name,price\n1,a,1\n")
    for source in (str(tmp_path), f"{tmp_path}/[ab].csv"):
        events, _ = read(Files((source,), columns()))
        assert [event[3] for event in events] == [1, 2**40 + 1]
    kind: Format = "csv"
    assert len(read(Files((str(tmp_path),), columns(), kind))[0]) == 3


def test_a_table_in_the_form_is_judged_as_well(tmp_path: Path) -> None:
    table = pa.table(
        {
            "time": [1, 2, 3, 4],
            "id": [1, 2, 3, None],
            "start": [1, 1, 3, 4],
            "stream": ["Stock", "News", "Nows", "News"],
            "name": ["a", None, "b", None],
            "price": [1.0, None, 2.0, None],
            "volume": pa.nulls(4),
            "open": pa.nulls(4),
            "text": [None, "t", None, "u"],
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    events, rejects = read(Files((str(tmp_path / "x.parquet"),)))
    assert sorted(events) == [("News", 2, ("t",), 2, 1), ("Stock", 1, ("a", 1.0, None, None), 1, 1)]
    assert sorted(reject["reason"] for reject in rejects) == [
        "column 'id': expected an id, an int of 64 bits, found null",
        "expected a declared stream, found string 'Nows'",
    ]
