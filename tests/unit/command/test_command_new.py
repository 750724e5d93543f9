"""`foretell new`: a first subscription file for a file of events, which runs as it is written."""

from __future__ import annotations

import json
import shlex
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from doubles.commands import complaint

from broker.command.shell import perform


def written(folder: Path, name: str, text: str, *options: str) -> tuple[dict[str, Any], list[str]]:
    """The file that `new` writes for a text, parsed, and the options that its first lines name for a run."""
    events = folder / name
    events.write_text(text, "utf-8")
    return guessed(folder, events, *options)


def guessed(folder: Path, events: Path, *options: str) -> tuple[dict[str, Any], list[str]]:
    out = folder / f"{events.name}.toml"
    assert perform(["new", str(events), "--out", str(out), *options]) == 0
    text = out.read_text("utf-8")
    command = shlex.split(next(line for line in text.splitlines() if "foretell run" in line)[1:])
    assert command[2] == str(out)
    named = command[command.index(str(events)) + 1 :]
    assert perform(["check", str(out), "--events", str(events), *named]) == 0  # it takes the events as they are
    assert perform(["run", str(out), "--events", str(events), *named]) == 0
    return tomllib.loads(text), named


def test_types_time_and_key_are_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(
        f"{1_700_000_000 + i},{'IBM' if i % 2 else 'MSFT'},{100 + i / 2},{i},{i % 2 == 0},\n" for i in range(8)
    )
    file, options = written(tmp_path, "stock-ticks.csv", f"ts,symbol,price,volume,big,note\n{rows}")
    assert options == ["--time", "ts"]
    assert file["streams"] == {
        "StockTicks": {
            "attributes": {"symbol": "string", "price": "float", "volume": "int", "big": "bool", "note": "string?"},
            "time_unit": "s",
            "key": "symbol",
        }
    }
    output = capsys.readouterr().out.splitlines()
    matches = [json.loads(line) for line in output if line.startswith("{")]
    assert [match["data"]["price"] for match in matches] == [101.0, 101.5, 102.0, 102.5, 103.0, 103.5]


@pytest.mark.parametrize(
    ("times", "unit"),
    [
        (("2024-05-01T09:00:00", "2024-05-01T09:00:01"), None),
        (("2024-05-01", "2024-05-02"), None),
        (("1714554000", "1714554001"), "s"),
        (("1714554000000", "1714554001000"), "ms"),
        (("1714554000000000", "1714554000000001"), None),
        (("1714554000000000000", "1714554000000001000"), "ns"),
        (("1", "2"), None),  # the usual name tells that these are times
    ],
)
def test_units_of_times(tmp_path: Path, times: tuple[str, str], unit: str | None) -> None:
    text = "size,time\n" + "".join(f"{size},{time}\n" for size, time in enumerate(times))
    file, options = written(tmp_path, "a.csv", text)
    assert options == []
    assert file["streams"]["A"].get("time_unit") == unit
    assert file["streams"]["A"]["attributes"] == {"size": "int"}


def test_json_lines_and_parquet(tmp_path: Path) -> None:
    lines = "".join(
        json.dumps({"when": f"2024-05-0{i}", "v": i, "w": None if i == 2 else 0.5}) + "\n" for i in (1, 2, 3)
    )
    file, options = written(tmp_path, "plain.jsonl", lines, "--stream", "Plain")
    assert file["streams"] == {"Plain": {"attributes": {"v": "int", "w": "float?"}}}
    assert options == ["--stream", "Plain", "--time", "when"]
    for name, moments in (
        ("days", [date(2024, 5, 1), date(2024, 5, 2)]),
        ("moments", [datetime.fromisoformat(f"2024-05-01T{hour}") for hour in ("09", "10")]),
    ):
        table = pyarrow.table({"at": moments, "value": [1.5, None]})
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
        file, options = guessed(tmp_path, tmp_path / f"{name}.parquet")
        assert file["streams"][name.title()] == {"attributes": {"value": "float?"}}
        assert options == ["--time", "at"]


