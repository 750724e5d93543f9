"""CSV by columns gives what CSV by rows gives: the same batches, values, lines, and the same complaint."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from doubles.opened_events import open_events
from hypothesis import given
from hypothesis import strategies as st

from broker.command import csv_columns, csv_rows
from broker.command.bad_events import BadEvents
from broker.command.batch import EventBatch
from broker.command.column_rows import ColumnRows
from broker.command.complaint import BadInput
from broker.command.csv_rows import read_csv
from broker.events import Schema, StreamDefinition

STREAM = StreamDefinition(
    "S",
    Schema.declare(
        {"t": "string", "n": "string?", "i": "int", "j": "int?", "p": "float", "q": "float?", "b": "bool?"}
    ),
)
HEADER = "other,t,n,i,j,p,q,b,time"


def read(data: bytes, by_columns: bool, separator: str = ",", stops: bool = True) -> tuple[list[Any], Any, list[Any]]:
    """The batches, the complaint, and what was left out."""
    bad = BadEvents() if stops else BadEvents("skip")
    found: list[Any] = []
    complaint = None
    try:
        for each in read_csv(io.BytesIO(data), "e.csv", STREAM, "time", None, bad, separator, by_columns):
            found.append((each.stream, each.times, repr(list(each.rows)), list(each.places)))
    except BadInput as error:
        complaint = str(error)
    return found, complaint, [bad.count, *bad.reasons]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_columns, "PART_LINES", 6)
    monkeypatch.setattr(csv_columns, "BATCH_EVENTS", 2)
    monkeypatch.setattr(csv_rows, "BATCH_EVENTS", 2)


ODD = {
    "t": ["x", "", "ü_1", '"q"', '"a,b"', '"two\nlines"', 'mid"dle', " x ", "nan", "\x00"],
    "n": ["", "y", "z"],
    "i": ["0", "-7", "007", " 5 ", "+5", "0x1F", "5.0", "", "9223372036854775807", "9223372036854775808", "1_0", "٣"],
    "j": ["", "1", " ", "x"],
    "p": ["1.5", "-0", "1.", ".5", "1e3", "1e400", "nan", "inf", "", "1e000001", "1,5", "0.10000000000000000555111512"],
    "q": ["", "2", "-inf"],
    "b": ["", "true", "False", "TRUE", "1", " true"],
    "time": ["1", "2", "3", "2024-05-01", "", "x", "1714548600", "5.5", "99999999999999999999"],
}
ENDS = ["\n", "\n", "\n", "\n", "\r\n", "\n\n", "\r", ",\n", ""]


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """Mostly plain lines, with a few odd fields, ends of lines and bytes."""
    oddity = draw(st.sampled_from([0.0, 0.02, 0.1]))
    chance = draw(st.randoms(use_true_random=False))
    lines = []
    for number in range(draw(st.integers(0, 30))):
        row = ["o", chance.choice("ab"), chance.choice(["", "c"]), str(chance.randrange(9)), chance.choice(["", "4"])]
        row += [repr(chance.random()), chance.choice(["", "0.25"]), chance.choice(["", "true"]), str(number)]
        for at, name in enumerate(["other", *ODD]):
            if name != "other" and chance.random() < oddity:
                row[at] = chance.choice(ODD[name])
        lines.append(",".join(row) + (chance.choice(ENDS) if chance.random() < oddity else "\n"))
    headers = [HEADER, HEADER, HEADER, f"\ufeff{HEADER}", f"\n{HEADER}", HEADER.replace("t,n", '"t",n')]
    data = f"{chance.choice(headers)}\n{''.join(lines)}".encode()
    if chance.random() < oddity:
        at = chance.randrange(len(data))
        data = data[:at] + b"\xff" + data[at:]
    return data


@given(tables(), st.booleans())
def test_columns_are_as_rows(data: bytes, stops: bool) -> None:
    assert read(data, True, stops=stops) == read(data, False, stops=stops)


LINE = "o,a,,1,,0.5,,true,"


@pytest.mark.parametrize("name", [name for name in ODD if name != "time"])
def test_each_odd_field_is_as_in_rows(name: str) -> None:
    at = HEADER.split(",").index(name)
    for odd in ODD[name]:
        lines = [f"{LINE}{number}".split(",") for number in range(20)]
        lines[13][at] = odd
        data = "\n".join([HEADER, *map(",".join, lines)]).encode()
        assert read(data, True) == read(data, False)


@pytest.mark.parametrize("first", ["1", "2024-05-01T07:00", "1714548600", "x", ""])
@pytest.mark.parametrize("later", ["19", "2024-05-02", "x", "", "0x14"])
def test_times_are_as_in_rows(first: str, later: str) -> None:
    times = [first, *map(str, range(2, 19)), later]
    data = "\n".join([HEADER, *(LINE + time for time in times)]).encode()
    assert read(data, True) == read(data, False)


def test_plain_files_are_read_by_columns(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("\n".join([HEADER, *(f"{LINE}{number}" for number in range(15))]) + "\n")
    with open_events(str(path), {"S": STREAM}) as reader:
        batches: list[Any] = list(reader.items)
    assert all(isinstance(each, EventBatch) and isinstance(each.rows, ColumnRows) for each in batches)
    assert [len(each.times) for each in batches] == [2] * 7 + [1]
    assert batches[-1].position == path.stat().st_size
    assert batches[-1].places == range(16, 17)


def test_what_is_not_plain_is_read_by_rows_from_there() -> None:
    lines = [f"{LINE}{number}" for number in range(20)]
    lines[8] = lines[8].replace("a", '"a"')
    data = "\n".join([HEADER, *lines]).encode()
    batches = read_csv(io.BytesIO(data), "e.csv", STREAM, "time", by_columns=True)
    kinds = [isinstance(each.rows, ColumnRows) for each in batches]
    assert kinds == [True] * 3 + [False] * 7
    assert read(data, True) == read(data, False)


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize(
    "text",
    ["", "\n", "time", "time\n", "time,t,i,p\n1,x,1,1.5", "time,t,t,i,p\n", "t,i,p\n", "t,i,p,time,i\n", ";time\n"],
)
def test_headers_are_as_in_rows(text: str, separator: str) -> None:
    data = text.replace(",", separator).encode()
    assert read(data, True, separator) == read(data, False, separator)


def test_an_attribute_may_be_the_time_and_a_field_may_be_too_long() -> None:
    stream = StreamDefinition("S", Schema.declare({"time": "int"}))
    for by_columns in (True, False):
        (batch,) = read_csv(io.BytesIO(b"time\n7\n"), "e.csv", stream, "time", by_columns=by_columns)
        assert (batch.times, list(batch.rows)) == ([7], [(7,)])
    data = f"{HEADER}\n{LINE}1\n{'y' * 140_000}{LINE}2\n".encode()
    assert read(data, True) == read(data, False)
    assert "field larger than field limit" in read(data, True)[1]


def test_a_line_without_an_end_is_not_held_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_columns, "_HELD", 2**21)
    data = f"{HEADER}\n{LINE}1\n{'y' * 2**23}".encode()
    parts = csv_columns.LineParts(io.BytesIO(data))
    assert len(parts.next(1)) == len(HEADER) + 1
    assert len(parts.next(6)) == len(f"{HEADER}\n{LINE}1\n")
    assert parts.rest().read() == data
    assert read(data, True) == read(data, False)
