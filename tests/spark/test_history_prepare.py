"""`prepare` on Spark: events of any source, sorted and sliced; what fails leaves the history that was there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker.events import DefinitionError, Schema, StreamDefinition
from spark_bridge import Columns, Files, History, Table, prepare
from spark_bridge.history.form import batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STOCK = StreamDefinition("Stock", Schema.declare({"name": "string", "price": "float", "volume": "int?"}), "name")
NEWS = StreamDefinition("News", Schema.declare({"text": "string", "price": "int?"}))


def files(folder: Path, *more: str) -> Files:
    """Two files of CSV, not in the order of their times."""
    for name, times in (("a.csv", [5, 3, 3, 9]), ("b.csv", [1, 3, 9])):
        (folder / name).write_text("when,name,price\n" + "".join(f"{time},{name[0]},{time}.5\n" for time in times))
    for number, line in enumerate(more):
        (folder / f"c{number}.csv").write_text("when,name,price\n" + line)
    return Files((str(folder / "*.csv"),), Columns(STOCK, time="when"))


def points(history: History) -> list[tuple[int, int]]:
    return [
        point
        for batch in history.between()
        for _, times, _, ids, _ in batches(batch, history.streams)
        for point in zip(times, ids)
    ]


def test_files_become_a_history_once(spark: SparkSession, tmp_path: Path) -> None:
    source, out = files(tmp_path), tmp_path / "out"
    history = prepare(spark, source, out, [STOCK], slice_rows=3)
    second = 2**40
    assert points(history) == [(1, second + 1), (3, 2), (3, 3), (3, second + 2), (5, 1), (9, 4), (9, second + 3)]
    assert [part.rows for part in history.slices] == [3, 3, 1]
    assert history.rejected(spark).count() == 0
    found = history.events(spark)
    assert found.columns == ["time", "id", "start", "stream", "name", "price", "volume"]
    assert {(row.id, row.name, row.price, row.volume) for row in found.collect() if row.time == 3} == {
        (2, "a", 3.5, None),
        (3, "a", 3.5, None),
        (second + 2, "b", 3.5, None),
    }
    # Again: nothing is computed, as a session that cannot do anything shows.
    assert prepare(None, source, out, [STOCK], slice_rows=3) == history  # type: ignore[arg-type]
    # Another run of it, of other files with the same content, is equal.
    (tmp_path / "copy").mkdir()
    other = prepare(spark, files(tmp_path / "copy"), tmp_path / "copy", [STOCK], slice_rows=3)
    assert other.digest == history.digest


def test_rejects_are_kept_up_to_their_limit(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = prepare(spark, files(tmp_path), out, [STOCK])
    source = files(tmp_path, "x,a,1\n", "7,c,nan\n7,c,1\n")
    with pytest.raises(DefinitionError) as refused:
        prepare(spark, source, out, [STOCK], rejects_max=0.1)
    assert str(refused.value).startswith("expected at most 0.1 of the rows to be rejected, found 2 of 10; one of ")
    assert ".csv: line 2: " in str(refused.value)
    assert History.open(out) == before
    assert sorted(file.name for file in out.iterdir()) == [".lock", "CURRENT", Path(before.path).name]
    history = prepare(spark, source, out, [STOCK], rejects_max=0.2)
    assert (history.rows, history.rejects) == (8, 2)
    told = {(Path(row.file).name, row.place, row.raw) for row in history.rejected(spark).collect()}
    assert told == {("c0.csv", "line 2", "x,a,1"), ("c1.csv", "line 2", "7,c,nan")}
    assert History.open(out) == history
    with pytest.raises(DefinitionError, match="expected events for a history, found none in its sources"):
        prepare(spark, Files((str(tmp_path / "c0.csv"),), Columns(STOCK, time="when")), out, [STOCK], rejects_max=1.0)
    assert History.open(out) == history


def test_a_damaged_file_is_named(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"time": [1, 2], "name": ["a", "b"], "price": [1.0, 2.0]}), file)
    content = bytearray(file.read_bytes())
    content[4:60] = b"\xff" * 56
    file.write_bytes(content)
    with pytest.raises(DefinitionError, match=r"x.parquet: expected a Parquet file, found a damaged one"):
        prepare(spark, Files((str(file),), Columns(STOCK)), tmp_path / "out", [STOCK], rejects_max=1.0)
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == [".lock"]


def test_dataframes_and_files_become_one_history(spark: SparkSession, tmp_path: Path) -> None:
    at = "timestamp_micros(cast(10 - id as bigint)) as at"
    number, text = "cast(100 + id as int) as no", "concat('n', id) as text"
    table = spark.range(4).selectExpr(at, number, text, "map(1, id) as more")
    source: list[Files | Table] = [Table(table, Columns(NEWS, time="at", id="no")), files(tmp_path)]
    history = prepare(spark, source, tmp_path / "out", [STOCK, NEWS])
    assert points(history)[-6:] == [(7, 103), (8, 102), (9, 4), (9, 101), (9, 2**40 + 3), (10, 100)]
    again = prepare(spark, Table(history.events(spark)), tmp_path / "again", [STOCK, NEWS])
    assert again.digest == history.digest
    with pytest.raises(DefinitionError, match="expected events to have ids of their own, found id 100 twice"):
        prepare(spark, [*source, *source[:1]], tmp_path / "out", [STOCK, NEWS])
    assert History.open(tmp_path / "out") == history


def test_what_cannot_be_right_is_refused_before_a_job_starts(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.range(3).selectExpr("id", "id as time", "cast(id as string) as price", "array(id) as name")
    source = files(tmp_path)
    with pytest.raises(DefinitionError, match=r"the DataFrame: column 'name': expected string, found the type list"):
        prepare(spark, Table(table, Columns(STOCK, id="id")), tmp_path / "out", [STOCK])
    with pytest.raises(DefinitionError, match=r"expected one column 'no' \(id\), found 0"):
        prepare(spark, Table(table, Columns(STOCK, id="no")), tmp_path / "out", [STOCK])
    with pytest.raises(DefinitionError, match="expected the column of the ids, because rows of a DataFrame"):
        Table(table, Columns(STOCK))
    with pytest.raises(DefinitionError, match="expected the column 'start' of a history, found none"):
        prepare(spark, Table(table), tmp_path / "out", [STOCK])
    for streams in ([], [NEWS]):
        with pytest.raises(DefinitionError, match="expected"):
            prepare(spark, source, tmp_path / "out", streams)
    for share in (-0.1, 1.5, float("nan")):
        with pytest.raises(DefinitionError, match="expected a share of rejects from 0 to 1"):
            prepare(spark, source, tmp_path / "out", [STOCK], rejects_max=share)
    with pytest.raises(DefinitionError, match="expected 1 event a slice or more, found 0"):
        prepare(spark, source, tmp_path / "out", [STOCK], slice_rows=0)
    assert not (tmp_path / "out").exists()
    with pytest.raises(DefinitionError, match="expected a folder, or a place for a new one, found a file"):
        prepare(spark, source, tmp_path / "a.csv", [STOCK])


def test_the_brokers_own_lines(spark: SparkSession, tmp_path: Path) -> None:
    lines = [{"stream": "News", "time": 2, "data": {"text": "b"}}, {"stream": "News", "time": 1, "data": {"text": "a"}}]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, lines)))
    history = prepare(spark, Files((str(tmp_path / "x.jsonl"),)), tmp_path / "out", {"News": NEWS})
    assert points(history) == [(1, 2), (2, 1)]