def test_lines_that_name_their_streams(tmp_path: Path) -> None:
    lines = [{"stream": "A", "time": 1, "data": {"v": 1, "k": "x"}}, {"stream": "B", "time": 2, "data": {"w": "y"}}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    file, options = written(tmp_path, "mixed.jsonl", text)
    assert options == []
    assert {name: stream["attributes"] for name, stream in file["streams"].items()} == {
        "A": {"v": "int", "k": "string"},
        "B": {"w": "string"},
    }
    assert list(file["subscriptions"]) == ["first", "first-2"]


def test_columns_of_any_name_have_attributes(tmp_path: Path) -> None:
    file, _ = written(tmp_path, "2024 log.csv", "time,temp (F),Größe,user.name,NOT,ok\n1,2,3,a,1,1\n2,3,4,b,1,1\n")
    stream = file["streams"]["Events2024Log"]
    assert stream["attributes"] == {
        "temp_F": "int", "Grosse": "int", "user.name": "string", "NOT_": "int", "ok": "int"
    }  # fmt: skip
    assert stream["columns"] == {"temp (F)": "temp_F", "Größe": "Grosse", "NOT": "NOT_"}


def test_a_column_twice_and_lists_of_others_than_texts_are_left_out(tmp_path: Path) -> None:
    file, _ = written(tmp_path, "a.csv", "time,v,v,w\n1,2,3,4\n2,3,4,5\n")
    assert file["streams"]["A"] == {"attributes": {"w": "int"}}
    assert "# Left out: 'v'" in (tmp_path / "a.csv.toml").read_text("utf-8")
    line = {"time": 1, "w": 1, "tags": ["x"], "user": {"name": "a", "tags": [1], "home": {"town": "b"}}}
    file, _ = written(tmp_path, "a.jsonl", (json.dumps(line) + "\n") * 3)
    assert file["streams"]["A"] == {
        "attributes": {"w": "int", "tags": "string[]", "user.name": "string", "user.home.town": "string"}
    }
    assert "# Left out: 'user.tags'" in (tmp_path / "a.jsonl.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("Datum;Preis\n31.12.2023 09:30;1,5\n01.01.2024 10:00;1,75\n", {
            "attributes": {"Preis": "float"}, "time_format": "%d.%m.%Y %H:%M", "separator": ";", "decimal": ","}),
        ("date|v\n12/31/2023|1\n01/13/2024|2\n", {
            "attributes": {"v": "int"}, "time_format": "%m/%d/%Y", "separator": "|"}),
        ("date,v\n20231231,1\n20240113,2\n", {"attributes": {"v": "int"}, "time_format": "%Y%m%d"}),
        ("t,v\n1714554000.25,1\n1714554001.5,2\n", {"attributes": {"v": "int"}, "time_unit": "s"}),
        ("time,price,price_1\n1,1,2\n2,2,3\n", {"attributes": {"price": "int", "price_1": "int"}}),
    ],
)  # fmt: skip
def test_separators_decimals_and_formats(tmp_path: Path, text: str, stream: dict[str, Any]) -> None:
    file, _ = written(tmp_path, "a.csv", text)
    assert file["streams"]["A"] == stream


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("", (), "expected a header with the names of the columns, found an empty file"),
        ("a,b\n", (), "expected events, found none"),
        ("a,b\n1,x\n", (), "expected a column of times, found none; --time COLUMN names it"),
        ("a,b\n1,x\n", ("--time", "c"), "expected a column 'c', found none"),
        ("a,b\n1,x\n", ("--time", "b"), "expected times in column 'b', found string 'x'; --time-format says how"),
        ("time,b\n1,x\n", ("--stream", "a b"), "stream name: expected a letter or _"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, options: tuple[str, ...], expected: str
) -> None:
    (tmp_path / "a.csv").write_text(text, "utf-8")
    assert expected in complaint(capsys, "new", str(tmp_path / "a.csv"), *options)


def test_no_file_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("time,v\n1,2\n", "utf-8")
    (tmp_path / "mine.toml").write_text("mine", "utf-8")
    said = complaint(capsys, "new", str(tmp_path / "a.csv"), "--out", str(tmp_path / "mine.toml"))
    assert "expected a new file, found one that exists" in said
    assert (tmp_path / "mine.toml").read_text("utf-8") == "mine"


LATE = {
    "seconds.csv": "ts,k\n1700000003,a\n1700000001,a\n1700000002,a\n",
    "format.csv": "when,k\n02.01.2024 10:00,a\n01.02.2024 10:00,a\n31.01.2024 10:00,a\n",
    "plain.jsonl": '{"ts": 1700000001, "k": "a"}\n{"ts": 1700000000, "k": "a"}\n',
    "named.jsonl": '{"stream": "S", "time": 2, "data": {"k": "a"}}\n{"stream": "T", "time": 1, "data": {"k": "a"}}\n',
    "long.csv": "time,k\n" + "".join(f"{1_700_000_000 + at},a\n" for at in [*range(2_000), 5]),
    "words.csv": "time,k\n2024-05-02,a\n2024-05-01T10:00:00Z,a\n",
}


@pytest.mark.parametrize("name", LATE)
def test_events_that_are_not_in_the_order_of_time_are_sorted(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / name
    first = LATE[name].splitlines(keepends=True)[: 2 if name.endswith(".csv") else 1]
    for late, text in ((True, LATE[name]), (False, "".join(first))):
        events.write_text(text)
        assert perform(["new", str(events)]) == 0
        (line,) = (each for each in capsys.readouterr().out.splitlines() if "foretell run" in each)
        assert ("--sort" in line.split()) == late
        out = tmp_path / f"{late}.toml"
        assert perform(["new", str(events), "--out", str(out)]) == 0
        tried = shlex.split(next(each for each in out.read_text().splitlines() if "foretell run" in each)[1:])
        assert perform(tried[1:]) == 0
        capsys.readouterr()


def test_a_table_that_is_not_in_the_order_of_time_is_sorted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times = pyarrow.array([datetime(2024, 5, day, tzinfo=UTC) for day in (1, 3, 2)], pyarrow.timestamp("ns"))
    pyarrow.parquet.write_table(pyarrow.table({"at": times, "k": ["a", "a", "a"]}), tmp_path / "e.parquet")
    assert perform(["new", str(tmp_path / "e.parquet")]) == 0
    assert " --time at --sort\n" in capsys.readouterr().out
