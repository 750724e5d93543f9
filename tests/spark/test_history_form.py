"""The form of events as a table, and histories that are written and read without Spark."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.events import DefinitionError, Row, Schema, StreamDefinition
from spark_bridge.history.form import Run, arrow_schema, attribute_columns, batch_of, batches, columns_of, spark_schema
from spark_bridge.history.manifest import read_manifest, written
from spark_bridge.history.prepared import History
from spark_bridge.history.writing import write_history
from spark_bridge.publication import publish

STREAMS = {
    "Stock": StreamDefinition(
        "Stock", Schema.declare({"name": "string", "price": "float", "time": "int", "n": "int?"}), "name"
    ),
    "News": StreamDefinition("News", Schema.declare({"Name": "string", "price": "int", "good": "bool?"})),
    "Tick": StreamDefinition("Tick", Schema.declare({})),
}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(st.characters(codec="utf-8"), max_size=5),
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(allow_nan=False, allow_infinity=False),
    "bool": st.booleans(),
}


def rows(stream: StreamDefinition) -> st.SearchStrategy[Row]:
    return st.tuples(
        *(
            st.none() | VALUES[attribute.type] if attribute.nullable else VALUES[attribute.type]
            for attribute in stream.schema.attributes
        )
    )


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, int, Row, int, int]]:
    """Events in order: stream, time, row, id, start."""
    time, events = 0, []
    for number in range(draw(st.integers(1, 40))):
        time += draw(st.sampled_from([0, 0, 1, 7]))
        stream = draw(st.sampled_from(sorted(STREAMS)))
        start = time - draw(st.sampled_from([0, 0, 3]))
        events.append((stream, time, draw(rows(STREAMS[stream])), number + 1, start))
    return events


def as_batches(events: list[tuple[str, int, Row, int, int]]) -> list[pa.RecordBatch]:
    schema, columns = arrow_schema(STREAMS), columns_of(STREAMS)
    return [batch_of((s, [t], [row], [number], [start]), columns, schema) for s, t, row, number, start in events]


def events_of(found: list[pa.RecordBatch]) -> list[tuple[str, int, Row, int, int]]:
    events = []
    for batch in found:
        for stream, times, values, ids, starts in batches(batch, STREAMS):
            events += [(stream, *event) for event in zip(times, values, ids, starts)]
    return events


def test_columns_have_names_of_their_own_whatever_attributes_are_called() -> None:
    columns = columns_of(STREAMS)
    assert columns == {
        "Stock": ("name_string", "price_float", "time_int", "n"),
        "News": ("Name", "price", "good"),
        "Tick": (),
    }
    assert columns_of(dict(reversed(STREAMS.items()))) == columns
    names = [*arrow_schema(STREAMS).names]
    assert len({name.lower() for name in names}) == len(names)
    assert [field.name for field in spark_schema(STREAMS)] == names
    assert list(attribute_columns(STREAMS)) == names[4:]


def test_streams_share_the_column_of_what_they_call_the_same() -> None:
    schema = Schema.declare({"name": "string", "price": "float?"})
    both = {name: StreamDefinition(name, schema) for name in ("A", "B")}
    assert columns_of(both) == {"A": ("name", "price"), "B": ("name", "price")}
    one = {"A": StreamDefinition("A", Schema.declare({"x": "int", "X_int": "int", "x_int": "int"}))}
    assert columns_of(one) == {"A": ("x", "X_int", "x_int_int")}


@settings(max_examples=max(20, settings().max_examples // 4))  # drawing 40 events is what takes the time
@given(histories(), st.integers(1, 50))
def test_events_are_the_same_in_the_form(events: list[tuple[str, int, Row, int, int]], size: int) -> None:
    table = pa.Table.from_batches(as_batches(events)).combine_chunks()
    found = events_of(table.to_batches(max_chunksize=size))
    assert found == events
    assert [type(value) for event in found for value in event[2]] == [type(v) for event in events for v in event[2]]
    only = {"Stock": STREAMS["Stock"]}
    some = [
        event for batch in table.to_batches() for run in batches(batch, only, columns_of(STREAMS)) for event in run[1]
    ]
    assert some == [time for stream, time, *_ in events if stream == "Stock"]


@settings(max_examples=max(20, settings().max_examples // 10))  # each makes some folders and waits for the disk
@given(histories(), st.integers(3, 20), st.data())
def test_a_history_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    events: list[tuple[str, int, Row, int, int]],
    size: int,
    data: st.DataObject,
) -> None:
    out = tmp_path_factory.mktemp("history")
    write_history(out, STREAMS, as_batches(events), size)
    history = pickle.loads(pickle.dumps(History.open(out)))  # noqa: S301  # as Spark does with our own
    history.verify()
    assert history.rows == len(events)
    assert dict(history.streams) == STREAMS
    assert [part.rows for part in history.slices[:-1]] == [size] * (len(history.slices) - 1)
    assert events_of(list(history.between())) == events
    keys = st.none() | st.tuples(st.integers(-1, events[-1][1] + 1), st.integers(0, len(events) + 1))
    first, last = data.draw(keys), data.draw(keys)
    wanted = [
        event
        for event in events
        if (first is None or (event[1], event[3]) >= first) and (last is None or (event[1], event[3]) <= last)
    ]
    assert events_of(list(history.between(first, last))) == wanted


def simple(count: int, same_time: bool = False) -> list[pa.RecordBatch]:
    times = [0] * count if same_time else list(range(count))
    run: Run = ("Tick", times, [()] * count, list(range(1, count + 1)), times)
    return [batch_of(run, columns_of(STREAMS), arrow_schema(STREAMS))]


def test_a_range_skips_row_groups_and_ends_within_a_tie(tmp_path: Path) -> None:
    write_history(tmp_path, STREAMS, simple(150_000), 140_000)
    history = History.open(tmp_path)
    read = [number for batch in history.read(0, (70_000, 0), (131_071, 131_072)) for number in batch.column(1).tolist()]
    assert read == list(range(70_001, 131_073))
    assert list(history.read(1, None, (139_999, 2**63 - 1))) == []
    tied = tmp_path / "tied"
    write_history(tied, STREAMS, simple(9, same_time=True), 4)
    parts = History.open(tied)
    assert [(part.first, part.last) for part in parts.slices] == [
        ((0, 1), (0, 4)), ((0, 5), (0, 8)), ((0, 9), (0, 9))
    ]  # fmt: skip
    assert [n for batch in parts.between((0, 3), (0, 6)) for n in batch.column(1).tolist()] == [3, 4, 5, 6]


def test_equal_events_make_an_equal_history(tmp_path: Path) -> None:
    one = History.open(write_history(tmp_path / "one", STREAMS, simple(100), 30))
    other = History.open(write_history(tmp_path / "other", STREAMS, simple(100)[0:1], 30))
    assert one.digest == other.digest
    assert History.open(write_history(tmp_path / "more", STREAMS, simple(101), 30)).digest != one.digest


def test_events_out_of_order_are_no_history(tmp_path: Path) -> None:
    batch = simple(3)[0]
    with pytest.raises(DefinitionError, match=r"expected events in the order of time and id, found \(0, 1\) after"):
        write_history(tmp_path, STREAMS, [batch, batch], 3)
    with pytest.raises(DefinitionError, match="expected events of one time to have ids of their own, found id 3 twice"):
        write_history(tmp_path, STREAMS, [batch, batch.slice(2)])
    with pytest.raises(DefinitionError, match="expected events for a history, found none"):
        write_history(tmp_path, STREAMS, [])
    assert [file.name for file in tmp_path.iterdir()] == [".lock"]


def test_what_is_no_history_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"nowhere: expected a prepared history, found no manifest.json"):
        History.open(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(DefinitionError, match="file: expected the folder of a prepared history, found a file"):
        History.open(tmp_path / "file")
    run = write_history(tmp_path / "out", STREAMS, simple(10), 5)
    slice = run / "slice=000001" / "part.parquet"
    content = slice.read_bytes()
    slice.write_bytes(content[:-1])
    with pytest.raises(DefinitionError, match=rf"part.parquet: expected a slice of {len(content)} bytes, found"):
        History.open(tmp_path / "out")
    slice.write_bytes(content[:4] + b"\xff" * 60 + content[64:])
    damaged = History.open(tmp_path / "out")
    with pytest.raises(DefinitionError, match=r"part.parquet: expected the slice that was prepared, found other bytes"):
        damaged.verify()
    with pytest.raises(DefinitionError, match=r"slice=000001/part.parquet: expected a slice that can be read"):
        list(damaged.read(1))
    slice.unlink()
    with pytest.raises(DefinitionError, match=r"part.parquet: expected a slice of 5 events, found no file"):
        History.open(tmp_path / "out")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"version": 1', '"version": 2', "expected a history of version 1, found int 2: prepare it again"),
        ('"rejects": 0', '"rejects": "many"', "found it damaged"),
        ('"rows": 5', '"rows": 6', "found it changed: its digest differs"),
        ("foretell-history", "else", "expected the manifest of a prepared history, found something else"),
        ("{", "[", "found it damaged"),
    ],
)
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    file = write_history(tmp_path, STREAMS, simple(5)) / "manifest.json"
    text = file.read_text()
    assert written(read_manifest(text)) == text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(DefinitionError, match=r"manifest.json: ") as refused:
        History.open(tmp_path)
    assert words in str(refused.value)


def test_streams_that_differ_are_found_out(tmp_path: Path) -> None:
    history = History.open(write_history(tmp_path, STREAMS, simple(5)))
    history.check_streams({"News": STREAMS["News"]})
    with pytest.raises(DefinitionError, match="of the stream 'Stocks', found none; did you mean 'Stock'"):
        history.check_streams({"Stocks": StreamDefinition("Stocks", STREAMS["Stock"].schema)})
    with pytest.raises(DefinitionError, match=r"stream 'Tick': expected the attributes {'x': 'int'}, found {}"):
        history.check_streams({"Tick": StreamDefinition("Tick", Schema.declare({"x": "int"}))})


def test_the_run_that_current_names_must_be_there(tmp_path: Path) -> None:
    write_history(tmp_path, STREAMS, simple(5))
    current = tmp_path / "CURRENT"
    for text, words in (("{}", "expected the name of a run"), ('{"run": "run-0"}', "expected the folder of run-0")):
        current.write_text(text)
        with pytest.raises(DefinitionError, match=words):
            History.open(tmp_path)


def test_publishing_is_done_once_and_whole(tmp_path: Path) -> None:
    calls: list[str] = []

    def write(folder: Path, fail: bool = False) -> str:
        calls.append(folder.name)
        (folder / "content").write_text("x")
        if fail:
            raise OSError("the disk is full")
        return "d1"

    (tmp_path / ".run-left-0").mkdir()
    assert publish(tmp_path, "d1", write) == tmp_path / "run-d1"
    assert publish(tmp_path, "d1", write) == tmp_path / "run-d1"
    assert len(calls) == 1
    with pytest.raises(OSError, match="full"):
        publish(tmp_path, "d2", lambda folder: write(folder, fail=True))
    assert sorted(file.name for file in tmp_path.iterdir()) == [".lock", "CURRENT", "run-d1"]

    def within(folder: Path) -> str:
        publish(tmp_path, "d3", write)
        return "d4"

    with pytest.raises(DefinitionError, match="expected a folder that no run writes to, found a run at work"):
        publish(tmp_path, "d4", within)
    (tmp_path / "file").write_text("x")
    with pytest.raises(DefinitionError, match="expected a folder, or a place for a new one, found a file"):
        publish(tmp_path / "file", "d1", write)


def test_history_needs_no_spark() -> None:
    program = "import sys; sys.modules['pyspark'] = None; import broker.command.archive, spark_bridge.history.prepared"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
