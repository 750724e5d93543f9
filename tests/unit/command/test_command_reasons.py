"""`foretell why` and `why-not` on files: what they print, and what they refuse in a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from broker.command.shell import perform

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
