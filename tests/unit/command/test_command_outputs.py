"""Where results of `run` go, and which: some subscriptions only, into files, as a table, with their events."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from doubles.commands import complaint

from broker.command.result_files import ResultColumns
from broker.command.shell import perform

TWO = """
[streams.S]
attributes = { x = "int", kind = "string" }

[subscriptions.both]
language = "cayuga"
query = "SELECT x, kind FROM S"

[subscriptions.doubled]
language = "cayuga"
query = "SELECT 2 * x AS double FROM S"
"""
FILE = """
[streams.Stock]
attributes = { name = "string", price = "float", start = "int?" }

[subscriptions.up]
language = "cayuga"
query = "SELECT name, price_1, price FROM FILTER{price > price_1}(Stock NEXT{$2.name = $1.name} Stock) PUBLISH Up"
hidden = true

[subscriptions.twice]
language = "cayuga"
lineage = true
query = "SELECT name, price FROM FILTER{price > 2}(Up)"

[subscriptions.pairs]
language = "sase"
query = "PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) { [name] } WITHIN 10 RETURN a.price, b.start"
"""
IDENTITY = ("kind", "subscription", "id")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with subscriptions and five events."""
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(FILE)
    events = [{"stream": "Stock", "time": time, "data": ["IBM", time * 1.0, None]} for time in range(1, 6)]
    Path("e.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert perform(["run", "s.toml", "--events", "e.jsonl", *arguments]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_hidden_subscriptions_only_publish(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(run(capsys))
    assert {line["subscription"] for line in found} == {"twice", "pairs"}
    assert {line["subscription"] for line in lines(run(capsys, "--only", "up"))} == {"up"}, "unless asked for"
    both = lines(run(capsys, "--only", "up", "--only", "pairs"))
    assert {line["subscription"] for line in both} == {"up", "pairs"}
    assert perform(["run", "s.toml", "--events", "e.jsonl", "--only", "pair"]) == 2
    assert "--only: expected a subscription of s.toml, found 'pair'; did you mean 'pairs'?" in capsys.readouterr().err


def test_hidden_is_true_or_false(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_text(FILE.replace("hidden = true", 'hidden = "yes"'))
    assert perform(["check", "s.toml"]) == 2
    assert "subscriptions.up: hidden: expected true or false, found string 'yes'" in capsys.readouterr().err


def test_results_go_to_a_file_of_any_format(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(run(capsys))
    for suffix in ("jsonl", "csv", "parquet"):
        assert run(capsys, "--out", f"r.{suffix}") == ""
    assert lines(Path("r.jsonl").read_text()) == found
    with open("r.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    table = pq.read_table("r.parquet").to_pylist()
    assert list(rows[0]) == list(table[0])
    for line, row, entry in zip(found, rows, table, strict=True):
        assert [row[name] for name in IDENTITY] == [line[name] for name in IDENTITY]
        assert (int(row["end"]), entry["end"], entry["lineage"]) == (line["end"], line["end"], line["lineage"])
        assert row["lineage"] == " ".join(map(str, line["lineage"]))
        for own, value in line["data"].items():
            name = f"data.{own}" if own in line else own  # a result has a start of its own
            assert entry[name] == value, name
            assert row[name] == ("" if value is None else str(value)), name
    assert not list(folder.glob(".r.*")), "no part is left"


def test_times_of_a_file_may_be_times(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "--out", "r.parquet", "--times", "iso")
    assert str(pq.read_schema("r.parquet").field("end").type) == "timestamp[us, tz=UTC]"
    run(capsys, "--out", "r.csv", "--times", "iso")
    assert "1970-01-01T00:00:00.000005Z" in Path("r.csv").read_text()


def test_results_before_an_error_are_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open("e.jsonl", "a") as file:
        file.write("{\n")
    assert perform(["run", "s.toml", "--events", "e.jsonl", "--out", "r.csv"]) == 2
    assert len(Path("r.csv").read_text().splitlines()) > 3


@pytest.mark.parametrize(
    ("out", "reason"),
    [
        ("r.xls", "r.xls: expected a name that ends in .jsonl, .csv or .parquet, or --format, found .xls"),
        ("no/r.csv", "no/r.csv: expected a folder that exists, found none of the name no"),
    ],
)
def test_a_file_that_cannot_be(folder: Path, capsys: pytest.CaptureFixture[str], out: str, reason: str) -> None:
    assert complaint(capsys, "run", "s.toml", "--events", "e.jsonl", "--out", out) == reason


def test_a_table_is_aligned(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = run(capsys, "--format", "table", "--only", "twice").splitlines()
    assert table[0].split() == ["kind", "subscription", "id", "start", "end", "lineage", "name", "price"]
    assert len(table) == 1 + 3
    assert len({row.index("twice") for row in table[1:]} | {table[0].index("subscription")}) == 1
    assert run(capsys, "--format", "table", "--events-format", "jsonl", "--only", "twice").splitlines() == table


def test_a_format_goes_to_the_output_or_decides_that_of_a_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "--out", "r.csv") == ""
    assert run(capsys, "--format", "csv").splitlines() == Path("r.csv").read_text().splitlines()
    assert run(capsys, "--format", "jsonl") == run(capsys)
    assert run(capsys, "--format", "parquet", "--out", "r.results") == ""
    assert run(capsys, "--out", "r.parquet") == ""
    assert pq.read_table("r.results").equals(pq.read_table("r.parquet"))
    assert run(capsys, "--format", "table", "--out", "r.txt") == ""
    assert Path("r.txt").read_text() == run(capsys, "--format", "table")
    reason = "--format parquet: expected --out FILE, found none: Parquet is no text"
    assert complaint(capsys, "run", "s.toml", "--events", "e.jsonl", "--format", "parquet") == reason


def test_columns_of_several_subscriptions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each attribute has one column, in the order of the first result that has it; others have nothing there."""
    Path("two.toml").write_text(TWO)
    Path("two.jsonl").write_text(
        "".join(json.dumps({"stream": "S", "time": n, "data": {"x": n, "kind": "k"}}) + "\n" for n in (1, 2))
    )
    assert perform(["run", "two.toml", "--events", "two.jsonl", "--format", "csv", "--times", "us"]) == 0
    names, *rows = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    assert names == ["kind", "subscription", "id", "start", "end", "double", "x", "data.kind"]
    assert sorted((row[1], *row[5:]) for row in rows) == [
        ("both", "", "1", "k"),
        ("both", "", "2", "k"),
        ("doubled", "2", "", ""),
        ("doubled", "4", "", ""),
    ]


def test_memory_does_not_grow_with_the_results(folder: Path, tmp_path: Path) -> None:
    """What waits for the columns waits on disk."""
    sizes = []
    for count in (2_000, 40_000):
        sink = ResultColumns("csv", tmp_path / "r.csv", io.StringIO(), "us")
        tracemalloc.start()
        for number in range(count // 1_000):
            sink.write([{"kind": "match", "id": str(number), "data": {"x": each}} for each in range(1_000)])
        sink.close()
        sizes.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        with open(tmp_path / "r.csv") as file:
            assert sum(1 for _ in file) == count + 1
    assert sizes[1] < 1.5 * sizes[0] + 100_000, sizes


def test_results_with_their_events(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(run(capsys, "--with-events", "--only", "up"))
    assert found[0]["lineage"] == [1, 2], "also where the file asks for none"
    values = [{"name": "IBM", "price": n * 1.0, "start": None} for n in (1, 2)]
    assert found[0]["events"] == [
        {"id": n, "stream": "Stock", "time": n, "data": data} for n, data in enumerate(values, 1)
    ]
    assert [line["id"] for line in found] == [line["id"] for line in lines(run(capsys, "--only", "up"))]
    dated = lines(run(capsys, "--with-events", "--times", "iso", "--only", "up"))[0]["events"]
    assert [each["time"] for each in dated] == [f"1970-01-01T00:00:00.00000{n}Z" for n in (1, 2)]
