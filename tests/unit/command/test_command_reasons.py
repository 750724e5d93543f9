"""`foretell why` and `why-not` on files: what they print, and what they refuse in a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from typer.main import get_command

from broker.command.shell import perform, shell

SUBSCRIPTIONS = """
[streams.Stock]
attributes = { name = "string", price = "float" }
key = "name"
[subscriptions.rise]
language = "cel"
query = "FILTER{price > price_1}(Stock NEXT{$2.name = $1.name} Stock)"
[subscriptions.visits]
language = "window"
query = "FROM Stock WINDOW SESSION 5 min"
"""
CSV = "time,name,price\n1,A,4\n2,B,9\n3,A,5\n4,B,8\n"


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SUBSCRIPTIONS)
    Path("e.csv").write_text(CSV)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert perform([*arguments, "--events", "e.csv", "--stream", "Stock"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.usefixtures("_files")
def test_why_and_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    (match,) = [each for each in printed(capsys, "run", "s.toml") if each["subscription"] == "rise"]
    (told,) = printed(capsys, "why", "s.toml", match["id"], "--subscription", "rise")
    assert [step["events"] for step in told["steps"]] == [[1], [3]]
    assert told["steps"][1]["passed over"]["events"] == [2]
    (told,) = printed(capsys, "why-not", "s.toml", "rise", "--key", "B")
    assert {tuple(nearest["steps"][0]["events"]) for nearest in told["nearest"]} == {(2,), (4,)}
    ended = next(nearest for nearest in told["nearest"] if nearest["steps"][0]["events"] == [2])
    assert ended["ended by"] == [4]
    assert [each["values"] for each in ended["refused"][0]["failed"]] == ["8.0 > 9.0"]
    (told,) = printed(capsys, "why-not", "s.toml", "rise", "--wanted", "2", "--until", "1970-01-01T00:00:00.000003Z")
    assert told["nearest"][0]["ended"] == "it still waits"


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("why", "s.toml", "x", "--subscription", "rise"), "expected the id of a match of these events, found 'x'"),
        (("why-not", "s.toml", "rize"), "unknown subscription 'rize'; did you mean 'rise'?"),
        (("why-not", "s.toml", "rise", "--until", "noon"), "expected a time in microseconds or ISO-8601"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert perform([*arguments, "--events", "e.csv", "--stream", "Stock"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.usefixtures("_files")
def test_only_events_have_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.jsonl").write_text('{"punctuation": 1}\n{"unsubscribe": "rise"}\n')
    assert perform(["why-not", "s.toml", "rise", "--events", "e.jsonl"]) == 2
    assert "line 2: expected no change of subscriptions but an update" in capsys.readouterr().err


FORM = {"--column", "--separator", "--decimal", "--time-format"}
"""The options that say how a file writes its events."""


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_reasons_are_told_of_files_of_any_form(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    if form == "csv":
        Path("other.txt").write_text(
            "Trade Time;Share Name;price\n01.02.2024 09:03;A;5,25\n01.02.2024 09:01;A;4,5\n01.02.2024 09:02;B;9,0\n"
        )
        options = ["--separator", ";", "--decimal", ",", "--time-format", "%d.%m.%Y %H:%M"]
    else:
        rows = {"Trade Time": [1_700_000_003, 1_700_000_001, 1_700_000_002], "Share Name": ["A", "A", "B"]}
        pyarrow.parquet.write_table(pyarrow.table({**rows, "price": [5.25, 4.5, 9.0]}), "other.txt")
        options = ["--time-unit", "s"]
    options += ["--events-format", form, "--column", "Share Name=name", "--time", "Trade Time", "--sort"]
    asked = ["--events", "other.txt", "--stream", "Stock", *options]
    assert perform(["run", "s.toml", "--only", "rise", *asked]) == 0
    (match,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert perform(["why", "s.toml", match["id"], *asked]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [step["time"] for step in told["steps"]] == [match["start"], match["end"]]
    assert perform(["why-not", "s.toml", "rise", "--key", "B", *asked]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["nearest"][0]["ended"] == "it still waits"


def test_each_command_that_reads_rows_of_files_is_told_how_they_are_written() -> None:
    lacking = {}
    for name, command in get_command(shell).commands.items():  # type: ignore[attr-defined]
        options = {option for each in command.params for option in each.opts}
        if not {"--time", "--events"}.isdisjoint(options) and not options >= FORM:
            lacking[name] = FORM - options
    assert lacking == {}
