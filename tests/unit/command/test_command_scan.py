"""`check --events`: what is wrong with events is told before a run, all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker.command import scanning
from broker.command.shell import perform

FILE = """
[streams.Stock]
attributes = { name = "string", price = "float", volume = "int" }
[subscriptions.q]
language = "cayuga"
query = "Stock"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(FILE)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], status: int, *arguments: str) -> list[str]:
    assert perform(["check", "s.toml", *arguments]) == status
    found = capsys.readouterr()
    assert found.err == ""
    assert found.out.startswith("ok q: cayuga, reads Stock\n   q: gives name string, price float, volume int\n")
    return found.out.splitlines()[2:]


def test_good_events(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(n, "IBM" if n % 2 else "MSFT", 1.5, n) for n in range(10)]
    Path("e.csv").write_text("time,name,price,volume\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    columns = dict(zip(("time", "name", "price", "volume"), map(list, zip(*rows))))
    pq.write_table(pa.table(columns), "e.parquet")
    Path("e.jsonl").write_text("".join(json.dumps(dict(zip(columns, row))) + "\n" for row in rows))
    for file in ("e.csv", "e.parquet", "e.jsonl"):
        assert told(capsys, 0, "--events", file, "--stream", "Stock") == [
            "ok Stock: 10 rows from 1970-01-01T00:00:00Z to 1970-01-01T00:00:00.000009Z",
            "ok Stock.name: string, 2 different values; a candidate for key",
            "ok Stock.price: float, 1 different value",
            "ok Stock.volume: int, 10 different values",
        ], file


def test_everything_that_is_wrong_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.csv").write_text(
        "time,name,price,volume,venue\n"
        "1714548600,IBM,1,1.5,X\n1714548602,IBM,,2,X\n1714548601,IBM,x,3,X\n1714548603,IBM,1\nsoon,IBM,1,4,X\n"
    )
    found = told(capsys, 2, "--events", "e.csv")
    for start in (
        "bad 1 line cannot be read, the first: e.csv: line 5: expected 5 fields",
        "bad Stock: 2 wrong times, the first: e.csv: line 2: expected a time in microseconds, found 1714548600",
        "bad Stock: 1 row earlier than one before, the first: e.csv: line 4; --sort sorts them",
        'bad Stock.price: 1 of 4 are null or missing; declare price = "float?"',
        "bad Stock.price: 1 value of type string, declared float, the first: e.csv: line 4",
        "bad Stock.volume: 1 value of type float, declared int, the first: e.csv: line 2",
        "note Stock: 'venue' (string) is not declared and ignored",
    ):
        assert any(line.startswith(start) for line in found), (start, found)


def test_lines_of_streams_that_are_not_declared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.jsonl").write_text('{"stream": "Stok", "time": 1, "data": {}}\n{\n{"unsubscribe": "q"}\n')
    found = told(capsys, 2, "--events", "e.jsonl")
    assert any("did you mean 'Stock'?" in line for line in found) or "2 lines cannot be read" in found[0]


def test_only_so_many_rows_are_read(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "ROWS_MAX", 3)
    Path("e.csv").write_text("time,name,price,volume\n" + "".join(f"{n},IBM,1,1\n" for n in range(9)))
    found = told(capsys, 0, "--events", "e.csv")
    assert found[:2] == [
        "note the first 3 rows were read",
        "ok Stock: 3 rows from 1970-01-01T00:00:00Z to 1970-01-01T00:00:00.000002Z",
    ]


def test_a_column_of_times_is_not_called_ignored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.csv").write_text("day,name,price,volume,other\n1,IBM,1,1,x\n2,IBM,1,2,x\n")
    found = told(capsys, 0, "--events", "e.csv", "--time", "day")
    assert [line for line in found if "ignored" in line] == ["note Stock: 'other' (string) is not declared and ignored"]
