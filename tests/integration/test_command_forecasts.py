"""Forecasts on the command line: run, models kept and begun with, explain, and all that may be wrong with them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from doubles.nothing_wrong import NOTHING_WRONG
from integration.pages import ROOT, blocks

from broker.command.shell import perform

QUERY: Final = "FROM Login BY ip a, b, c: status = 'denied' MATCH a, b, c"
FORECAST: Final = 'forecast = { within = 2, threshold = 0.4, context = ["key"], effective = 5 }'
PERIODS: Final = 40
"""Of seven logins of each address: the third and the seventh are accepted."""


def subscriptions(forecast: str = FORECAST, query: str = QUERY, language: str = "ptopss") -> str:
    return f"""
[streams.Login]
attributes = {{ ip = "string", status = "string", size = "float" }}
key = "ip"

[streams.Other]
attributes = {{ ip = "string" }}

[subscriptions.guessing]
language = "{language}"
query = "{query}"
{forecast}
"""


def logins(first: int, last: int) -> str:
    """The logins of two addresses, one every second."""
    lines = []
    for number in range(first, last):
        status = "success" if number // 2 % 7 in (2, 6) else "denied"
        data = {"ip": ("192.0.2.7", "192.0.2.8")[number % 2], "status": status, "size": 1.0}
        lines.append(json.dumps({"stream": "Login", "time": number * 1_000_000, "data": data}) + "\n")
    return "".join(lines)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(subscriptions())
    Path("all.jsonl").write_text(logins(0, 14 * PERIODS))
    Path("before.jsonl").write_text(logins(0, 7 * PERIODS))
    Path("after.jsonl").write_text(logins(7 * PERIODS, 14 * PERIODS))
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert perform(arguments) == 0
    out, err = capsys.readouterr()
    assert err == NOTHING_WRONG
    return [json.loads(line) for line in out.splitlines()]


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert perform(arguments) == 2
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert out == ""
    assert line.startswith("foretell: ")
    return line.removeprefix("foretell: ")


def kinds(lines: list[dict[str, Any]]) -> Counter[str]:
    return Counter(line["kind"] for line in lines)


# --- run ----------------------------------------------------------------------------------------------------------


def test_forecasts_come_among_matches_and_every_one_is_resolved_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "run", "s.toml", "--events", "all.jsonl")

    found = kinds(lines)
    assert found["match"] == 2 * PERIODS
    assert found["forecast"] == found["resolution"] > PERIODS
    moments = [line["end"] if line["kind"] == "match" else line["time"] for line in lines]
    assert moments == sorted(moments)
    told = {line["id"]: line for line in lines if line["kind"] == "forecast"}
    resolved = {line["forecast"]: line for line in lines if line["kind"] == "resolution"}
    assert told.keys() == resolved.keys()
    for identity, forecast in told.items():
        low, high = forecast["interval"]
        assert 0.4 < forecast["probability"] <= 1
        assert low <= forecast["probability"] <= high
        assert (forecast["within"], forecast["run"]) == (2, resolved[identity]["run"])
        assert ("lead" in resolved[identity]) == (resolved[identity]["outcome"] is True)
    assert Counter(line["outcome"] for line in resolved.values())[True] > PERIODS


def test_a_run_that_begins_with_a_model_foretells_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "run", "s.toml", "--events", "before.jsonl", "--save-model", "m.json")
    fresh = printed(capsys, "run", "s.toml", "--events", "after.jsonl")
    taught = printed(capsys, "run", "s.toml", "--events", "after.jsonl", "--model", "m.json")

    assert kinds(taught)["forecast"] > kinds(fresh)["forecast"]
    first = [next(line for line in lines if line["kind"] == "forecast")["time"] for lines in (taught, fresh)]
    assert first[0] < first[1]
    matches = [[line for line in lines if line["kind"] == "match"] for lines in (taught, fresh)]
    assert matches[0] == matches[1]


def test_models_add_up_and_the_same_events_give_the_same_file(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "run", "s.toml", "--events", "before.jsonl", "--save-model", "m.json")
    printed(capsys, "run", "s.toml", "--events", "before.jsonl", "--save-model", "n.json")
    printed(capsys, "run", "s.toml", "--events", "after.jsonl", "--model", "m.json", "--save-model", "both.json")

    assert Path("m.json").read_bytes() == Path("n.json").read_bytes()
    totals = [
        sum(row[2] for record in json.loads(Path(name).read_text())["counts"] for row in record["rows"])
        for name in ("m.json", "both.json")
    ]
    # The first event of a key in a run is no step where there is a context: nobody knows the one before.
    assert totals == [7 * PERIODS - 2, 14 * PERIODS - 4]


# --- models that are refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        subscriptions(query=QUERY.replace("denied", "success")),
        subscriptions(FORECAST.replace('["key"]', '["hour"]')),
        subscriptions(FORECAST.replace("within = 2", 'within = 2, states = "set"')),
    ],
    ids=["query", "context", "states"],
)
def test_a_model_of_another_version_is_refused_in_one_line(changed: str, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "run", "s.toml", "--events", "before.jsonl", "--save-model", "m.json")
    Path("s.toml").write_text(changed)

    for command in (("run", "s.toml", "--events", "after.jsonl"), ("explain", "s.toml")):
        said = complaint(capsys, *command, "--model", "m.json")
        assert said.startswith("m.json: subscription 'guessing': the model was trained with another query")
        assert "expected version guessing@" in said


def test_a_model_of_another_half_life_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "run", "s.toml", "--events", "before.jsonl", "--save-model", "m.json")
    Path("s.toml").write_text(subscriptions(FORECAST.replace("within = 2", 'within = 2, half_life = "1 day"')))

    said = complaint(capsys, "run", "s.toml", "--events", "after.jsonl", "--model", "m.json")
    assert said.startswith("m.json: ")
    assert "half-life" in said


def test_threshold_and_horizon_may_change(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "run", "s.toml", "--events", "before.jsonl", "--save-model", "m.json")
    Path("s.toml").write_text(subscriptions('forecast = { within = 3, threshold = 0.1, context = ["key"] }'))

    assert kinds(printed(capsys, "run", "s.toml", "--events", "after.jsonl", "--model", "m.json"))["forecast"]


def test_a_model_that_is_missing_or_damaged_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "run", "s.toml", "--events", "before.jsonl", "--save-model", "m.json")
    text = Path("m.json").read_text()
    run = ("run", "s.toml", "--events", "after.jsonl", "--model")

    assert complaint(capsys, *run, "nosuch.json") == "nosuch.json: No such file or directory"
    for damaged in (text[: len(text) // 2], text.replace('"rows": [[0, ', '"rows": [[1, ', 1), "", "[]", "{}", "\x00"):
        Path("m.json").write_text(damaged)
        assert complaint(capsys, *run, "m.json").startswith("m.json: ")
    Path("m.json").write_bytes(b"\xff\xfe")
    assert complaint(capsys, *run, "m.json").startswith("m.json: ")
    Path("folder").mkdir()
    assert complaint(capsys, *run, "folder") == "folder: Is a directory"


def test_a_model_goes_where_it_can_be_and_only_if_there_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    run = ("run", "s.toml", "--events", "before.jsonl", "--save-model")
    assert complaint(capsys, *run, "nosuch/m.json") == (
        "nosuch/m.json: expected a folder that exists, found none of the name nosuch"
    )
    Path("s.toml").write_text(subscriptions(forecast=""))
    assert perform([*run, "m.json"]) == 2
    assert capsys.readouterr().err == (
        "foretell: s.toml: expected a subscription with a forecast for --save-model, found none\n"
    )
    assert not Path("m.json").exists()


# --- options ------------------------------------------------------------------------------------------------------

WITHIN: Final = 'within: expected a number of events, 1 to 10000, or a duration such as "5 min", found '
WRONG: Final = {
    "{}": 'expected within, a number of events or a duration such as "5 min"',
    "{ within = 0 }": WITHIN + "int 0",
    "{ within = 10001 }": WITHIN + "int 10001",
    "{ within = 2.5 }": WITHIN + "float 2.5",
    "{ within = true }": WITHIN + "bool true",
    '{ within = "soon" }': WITHIN + "string 'soon'",
    "{ withn = 5 }": "unknown key 'withn'; did you mean 'within'?",
    "{ within = 5, threshold = 1 }": "threshold: expected a probability from 0 to less than 1, found int 1",
    "{ within = 5, threshold = nan }": "threshold: expected a probability from 0 to less than 1, found float nan",
    '{ within = 5, per = "day" }': "per: expected 'key' or 'stream', found string 'day'",
    '{ within = 5, per = "stream" }': "per = 'stream' is not for what BY or its variables part by key",
    '{ within = 5, states = "all" }': "states: expected 'furthest' or 'set', found string 'all'",
    "{ within = 5, effective = -1 }": "effective: expected a number of transitions, 0 to 1000000000, found int -1",
    "{ within = 5, cautious = 1 }": "cautious: expected true or false, found int 1",
    '{ within = 5, recalibrate = "yes" }': "recalibrate: expected true or false, found string 'yes'",
    '{ within = 5, half_life = "x" }': "half_life: expected a duration such as \"30 days\", found string 'x'",
    '{ within = 5, context = "key" }': "context: expected a list of at most 8 parts, found string 'key'",
    '{ within = 5, context = ["ky"] }': (
        "context: expected key, month, hour, weekday or an attribute, found 'ky'; did you mean 'key'?"
    ),
    '{ within = 5, context = ["size"] }': (
        "context: expected an attribute that is a string, an int or a bool, found 'size', a float; give events an"
        " attribute that names its band"
    ),
    '{ within = 5, context = [{ attribute = "size", cuts = [2, 1] }] }': (
        'context: expected "key", "month", "hour", "weekday" or the name of an attribute, found attribute, cuts; for a'
        " band of numbers give events an attribute that names it"
    ),
    "{ within = 5, drift = true }": "unknown key 'drift'; expected within, threshold, context, per, ",
    "{ within = 5, choose = true }": "unknown key 'choose'; expected within, threshold, context, per, ",
    "5": "expected a table such as { within = 10, threshold = 0.8 }, found int 5",
}


@pytest.mark.parametrize(("forecast", "message"), WRONG.items(), ids=WRONG)
def test_what_is_wrong_with_a_forecast_is_told_with_its_place(
    forecast: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("s.toml").write_text(subscriptions(f"forecast = {forecast}"))

    said = complaint(capsys, "check", "s.toml")
    assert said.startswith("s.toml: subscription")
    assert f"forecast: {message}" in said


def test_a_context_by_key_needs_a_chain_for_each_key(capsys: pytest.CaptureFixture[str]) -> None:
    for query in ("FILTER{size > 3}(Login NEXT{$2.size = $1.size} Login)", "Other"):
        Path("s.toml").write_text(subscriptions(FORECAST, query, "cayuga"))
        assert "context: 'key' expects a chain for each key" in complaint(capsys, "check", "s.toml")


# --- explain ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "beginning"),
    [
        ("text", "guessing: forecasts of a match within 2 events"),
        ("dot", "digraph"),
        ("mermaid", "---"),
        ("svg", "<svg"),
    ],
)
def test_explain_shows_what_a_model_says(format: str, beginning: str, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "run", "s.toml", "--events", "all.jsonl", "--save-model", "m.json")

    assert perform(["explain", "s.toml", "--model", "m.json", "--format", format]) == 0
    drawn = capsys.readouterr().out
    assert drawn.startswith(beginning)
    for label in ("nothing begun", "1 of 3", "2 of 3", "match"):
        assert label in drawn


def test_explain_without_a_forecast_or_a_count(capsys: pytest.CaptureFixture[str]) -> None:
    assert perform(["explain", "s.toml"]) == 0
    assert "guessing: 2 of 3: nothing counted yet" in capsys.readouterr().out
    printed(capsys, "run", "s.toml", "--events", "all.jsonl", "--save-model", "m.json")
    Path("s.toml").write_text(subscriptions(forecast=""))
    assert complaint(capsys, "explain", "s.toml", "--model", "m.json") == (
        "s.toml: expected a subscription with a forecast, found none"
    )


def test_the_picture_of_the_page_is_what_its_model_says_today(folder: Path) -> None:
    page, pictures = ROOT / "docs" / "forecasts.md", ROOT / "docs" / "pictures"
    shown = next(block.text for block in blocks(page) if block.info == "toml file=late.toml")
    assert (pictures / "late.toml").read_text(encoding="utf-8") == shown
    commands = [
        f"{ROOT / 'examples' / 'departures.py'} 1 2 > winter.csv",
        f"-m broker.command run {pictures / 'late.toml'} --events winter.csv --save-model late.model > winter.jsonl",
        f"-m broker.command explain {pictures / 'late.toml'} --model late.model --format svg > late.svg",
    ]
    for command in commands:
        subprocess.run(
            ["bash", "-c", f"PYTHONPATH={ROOT} {sys.executable} {command}"], cwd=folder, check=True, timeout=60
        )
    drawn = Path("late.svg").read_text(encoding="utf-8")
    assert (pictures / "late.svg").read_text(encoding="utf-8") == drawn, f"draw it again, as {page.name} does"
