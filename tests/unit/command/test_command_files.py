"""Files of events as they are: units of time, plain objects, compressed, several, unsorted, with bad events in them."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from doubles.commands import complaint as complaint_of
from hypothesis import given
from hypothesis import strategies as st

from broker.command import sorting
from broker.command.shell import perform
from broker.command.sources import files_of

SECONDS = 1_714_548_600
STREAM = '[streams.Stock]\nattributes = { name = "string", price = "float" }\n'
ALL = '[subscriptions.q]\nlanguage = "cayuga"\nquery = "Stock"\nlineage = true\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a subscription to every event."""
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(STREAM + ALL)
    return tmp_path


def results(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    """What `run` prints with a subscription to every event."""
    assert perform(["run", "s.toml", *arguments]) == 0, capsys.readouterr().err
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def prices(found: list[dict[str, Any]]) -> list[float]:
    return [line["data"]["price"] for line in found]


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    return complaint_of(capsys, "run", "s.toml", *arguments)


def csv_of(*rows: tuple[object, object], separator: str = ",") -> str:
    head = separator.join(("time", "name", "price"))
    return "\n".join([head, *(separator.join(map(str, (time, "IBM", price))) for time, price in rows)]) + "\n"


def flat(time: object, price: object, **others: object) -> str:
    return json.dumps({"time": time, "name": "IBM", "price": price, **others}) + "\n"


# --- units ---


def test_epoch_seconds_are_not_taken_for_microseconds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.csv").write_text(csv_of((SECONDS, 1), (SECONDS + 1, 2)))
    Path("e.jsonl").write_text(flat(SECONDS * 1_000, 1))
    pq.write_table(pa.table({"time": [SECONDS * 10**9], "name": ["IBM"], "price": [1.0]}), "e.parquet")
    for file, unit in (("e.csv", "s"), ("e.jsonl", "ms"), ("e.parquet", "ns")):
        line = complaint(capsys, "--events", file, "--stream", "Stock")
        assert line.startswith(f"{file}: ")
        assert f"declare the unit with --time-unit {unit}, or with --time-unit us if" in line
        found = results(capsys, "--events", file, "--stream", "Stock", "--time-unit", unit)
        assert found[0]["end"] == SECONDS * 1_000_000
    assert results(capsys, "--events", "e.csv", "--time-unit", "us")[0]["end"] == SECONDS


def test_lines_of_our_own_have_microseconds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.jsonl").write_text(json.dumps({"stream": "Stock", "time": SECONDS, "data": ["IBM", 1]}))
    assert results(capsys, "--events", "e.jsonl")[0]["end"] == SECONDS
    assert results(capsys, "--events", "e.jsonl", "--time-unit", "s")[0]["end"] == SECONDS * 1_000_000


def test_the_unit_may_belong_to_the_stream(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_text(STREAM + 'time_unit = "s"\n' + ALL)
    Path("e.csv").write_text(csv_of((SECONDS, 1), (f"{SECONDS}.5", 2)))
    Path("e.jsonl").write_text(flat(SECONDS, 1) + flat(SECONDS + 0.5, 2))
    pq.write_table(pa.table({"time": [SECONDS, SECONDS + 0.5], "name": ["IBM"] * 2, "price": [1.0, 2.0]}), "e.parquet")
    for file in ("e.csv", "e.jsonl", "e.parquet"):
        found = results(capsys, "--events", file, "--stream", "Stock")
        assert [each["end"] for each in found] == [SECONDS * 1_000_000, SECONDS * 1_000_000 + 500_000]


def test_times_are_printed_as_people_read_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.csv").write_text(csv_of(("2024-05-01T07:30", 1)))
    found = results(capsys, "--events", "e.csv", "--times", "iso")
    assert (found[0]["start"], found[0]["end"]) == ("2024-05-01T07:30:00Z", "2024-05-01T07:30:00Z")


# --- formats and files ---


def test_every_kind_of_file_gives_the_same_results(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(time, float(time)) for time in range(1, 2_500)]
    lines = "".join(flat(time, price, extra=[{"x": 1}], text="}\n{") for time, price in rows)
    table = csv_of(*rows)
    Path("e.jsonl").write_text(lines)
    Path("e.csv").write_text(table)
    Path("e.tsv").write_text(csv_of(*rows, separator="\t"))
    Path("e.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    Path("e.csv.gz").write_bytes(gzip.compress(table.encode()))
    Path("e.csv.zst").write_bytes(pa.compress(table.encode(), codec="zstd", asbytes=True))
    times, names, values = [time for time, _ in rows], ["IBM"] * len(rows), [price for _, price in rows]
    pq.write_table(pa.table({"time": times, "name": names, "price": values}), "e.parquet")
    expected = results(capsys, "--events", "e.csv")
    assert prices(expected) == [price for _, price in rows]
    for file in ("e.jsonl", "e.tsv", "e.jsonl.gz", "e.csv.gz", "e.csv.zst", "e.parquet"):
        assert results(capsys, "--events", file, "--stream", "Stock") == expected, file


def test_standard_input_may_be_of_any_kind(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"time": [1], "name": ["IBM"], "price": [1.0]}), "e.parquet")
    table = csv_of((1, 1.0)).encode()
    for content, format in (
        (table, "csv"),
        (gzip.compress(table), "csv"),
        (pa.compress(table, codec="zstd", asbytes=True), "csv"),
        (csv_of((1, 1.0), separator="\t").encode(), "tsv"),
        (flat(1, 1.0).encode(), "jsonl"),
        (gzip.compress(flat(1, 1.0).encode()), "jsonl"),
        (Path("e.parquet").read_bytes(), "parquet"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
        assert prices(results(capsys, "--events", "-", "--events-format", format, "--stream", "Stock")) == [1.0]


def test_several_files_and_patterns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (3, 1, 2):
        Path(f"day-{number}.jsonl").write_text(flat(number, number))
    found = results(capsys, "--events", "day-*.jsonl", "--stream", "Stock")
    assert [(each["data"]["price"], each["lineage"]) for each in found] == [(1, [1]), (2, [2]), (3, [3])]
    found = results(capsys, "--events", "day-1.jsonl", "--events", "day-3.jsonl", "--stream", "Stock")
    assert prices(found) == [1, 3]
    assert "night-*: expected files that match this pattern, found none" in complaint(capsys, "--events", "night-*")
    assert "once, found it twice" in complaint(capsys, "--events", "-", "--events", "-")
    Path("[odd].jsonl").touch()
    assert files_of(["[odd].jsonl"]) == ["[odd].jsonl"]


def test_damaged_and_unreadable_compressions(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = gzip.compress(csv_of(*[(time, time) for time in range(1_000)]).encode())
    Path("e.csv.gz").write_bytes(packed[:-200])
    assert "e.csv.gz: expected compressed data, found damaged data" in complaint(capsys, "--events", "e.csv.gz")
    Path("e.csv.zst").write_bytes(pa.compress(b"time,name,price\n", codec="zstd", asbytes=True))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    assert "pip install 'foretell[parquet]'" in complaint(capsys, "--events", "e.csv.zst")


def test_plain_objects_need_their_stream(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.jsonl").write_text(flat(1, 1))
    assert "lines with nothing but the attributes need --stream NAME" in complaint(capsys, "--events", "e.jsonl")
    Path("e.jsonl").write_text('{"at": 1, "name": "IBM", "price": 1}\n')
    line = complaint(capsys, "--events", "e.jsonl", "--stream", "Stock")
    assert line == "e.jsonl: line 1: expected a key 'time' with the time (--time KEY names it), found none"
    assert prices(results(capsys, "--events", "e.jsonl", "--stream", "Stock", "--time", "at")) == [1]


# --- sorting ---


def test_unsorted_files_are_sorted_by_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text(csv_of((5, 5), (1, 1), (3, 3)))
    Path("b.csv").write_text(csv_of((4, 4), (1, 1.5), (2, 2)))
    assert "expected a time of 5 or later" in complaint(capsys, "--events", "a.csv")
    found = results(capsys, "--events", "a.csv", "--events", "b.csv", "--sort")
    assert [(each["data"]["price"], each["lineage"]) for each in found] == [
        (1, [1]), (1.5, [2]), (2, [3]), (3, [4]), (4, [5]), (5, [6])
    ]  # fmt: skip


def test_a_control_line_has_no_place_among_sorted_events(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.jsonl").write_text('{"unsubscribe": "q"}\n')
    assert "e.jsonl: line 1: expected only events with --sort" in complaint(capsys, "--events", "e.jsonl", "--sort")


@given(st.lists(st.integers(0, 20), max_size=200), st.integers(1, 7), st.integers(2, 4))
def test_sorting_in_parts_is_sorting(times: list[int], part: int, merged: int) -> None:
    from broker.command.reading import Reading
    from broker.events import Schema, StreamDefinition

    stream = StreamDefinition("S", Schema.declare({"n": "int"}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "PART_EVENTS", part)
        patch.setattr(sorting, "MERGED_PARTS", merged)
        content = "".join(json.dumps({"time": time, "n": n}) + "\n" for n, time in enumerate(times))
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content.encode()))))
        with sorting.sorted_events(Reading({"S": stream}, "jsonl", "S"), ["-"]) as source:
            found = [(time, row[0]) for item in source.items for time, row in zip(item.times, item.rows)]  # type: ignore[union-attr]
    assert found == sorted((time, n) for n, time in enumerate(times))


def test_sorting_takes_bounded_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "PART_EVENTS", 2_000)
    with open("e.csv", "w") as file:
        file.write("time,name,price\n")
        file.writelines(f"{time * 7_919 % 60_013},IBM,0\n" for time in range(60_000))
    Path("s.toml").write_text(STREAM)
    perform(["run", "s.toml", "--events", "e.csv", "--sort"])
    tracemalloc.start()
    try:
        assert perform(["run", "s.toml", "--events", "e.csv", "--sort"]) == 0
        assert tracemalloc.get_traced_memory()[1] < 12_000_000
    finally:
        tracemalloc.stop()


# --- bad events ---


BAD = csv_of((1, 1), (2, "x"), ("soon", 3), (4, 4)) + "5,IBM\n" + "3,IBM,9\n" + "6,IBM,6\n"


def test_the_first_bad_event_stops_by_default(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.csv").write_text(BAD)
    assert "e.csv: line 3: " in complaint(capsys, "--events", "e.csv")


def test_bad_events_are_left_out_and_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.csv").write_text(BAD + "".join(f"{n},IBM,y\n" for n in range(3)))
    assert perform(["run", "s.toml", "--events", "e.csv", "--on-bad", "skip"]) == 0
    found = capsys.readouterr()
    assert prices([json.loads(line) for line in found.out.splitlines()]) == [1, 4, 6]
    told = found.err.splitlines()
    assert told[0] == "foretell: 7 bad events left out"
    assert any(line.startswith("foretell: e.csv: line 3: stream 'Stock', attribute 'price': expected") for line in told)
    assert any(line.startswith("foretell: e.csv: line 4: expected a time") for line in told)
    assert len([line for line in told if ": e.csv: line " in line]) == 5
    assert "foretell: and 2 more" in told


@pytest.mark.parametrize("sort", [[], ["--sort"]])
def test_bad_events_are_written_to_a_file(folder: Path, capsys: pytest.CaptureFixture[str], sort: list[str]) -> None:
    lines = [
        flat(1, 1),
        "{\n",
        flat(2, "x"),
        '{"time": 3, "name": "IBM"}\n',
        "x" * (2**20 + 2**19) + "\n",
        flat(4, 4),
        '{"time": 5, "name": "IBM", "price": null}\n',
        flat(6, 6),
    ]
    Path("e.jsonl").write_bytes("".join(lines).encode() + b'{"\xff": 1}\n' + flat(7, 7).encode())
    arguments = ["run", "s.toml", "--events", "e.jsonl", "--stream", "Stock", "--on-bad", "bad.jsonl", *sort]
    assert perform(arguments) == 0
    found = capsys.readouterr()
    assert prices([json.loads(line) for line in found.out.splitlines()]) == [1, 4, 6, 7]
    assert found.err.startswith("foretell: 6 bad events left out, written to bad.jsonl\n")
    bad = [json.loads(line) for line in Path("bad.jsonl").read_text().splitlines()]
    assert sorted(each["place"] for each in bad) == [f"e.jsonl: line {n}" for n in (2, 3, 4, 5, 7, 9)]
    misfit = next(each for each in bad if each["place"] == "e.jsonl: line 3")
    assert json.loads(misfit["event"])["price"] == "x"


def test_bad_rows_of_parquet_are_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(pa.table({"time": [1, None, 3], "name": ["a", "b", None], "price": [1.0, 2.0, 3.0]}), "e.parquet")
    assert "row 2: expected a time, found null" in complaint(capsys, "--events", "e.parquet")
    assert perform(["run", "s.toml", "--events", "e.parquet", "--on-bad", "skip"]) == 0
    found = capsys.readouterr()
    assert prices([json.loads(line) for line in found.out.splitlines()]) == [1]
    assert "e.parquet: row 2: expected a time, found null" in found.err
    assert "e.parquet: row 3: stream 'Stock', attribute 'name': expected string, found null" in found.err


def test_a_history_does_not_misread_a_unit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_text(STREAM + 'time_unit = "s"\n' + ALL)
    Path("e.csv").write_text(csv_of((SECONDS, 1)))
    assert perform(["prepare", "s.toml", "--history", "e.csv", "--out", "h"]) == 2
    said = capsys.readouterr().err
    assert said == "foretell: s.toml: streams.Stock: time_unit 's' of a history on Spark is not supported yet\n"
